import BelfryCore
import BelfryStore
import Foundation
import TestSupport
import Testing

@testable import BelfryScheduler

/// The daemon takes over what changes while it runs: files, records of devices, and the store itself.
@Suite struct DaemonReloadTests {
  private static func identifiers(in bench: DaemonBench) throws -> [Identifier] {
    try FileManager.default.contentsOfDirectory(atPath: bench.sandbox.store + "/alarms")
      .compactMap { $0.hasSuffix(".json") ? Identifier($0.dropLast(5)) : nil }.sorted()
  }

  /// Returns the store of a daemon, opened by this process.
  private static func store(of bench: DaemonBench) throws -> Store {
    let context = StoreContext(
      now: bench.now, zones: ZoneLibrary(variable: "UTC"), deviceName: "laptop", machine: "",
      user: geteuid(), makeIdentifier: TestIdentifier.make, random: { $0.lowerBound })
    return try #require(try Store.existing(bench.sandbox.store, context: context))
  }

  @Test("Alarms that are due and whose files change one after the other share a notification")
  func changedOneByOne() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:55:00Z")
    // Otherwise it reads the files in a round.
    bench.seesAllChanges = true
    try await bench.start()
    for number in 10..<40 {
      try await bench.belfry("add", "Alarm \(number)", "--daily", "--at", "09:00")
    }
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    try bench.sandbox.write(
      "#!/bin/sh\necho \"$BELFRY_HEADLINE\" >> '\(bench.sandbox.rang)'\n",
      to: bench.sandbox.hooks + "/notify", mode: 0o755)
    for id in try DaemonReloadTests.identifiers(in: bench) {
      try await bench.handle(.alarms([id]))
      #expect(bench.rings.isEmpty)
    }
    try await bench.wait(until: "2026-11-20T09:00:07Z")
    #expect(bench.rings == ["30 alarms ring"])
  }

  @Test("Files that change without a pause are read after a second")
  func changedWithoutPause() throws {
    var files = ChangedAlarmFiles()
    let (start, alarm) = (Instant(seconds: 1_000), TestIdentifier.make())
    var now = start
    #expect(files.nextWake == nil)
    while now.milliseconds < start.milliseconds + 1_000 {
      files.insert([alarm], at: now)
      #expect(files.take(at: now) == nil)
      now.milliseconds += 50
    }
    #expect(files.take(at: now) == [alarm])
    #expect(files.nextWake == nil)
  }

  @Test("A change of the settings or of a device's record causes an evaluation of every alarm")
  func changedRecords() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Tea", "--daily", "--at", "09:00")
    let store = try DaemonReloadTests.store(of: bench)
    var alarms = AlarmQueue()
    let all = Set(alarms.read(nil, store))
    _ = alarms.readSettings(store)
    _ = alarms.readDevices(store)
    #expect(all.count == 1 && alarms.readSettings(store) == [] && alarms.readDevices(store) == [])
    try await bench.belfry("device", "--owner", "Jen")
    #expect(alarms.readSettings(store) == [] && alarms.readDevices(store) == all)
    try await bench.belfry("settings", "set", "grace", "1h")
    #expect(alarms.readSettings(store) == all && alarms.readDevices(store) == [])
    #expect(alarms.settings.grace == 3600)
  }

  @Test("The daemon sends heartbeats while another device publishes tasks of the same collection")
  func sharedCollection() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Tea", "--daily", "--at", "09:00")
    let store = try DaemonReloadTests.store(of: bench)
    let other = Device(
      id: TestIdentifier.make(), name: "server", created: bench.now, phone: "Phone")
    try bench.sandbox.write(
      String(decoding: DeviceRecord.encode(other), as: UTF8.self),
      to: "\(bench.sandbox.store)/\(DeviceRecord.path(other.id))")
    var alarms = AlarmQueue()
    for (collection, needsHeartbeats) in [("Tablet", false), ("Phone", true), (nil, false)] {
      try store.devices.publish(to: collection)
      _ = alarms.readDevices(store)
      #expect(alarms.needsHeartbeats == needsHeartbeats, "\(collection ?? "none")")
    }
  }

  @Test("The settings count after a poke, also where no change of a file is reported")
  func settingsAfterPoke() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Tea", "--daily", "--at", "09:00")
    try bench.sandbox.write(
      "#!/bin/sh\necho \"$BELFRY_ACTIONS\" >> '\(bench.sandbox.rang)'\n",
      to: bench.sandbox.hooks + "/notify", mode: 0o755)
    try await bench.start()
    try await bench.belfry("settings", "set", "snoozeEnabled", "off")
    try await bench.handle(.poke)
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    #expect(bench.rings == ["stop done skip"])
  }

  @Test("Another store in the place of the store replaces its alarms, and is named in the log")
  func storeReplaced() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    let (store, other) = (bench.sandbox.store, bench.sandbox.root + "/other")
    try bench.sandbox.write("", to: bench.sandbox.root + "/stay")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00", "--persistent")
    try await bench.belfry("add", "Milk", "--daily", "--at", "10:00", "--persistent")
    try await bench.belfry("add", "Tea", "--daily", "--at", "10:00", "--store", other)
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    #expect(bench.rings == ["firing Rent 2026-11-20T09:00 false"])
    #expect(bench.activeDeliveries.identities.count == 1)
    try FileManager.default.moveItem(atPath: store, toPath: bench.sandbox.root + "/away")
    try FileManager.default.moveItem(atPath: other, toPath: store)
    try await bench.handle(.everything)
    await bench.activeDeliveries.idle()
    #expect(bench.activeDeliveries.identities.isEmpty)
    let replacement = bench.reopening
    guard replacement.count == 1, case .storeReplaced(store, alarms: 1) = replacement[0] else {
      Issue.record("\(String(describing: replacement))")
      return
    }
    try await bench.wait(until: "2026-11-20T10:00:05Z")
    #expect(
      bench.rings == ["firing Rent 2026-11-20T09:00 false", "firing Tea 2026-11-20T10:00 false"])
    await bench.activeDeliveries.close()
  }

  @Test("A folder that is no store in the place of the store counts as a missing store")
  func replacedByNoStore() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    let store = bench.sandbox.store
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try await bench.start()
    try FileManager.default.moveItem(atPath: store, toPath: bench.sandbox.root + "/away")
    try FileManager.default.createDirectory(
      atPath: store + "/.git/belfry", withIntermediateDirectories: true)
    try await bench.handle(.everything)
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    #expect(bench.rings == ["firing Rent 2026-11-20T09:00 false"])
  }
}

