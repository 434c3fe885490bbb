import BelfryCore
import Git

extension LocalFile.Format where Value == [UInt8] {
  /// Lines of text as bytes.
  static func lines(maxSize: Int) -> Self {
    Self(empty: [], maxSize: maxSize, decode: { $0 }, encode: { $0 })
  }
}

extension LocalFile.Format where Value == String? {
  /// A short text.
  static var text: Self {
    Self(
      empty: nil, maxSize: 4096, decode: { .some(String(decoding: $0, as: UTF8.self)) },
      encode: { Array(($0 ?? "").utf8) })
  }
}

extension LocalFile.Format where Value == ObjectID? {
  /// The id of a commit in hexadecimal.
  static var commit: Self {
    Self(
      empty: nil, maxSize: 4096,
      decode: { ObjectID(hexadecimal: String(decoding: $0, as: UTF8.self)) },
      encode: { Array(($0?.description ?? "").utf8) })
  }
}

extension LocalFile.Format where Value == Instant? {
  /// An instant in RFC 3339 format.
  static var instant: Self {
    Self(
      empty: nil, maxSize: 4096,
      decode: { Instant(rfc3339: String(decoding: $0, as: UTF8.self)) },
      encode: { Array(($0?.description ?? "").utf8) })
  }
}
