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

  var isGiven: Bool {
    persistent != nil || strict != nil || followUps != nil || sound != nil
  }

  /// What the tier makes of it, where that is nothing.
  func warning(_ tier: Settings.Tier) -> String? {
    guard !tier.confirmsCompletion, strict == true || followUps != nil else { return nil }
    return
      "belfry: warning: on the tier free a stop is done, so nothing asks or rings again ('belfry tier plus')."
  }

  func changed(_ earlier: Alarm.Delivery) throws -> Alarm.Delivery {
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
      guard sound == "default" || Sound.named(sound) != nil else {
        throw CommandError(
          .usage, "there is no sound '\(Printable.text(sound))'.",
          hint: "There are: \(Sound.all.map(\.name).joined(separator: ", ")), and default.")
      }
      delivery.sound = sound == "default" ? nil : sound
    }
    return delivery
  }
}
