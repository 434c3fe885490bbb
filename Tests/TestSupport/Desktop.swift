extension Sandbox {
  /// The prefix of a script for `onDesktop`, which starts a virtual screen and a notification service.
  ///
  /// It defines these shell functions, beside that of `waitFor`:
  /// - `press BUTTON` presses a button of the top notification and records its buttons in `buttons`.
  /// - `until_shown N` waits until N notifications are shown.
  /// - `until_said WORDS` waits until the daemon has logged the words.
  /// - `start_daemon` starts the daemon, which logs to `daemon.log`.
  /// - `stop` ends the daemon, the notification service and the screen.
  public var desktop: String {
    """
    \(waitFor)
    mkdir -p '\(root)/run'
    export XDG_RUNTIME_DIR='\(root)/run'
    printf '#!/bin/sh\\ntee -a "\(root)/buttons" | grep -F "$(cat "\(root)/want")" | head -n 1\\n' > '\(root)/pick'
    chmod +x '\(root)/pick'
    printf '[global]\\ndmenu = %s\\n' '\(root)/pick' > '\(root)/dunstrc'
    Xvfb -displayfd 3 -nolisten tcp 3>'\(root)/display' 2>/dev/null &
    x=$!
    wait_for [ -s '\(root)/display' ]
    export DISPLAY=:$(cat '\(root)/display')
    dunst -conf '\(root)/dunstrc' >/dev/null 2>&1 &
    d=$!
    wait_for dunstctl count
    press() { echo "$1" > '\(root)/want'; dunstctl context; }
    shows() { [ "$(dunstctl count displayed)" = "$1" ]; }
    until_shown() { wait_for shows "$1"; }
    until_said() { wait_for grep -q "$1" '\(root)/daemon.log'; }
    start_daemon() {
      '\(Sandbox.binary)' daemon 2>>'\(root)/daemon.log' &
      daemon=$!
    }
    stop() {
      [ -z "${daemon:-}" ] || { kill $daemon 2>/dev/null; wait $daemon; }
      kill $d $x
    }

    """
  }

  /// The log of the daemon.
  public var daemonLog: String { (try? read(root + "/daemon.log")) ?? "" }

  /// Runs a script after `desktop`, with its own session bus.
  public func onDesktop(_ script: String, now: String) async throws -> Output {
    let path = root + "/script-\(now)"
    try write(
      "\(desktop)\nexport BELFRY_NOW=\(now) TZ=UTC BELFRY_DEVICE=laptop\n\(script)\nstop\n",
      to: path)
    return try await run("/usr/bin/timeout", ["400", "dbus-run-session", "--", "sh", path])
  }
}
