import BelfryScheduler

/// The part of `belfry doctor` that checks the hooks, the notifications and the sound of this device.
enum ChannelCheck {
  /// Returns the findings about the user's own hooks and the shipped ones.
  static func hooks(_ hooks: HookDelivery) -> [Diagnosis] {
    var result: [Diagnosis] = []
    for file in hooks.ownHooks() {
      switch file.fault {
      case nil: result.append(Diagnosis("hooks", .fine, "Your own hook: \(file.path)."))
      case .notExecutable?:
        result.append(
          Diagnosis(
            "hooks", .problem, "\(file.path) is not executable.", remedy: "chmod +x \(file.path)"))
      case .interpreterMissing(let program)?:
        result.append(
          Diagnosis(
            "hooks", .problem, "\(file.path) needs \(program), which is not installed.",
            remedy: "Install it, or correct the first line of the hook."))
      case .unknownName?:
        result.append(Diagnosis("hooks", .note, "\(file.path) never runs: no hook has this name."))
      }
    }
    if let folder = hooks.shippedFolder {
      result.append(Diagnosis("hooks", .fine, "The shipped hooks: \(folder)."))
    } else {
      result.append(
        Diagnosis(
          "hooks", .problem, "The shipped hooks are not installed.",
          remedy: "Copy hooks/deliver to libexec/belfry/hooks, next to the folder of the binary."))
    }
    return result
  }

  /// Returns the channel that shows notifications, or the reason why there is none.
  static func notifications(_ reach: HookDelivery.Reach) -> [Diagnosis] {
    switch reach {
    case .unreachable(let reason):
      [
        Diagnosis(
          "notifications", .problem, reason.hasSuffix(".") ? reason : reason + ".",
          remedy: "Or write your own hook: see 'Channels and hooks' in the manual.")
      ]
    case let reach: [Diagnosis("notifications", .fine, "Shown by \(ReachText.text(reach)).")]
    }
  }

  /// Returns the audibility of alarms; nothing if it is unknown.
  static func sound(_ state: SoundOutput.State) -> [Diagnosis] {
    if let problem = SoundText.problem(state) {
      return [
        Diagnosis("notifications", .problem, problem.message, remedy: problem.remedy)
      ]
    }
    return switch state {
    case .audible(let volume):
      [Diagnosis("notifications", .fine, "Sounds can be heard: volume \(volume) %.")]
    case .absent:
      [
        Diagnosis(
          "notifications", .note, "No sound server runs, so alarms are shown but not heard.",
          remedy: "If alarms have to be heard, start one, such as PipeWire.")
      ]
    default: []
    }
  }
}
