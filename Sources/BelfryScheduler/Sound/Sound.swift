import Glibc

/// A sound of the project's own, computed from a few notes.
public struct Sound: Hashable, Sendable {
  public let name: String
  /// In a few words, for a list.
  public let summary: String
  let notes: [Note]

  /// A struck tone: its partials sound together and die away.
  struct Note: Hashable, Sendable {
    /// The fundamental, in hertz.
    var frequency: Double
    /// When it is struck, in seconds.
    var start: Double
    /// How long it takes to fall to a third, in seconds.
    var decay: Double
    /// The partials: multiples of the fundamental, and how loud each is.
    var partials: [Partial] = Partial.pure

    struct Partial: Hashable, Sendable {
      let ratio: Double
      let level: Double

      static let pure = [Partial(ratio: 1, level: 1)]
      /// A church bell's hum, prime, tierce, quint and nominal.
      static let bell = [
        Partial(ratio: 0.5, level: 0.5), Partial(ratio: 1, level: 1),
        Partial(ratio: 1.2, level: 0.6), Partial(ratio: 1.5, level: 0.4),
        Partial(ratio: 2, level: 0.7), Partial(ratio: 2.67, level: 0.25),
      ]
      /// A wooden bar's.
      static let bar = [Partial(ratio: 1, level: 1), Partial(ratio: 3.93, level: 0.3)]
      /// The odd ones, as of a reed.
      static let reed = [
        Partial(ratio: 1, level: 1), Partial(ratio: 3, level: 0.4), Partial(ratio: 5, level: 0.2),
      ]
    }
  }

  public static let all = [
    Sound(
      name: "bell", summary: "a church bell, struck twice",
      notes: [0, 1.2].map {
        Note(frequency: 440, start: $0, decay: 0.9, partials: Note.Partial.bell)
      }),
    Sound(
      name: "chime", summary: "three tones, rising",
      notes: [(523.25, 0), (659.25, 0.35), (783.99, 0.7)].map {
        Note(frequency: $0.0, start: $0.1, decay: 0.5)
      }),
    Sound(
      name: "marimba", summary: "a short run on wood",
      notes: [392, 493.88, 587.33, 783.99, 587.33].enumerated().map {
        Note(
          frequency: $0.element, start: Double($0.offset) * 0.18, decay: 0.18,
          partials: Note.Partial.bar)
      }),
    Sound(
      name: "pulse", summary: "four short beeps, hard to sleep through",
      notes: (0..<4).map {
        Note(frequency: 880, start: Double($0) * 0.2, decay: 0.07, partials: Note.Partial.reed)
      }),
    Sound(
      name: "tritone", summary: "three notes of a phone",
      notes: [(987.77, 0), (1318.51, 0.16), (1174.66, 0.32)].map {
        Note(frequency: $0.0, start: $0.1, decay: 0.35, partials: Note.Partial.bar)
      }),
  ]

  public static func named(_ name: String) -> Sound? { all.first { $0.name == name } }

  /// The sound of that name, or the first of all: an alarm is never silent for a name that nobody knows. Nil for
  /// `none`.
  public static func chosen(_ name: String) -> Sound? {
    name == silence ? nil : named(name) ?? all[0]
  }

  // MARK: Samples

  private static let rate = 22_050

  /// The name that stands for no sound at all.
  public static let silence = "none"

  /// Whether a sound, or the absence of one, has this name.
  public static func isKnown(_ name: String) -> Bool { name == silence || named(name) != nil }

  /// A WAV file: one channel, 16 bits, 22,050 Hz, and a short silence at the end.
  ///
  /// - Parameter level: how loud, from 0 to 1.
  public func wav(level: Double = 1) -> [UInt8] {
    let samples = self.samples(level)
    var bytes: [UInt8] = []
    func append(_ text: String) { bytes += Array(text.utf8) }
    func append(_ number: UInt32) { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }
    func append(_ number: UInt16) { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }
    append("RIFF")
    append(UInt32(36 + samples.count * 2))
    append("WAVEfmt ")
    append(UInt32(16))
    append(UInt16(1))
    append(UInt16(1))
    append(UInt32(Sound.rate))
    append(UInt32(Sound.rate * 2))
    append(UInt16(2))
    append(UInt16(16))
    append("data")
    append(UInt32(samples.count * 2))
    for sample in samples { append(UInt16(bitPattern: sample)) }
    return bytes
  }

  /// How long it takes, in seconds.
  public var duration: Double { (notes.map { $0.start + 4 * $0.decay }.max() ?? 0) + 0.4 }

  private func samples(_ level: Double) -> [Int16] {
    var sum = [Double](repeating: 0, count: Int(duration * Double(Sound.rate)))
    for note in notes {
      let first = Int(note.start * Double(Sound.rate))
      for index in first..<Int((note.start + 4 * note.decay) * Double(Sound.rate)) {
        let time = Double(index - first) / Double(Sound.rate)
        // Struck within five milliseconds: a jump would click.
        let envelope = min(1, time / 0.005) * exp(-time / note.decay)
        for partial in note.partials {
          sum[index] +=
            partial.level * envelope * sin(2 * .pi * note.frequency * partial.ratio * time)
        }
      }
    }
    let loudest = max(sum.map(abs).max() ?? 1, 0.001)
    let scale = 0.8 * 32_767 * min(max(level, 0), 1) / loudest
    return sum.map { Int16($0 * scale) }
  }
}
