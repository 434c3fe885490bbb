import BelfryScheduler

/// The audibility of alarms as text.
enum SoundText {
  /// Returns the reason why alarms cannot be heard, and the advice to the user; nil if they can, or if that is unknown.
  static func problem(_ state: SoundOutput.State) -> (message: String, remedy: String)? {
    let setting = "belfry settings set unmuteSound on"
    return switch state {
    case .muted:
      (
        "the sound output is muted, so alarms cannot be heard.",
        "Unmute it, or let alarms do that: \(setting)"
      )
    case .quiet(let volume):
      (
        "the volume of the sound output is \(volume) %, so alarms may not be heard.",
        "Raise it, or let alarms do that: \(setting)"
      )
    case .missing:
      (
        "the sound server has no output, so alarms cannot be heard.",
        "Connect a speaker, or enable its card. To hear a test: belfry sounds play"
      )
    case .unresponsive:
      (
        "the sound server does not respond, so alarms cannot be heard.",
        "Restart it. To hear a test: belfry sounds play"
      )
    case .audible, .absent, .unknown: nil
    }
  }
}
