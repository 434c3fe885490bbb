import Git

/// The header of a file of the alarm index. `AlarmIndexLayout.Header` describes its fields.
struct AlarmIndexHeader: Hashable, Sendable {
  /// The kind of a file.
  enum Kind {
    /// The rows of all alarms when the file was written.
    case main
    /// The rows that were added or replaced since then.
    case changes

    /// The first eight bytes of a file: `BlCard10` or `BlDiff10`. The digits are the version of the format.
    var magic: UInt64 {
      switch self {
      case .main: 0x3031_6472_6143_6c42
      case .changes: 0x3031_6666_6944_6c42
      }
    }
  }

  /// The number of rows.
  let count: Int
  /// The state of the alarms' folder.
  let folder: AlarmFolderState
  /// The length of the main file's fingerprint, or the checksum of the changes' main file.
  let link: UInt64
  /// The checksum of the file.
  let checksum: UInt64
  /// The checksum of the hashes of the titles.
  let titlesChecksum: UInt64

  /// Creates a header from the first bytes of a file. Returns nil if they are not of this kind and version.
  init?(_ bytes: [UInt8], _ kind: Kind) {
    typealias Header = AlarmIndexLayout.Header
    guard bytes.count >= Header.size, CacheCoding.number(bytes, at: Header.magic) == kind.magic
    else { return nil }
    let count = CacheCoding.number(bytes, at: Header.count)
    link = CacheCoding.number(bytes, at: Header.link)
    guard count < AlarmIndexLayout.Limit.count,
      kind == .changes || link < AlarmIndexLayout.Limit.fingerprintLength
    else { return nil }
    self.count = Int(count)
    let epoch = CacheCoding.number(bytes, at: Header.epoch)
    folder = AlarmFolderState(
      signature: CacheCoding.signature(bytes, at: Header.folder),
      token: epoch == 0
        ? nil
        : FolderChangeToken(epoch: epoch, number: CacheCoding.number(bytes, at: Header.number)))
    checksum = CacheCoding.number(bytes, at: Header.checksum)
    titlesChecksum = CacheCoding.number(bytes, at: Header.titles)
  }

  /// Returns the offset of a row.
  func start(_ index: Int) -> Int {
    AlarmIndexLayout.Header.size + index * AlarmIndexLayout.Row.size
  }

  /// The range of the hashes of the titles, which follow the rows.
  var titles: Range<Int> {
    start(count)..<(start(count) + count * AlarmIndexLayout.titleSize)
  }

  /// The offset of the heap, which follows the hashes of the titles.
  var heap: Int { titles.upperBound }

  /// The range of a main file's fingerprint, with which the heap begins.
  var fingerprint: Range<Int> { heap..<(heap + Int(link)) }
}
