import BelfryCore
import BelfryStore
import Files
import Glibc

/// This device's configuration of the tasks on the phone, `phone.json` in the local state of the store.
public struct PhoneConfiguration: Hashable, Sendable {
  /// The absolute path of the folder.
  public var folder: String
  /// The name of the collection, which is the same for all devices that publish to it.
  public var collection: String
  /// The choices of the person.
  public var options: PhoneOptions
  /// The URL of the server, for the phone; nil if it is unknown.
  public var url: String?
  /// The device that was set up. A copy of the store on another machine does not publish.
  public var device: Identifier

  /// Creates a configuration.
  public init(
    folder: String, collection: String, options: PhoneOptions = PhoneOptions(), url: String? = nil,
    device: Identifier
  ) {
    self.folder = folder
    self.collection = collection
    self.options = options
    self.url = url
    self.device = device
  }

  private static let maxSize = 64 << 10

  /// Returns the path of the file of a store.
  public static func path(of store: Store) -> String { store.localFolder + "/phone.json" }

  /// Reads the configuration of this device; nil if there is none.
  public static func read(of store: Store) -> PhoneConfiguration? {
    guard let file = (try? DurableFile.read(path(of: store), limit: maxSize)) ?? nil,
      let json = try? JSON(parsing: file.bytes),
      let configuration = PhoneConfiguration(json), configuration.device == store.device
    else { return nil }
    return configuration
  }

  /// Writes the configuration.
  public func write(to store: Store) throws {
    let path = PhoneConfiguration.path(of: store)
    try DurableFile.write(json.document, to: path, temporary: "\(path).new", mode: 0o600)
  }

  /// Removes the configuration of a store.
  public static func remove(of store: Store) { _ = unlink(path(of: store)) }

  private init?(_ json: JSON) {
    guard let folder = json["folder"]?.string, let collection = json["collection"]?.string,
      let device = json["device"]?.string.flatMap({ Identifier($0) })
    else { return nil }
    let tags = (json["tags"]?.array ?? []).compactMap { $0.string }.compactMap { try? AlarmTag($0) }
    self.init(
      folder: folder, collection: collection,
      options: PhoneOptions(
        tags: Set(tags), isNeutral: json["neutral"]?.bool ?? false,
        acceptsEdits: json["edits"]?.bool ?? true), url: json["url"]?.string, device: device)
  }

  private var json: JSON {
    .object(omittingNil: [
      "folder": .string(folder), "collection": .string(collection), "device": .string(device.text),
      "tags": options.tags.isEmpty
        ? nil : .array(options.tags.map(\.text).sorted().map { .string($0) }),
      "neutral": options.isNeutral ? true : nil, "edits": options.acceptsEdits ? nil : false,
      "url": url.map { .string($0) },
    ])
  }
}
