/// A command that needs the terminal from its start: it shows a screen, holds a dialogue, or runs until it is stopped.
///
/// The full screen leaves the terminal to such a command. A command that only asks in some cases throws an error then, with
/// `CommandError.needingTerminal()`, before it changes anything; the full screen runs it again on the terminal.
protocol TerminalCommand: SendableMetatype {
  /// True if these arguments need the terminal.
  var needsTerminal: Bool { get }
}

extension Ring: TerminalCommand {
  var needsTerminal: Bool { true }
}

extension DaemonCommand: TerminalCommand {
  var needsTerminal: Bool { true }
}

extension Export: TerminalCommand {
  var needsTerminal: Bool { watch }
}

extension Status: TerminalCommand {
  var needsTerminal: Bool { follow }
}

extension PhoneSetupCommand: TerminalCommand {
  var needsTerminal: Bool { !yes && !common.json }
}

extension PartnerInvite: TerminalCommand {
  var needsTerminal: Bool { !pairing.noWait && !common.json }
}

extension PartnerAccept: TerminalCommand {
  var needsTerminal: Bool { !pairing.noWait && !common.json }
}

extension PartnerKeysImport: TerminalCommand {
  var needsTerminal: Bool { true }
}
