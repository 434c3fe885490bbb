/// The hint about a daemon that does not respond.
enum DaemonRemedy {
  static let restart =
    "Restart it: systemctl --user restart belfry. If you started it yourself, end it with kill -9 and start it again."
}
