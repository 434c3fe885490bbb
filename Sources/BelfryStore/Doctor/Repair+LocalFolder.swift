import BelfryCore
import Git
import Glibc

extension Repair {
  /// Makes the folder `.git/belfry` anew where something else lies in its place, which is moved into the quarantine.
  ///
  /// Before the store is opened: without the folder there is no lock. What was in the folder, such as the device's
  /// identity, is lost.
  ///
  /// - Parameter path: the store's folder.
  /// - Returns: what was done; nil when there was nothing to do.
  public static func mendLocalFolder(
    of path: String, context: StoreContext
  ) throws -> Mended? {
    guard let local = try Store.existing(path, context: context)?.local, local.isReplaced else {
      return nil
    }
    let aside = "\(local.folder).\(context.makeIdentifier().short)"
    guard rename(local.folder, aside) == 0 else { throw FileError("move", local.folder) }
    try DurableFile.makeFolder(local.folder, mode: 0o700)
    let place = try Quarantine(local, now: context.now).take(aside, as: "belfry")
    return .quarantined(path: local.folder, to: place)
  }
}
