import Glibc

// A write to a named pipe wakes the daemon. Every commit to the store does so.

extension Store {
  /// The path of the named pipe that wakes the daemon when something is written to it.
  public var pokePath: String { local.poke }

  /// Wakes the daemon of this store. Returns true if there is one.
  @discardableResult public func pokeDaemon() -> Bool { local.pokeDaemon() }
}

extension LocalState {
  /// Wakes the daemon. Returns true if there is one.
  @discardableResult func pokeDaemon() -> Bool {
    // The pipe can be opened only if a daemon reads from it.
    let pipe = Glibc.open(poke, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
    guard pipe >= 0 else { return false }
    defer { close(pipe) }
    var byte = UInt8(ascii: "p")
    // A full pipe already contains enough pokes.
    return Glibc.write(pipe, &byte, 1) == 1 || errno == EAGAIN
  }
}
