import Crypto
import Dispatch
import Glibc
import Synchronization

/// The content of a file that shares most of its bytes with an earlier one.
///
/// The shared bytes are not copied: a change of git's index of 100,000 files is a hundred bytes among ten megabytes.
public struct SplicedFile: Sendable {
  /// A run of bytes.
  private enum Piece: Sendable {
    /// Bytes of the earlier content, by their offsets in it.
    case shared(Range<Int>)
    /// Other bytes.
    case new([UInt8])

    /// Passes the bytes to a closure.
    func withBytes<Result>(
      of base: [UInt8], _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
      switch self {
      case .shared(let range):
        base.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
      case .new(let bytes): bytes.withUnsafeBytes { body($0) }
      }
    }
  }

  private let base: [UInt8]
  /// The bytes before all others.
  public var header: [UInt8] = []
  private var pieces: [Piece] = []
  /// The new bytes after the last piece.
  private var tail: [UInt8] = []

  /// Creates an empty file.
  ///
  /// - Parameter base: The earlier content.
  public init(from base: [UInt8]) {
    self.base = base
  }

  /// The number of bytes below which a copy is faster than a piece of its own.
  private static let minShared = 64 << 10

  /// Appends bytes of the earlier content, given by their offsets in it.
  public mutating func append(_ range: Range<Int>) {
    if range.count < SplicedFile.minShared {
      tail.append(contentsOf: base[range])
    } else {
      pieces = allPieces
      tail = []
      pieces.append(.shared(range))
    }
  }

  /// Appends other bytes.
  public mutating func append(_ bytes: [UInt8]) { tail.append(contentsOf: bytes) }

  private var allPieces: [Piece] { tail.isEmpty ? pieces : pieces + [.new(tail)] }

  /// The size of the earlier content above which a second thread is worth its start.
  private static let maxOnOneThread = 2 << 20

  /// Writes the content and then its SHA-1 to a descriptor. A large file is hashed and written at the same time.
  ///
  /// - Parameter path: The file's path, for errors.
  public func writeWithChecksum(to descriptor: Int32, _ path: String) throws(FileError) {
    let pieces = [.new(header)] + allPieces
    let number = Mutex<Int32>(0)
    let checksum = Mutex<[UInt8]>([])
    @Sendable func run(_ step: Int) {
      if step == 0 {
        for piece in pieces {
          let failure = piece.withBytes(of: base) { DurableFile.fill(descriptor, $0) }
          guard failure == 0 else { return number.withLock { $0 = failure } }
        }
      } else {
        var hash = Insecure.SHA1()
        for piece in pieces { piece.withBytes(of: base) { hash.update(bufferPointer: $0) } }
        let result = Array(hash.finalize())
        checksum.withLock { $0 = result }
      }
    }
    if base.count > SplicedFile.maxOnOneThread {
      DispatchQueue.concurrentPerform(iterations: 2) { run($0) }
    } else {
      run(0)
      run(1)
    }
    let failure = number.withLock { $0 }
    guard failure == 0 else { throw FileError("write", path, number: failure) }
    try DurableFile.fill(descriptor, checksum.withLock { $0 }, path)
  }
}
