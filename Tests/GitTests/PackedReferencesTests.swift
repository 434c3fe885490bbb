import Testing

@testable import Git

/// Tests of reading a damaged `packed-refs` file.
@Suite struct PackedReferencesTests {
  private static let (one, two) = (
    String(repeating: "1", count: 40), String(repeating: "2", count: 40)
  )
  private static let whole = """
    # pack-refs with: peeled fully-peeled sorted\u{20}
    \(one) refs/heads/main
    \(two) refs/tags/v1
    ^\(one)

    """

  private func read(_ text: String) -> PackedReferences {
    PackedReferences(path: "packed-refs", text.utf8)
  }

  @Test func intactFileHasNoDamage() {
    #expect(!read(PackedReferencesTests.whole).isDamaged)
    #expect(!read("").isDamaged)
  }

  @Test(arguments: [
    "garbage\n", "\(one) refs/heads/a b\n", "\(one)refs/heads/a\n", "\(one) heads/a\n",
    "# a comment\n", "\(one.dropLast()) refs/heads/a\n", "\n", "\u{0}\u{1}\u{2}\n",
    "<<<<<<< HEAD\n",
  ])
  func invalidLineIsDroppedAndOthersAreKept(_ line: String) {
    let damaged = read(PackedReferencesTests.whole + line)
    #expect(damaged.damagedLines == 1)
    let (one, two) = (PackedReferencesTests.one, PackedReferencesTests.two)
    let mended = String(decoding: damaged.mended, as: UTF8.self)
    #expect(mended == "\(one) refs/heads/main\n\(two) refs/tags/v1\n")
    #expect(!read(mended).isDamaged)
  }

  @Test func lastLineWithoutLineFeedIsKept() {
    let cut = read("\(PackedReferencesTests.one) refs/heads/main")
    #expect(cut.damagedLines == 1)
    #expect(
      String(decoding: cut.mended, as: UTF8.self)
        == "\(PackedReferencesTests.one) refs/heads/main\n")
  }
}
