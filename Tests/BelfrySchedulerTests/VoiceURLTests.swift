import BelfryScheduler
import Testing

@Suite struct VoiceURLTests {
  @Test(
    "A voice API URL uses TLS or refers to this machine",
    arguments: [
      "https://api.example.org/2010-04-01/Accounts/AC1/Calls.json", "HTTPS://api.example.org:8443/",
      "http://localhost/x", "http://LOCALHOST:8080/x", "http://127.0.0.1:8080/x",
      "http://127.1.2.3/x", "http://[::1]:8080/x", "https://localhost.evil.example/x",
    ])
  func taken(_ text: String) throws {
    #expect(try VoiceURL(text).text == text)
  }

  @Test(
    "A host that only starts with this machine's name is refused without TLS, and so is a URL with a password",
    arguments: [
      "http://localhost.evil.example/x", "http://127.0.0.1.evil.example/x", "http://127.0.0.1x/",
      "http://localhost:80@evil.example/x", "http://localhost@evil.example/x",
      "http://localhost-evil.example/", "http://127.0.0/x", "http://127.0.0.256/x",
      "http://evil.example/localhost", "http://evil.example#localhost", "http://[::2]/x",
      "http://0.0.0.0/x", "https://user:token@api.example.org/x", "https://token@api.example.org/x",
      "https:///x", "https://", "https://api.example.org:0/x", "https://api.example.org:99999/x",
      "https://api.example.org:/x", "ftp://localhost/x", "localhost/x", "",
      "https://api.example.org/a b", "https://api.example.org/\"x", "https://api.example.org/\\x",
    ])
  func refused(_ text: String) {
    #expect(throws: VoiceURL.Failure.self) { try VoiceURL(text) }
  }
}
