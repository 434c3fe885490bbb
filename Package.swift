// swift-tools-version: 6.2
import Glibc
import PackageDescription

let argumentParser: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser")
let subprocess: Target.Dependency = .product(name: "Subprocess", package: "swift-subprocess")

let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")

/// True for a release build that checks its assertions: `Tests/run --invariants`.
let hasAssertions = Context.environment["BELFRY_INVARIANTS"] != nil

/// The tests reach internal declarations in release builds, too, so that one build serves the binary and its tests.
let testable: [SwiftSetting] = [
  .unsafeFlags(
    ["-enable-testing"] + (hasAssertions ? ["-assert-config", "Debug"] : []),
    .when(configuration: .release))
]

/// Test code is compiled quickly instead of optimized. No other module waits for the test modules, so they are not
/// compiled twice to be available early.
let unoptimized: [SwiftSetting] = [
  .unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"], .when(configuration: .release))
]

/// The option for compact relocations, which the dynamic loader of glibc 2.36 and later reads.
let compactRelocations: [String] = {
  var name = [CChar](repeating: 0, count: 64)
  guard confstr(Int32(_CS_GNU_LIBC_VERSION), &name, name.count) > 0 else { return [] }
  let text = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
  let version = text.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
  return version.lexicographicallyPrecedes([2, 36])
    ? [] : ["-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"]
}()

/// The commit that the scripts pass for `belfry --version`.
///
/// `Context.gitInformation` is no alternative: SwiftPM does not read the manifest again after a commit, but it does if
/// the environment has changed.
let commit = Context.environment["BELFRY_COMMIT"] ?? ""

