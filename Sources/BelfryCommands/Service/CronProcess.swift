import Files
import Glibc

/// The machine's cron daemon.
enum CronProcess {
  /// The process names of cron, cronie, dcron, busybox, fcron and bcron.
  private static let names: Set = ["cron", "crond", "dcron", "fcron", "bcron-sched"]
  /// The generators of systemd-cron, which runs crontabs without a process of its own.
  private static let generators = ["/usr/lib", "/lib"].map {
    "\($0)/systemd/system-generators/systemd-crontab-generator"
  }

  /// Returns true if a cron daemon runs on this machine, or nil if the processes of other users are hidden.
  ///
  /// - Parameter folder: the path of the process file system.
  static func isRunning(in folder: String) -> Bool? {
    if access("/run/systemd/system", F_OK) == 0,
      generators.contains(where: { access($0, X_OK) == 0 })
    {
      return true
    }
    let processes = DurableFile.names(in: folder).filter { $0.allSatisfy(\.isNumber) }
    guard processes.contains("1") else { return nil }
    return processes.contains { process in
      let name = (try? DurableFile.readStream("\(folder)/\(process)/comm")) ?? []
      return names.contains(
        String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
  }

  /// The advice if no cron daemon runs.
  static let remedy =
    "Start it: sudo service cron start. At every boot: sudo systemctl enable cron. Or run 'belfry daemon' yourself."
}
