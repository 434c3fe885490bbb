import BelfryCore
import Files
import Glibc

extension Repair {
  /// Creates the folder `.git/belfry` if something else is in its place, which is moved to the quarantine.
  ///
  /// This runs before the store is opened, because there is no lock without the folder. The folder's content, such as
  /// the device's identity, is lost.
  ///
  /// - Parameters:
  ///   - path: The store's folder.
  ///   - context: The environment of the repair.
  /// - Returns: The change; nil if none was necessary.
  public static func repairLocalFolder(
    of path: String, context: StoreContext
  ) throws -> RepairedItem? {
    guard let local = try Store.existing(path, context: context)?.local, local.isReplaced else {
      return nil
    }
    let aside = "\(local.folder).\(context.makeIdentifier().short)"
    guard rename(local.folder, aside) == 0 else { throw FileError("move", local.folder) }
    try DurableFile.makeFolder(local.folder, mode: 0o700)
    let destination = try Quarantine(local, now: context.now).take(aside, as: "belfry")
    return .quarantined(path: local.folder, to: destination)
  }
}
