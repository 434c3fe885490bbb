import Testing

@testable import Files

/// Words of a shell command.
@Suite struct ShellWordTests {
  @Test(arguments: [
    ("laptop", "laptop"), ("/usr/bin/belfry-1.0", "/usr/bin/belfry-1.0"), ("", "''"),
    ("Jen's iPhone", "'Jen'\\''s iPhone'"), ("a$b", "'a$b'"), ("ä", "'ä'"), ("@home", "'@home'"),
    ("a`b", "'a`b'"), ("[x]", "'[x]'"),
  ])
  func quotes(_ word: String, _ quoted: String) {
    #expect(ShellWord.quoted(word) == quoted)
  }
}