let package = Package(
  name: "belfry",
  products: [
    .executable(name: "belfry", targets: ["belfry"])
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    // For `swift package generate-documentation`. The binary does not contain it.
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
    // Without Foundation: the binary then links statically and starts in a few milliseconds.
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
  ],
  targets: [
    // Arrows point one way: each target depends on those above it only.
    // Loads libgit2 on first use. The build needs only its headers.
    .target(name: "CLibgit2"),
    // Loads libsqlite3 on first use, too.
    .target(name: "CSQLite"),
    .systemLibrary(
      name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev", "pkg-config"])]),
    .systemLibrary(name: "CZlib"),
    .systemLibrary(name: "CPNG", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(name: "CLinux"),
    .target(name: "CBuild", cSettings: [.define("BELFRY_COMMIT", to: "\"\(commit)\"")]),
    .target(name: "Files", dependencies: ["CLinux", crypto], swiftSettings: testable),
    .target(
      name: "Git",
      dependencies: ["Files", "CLibgit2", "CLinux", "CZlib", subprocess, system, crypto],
      swiftSettings: testable),
    .target(name: "BelfryCore", swiftSettings: testable),
    .target(name: "BelfryInput", dependencies: ["BelfryCore"], swiftSettings: testable),
    .target(
      name: "BelfryStore",
      dependencies: ["BelfryCore", "Files", "Git", "CJansson", "CLinux", "CSQLite"],
      swiftSettings: testable),
    .target(
      name: "BelfryExchange", dependencies: ["BelfryCore", "BelfryStore", crypto],
      swiftSettings: testable),
    .target(
      name: "BelfryPartners",
      dependencies: ["BelfryCore", "BelfryStore", "Files", "Git", "CPNG", crypto],
      swiftSettings: testable),
    .target(
      name: "BelfryActions",
      dependencies: ["BelfryCore", "BelfryInput", "BelfryStore", "BelfryExchange"],
      swiftSettings: testable),
    .target(
      name: "BelfryPhone",
      dependencies: [
        "BelfryCore", "BelfryInput", "BelfryStore", "BelfryExchange", "BelfryActions", "Files",
        "Git", "CLinux",
      ],
      swiftSettings: testable),
    .target(
      name: "BelfryTerminal", dependencies: ["BelfryCore", "BelfryStore", "Git", "CLinux"],
      swiftSettings: testable),
    .target(
      name: "BelfryUI", dependencies: ["BelfryCore", "BelfryStore", "BelfryTerminal", "CLinux"],
      swiftSettings: testable),
    .target(
      name: "BelfryScheduler",
      dependencies: [
        "BelfryActions", "BelfryStore", "BelfryExchange", "BelfryPartners", "BelfryPhone",
        "BelfryTerminal", "Files", "Git", "CLinux", subprocess, system,
      ],
      swiftSettings: testable),
    .target(
      name: "BelfryDocuments",
      dependencies: [
        "BelfryCore", "BelfryStore", "BelfryExchange", "BelfryPartners", "BelfryPhone",
        "BelfryTerminal", "BelfryScheduler", "Git",
      ],
      swiftSettings: testable),
    .target(
      name: "BelfryCommands",
      dependencies: [
        "BelfryCore", "BelfryInput", "BelfryStore", "BelfryExchange", "BelfryPartners",
        "BelfryActions", "BelfryPhone", "BelfryTerminal", "BelfryUI", "BelfryScheduler",
        "BelfryDocuments", "Files", "Git", "CBuild", "CLinux", argumentParser, logging, subprocess,
        system,
      ],
      swiftSettings: testable),
    // The binary contains the Swift libraries, so that it starts in a few milliseconds, and on machines without Swift.
    // LLD writes the addresses that the dynamic loader adjusts in a compact form, which is read faster. The C++ library of
    // the Swift runtime is linked into the binary, too.
    .executableTarget(
      name: "belfry", dependencies: ["BelfryCommands"], exclude: ["StaticLibraries"],
      linkerSettings: [
        // The second library belongs to FoundationEssentials, which Crypto imports.
        .unsafeFlags(["-static-stdlib", "-l_FoundationCollections", "-l_FoundationCShims"]),
        .unsafeFlags(
          ["-use-ld=lld", "-L", "\(Context.packageDirectory)/Sources/belfry/StaticLibraries"]
            + ["-Xlinker", "-s", "-Xlinker", "--no-export-dynamic"] + compactRelocations,
          .when(configuration: .release)),
      ]),
    .testTarget(
      name: "BelfryCoreTests", dependencies: ["BelfryCore", "TestSupport"],
      swiftSettings: unoptimized),
    .testTarget(
      name: "BelfryInputTests", dependencies: ["BelfryInput", "BelfryCore", "TestSupport"],
      exclude: ["Phrases"], swiftSettings: unoptimized),
    .testTarget(
      name: "BelfryUITests", dependencies: ["BelfryUI", "BelfryCore", "BelfryTerminal"],
      exclude: ["Screens"], swiftSettings: unoptimized),
    .testTarget(
      name: "FilesTests", dependencies: ["Files", "TestSupport"], swiftSettings: unoptimized),
    .testTarget(
      name: "GitTests", dependencies: ["Git", "Files", "TestSupport"], swiftSettings: unoptimized),
    .testTarget(
      name: "BelfryStoreTests", dependencies: ["BelfryStore", "Files", "Git", "TestSupport"],
      exclude: ["Fixtures"], swiftSettings: unoptimized),
    .testTarget(
      name: "BelfryExchangeTests",
      dependencies: ["BelfryExchange", "BelfryStore", "TestSupport", crypto],
      swiftSettings: unoptimized),
    .testTarget(
      name: "BelfryPartnersTests",
      dependencies: ["BelfryPartners", "BelfryStore", "BelfryCore", "TestSupport", crypto],
      swiftSettings: unoptimized),
    .testTarget(
      name: "BelfryActionsTests",
      dependencies: [
        "BelfryActions", "BelfryExchange", "BelfryInput", "BelfryStore", "BelfryCore",
        "TestSupport",
      ],
      swiftSettings: unoptimized),
    .testTarget(
      name: "BelfryPhoneTests",
      dependencies: [
        "BelfryPhone", "BelfryActions", "BelfryExchange", "BelfryInput", "BelfryStore",
        "BelfryCore", "Files", "TestSupport",
      ],
      exclude: ["Fixtures"], swiftSettings: unoptimized),
    .testTarget(
      name: "BelfrySchedulerTests",
      dependencies: [
        "BelfryTerminal", "BelfryScheduler", "BelfryStore", "BelfryExchange", "BelfryCore", "Files",
        "Git", "TestSupport",
      ],
      swiftSettings: unoptimized),
    .testTarget(
      name: "BelfryCommandsTests",
      dependencies: [
        "BelfryCommands", "BelfryActions", "BelfryDocuments", "BelfryInput", "BelfryPartners",
        "BelfryStore", "BelfryScheduler", "BelfryTerminal", "BelfryUI", "TestSupport", logging,
      ],
      exclude: ["Snapshots"], swiftSettings: unoptimized),
    // Runs the binary, so that what is tested is what people have. It uses no module of it, and waits for the last one
    // before BelfryCommands: the two longest modules then compile at the same time, each on a core of its own.
    .testTarget(
      name: "EndToEndTests", dependencies: ["TestSupport", "BelfryDocuments"],
      exclude: ["EarlierVersions", "Transcripts"], swiftSettings: unoptimized),
    // Fleets of devices over the real core, store and scheduler, with time, network and delivery simulated.
    .executableTarget(
      name: "fleet",
      dependencies: [
        "BelfryActions", "BelfryCore", "BelfryInput", "BelfryPhone", "BelfryStore",
        "BelfryScheduler", "Files", "Git", "TestSupport",
      ],
      path: "Tests/Simulation", exclude: ["run"], swiftSettings: unoptimized),
    .target(
      name: "TestSupport", dependencies: ["BelfryCore", subprocess, system],
      path: "Tests/TestSupport"),
  ],
  swiftLanguageModes: [.v6]
)
