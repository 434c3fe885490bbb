import Git
import Testing

/// Tests of the forms of remotes that git takes.
@Suite struct RemoteURLTests {
  @Test(
    "A remote has a protocol, a host, a user and a port",
    arguments: [
      ("you@server:x.git", "server", "you", nil), ("server:x.git", "server", nil, nil),
      ("you@[::1]:x.git", "::1", "you", nil), ("[::1]:x.git", "::1", nil, nil),
      ("[server:2222]:x.git", "server", nil, "2222"),
      ("you@[server:2222]:x.git", "server", "you", "2222"),
      ("[server]:x.git", "server", nil, nil),
      ("ssh://you@server:2222/x.git", "server", "you", "2222"),
      ("ssh://you@server:/x.git", "server", "you", nil),
      ("ssh://you@[::1]:22/x.git", "::1", "you", "22"),
      ("ssh://[fe80::1]/x.git", "fe80::1", nil, nil),
    ] as [(String, String, String?, String?)])
  func parts(_ text: String, _ host: String, _ user: String?, _ port: String?) throws {
    let url = try RemoteURL(text)
    #expect(url.text == text && url.transport == .ssh)
    #expect(url.host == host && url.user == user && url.port == port)
  }

  @Test(
    "What git could take for an option or a command is refused",
    arguments: [
      "ext::sh", "-oProxyCommand=x:y", "[-oProxyCommand=x]:y", "you@[-x:22]:y", "[::1]", "[::1]:",
      "[::1]:-x", "[::x]:y", "[host:0]:y", "[host:22:x]:y", "ssh://host:x/y", "-x@[::1]:y",
    ])
  func refused(_ text: String) {
    #expect(throws: RemoteURL.Failure.self) { try RemoteURL(text) }
  }
}
