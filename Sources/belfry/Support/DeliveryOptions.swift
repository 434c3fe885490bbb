import ArgumentParser
import BelfryCore
import BelfryScheduler

/// The options that say how an alarm reaches a person, of `add` and `edit`.
struct DeliveryOptions: ParsableArguments {
  @Flag(
    inversion: .prefixedNo, help: "Ring on until answered; otherwise it is missed after a while.")
  var persistent: Bool?

  @Flag(
    inversion: .prefixedNo,
    help: "Stopped, ring again instead of asking, and wait for a 'done' whatever comes next.")
  var strict: Bool?

  @Option(
    help: ArgumentHelp(
      "When it asks again after a stop: 30m,1h,90m, or none, or default.", valueName: "times"))
  var followUps: String?

  @Option(help: ArgumentHelp("A sound's name, or default; see 'belfry sounds'.", valueName: "name"))
  var sound: String?

  @Option(
    help: ArgumentHelp(
      "Silent word of it ahead of its time: 7d,1d, or none.", valueName: "times"))
  var warn: String?

  @Option(
    help: ArgumentHelp(
      "The devices that ring for it, by name: laptop,server; or all.", valueName: "devices"))
  var on: String?

  var isGiven: Bool {
    persistent != nil || strict != nil || followUps != nil || sound != nil || warn != nil
      || on != nil
  }

  /// What the tier makes of it, where that is nothing.
  func warning(_ tier: Settings.Tier) -> String? {
    guard !tier.confirmsCompletion, strict == true || followUps != nil else { return nil }
    return
      "belfry: warning: on the tier free a stop is done, so nothing asks or rings again ('belfry tier plus')."
  }

  /// - Parameter devices: those that can be named; nil where that is not known yet.
  func changed(
    _ earlier: Alarm.Delivery, devices: DeviceDirectory? = nil
  ) throws -> Alarm.Delivery {
    var delivery = earlier
    if let persistent { delivery.persistent = persistent }
    if let strict { delivery.strict = strict }
    if let followUps {
      guard followUps == "default" || FollowUpPlan(followUps) != nil else {
        throw CommandError(
          .usage, "--follow-ups: '\(Printable.text(followUps))' are no follow-ups.",
          hint:
            "Write times after the stop, ascending, from 1m to 1w, such as 30m,1h,90m; or none; or default."
        )
      }
      delivery.followUps = FollowUpPlan(followUps)
    }
    if let sound {
      guard sound == "default" || Sound.isKnown(sound) else {
        throw CommandError(
          .usage, "there is no sound '\(Printable.text(sound))'.",
          hint: "There are: \(Sound.all.map(\.name).joined(separator: ", ")), none, and default.")
      }
      delivery.sound = sound == "default" ? nil : sound
    }
    if let warn {
      guard warn == "none" || WarningPlan(warn) != nil else {
        throw CommandError(
          .usage, "--warn: '\(Printable.text(warn))' are no times ahead.",
          hint:
            "Write up to \(WarningPlan.most) different ones, from 1m to 366d, such as 7d,1d; or none."
        )
      }
      delivery.warnings = WarningPlan(warn)
    }
    if let on, on.split(separator: ",").isEmpty {
      throw CommandError(
        .usage, "--on: no device is named.", hint: "Name devices, with commas between them, or all."
      )
    }
    if let on, let devices {
      delivery.devices =
        on == "all"
        ? [] : Set(try on.split(separator: ",").map { try devices.find(String($0)) })
    }
    return delivery
  }
}
