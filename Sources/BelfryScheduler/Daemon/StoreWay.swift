import Glibc

/// The folders and symbolic links that the system passes through on the way to some paths. Another folder takes the place
/// of a path only if one of them is moved, removed or replaced, or if a file system is mounted over one.
struct StoreWay {
  /// The folders, without the root folder. No part of their paths is a link.
  private(set) var folders: [String] = []
  /// The symbolic links.
  private(set) var links: [String] = []

  /// The maximum number of links of one path, as in Linux.
  private static let maxLinks = 40

  /// Finds the folders and links. A path that does not exist counts up to its last existing part.
  init(to paths: [String]) {
    for path in paths { follow(path) }
  }

  private mutating func follow(_ path: String) {
    var parts = path.split(separator: "/").map(String.init)[...]
    var current: [String] = []
    var linkCount = 0
    while let part = parts.popFirst() {
      if part == "." { continue }
      if part == ".." {
        current = current.dropLast()
        continue
      }
      let place = "/" + (current + [part]).joined(separator: "/")
      var status = stat()
      guard lstat(place, &status) == 0 else { return }
      guard status.st_mode & S_IFMT == S_IFLNK else {
        if !folders.contains(place) { folders.append(place) }
        current.append(part)
        continue
      }
      if !links.contains(place) { links.append(place) }
      linkCount += 1
      guard linkCount <= StoreWay.maxLinks, let target = StoreWay.target(of: place) else { return }
      if target.hasPrefix("/") { current = [] }
      parts = target.split(separator: "/").map(String.init) + parts
    }
  }

  /// Returns the target of a symbolic link; nil if it cannot be read.
  private static func target(of link: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(link, &buffer, buffer.count)
    return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
  }
}
