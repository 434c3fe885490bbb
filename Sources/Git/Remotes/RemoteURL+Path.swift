extension RemoteURL {
  /// The path of the repository on this machine or on the host of an ssh remote, as git passes it on; nil for other
  /// protocols.
  ///
  /// It is absolute, or relative to the user's home folder, or starts with `~` or `~USER`.
  public var repositoryPath: String? {
    switch transport {
    case .path:
      return text.hasPrefix("/") ? text : RemoteURL.decoded(text.dropFirst("file://".count))
    case .ssh:
      guard let start = text.firstRange(of: "://")?.upperBound else {
        return text.firstIndex(of: ":").map { String(text[text.index(after: $0)...]) }
      }
      guard let slash = text[start...].firstIndex(of: "/"),
        let path = RemoteURL.decoded(text[slash...])
      else { return nil }
      return path.hasPrefix("/~") ? String(path.dropFirst()) : path
    case .http, .git: return nil
    }
  }

  /// Decodes `%20` and similar sequences. Returns nil if the result is no text, or contains a control character.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    guard let path = String(validating: bytes, as: UTF8.self) else { return nil }
    return path.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } ? nil : path
  }
}
