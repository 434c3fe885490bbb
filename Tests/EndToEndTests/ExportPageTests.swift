import Foundation
import FoundationXML
import TestSupport
import Testing

/// `belfry export --format html`: the page of a store, and the file that follows it.
@Suite struct ExportPageTests {
  @Test("The page has the alarms, what is open and what was missed")
  func content() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    let title = "<script>alert(1)</script> & \"Rent\""
    _ = try await sandbox.belfry("add", title, "--weekly", "mon", "--at", "09:00", "--note", "a\nb")
    _ = try await sandbox.belfry("add", "Pills", "--daily", "--at", "08:00,21:00", "--tag", "home")
    _ = try await sandbox.belfry("tick", now: "2026-11-21T08:00:10Z")
    _ = try await sandbox.belfry("done", "pills", now: "2026-11-21T08:05:00Z")
    _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:10Z")
    let page = try await sandbox.belfry("export", "--format", "html", now: "2026-11-23T09:01:00Z")
    #expect(page.status == 0, "\(page.err)")
    #expect(page.err.isEmpty, "\(page.err)")
    #expect(XMLParser(data: Data(page.out.utf8)).parse())
    let shown = "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;Rent&quot;"
    #expect(page.out.contains("<bdi>\(shown)</bdi>"))
    #expect(!page.out.contains("<script"))
    #expect(page.out.contains("As of Mon 23 Nov 2026, 09:01 (UTC)"))
    #expect(page.out.contains("<td class=\"open\">ringing</td>"))
    #expect(page.out.contains("<td class=\"missed\">missed"))
    #expect(page.out.contains("November 2026: 1 done"))
    // Every occurrence of a day is one entry: on the 30th, two of Pills and one of Rent are ahead.
    let day = try #require(page.out.components(separatedBy: "datetime=\"2026-11-30\"").last)
    let cell = String(day.prefix { $0 != "\n" }).components(separatedBy: "</td>")[0]
    #expect(cell.contains("08:00 <bdi>Pills</bdi> ×2"), "\(cell)")
    #expect(cell.contains("09:00 <bdi>\(shown)</bdi>"), "\(cell)")
  }

  @Test("A page changes no record and needs no alarm")
  func emptyStore() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily")
    _ = try await sandbox.belfry("delete", "tea", "--yes")
    let head = try await sandbox.git("rev-parse", "HEAD").out
    let page = try await sandbox.belfry("export", "--format", "html")
    #expect(page.out.contains("No alarms yet."))
    #expect(XMLParser(data: Data(page.out.utf8)).parse())
    #expect(try await sandbox.git("rev-parse", "HEAD").out == head)
  }

  @Test("With --watch the file follows the store, and Ctrl-C ends it with status 0")
  func watch() async throws {
    let sandbox = try await Sandbox.withTea()
    let file = sandbox.root + "/alarms.html"
    try sandbox.write(
      """
      #!/bin/bash
      \(sandbox.waitFor)
      set -m
      '\(Sandbox.binary)' export --format html --output '\(file)' --watch 2>'\(sandbox.root)/watch.err' &
      watch=$!
      wait_for grep -q 'replaces it until Ctrl-C' '\(sandbox.root)/watch.err'
      grep -q Tea '\(file)' || echo "no Tea"
      first=$(stat -c %i '\(file)')
      '\(Sandbox.binary)' edit tea --title Coffee >/dev/null
      wait_for grep -q Coffee '\(file)'
      [ "$(stat -c %i '\(file)')" != "$first" ] || echo "not replaced"
      '\(Sandbox.binary)' add Rent --daily --at 12:00 >/dev/null
      wait_for grep -q Rent '\(file)'
      kill -INT $watch
      wait $watch
      echo "ended with $?"
      ls '\(sandbox.root)' | grep new- || true

      """, to: sandbox.root + "/watch.sh", mode: 0o755)
    let output = try await sandbox.run(
      "/bin/bash", [sandbox.root + "/watch.sh"],
      environment: ["TZ": "UTC", "BELFRY_NOW": "2026-11-20T22:41:00Z", "BELFRY_DEVICE": "laptop"])
    #expect(output.out == "ended with 0\n", "\(output.out)\(output.err)")
    #expect(XMLParser(data: Data(try sandbox.read(file).utf8)).parse())
  }

  @Test(arguments: [["--watch"], ["--format", "html", "--watch"], ["--format", "pdf"]])
  func wrongUsage(_ options: [String]) async throws {
    let sandbox = try await Sandbox.withTea()
    #expect(try await sandbox.belfry(["export"] + options).status == 2)
  }

  @Test("A page that cannot be written is an error")
  func noFolder() async throws {
    let sandbox = try await Sandbox.withTea()
    for options in [[], ["--watch"]] {
      let output = try await sandbox.belfry(
        ["export", "--format", "html", "-o", sandbox.root + "/none/x.html"] + options)
      #expect(output.status == 1, "\(output.err)")
    }
  }
}
