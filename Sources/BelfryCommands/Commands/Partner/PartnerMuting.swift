import BelfryPartners

/// The shared implementation of `partner mute` and `partner unmute`.
enum PartnerMuting {
  /// Mutes or unmutes a partner and prints the result.
  static func set(_ isMuted: Bool, _ name: String, _ common: CommonOptions, _ root: Belfry) throws {
    let session = try PartnerSession(common, root)
    let partner = try session.find(name)
    let changed = try session.change(partner.id) { partner in
      partner.limits.isMuted = isMuted
      return partner
    }
    try session.show(changed, json: common.json)
  }
}
