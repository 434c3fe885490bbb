import Foundation
import Glibc

/// Properties of the machine that some tests need. Tests use them with `.enabled(if:)`.
public enum TestMachine {
  /// True if the tests run as root.
  public static var isRoot: Bool { geteuid() == 0 }

  /// True if the tests may mount file systems.
  public static let mounts = succeeds("/usr/bin/unshare --mount mount -t tmpfs tmpfs /mnt")

  /// True if a systemd user manager can be started.
  public static let startsSystemd =
    mounts && FileManager.default.isExecutableFile(atPath: "/lib/systemd/systemd")
    && succeeds("/usr/bin/unshare --mount sh -c '\(systemd)\n\(endSystemd)'")

  /// Shell commands that start a systemd user manager in its own mount namespace, or exit with status 1.
  public static let systemd = """
    mount -t tmpfs tmpfs /run
    mkdir -p /run/systemd/system /run/user/0
    chmod 700 /run/user/0
    export XDG_RUNTIME_DIR=/run/user/0
    export DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/0/bus
    dbus-daemon --session --address=$DBUS_SESSION_BUS_ADDRESS --nofork --nopidfile 2>/dev/null &
    bus=$!
    /lib/systemd/systemd --user 2>/dev/null &
    manager=$!
    timeout 60 sh -c "until systemctl --user show-environment; do sleep 0.1; done" >/dev/null 2>&1 ||
      { kill $manager $bus; exit 1; }
    """

  /// A shell command that ends the manager.
  public static let endSystemd = "kill $manager $bus"

  /// A writable folder on another file system than the folder of temporary files; nil if there is none.
  public static let otherFileSystem: String? = {
    func device(_ path: String) -> dev_t? {
      var status = stat()
      return stat(path, &status) == 0 ? status.st_dev : nil
    }
    let own = device(NSTemporaryDirectory())
    return ["/dev/shm", "/var/tmp"].first { access($0, W_OK) == 0 && device($0) != own }
  }()

  /// The seconds since the machine started, without the time in sleep.
  public static var uptime: Int {
    var time = timespec()
    return clock_gettime(CLOCK_MONOTONIC, &time) == 0 ? time.tv_sec : 0
  }

  /// The processor time of this thread, in seconds. Other processes do not add to it, however busy they are.
  public static var threadTime: Double {
    var time = timespec()
    guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Returns true if a shell command succeeds.
  private static func succeeds(_ command: String) -> Bool {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", command]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
