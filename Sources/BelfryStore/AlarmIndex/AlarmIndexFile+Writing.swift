import BelfryCore
import Git

extension AlarmIndexFile {
  /// Returns the bytes of an index with rows replaced, added or removed.
  ///
  /// The summaries of replaced rows stay in the heap until they take as much space as the summaries in use.
  ///
  /// - Parameters:
  ///   - old: The present index; nil for none.
  ///   - changes: The rows by id; nil removes a row.
  ///   - folder: The signature of the alarms' folder.
  ///   - fingerprint: The other inputs of the statuses.
  static func bytes(
    from old: AlarmIndexFile?, replacing changes: [Identifier: (row: Row, summary: AlarmSummary)?],
    folder: FileSignature, fingerprint: String
  ) -> [UInt8] {
    let sameHeap = old.map { $0.fingerprint == fingerprint && $0.isHeapDense } ?? false
    var rows: [UInt8] = []
    rows.reserveCapacity(((old?.count ?? 0) + changes.count) * AlarmIndexLayout.Row.size)
    var heap: [UInt8] = []
    if let old, sameHeap {
      heap.reserveCapacity(old.bytes.count - old.heap + changes.count * 256)
      heap.append(contentsOf: old.bytes[old.heap...])
    } else {
      heap.append(contentsOf: fingerprint.utf8)
    }
    var copied = 0
    func copy(upTo end: Int) {
      guard let old, copied < end else { return }
      let start = rows.count
      rows.append(contentsOf: old.bytes[old.start(copied)..<old.start(end)])
      if !sameHeap {
        for index in copied..<end {
          let offset = heap.count
          if let payload = old.payload(index) { heap.append(contentsOf: old.bytes[payload]) }
          let location = AlarmIndexLayout.SummaryLocation(
            offset: offset, length: heap.count - offset)
          CacheCoding.set(
            location.number,
            at: start + (index - copied) * AlarmIndexLayout.Row.size + AlarmIndexLayout.Row.summary,
            in: &rows)
        }
      }
      copied = end
    }
    for (id, change) in changes.sorted(by: { $0.key < $1.key }) {
      if let old {
        let index = old.insertionIndex(of: id)
        copy(upTo: index)
        if index < old.count, old.identifier(index) == id { copied = index + 1 }
      }
      guard let (row, summary) = change else { continue }
      let offset = heap.count
      AlarmSummaryWriter.append(summary, to: &heap)
      append(
        row, AlarmIndexLayout.SummaryLocation(offset: offset, length: heap.count - offset),
        next: summary.isDeleted ? nil : summary.status.next?.at, to: &rows)
    }
    copy(upTo: old?.count ?? 0)
    var result: [UInt8] = []
    result.reserveCapacity(AlarmIndexLayout.Header.size + rows.count + heap.count)
    CacheCoding.append(AlarmIndexLayout.magic, to: &result)
    CacheCoding.append(UInt64(rows.count / AlarmIndexLayout.Row.size), to: &result)
    CacheCoding.append(folder, to: &result)
    CacheCoding.append(UInt64(fingerprint.utf8.count), to: &result)
    CacheCoding.append(0, to: &result)
    result.append(contentsOf: rows)
    result.append(contentsOf: heap)
    CacheCoding.set(
      AlarmIndexLayout.checksum(result), at: AlarmIndexLayout.Header.checksum, in: &result)
    return result
  }

  /// Appends a row in the order of `AlarmIndexLayout.Row`.
  private static func append(
    _ row: Row, _ location: AlarmIndexLayout.SummaryLocation, next: Instant?,
    to rows: inout [UInt8]
  ) {
    rows.append(contentsOf: "\(row.id).json".utf8)
    rows.append(0)
    CacheCoding.append(row.signature, to: &rows)
    rows.append(contentsOf: row.blob.bytes)
    rows.append(contentsOf: repeatElement(0, count: AlarmIndexLayout.Row.blobPadding))
    CacheCoding.append(UInt64(bitPattern: row.validFrom.milliseconds), to: &rows)
    CacheCoding.append(UInt64(bitPattern: row.validUntil.milliseconds), to: &rows)
    CacheCoding.append(location.number, to: &rows)
    CacheCoding.append(UInt64(bitPattern: next?.milliseconds ?? .max), to: &rows)
  }

  /// True if at least half of the heap is in use.
  private var isHeapDense: Bool {
    var used = 4096
    for index in 0..<count { used += location(index).length }
    return bytes.count - heap < 2 * used
  }
}
