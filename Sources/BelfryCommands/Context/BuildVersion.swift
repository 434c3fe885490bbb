import BelfryPartners
import BelfryStore
import CBuild

/// The version of this build, and the formats that it shares with other devices.
enum BuildVersion {
  /// The semantic version, such as `1.0.0`.
  ///
  /// A new major version can change what scripts and other devices read: commands, exit codes, JSON documents and
  /// the formats of records and messages.
  static let number = "1.0.0"

  /// The commit, as in `01000ff2a1b2` or `01000ff2a1b2-modified`; nil if it is unknown.
  static var commit: String? {
    let commit = String(cString: belfry_build_commit)
    return commit.isEmpty ? nil : commit
  }

  /// The output of `belfry --version`. Scripts read the second word.
  static var text: String {
    """
    belfry \(number)\(commit.map { " (\($0))" } ?? "")
    records: format \(RecordFormat.current)
    partner messages: version \(Envelope.version)
    """
  }
}
