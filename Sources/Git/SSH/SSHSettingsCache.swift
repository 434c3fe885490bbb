import Files
import Glibc

/// The user's ssh settings for a host, kept for some minutes, because reading them needs another process.
///
/// Outdated settings do no harm: they only determine whether a connection is shared.
struct SSHSettingsCache {
  /// The path of the file.
  let path: String

  /// The time in seconds for which the settings are kept, unless the configuration files change.
  private static let lifetime = 600

  /// Returns the settings; nil if they are unknown or outdated.
  func read() -> SharedSSHConnection.Settings? {
    guard let file = (try? DurableFile.read(path, limit: 4096)) ?? nil else { return nil }
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let age = Int64(now.tv_sec) - Int64(file.status.st_mtim.tv_sec)
    let lines = String(decoding: file.bytes, as: UTF8.self).split(separator: "\n")
    guard (0..<Int64(SSHSettingsCache.lifetime)).contains(age), lines.count == 2,
      lines[1] == SSHSettingsCache.fingerprint, lines[0].utf8.count == 3,
      lines[0].allSatisfy({ $0 == "0" || $0 == "1" })
    else { return nil }
    let flags = lines[0].map { $0 == "1" }
    return SharedSSHConnection.Settings(
      canShare: flags[0], hasProxy: flags[1], checksConnection: flags[2])
  }

  /// Keeps settings. A write error is ignored: the next transfer reads them again.
  func write(_ settings: SharedSSHConnection.Settings) {
    let flags = [settings.canShare, settings.hasProxy, settings.checksConnection]
    let text = flags.map { $0 ? "1" : "0" }.joined() + "\n\(SSHSettingsCache.fingerprint)\n"
    try? DurableFile.write(
      Array(text.utf8), to: path, temporary: "\(path).new-\(getpid())", syncing: false)
  }

  /// The states of the configuration files that OpenSSH reads by default.
  private static var fingerprint: String {
    // OpenSSH takes the home folder from the user database, not from HOME.
    let home = getpwuid(geteuid()).flatMap { $0.pointee.pw_dir.map { String(cString: $0) } } ?? ""
    return ["\(home)/.ssh/config", "/etc/ssh/ssh_config"].map { path in
      var status = stat()
      guard stat(path, &status) == 0 else { return "none" }
      let signature = FileSignature(status)
      return "\(signature.inode)-\(signature.size)-\(signature.changed)"
    }.joined(separator: " ")
  }
}
