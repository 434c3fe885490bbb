import Foundation
import TestSupport

/// Runs fleets for a range of seeds in parallel, and prints the seeds that fail.
///
/// Usage: `fleet FIRST COUNT`. `fleet --story SEED` prints the events of one seed.
@main
enum Main {
  /// The length of a simulation, in steps of minutes to hours.
  private static let steps = 45

  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.count == 2, arguments[0] == "--story", let seed = UInt64(arguments[1]) {
      exit(await run(seed, tells: true) ? 0 : 1)
    }
    guard arguments.count == 2, let first = UInt64(arguments[0]), let count = UInt64(arguments[1])
    else {
      print("Usage: fleet FIRST COUNT, or fleet --story SEED")
      exit(2)
    }
    let seeds = Array(first..<(first + count))
    let failed = await withTaskGroup(of: Bool.self) { group in
      var failed = 0
      for (index, seed) in seeds.enumerated() {
        if index >= ProcessInfo.processInfo.activeProcessorCount, await group.next() == false {
          failed += 1
        }
        group.addTask { await run(seed, tells: false) }
      }
      for await holds in group where !holds { failed += 1 }
      return failed
    }
    print("\(seeds.count) fleets from seed \(first): \(failed) failed")
    exit(failed == 0 ? 0 : 1)
  }

  /// Runs the hour of an alarm with a cascade.
  private static func cascadeRun(_ seed: UInt64, tells: Bool) async -> Bool {
    do {
      let fleet = try await CascadeFleet(seed: seed)
      defer { if tells { print(fleet.story.joined(separator: "\n")) } }
      do {
        try await fleet.live()
        try fleet.check()
        return true
      } catch {
        print(
          "seed \(seed), a cascade: \(error)",
          "  look at it: Tests/Simulation/run --story \(seed)", separator: "\n")
        return false
      }
    } catch {
      print("seed \(seed), a cascade: \(error)")
      return false
    }
  }

  /// The length of a simulation with a phone, in steps.
  private static let phoneSteps = 24

  /// Runs some days with a phone.
  private static func phoneRun(_ seed: UInt64, tells: Bool) async -> Bool {
    do {
      let fleet = try await PhoneFleet(seed: seed)
      defer { if tells { print(fleet.story.joined(separator: "\n")) } }
      do {
        try await fleet.live(steps: phoneSteps)
        try await fleet.check()
        return true
      } catch {
        print(
          "seed \(seed), a phone: \(error)",
          "  look at it: Tests/Simulation/run --story \(seed)", separator: "\n")
        return false
      }
    } catch {
      print("seed \(seed), a phone: \(error)")
      return false
    }
  }

  private static func run(_ seed: UInt64, tells: Bool) async -> Bool {
    do {
      guard await cascadeRun(seed, tells: tells), await phoneRun(seed, tells: tells) else {
        return false
      }
      let fleet = try await Fleet(seed: seed)
      defer { if tells { print(fleet.story.joined(separator: "\n")) } }
      do {
        try await fleet.live(steps: steps)
        try await fleet.check()
        return true
      } catch {
        print(
          "seed \(seed), \(fleet.devices.count) devices: \(error)",
          "  look at it: Tests/Simulation/run --story \(seed)", separator: "\n")
        return false
      }
    } catch {
      print("seed \(seed): \(error)")
      return false
    }
  }
}