/// The watch of the folders and links on the way to the store.
@Suite struct StoreWayTests {
  @Test("The way contains each folder and each link, with the folders behind the links")
  func parts() throws {
    let sandbox = try Sandbox()
    let root = sandbox.root + "/way"
    let manager = FileManager.default
    try manager.createDirectory(atPath: root + "/disk/one", withIntermediateDirectories: true)
    try manager.createDirectory(atPath: root + "/home", withIntermediateDirectories: true)
    try manager.createSymbolicLink(
      atPath: root + "/home/store", withDestinationPath: "../disk/./one")
    try manager.createSymbolicLink(atPath: root + "/short", withDestinationPath: root + "/home")
    let way = StoreWay(to: [root + "/short/store/inner"])
    #expect(way.links == [root + "/short", root + "/home/store"])
    #expect(
      way.folders.filter { $0.hasPrefix(root) } == [
        root, root + "/home", root + "/disk", root + "/disk/one",
      ])
    #expect(way.folders.first == "/" + root.split(separator: "/")[0])
    try manager.createSymbolicLink(atPath: root + "/loop", withDestinationPath: "loop")
    #expect(StoreWay(to: [root + "/loop"]).links == [root + "/loop"])
  }

  @Test("A switched link and a moved folder are reported, and other files beside them are not")
  func reports() throws {
    let sandbox = try Sandbox()
    let (root, manager) = (sandbox.root + "/way", FileManager.default)
    for name in ["one/alarms", "two/alarms"] {
      try manager.createDirectory(atPath: "\(root)/\(name)", withIntermediateDirectories: true)
    }
    let link = root + "/link"
    try manager.createSymbolicLink(atPath: link, withDestinationPath: "one")
    let watch = try StoreWatch(
      store: link, local: link, localTime: root + "/one/none/localtime", zones: root + "/zones")
    watch.begin()
    #expect(watch.seesReplacement)
    try sandbox.write("", to: root + "/file")
    try manager.createDirectory(atPath: root + "/folder", withIntermediateDirectories: true)
    try manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: root + "/two")
    #expect(watch.readEvents().isEmpty)
    try manager.createSymbolicLink(atPath: root + "/new", withDestinationPath: "two")
    #expect(rename(root + "/new", link) == 0)
    #expect(watch.readEvents() == [.everything])
    _ = watch.readEvents()
    // The former folder is no longer of interest.
    try manager.moveItem(atPath: root + "/one", toPath: root + "/former")
    #expect(watch.readEvents().isEmpty)
    try manager.moveItem(atPath: root + "/two", toPath: root + "/moved")
    #expect(watch.readEvents() == [.everything])
  }
}
