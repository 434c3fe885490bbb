import Files

/// The shell command with which git runs ssh, if it is OpenSSH and can be extended by options.
enum SSHCommand {
  /// git's command if the user has set none.
  static let standard = "ssh"

  /// Finds the command as git does. Returns nil if it is another program, or uses shell syntax.
  ///
  /// - Parameters:
  ///   - repository: The folder of the repository, whose configuration may set `core.sshCommand`.
  ///   - variables: The environment variables.
  static func find(in repository: String, variables: [String: String]) async -> String? {
    let settings = await settings(in: repository, variables)
    for variant in [variables["GIT_SSH_VARIANT"], settings.variant].compactMap({ $0 })
    where variant != "ssh" && variant != "auto" {
      return nil
    }
    if let command = variables["GIT_SSH_COMMAND"] ?? settings.command {
      return isPlain(command) ? command : nil
    }
    return variables["GIT_SSH"] == nil ? standard : nil
  }

  /// Returns true for a command line that consists of the program `ssh` and words without further shell syntax.
  static func isPlain(_ command: String) -> Bool {
    let words = command.split(separator: "'", omittingEmptySubsequences: false)
    // Every other part is in single quotes. A quoted part must be a whole word.
    guard words.count % 2 == 1, !command.contains(where: \.isNewline) else { return false }
    for (number, part) in words.enumerated() where number % 2 == 0 {
      guard part.utf8.allSatisfy(isPlain), number == 0 || part.isEmpty || part.hasPrefix(" "),
        number == words.count - 1 || part.hasSuffix(" ")
      else { return false }
    }
    let program = words[0].prefix { $0 != " " }
    return program == "ssh" || program.hasSuffix("/ssh") && !program.contains("=")
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: Array("/._:,@%+=~- ".utf8).contains(byte)
    }
  }

  // MARK: git's configuration

  private typealias Settings = (command: String?, variant: String?)

  private static func settings(
    in repository: String, _ variables: [String: String]
  ) async -> Settings {
    if let settings = librarySettings(in: repository, variables) { return settings }
    let outcome = try? await GitCommand.run(
      ["config", "--get-regexp", #"^(core\.sshcommand|ssh\.variant)$"#], in: repository)
    var result: Settings = (nil, nil)
    for line in outcome?.output.split(separator: "\n") ?? [] {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      if words[0] == "core.sshcommand" {
        result.command = words.count == 2 ? words[1] : ""
      } else if words[0] == "ssh.variant" {
        result.variant = words.count == 2 ? words[1] : ""
      }
    }
    return result
  }

  /// True if the system's configuration, which libgit2 always reads, may contain one of the settings.
  private static var systemMayMatter: Bool {
    do {
      guard let file = try DurableFile.read("/etc/gitconfig", limit: 64 << 10) else { return false }
      let text = String(decoding: file.bytes, as: UTF8.self).lowercased()
      return ["sshcommand", "variant", "include"].contains { text.contains($0) }
    } catch {
      return true
    }
  }

  /// Returns git's settings as libgit2 reads them, without another process; nil if git might read others.
  private static func librarySettings(
    in repository: String, _ variables: [String: String]
  ) -> Settings? {
    let changing = [
      "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL",
      "GIT_CONFIG_SYSTEM",
    ]
    guard changing.allSatisfy({ variables[$0] == nil }),
      variables["GIT_CONFIG_NOSYSTEM"] == nil || !systemMayMatter
    else { return nil }
    do {
      let opened = try Repository.open(repository)
      // libgit2 ignores this condition of an inclusion.
      guard try opened.configuration(under: ["includeif.hasconfig:"]).isEmpty else { return nil }
      return (
        try opened.configuration("core.sshCommand"), try opened.configuration("ssh.variant")
      )
    } catch {
      return nil
    }
  }
}
