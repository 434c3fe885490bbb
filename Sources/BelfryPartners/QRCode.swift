import CPNG
import Glibc

/// A QR code (ISO/IEC 18004), created by libqrencode. The library is loaded on demand, because few commands use it.
public struct QRCode: Hashable, Sendable {
  /// The number of modules on each side, without the quiet zone.
  public let width: Int
  /// The modules row by row. True means dark.
  private let modules: [Bool]

  private static let encoder = "libqrencode.so.4"
  private static let images = "libpng16.so.16"

  /// The reason why a code cannot be created or drawn.
  public struct Failure: Error, Hashable, Sendable {
    /// The reason as a clause for the user, without a final period.
    public let reason: String
    /// The Debian package to install; nil if that does not help.
    public let package: String?
  }

  /// The struct `QRcode` of `qrencode.h`.
  private struct Drawing {
    var version: Int32
    var width: Int32
    var data: UnsafeMutablePointer<UInt8>?
  }

  /// Creates the smallest code for a text.
  ///
  /// - Throws: `Failure` if libqrencode is not installed or the text is too long.
  public init(_ text: String) throws(Failure) {
    typealias Encode =
      @convention(c) (Int32, UnsafePointer<UInt8>, Int32, Int32) -> UnsafeMutableRawPointer?
    typealias Free = @convention(c) (UnsafeMutableRawPointer?) -> Void
    let encode = try QRCode.function(
      "QRcode_encodeData", of: QRCode.encoder, package: "libqrencode4", Encode.self)
    let free = try QRCode.function(
      "QRcode_free", of: QRCode.encoder, package: "libqrencode4", Free.self)
    let bytes = Array(text.utf8)
    // Version 0 selects the smallest one that fits. The lowest error correction is sufficient on a screen.
    guard let pointer = encode(Int32(bytes.count), bytes, 0, 0) else {
      throw Failure(reason: "the link does not fit into a QR code", package: nil)
    }
    defer { free(pointer) }
    let drawing = pointer.load(as: Drawing.self)
    guard drawing.width > 0, let data = drawing.data else {
      throw Failure(reason: "\(QRCode.encoder) returned no code", package: nil)
    }
    let width = Int(drawing.width)
    self.width = width
    modules = (0..<(width * width)).map { data[$0] & 1 == 1 }
  }

  private static func function<Function>(
    _ name: String, of file: String, package: String, _ type: Function.Type
  ) throws(Failure) -> Function {
    guard let handle = dlopen(file, RTLD_NOW), let symbol = dlsym(handle, name) else {
      throw Failure(reason: "\(file) is not installed", package: package)
    }
    return unsafeBitCast(symbol, to: type)
  }

  private func isDark(_ column: Int, _ row: Int) -> Bool {
    (0..<width).contains(column) && (0..<width).contains(row) && modules[row * width + column]
  }

  // MARK: Drawing

  /// The width of the quiet zone, in modules. It is half of the standard's, because a terminal has few rows.
  private static let margin = 2

  /// The number of columns of each line.
  public var columns: Int { width + 2 * QRCode.margin }

  /// Returns lines for a terminal with two rows of modules in each.
  ///
  /// - Parameter isColored: true for black on white with escape sequences, which every terminal shows correctly;
  ///   false for light modules only, which need a dark background.
  public func lines(isColored: Bool) -> [String] {
    let margin = QRCode.margin
    return stride(from: -margin, to: width + margin, by: 2).map { row in
      let text = (-margin..<(width + margin)).map { column in
        let lower = row + 1 < width + margin ? isDark(column, row + 1) : !isColored
        switch (isDark(column, row) == isColored, lower == isColored) {
        case (true, true): return "█"
        case (true, false): return "▀"
        case (false, true): return "▄"
        case (false, false): return " "
        }
      }.joined()
      // Colors 16 and 231 are black and white in every palette.
      return isColored ? "\u{1B}[38;5;16;48;5;231m\(text)\u{1B}[0m" : text
    }
  }

  /// Returns a PNG image with eight pixels per module, created by libpng.
  ///
  /// - Throws: `Failure` if libpng is not installed or fails.
  public func png() throws(Failure) -> [UInt8] {
    let encode = try QRCode.function(
      "png_image_write_to_memory", of: QRCode.images, package: "libpng16-16",
      belfry_png_write.self)
    let (scale, quiet) = (8, 4)
    let side = (width + 2 * quiet) * scale
    var points = [UInt8](repeating: 255, count: side * side)
    for y in 0..<side {
      for x in 0..<side where isDark(x / scale - quiet, y / scale - quiet) {
        points[y * side + x] = 0
      }
    }
    /// Writes the image to memory. Without memory, only its size is determined.
    func write(to memory: UnsafeMutableRawPointer?, _ size: inout Int) throws(Failure) {
      var image = png_image()
      image.version = UInt32(PNG_IMAGE_VERSION)
      image.width = UInt32(side)
      image.height = UInt32(side)
      image.format = UInt32(PNG_FORMAT_GRAY)
      guard encode(&image, memory, &size, 0, points, Int32(side), nil) != 0 else {
        throw Failure(reason: "\(QRCode.images) could not create the image", package: nil)
      }
    }
    var size = 0
    try write(to: nil, &size)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 1)
    defer { memory.deallocate() }
    try write(to: memory, &size)
    return Array(UnsafeRawBufferPointer(start: memory, count: size))
  }
}
