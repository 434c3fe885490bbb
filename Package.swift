// swift-tools-version: 6.2
import PackageDescription

let argumentParser: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser")
let subprocess: Target.Dependency = .product(name: "Subprocess", package: "swift-subprocess")

let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")

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
    // Without Foundation: the binary then links statically and starts in a few milliseconds.
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
  ],
  targets: [
    // Arrows point one way: each target depends on those above it only.
    .systemLibrary(
      name: "CLibgit2", pkgConfig: "libgit2", providers: [.apt(["libgit2-dev", "pkg-config"])]),
    .systemLibrary(
      name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev", "pkg-config"])]),
    .systemLibrary(name: "CZlib"),
    .systemLibrary(name: "CPNG", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(name: "CLinux"),
    .target(
      name: "Git", dependencies: ["CLibgit2", "CLinux", "CZlib", subprocess, system, crypto]),
    .target(name: "BelfryCore"),
    .target(name: "BelfryStore", dependencies: ["BelfryCore", "Git", "CJansson", "CLinux"]),
    .target(name: "BelfryExchange", dependencies: ["BelfryCore", "BelfryStore", crypto]),
    .target(
      name: "BelfryPartners", dependencies: ["BelfryCore", "BelfryStore", "Git", "CPNG", crypto]),
    .target(
      name: "BelfryScheduler",
      dependencies: ["BelfryStore", "BelfryPartners", "Git", "CLinux", subprocess, system]),
    .executableTarget(
      name: "belfry",
      dependencies: [
        "BelfryCore", "BelfryStore", "BelfryExchange", "BelfryPartners", "BelfryScheduler", "Git",
        "CLinux", argumentParser, logging, subprocess, system,
      ]),
    .testTarget(name: "BelfryCoreTests", dependencies: ["BelfryCore", "TestSupport"]),
    .testTarget(name: "GitTests", dependencies: ["Git", "TestSupport"]),
    .testTarget(
      name: "BelfryStoreTests", dependencies: ["BelfryStore", "Git", "TestSupport"],
      exclude: ["Fixtures"]),
    .testTarget(
      name: "BelfryExchangeTests", dependencies: ["BelfryExchange", "BelfryStore", "TestSupport"]),
    .testTarget(
      name: "BelfryPartnersTests",
      dependencies: ["BelfryPartners", "BelfryStore", "BelfryCore", "TestSupport", crypto]),
    .testTarget(
      name: "BelfryTests",
      dependencies: ["belfry", "BelfryStore", "BelfryScheduler", "TestSupport", logging],
      exclude: ["Snapshots"]),
    // Runs the binary, so that what is tested is what people have. It depends on no module of it, so that both compile
    // at the same time.
    .testTarget(name: "EndToEndTests", dependencies: ["TestSupport"]),
    // Fleets of devices over the real core, store and scheduler, with time, network and delivery simulated.
    .executableTarget(
      name: "fleet",
      dependencies: ["BelfryCore", "BelfryStore", "BelfryScheduler", "Git", "TestSupport"],
      path: "Tests/Simulation", exclude: ["run"]),
    .target(
      name: "TestSupport", dependencies: ["BelfryCore", subprocess, system],
      path: "Tests/TestSupport"),
  ],
  swiftLanguageModes: [.v6]
)
