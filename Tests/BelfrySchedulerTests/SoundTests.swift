import BelfryScheduler
import Testing

@Suite struct SoundTests {
  @Test(arguments: Sound.all)
  func everySoundIsAnAudibleWaveFile(_ sound: Sound) {
    let wav = sound.wav()
    #expect(Array("RIFF".utf8) == Array(wav[0..<4]))
    #expect(Array("WAVEfmt ".utf8) == Array(wav[8..<16]))
    func number(_ offset: Int) -> Int {
      (0..<4).reduce(0) { $0 | Int(wav[offset + $1]) << (8 * $1) }
    }
    #expect(number(4) == wav.count - 8)
    #expect(number(24) == 22_050)
    #expect(number(40) == wav.count - 44)
    let samples = stride(from: 44, to: wav.count - 1, by: 2).map {
      Int16(bitPattern: UInt16(wav[$0]) | UInt16(wav[$0 + 1]) << 8)
    }
    let loudest = samples.map { abs(Int($0)) }.max() ?? 0
    #expect((25_000...27_000).contains(loudest))
    // Half a second to eight, and quiet at the end so that it can be repeated.
    #expect((11_025...176_400).contains(samples.count))
    #expect(samples.suffix(200).allSatisfy { abs(Int($0)) < 1500 })
  }

  @Test func anUnknownSoundStillPlaysASound() {
    #expect(Sound.named("nothing") == nil)
    #expect(Sound.chosen("nothing") == Sound.all[0])
    #expect(Sound.chosen("none") == nil)
  }
}
