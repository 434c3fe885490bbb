import Testing

@testable import BelfryScheduler

/// The control sequences of notifications, and the terminals that get them.
@Suite struct TerminalNoticeTests {
  @Test("Only a terminal that is known to understand a sequence gets one")
  func terminals() {
    func notice(_ variables: [String: String]) -> TerminalNotice? { TerminalNotice(variables) }
    #expect(notice(["TERM": "xterm-kitty"]) == .osc99)
    #expect(notice(["TERM": "foot"]) == .osc777)
    #expect(notice(["TERM": "foot-extra"]) == .osc777)
    #expect(notice(["TERM": "xterm-ghostty"]) == .osc777)
    #expect(notice(["TERM": "rxvt-unicode-256color"]) == .osc777)
    #expect(notice(["TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"]) == .osc777)
    #expect(notice(["TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"]) == .osc9)
    #expect(notice(["TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"]) == .osc9)
    for term in [
      "xterm", "xterm-256color", "tmux-256color", "screen", "linux", "footer", "", "dumb",
    ] {
      #expect(notice(["TERM": term]) == nil, "\(term)")
    }
    #expect(notice([:]) == nil)
    // Inherited from another terminal.
    let kitty = ["TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"]
    #expect(notice(kitty) == nil)
    for mark in ["VTE_VERSION", "XTERM_VERSION", "TMUX"] {
      let inherited = ["TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm", mark: "1"]
      #expect(notice(inherited) == nil, "\(mark)")
    }
    #expect(notice(["TERM": "tmux-256color", "TERM_PROGRAM": "WezTerm"]) == nil)
  }

  @Test("A sequence has no control characters of the text, and a separator only where it belongs")
  func sequences() {
    let lines = ["** Rent;x\u{1B}]0;y\u{7}", "   9;4\u{9C}z"]
    #expect(
      TerminalNotice.osc9.sequence(lines)
        == "\u{1B}]9;Belfry: Rent;x]0;y - 9;4z\u{1B}\\")
    #expect(
      TerminalNotice.osc777.sequence(lines)
        == "\u{1B}]777;notify;Rent,x]0,y;9,4z\u{1B}\\")
    #expect(
      TerminalNotice.osc99.sequence(lines)
        == "\u{1B}]99;i=belfry:d=0;Rent;x]0;y\u{1B}\\\u{1B}]99;i=belfry:p=body;9;4z\u{1B}\\")
    #expect(TerminalNotice.osc99.sequence(["Rent"]) == "\u{1B}]99;i=belfry:d=1;Rent\u{1B}\\")
    #expect(TerminalNotice.osc9.sequence([" \u{7}"]).isEmpty)
    let long = String(repeating: "x", count: 10_000)
    #expect(TerminalNotice.osc777.sequence([long, long]).utf8.count < 500)
  }
}
