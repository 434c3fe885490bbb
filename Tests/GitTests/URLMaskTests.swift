import Git
import Testing

/// Tests of masking credentials in URLs and messages.
@Suite struct URLMaskTests {
  @Test(
    "Only the credentials of a URL are masked",
    arguments: [
      ("https://user:token@host/x.git", "https://***@host/x.git"),
      ("https://token@host/x.git", "https://***@host/x.git"),
      ("HTTPS://user:token@host:8443/x.git", "HTTPS://***@host:8443/x.git"),
      ("http://user:to@ken@host/x.git", "http://***@host/x.git"),
      ("http://user:to/ken@host/x.git", "http://***@host/x.git"),
      ("http://user:to?ken@host/x.git", "http://***@host/x.git"),
      ("http://user:to ken@host/x.git", "http://***@host/x.git"),
      ("http://user:a://b@host/x.git", "http://***@host/x.git"),
      ("https://user:token", "https://user:***"),
      ("ftp://user:token@host/x", "ftp://***@host/x"),
      ("https://host/x.git?access_token=token", "https://host/x.git?***"),
      ("ssh://user:token@host/x.git", "ssh://user:***@host/x.git"),
      ("ssh://user@host:2222/srv/x.git", "ssh://user@host:2222/srv/x.git"),
      ("user@host:x.git", "user@host:x.git"),
      ("/srv/x.git", "/srv/x.git"), ("/srv/a://b@c", "/srv/a://b@c"),
      ("file:///srv/you@home/x.git", "file:///srv/you@home/x.git"),
      ("git://host/x.git", "git://host/x.git"),
      ("https://host:8443/~you@home/x.git", "https://host:8443/~you@home/x.git"),
      ("https://[::1]:8443/x.git", "https://[::1]:8443/x.git"),
      ("belfry://pair?v=1&s=token", "belfry://pair?***"),
      ("--remote=https://user:token@host/x.git", "--remote=https://***@host/x.git"),
    ])
  func masksURL(_ given: String, _ masked: String) {
    #expect(URLMask.masked(url: given) == masked)
    #expect(URLMask.holdsCredentials(given) == (given != masked))
    #expect(URLMask.masked(url: masked) == masked)
    #expect(!URLMask.stripped(url: given).contains("token"))
  }

  @Test(
    "A URL in a sentence is masked in place",
    arguments: [
      (
        "fatal: unable to access 'https://user:token@host/x.git/': Could not resolve host: host",
        "fatal: unable to access 'https://***@host/x.git/': Could not resolve host: host"
      ),
      ("from https://u:token@a/x,https://v:token@b/y", "from https://***@a/x,https://***@b/y"),
      ("it redirects (http://token@host)", "it redirects (http://***@host)"),
      ("'https://host:8443': alarm me@home", "'https://host:8443': alarm me@home"),
      ("Accept it: belfry partner accept 'belfry://pair?…'", ""),
      ("Wake up at 09:00, you@home", ""),
    ])
  func masksURLInText(_ given: String, _ masked: String) {
    #expect(URLMask.masked(given) == (masked.isEmpty ? given : masked))
  }

  @Test("A stripped URL is usable without its credentials")
  func strippedURL() {
    #expect(URLMask.stripped(url: "https://user:token@host/x.git?a=b") == "https://host/x.git")
    #expect(URLMask.stripped(url: "ssh://user:token@host/x.git") == "ssh://user@host/x.git")
    #expect(URLMask.stripped(url: "ssh://user@host/x.git") == "ssh://user@host/x.git")
  }

  @Test("A password in a server's message is masked in encoded and decoded form")
  func passwordInServerMessage() throws {
    let url = try RemoteURL("https://user:open%20sesame@host/x.git")
    #expect(
      url.masked("remote: user has 'open sesame' (open%20sesame)") == "remote: user has '***' (***)"
    )
    #expect(try RemoteURL("https://ghp1234@host/x.git").masked("no ghp1234 here") == "no *** here")
    // An ssh user name is not secret, and a one-letter password would mask parts of words.
    #expect(try RemoteURL("ssh://user@host/x.git").masked("user: denied") == "user: denied")
    #expect(try RemoteURL("https://user:e@host/x.git").masked("denied") == "denied")
  }
}
