import BelfryCore
import Git
import Glibc

/// The samples of this machine's batteries: a file of its own, never synced, a line each.
///
/// ```
/// MILLISECONDS LEVEL charging|draining DRAW|- CAPACITY NAME BOOT UPTIME AWAKE
/// ```
///
/// Lines are added at the end; when there are many, what `BatteryHistory` no longer needs is dropped. A line that cannot be
/// read is passed over.
public struct BatteryLog: Sendable {
  public let path: String

  /// So many lines more than are needed may there be.
  private static let slack = 300
  private static let limit = 4 << 20

  public init(path: String) {
    self.path = path
  }

  /// What keeps samples from being written, in the system's words; nil when nothing does.
  public var hindrance: String? {
    var place = path
    // Folders that are not there yet are made.
    while access(place, F_OK) != 0, place.count > 1 { place = DurableFile.parent(of: place) }
    return access(place, W_OK) == 0 ? nil : String(cString: strerror(errno))
  }

  public func read() -> BatteryHistory {
    guard let file = (try? DurableFile.read(path, limit: BatteryLog.limit)) ?? nil else {
      return BatteryHistory()
    }
    return BatteryHistory(
      file.bytes.split(separator: UInt8(ascii: "\n")).compactMap(BatteryLog.sample))
  }

  /// Adds a sample, unless the last one is younger than `spacing` seconds and says the same of the charger.
  ///
  /// - Returns: all there are, with this one; nil when it was not added.
  /// - Throws: `FileError` when it cannot be written.
  public func add(
    _ sample: BatterySample, spacing: Int64
  ) throws(FileError) -> BatteryHistory? {
    try DurableFile.makeFolder(DurableFile.parent(of: path), mode: 0o700)
    let lock = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else { throw FileError("lock", path) }
    defer { close(lock) }
    while flock(lock, LOCK_EX) != 0 {
      if errno != EINTR { throw FileError("lock", path) }
    }
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

  /// The sample at the end of the file: cron asks every minute, and mostly that is all there is to know.
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
    // Without waiting, should somebody have put a pipe there.
    let file = open(
      path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard file >= 0 else { throw FileError("open", path) }
    defer { close(file) }
    // A line that a full disk has cut short is ended first.
    var last = UInt8(ascii: "\n")
    let size = lseek(file, 0, SEEK_END)
    if size > 0 { _ = pread(file, &last, 1, size - 1) }
    let bytes = (last == UInt8(ascii: "\n") ? [] : [UInt8(ascii: "\n")]) + Array(line.utf8)
    guard write(file, bytes, bytes.count) == bytes.count else { throw FileError("write", path) }
  }

  // MARK: Lines

  private static func line(_ sample: BatterySample) -> String {
    let words = [
      "\(sample.at.milliseconds)", number(sample.level),
      sample.isCharging ? "charging" : "draining",
      sample.draw.map(number) ?? "-", "\(sample.battery.capacity)", sample.battery.name,
      sample.uptime.boot, "\(sample.uptime.total)", "\(sample.uptime.awake)",
    ]
    return words.joined(separator: " ") + "\n"
  }

  /// With three digits behind the point.
  private static func number(_ value: Double) -> String {
    "\((value * 1000).rounded() / 1000)"
  }

  private static func sample(_ line: some Collection<UInt8>) -> BatterySample? {
    let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    guard words.count == 9, let at = Int64(words[0]), abs(at) < 1 << 53,
      let level = Double(words[1]), (0...100).contains(level),
      ["charging", "draining"].contains(words[2]), let capacity = Int64(words[4]), capacity >= 0,
      let total = Int64(words[7]), let awake = Int64(words[8]), total >= 0, awake >= 0
    else { return nil }
    return BatterySample(
      at: Instant(milliseconds: at), level: level, isCharging: words[2] == "charging",
      draw: Double(words[3]).flatMap { $0.isFinite && $0 > 0 ? $0 : nil },
      battery: BatterySample.Battery(name: words[5], capacity: capacity),
      uptime: BatterySample.Uptime(boot: words[6], total: total, awake: awake))
  }
}
