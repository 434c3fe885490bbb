import BelfryScheduler
import BelfryTerminal

extension CommandContext {
  /// Makes `calls.json` private if other users can read it, and warns that they may have read the secret in it.
  func restrictCallsFile() {
    guard let mode = CallProvider.exposure(of: callsFile) else { return }
    let path = Printable.text(callsFile)
    let shown = "0\(String(mode, radix: 8))"
    do {
      try CallProvider.restrict(callsFile)
      CommandDiagnostic.warn(
        "\(path) was open to others (mode \(shown)); it is private now.",
        hints: ["If anyone else uses this machine, change the password or token at your provider."])
    } catch {
      CommandDiagnostic.warn(
        "\(path) is open to others (mode \(shown)).", hints: ["Make it private: chmod 600 \(path)"])
    }
  }
}
