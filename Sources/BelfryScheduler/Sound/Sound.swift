import Glibc

/// A built-in sound, synthesized from a few notes.
public struct Sound: Hashable, Sendable {
  /// The name of the sound, as in the setting `sound`.
  public let name: String
  /// A short description, for a list.
  public let summary: String
  let notes: [Note]

  /// A struck tone: its partials start together and decay.
  struct Note: Hashable, Sendable {
    /// The frequency of the fundamental, in hertz.
    var frequency: Double
    /// The start of the note, in seconds.
    var start: Double
    /// The time in which the amplitude falls to 1/e, in seconds.
    var decay: Double
    /// The partials of the tone.
    var partials: [Partial] = Partial.pure

    /// A partial of a tone.
    struct Partial: Hashable, Sendable {
      /// The frequency as a multiple of the fundamental.
      let ratio: Double
      /// The relative amplitude.
      let level: Double

      /// A sine tone.
      static let pure = [Partial(ratio: 1, level: 1)]
      /// The partials of a church bell, from the hum to the nominal and above.
      static let bell = [
        Partial(ratio: 0.5, level: 0.5), Partial(ratio: 1, level: 1),
        Partial(ratio: 1.2, level: 0.6), Partial(ratio: 1.5, level: 0.4),
        Partial(ratio: 2, level: 0.7), Partial(ratio: 2.67, level: 0.25),
      ]
      /// The partials of a wooden bar.
      static let bar = [Partial(ratio: 1, level: 1), Partial(ratio: 3.93, level: 0.3)]
      /// The odd partials, like those of a reed.
      static let reed = [
        Partial(ratio: 1, level: 1), Partial(ratio: 3, level: 0.4), Partial(ratio: 5, level: 0.2),
      ]
    }
  }

  /// The built-in sounds. The first one is the default.
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
      name: "marimba", summary: "a short run on wooden bars",
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
      name: "tritone", summary: "three notes, like a phone",
      notes: [(987.77, 0), (1318.51, 0.16), (1174.66, 0.32)].map {
        Note(frequency: $0.0, start: $0.1, decay: 0.35, partials: Note.Partial.bar)
      }),
  ]

  /// Returns the sound with a name; nil if there is none.
  public static func named(_ name: String) -> Sound? { all.first { $0.name == name } }

  /// Returns the sound with a name, or nil for `none`.
  ///
  /// An unknown name selects the first sound, so that no alarm is silent because of it.
  public static func chosen(_ name: String) -> Sound? {
    name == silence ? nil : named(name) ?? all[0]
  }

  // MARK: Samples

  /// The sampling rate, in hertz.
  private static let rate = 22_050

  /// The name that selects no sound.
  public static let silence = "none"

  /// Returns true for the name of a sound and for `none`.
  public static func isKnown(_ name: String) -> Bool { name == silence || named(name) != nil }

  /// Returns the sound as a WAV file: one channel, 16 bits, 22,050 Hz, with a short silence at the end.
  ///
  /// - Parameter level: the volume from 0 to 1.
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

  /// The duration including the silence at the end, in seconds.
  public var duration: Double { (notes.map { $0.start + 4 * $0.decay }.max() ?? 0) + 0.4 }

  private func samples(_ level: Double) -> [Int16] {
    var sum = [Double](repeating: 0, count: Int(duration * Double(Sound.rate)))
    for note in notes {
      let first = Int(note.start * Double(Sound.rate))
      for index in first..<Int((note.start + 4 * note.decay) * Double(Sound.rate)) {
        let time = Double(index - first) / Double(Sound.rate)
        // An attack of 5 ms avoids a click.
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
