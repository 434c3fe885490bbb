import BelfryCore
import Files
import Glibc

/// The log of this machine's battery samples: a local file with one sample a line, never synced.
///
/// ```
/// MILLISECONDS LEVEL charging|draining DRAW|- CAPACITY NAME BOOT UPTIME AWAKE
/// ```
///
/// Samples are appended. If the file has many more lines than `BatteryHistory` keeps, it is rewritten without the rest.
/// Invalid lines are skipped.
public struct BatteryLog: Sendable {
  /// The path of the file.
  public let path: String

  /// The number of unneeded lines at which the file is rewritten.
  private static let slack = 300
  /// The maximum size of the file, in bytes.
  private static let maxSize = 4 << 20

  /// Creates a log. It does not access the file.
  public init(path: String) {
    self.path = path
  }

  /// The system's error message if samples cannot be written; nil if they can.
  public var hindrance: String? {
    var ancestor = path
    // `add` creates missing folders.
    while access(ancestor, F_OK) != 0, ancestor.count > 1 {
      ancestor = DurableFile.parent(of: ancestor)
    }
    return access(ancestor, W_OK) == 0 ? nil : String(cString: strerror(errno))
  }

  /// Returns the recorded samples; none if the file is missing or cannot be read.
  public func read() -> BatteryHistory {
    guard let file = (try? DurableFile.read(path, limit: BatteryLog.maxSize)) ?? nil else {
      return BatteryHistory()
    }
    return BatteryHistory(
      file.bytes.split(separator: UInt8(ascii: "\n")).compactMap(BatteryLog.sample))
  }

  /// Adds a sample, unless the last one is less than `spacing` seconds old and has the same charging state.
  ///
  /// - Returns: All samples with the new one; nil if it was not added.
  /// - Throws: `FileError` if the file cannot be locked or written.
  public func add(
    _ sample: BatterySample, spacing: Int64
  ) throws(FileError) -> BatteryHistory? {
    try DurableFile.makeFolder(DurableFile.parent(of: path), mode: 0o700)
    let lock: FileLock
    do throws(FileError) {
      lock = try FileLock("\(path).lock", mode: 0o600)
      _ = try lock.lock()
    } catch {
      throw FileError(locking: path, number: error.number)
    }
    defer { withExtendedLifetime(lock) {} }
    if let last = last(), last.isCharging == sample.isCharging,
      last.uptime.boot == sample.uptime.boot,
      (0..<spacing).contains(sample.at.seconds(since: last.at))
    {
      return nil
    }
    var history = read()
    let count = history.samples.count
    let isLater = history.samples.last.map { $0.at < sample.at } ?? true
    history.add(sample)
    if isLater, count < history.samples.count + BatteryLog.slack {
      try append(BatteryLog.line(sample))
    } else {
      try DurableFile.write(
        Array(history.samples.map(BatteryLog.line).joined().utf8), to: path,
        temporary: "\(path).new", syncing: false)
    }
    return history
  }

  /// Returns the last sample, without reading the whole file: under cron, most calls need no other sample.
  private func last() -> BatterySample? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 512)
    let size = lseek(file, 0, SEEK_END)
    let count = pread(file, &bytes, bytes.count, max(0, size - off_t(bytes.count)))
    guard size > 0, count > 0 else { return nil }
    return bytes[..<count].split(separator: UInt8(ascii: "\n")).last.flatMap(BatteryLog.sample)
  }

  private func append(_ line: String) throws(FileError) {
    // O_NONBLOCK: opening a named pipe would block.
    let file = open(
      path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard file >= 0 else { throw FileError("open", path) }
    defer { close(file) }
    // Terminate a line that a full disk has truncated.
    var last = UInt8(ascii: "\n")
    let size = lseek(file, 0, SEEK_END)
    if size > 0 { _ = pread(file, &last, 1, size - 1) }
    let bytes = (last == UInt8(ascii: "\n") ? [] : [UInt8(ascii: "\n")]) + Array(line.utf8)
    guard write(file, bytes, bytes.count) == bytes.count else { throw FileError("write", path) }
  }

  // MARK: Lines

  private static func line(_ sample: BatterySample) -> String {
    let fields = [
      "\(sample.at.milliseconds)", number(sample.level),
      sample.isCharging ? "charging" : "draining",
      sample.draw.map(number) ?? "-", "\(sample.battery.capacity)", sample.battery.name,
      sample.uptime.boot, "\(sample.uptime.total)", "\(sample.uptime.awake)",
    ]
    return fields.joined(separator: " ") + "\n"
  }

  /// Returns a number with three decimal places.
  private static func number(_ value: Double) -> String {
    "\((value * 1000).rounded() / 1000)"
  }

  private static func sample(_ line: some Collection<UInt8>) -> BatterySample? {
    let fields = line.split(separator: UInt8(ascii: " ")).map {
      String(decoding: $0, as: UTF8.self)
    }
    guard fields.count == 9, let at = Int64(fields[0]), abs(at) < 1 << 53,
      let level = Double(fields[1]), (0...100).contains(level),
      ["charging", "draining"].contains(fields[2]), let capacity = Int64(fields[4]), capacity >= 0,
      let total = Int64(fields[7]), let awake = Int64(fields[8]), total >= 0, awake >= 0
    else { return nil }
    return BatterySample(
      at: Instant(milliseconds: at), level: level, isCharging: fields[2] == "charging",
      draw: Double(fields[3]).flatMap { $0.isFinite && $0 > 0 ? $0 : nil },
      battery: BatterySample.Battery(name: fields[5], capacity: capacity),
      uptime: BatterySample.Uptime(boot: fields[6], total: total, awake: awake))
  }
}
