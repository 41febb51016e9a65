// swift-tools-version: 6.3

import PackageDescription

/// What every target of ours is compiled with: strict concurrency comes with the language mode, the rest is opt-in.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
]

/// The wire types keep `package` access so that no generated type shows in a public library.
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let hashTrees: Target.Dependency = .product(name: "HashTreeCollections", package: "swift-collections")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
// On Apple's systems CryptoKit has it.
let sha256: Target.Dependency = .target(name: "CSHA256", condition: .when(platforms: [.linux]))
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let memoryLogging: Target.Dependency = .product(name: "InMemoryLogging", package: "swift-log")
let configuration: Target.Dependency = .product(name: "Configuration", package: "swift-configuration")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let sqlite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdHTTP2: Target.Dependency = .product(name: "HummingbirdHTTP2", package: "hummingbird")
let histogram: Target.Dependency = .product(name: "Histogram", package: "hdrhistogram-swift")
let jwt: Target.Dependency = .product(name: "JWTKit", package: "jwt-kit")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
// What carries the bytes is the system's on Apple's systems, and ours elsewhere.
let nioPosix: Target.Dependency = .product(
    name: "NIOPosix",
    package: "swift-nio",
    condition: .when(platforms: [.linux])
)
let nioSSL: Target.Dependency = .product(
    name: "NIOSSL",
    package: "swift-nio-ssl",
    condition: .when(platforms: [.linux])
)
let nioNetwork: Target.Dependency = .product(
    name: "NIOTransportServices",
    package: "swift-nio-transport-services",
    condition: .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS])
)

func library(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

/// Event loops and servers are Linux's; the threads and the limits of a process are everywhere.
#if os(Linux)
let systemSupport = library("SystemSupport", ["CSystemSupport"])
#else
let systemSupport = library("SystemSupport", exclude: ["Linux"])
#endif

/// A snippet of which `Examples/Porting` has a link, with nothing turned on that an app of Swift 5 has not.
func portedInSwift5(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: "Porting\(name)",
        dependencies: dependencies,
        path: "Examples/Porting/\(name)",
        swiftSettings: [.swiftLanguageMode(.v5)]
    )
}

/// What a release says of itself (scripts/lib.sh, `choose_release_flags`); a development build says `unknown`.
let buildFacts = ["RELEASE_COMMIT", "RELEASE_SWIFT_VERSION"]
    .compactMap { name in
        Context.environment[name].map { CSetting.define(name, to: "\"\($0)\"") }
    }

/// Several gateways on one log need libnats, which Debian has; `--disable-default-traits` builds without it.
#if os(Linux)
let traitsByDefault: Set = ["JetStream"]
#else
let traitsByDefault: Set<String> = []
#endif

let package = Package(
    name: "cuecast",
    // An isolated deinit, which sockets have, needs macOS 15.4.
    platforms: [.macOS("15.4"), .iOS(.v18)],
    products: [
        .library(name: "Cuecast", targets: ["Cuecast"]),
        .library(name: "CuecastBroadcast", targets: ["CuecastBroadcast"]),
        .library(name: "CuecastApplicaster", targets: ["CuecastApplicaster"]),
        .library(name: "CuecastDianomi", targets: ["CuecastDianomi"]),
        .library(name: "CuecastMycrocast", targets: ["CuecastMycrocast"]),
        .library(name: "CuecastNIO", targets: ["CuecastNIO"]),
        .library(name: "CuecastZeroMQ", targets: ["CuecastZeroMQ"]),
        .library(name: "AdFormats", targets: ["AdFormats"]),
        .library(name: "AdPresentation", targets: ["AdPresentation"]),
        .library(name: "CuecastTesting", targets: ["CuecastTesting"]),
        .executable(name: "cuecast", targets: ["CuecastCommand"]),
        .executable(name: "cuecast-bench", targets: ["StoreBenchmark"]),
        .executable(name: "cuecast-load", targets: ["CuecastLoadCommand"]),
        .executable(name: "radio-player", targets: ["RadioPlayer"]),
    ],
    traits: [
        .trait(name: "JetStream", description: "A log that several gateways share, on NATS JetStream; needs libnats."),
        .default(enabledTraits: traitsByDefault),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-nio-transport-services", from: "1.28.0"),
    ],
    targets: [
        .systemLibrary(name: "CZeroMQ"),
        .systemLibrary(name: "CSHA256"),
        .systemLibrary(name: "CNATS"),
        library("SecretFiles"),
        library("ZeroMQ", ["CZeroMQ", "SecretFiles", "SystemSupport"]),
        .systemLibrary(name: "CSystemSupport"),
        systemSupport,
        library("CuecastWire", [protobuf]),
        library("AdFormats"),
        library("HTTPFetching"),
        library("Cuecast", ["CuecastWire", "HTTPFetching", logging]),
        library("AdPresentation", ["Cuecast", "HTTPFetching", logging]),
        library("CuecastTesting", ["Cuecast", "CuecastWire", "GatewayCore"]),
        library("BreakDocuments", ["CuecastWire", "AdFormats"]),
        library("CuecastBroadcast", ["BreakDocuments", "CuecastWire", "AdFormats", logging]),
        library(
            "CueWatching",
            ["AdFormats", "CuecastBroadcast", "CuecastWire", "HTTPFetching", nioCore, nioHTTP1, nioPosix, nioSSL]
        ),
        library("BreakPlanning", ["BreakDocuments", "CuecastWire", "GatewayCore", "GatewayDocuments"]),
        library(
            "BreakScheduling",
            ["BreakDocuments", "BreakPlanning", "CuecastBroadcast", "CuecastWire", "GatewayCore"]
        ),
        library("AdServers", ["AdFormats", "CueWatching", "HTTPFetching"]),
        // Names that apps know from other SDKs, each in a library of its own: apps that are ported import them.
        library("CuecastApplicaster", ["AdPresentation"]),
        library("CuecastDianomi", ["AdPresentation"]),
        library("CuecastMycrocast", ["Cuecast", "CuecastWire"]),
        library("CuecastZeroMQ", ["CuecastWire", "ZeroMQ", "Cuecast", "CuecastBroadcast"]),
        library("CuecastNIO", ["CuecastWire", "ZMTP", "Cuecast", nioCore, nioTLS, nioPosix, nioSSL, nioNetwork]),
        library("GatewayCore", ["CuecastWire", sha256, deque, heap, hashTrees]),
        library("GatewayDocuments", ["BreakDocuments", "GatewayCore", "CuecastWire"]),
        library("SQLiteStore", ["GatewayCore", "CuecastWire", "SecretFiles", deque, grdb, sqlite]),
        library(
            "JetStreamLog",
            [.target(name: "CNATS", condition: .when(traits: ["JetStream"])), "GatewayCore", "CuecastWire", deque]
        ),
        library(
            "Gateway",
            [
                "GatewayCore", "GatewayDocuments", "Edge", "SecretFiles", "SystemSupport", "TLS", "ZeroMQ",
                "CuecastWire",
                deque, lifecycle, logging,
                configuration, yams,
            ]
        ),
        library(
            "GatewayHTTP",
            [
                "AdFormats", "BreakDocuments", "BreakPlanning", "Gateway", "GatewayCore", "GatewayDocuments",
                "CuecastWire", "SecretFiles", "SystemSupport",
                "TokenFormats", "Tokens",
                heap, hummingbird, hummingbirdHTTP2, nioHTTP1, nioSSL, lifecycle, logging,
            ],
            // scripts/embed-dashboard puts these into the program.
            exclude: ["Dashboard"]
        ),
        library("TokenFormats", ["GatewayCore", "CuecastWire"]),
        library("Tokens", ["TokenFormats", "GatewayCore", "CuecastWire", "SecretFiles", jwt]),
        library(
            "CommandSupport",
            ["CuecastWire", "GatewayDocuments", "SecretFiles", argumentParser, nioCore, nioPosix, nioHTTP1, nioSSL]
        ),
        library("LiveTerminal", ["GatewayCore", "GatewayDocuments", "CuecastWire"]),
        .target(name: "CBuildFacts", cSettings: buildFacts),
        .executableTarget(
            name: "CuecastCommand",
            dependencies: [
                "AdServers", "BreakDocuments", "BreakPlanning", "BreakScheduling", "CBuildFacts", "CommandSupport",
                "Cuecast", "CuecastBroadcast", "CuecastNIO", "CuecastZeroMQ", "CueWatching", "AdFormats", "Gateway",
                "GatewayCore", "JetStreamLog",
                "GatewayDocuments",
                "GatewayHTTP",
                "SQLiteStore", "CuecastWire", "LiveTerminal", "SystemSupport", "ZeroMQ", "SecretFiles",
                "TokenFormats", "Tokens", argumentParser, lifecycle, signals, logging,
            ],
            swiftSettings: strict
        ),
        library("ZMTP"),
        .systemLibrary(name: "COpenSSL"),
        library("TLS", ["COpenSSL"]),
        library("Edge", ["GatewayCore", "CuecastWire", "ZMTP", "SystemSupport", "TLS", deque]),
        library(
            "LoadEngine",
            ["CuecastWire", "ZMTP", "SystemSupport", "SecretFiles", "TLS", heap, histogram]
        ),
        .executableTarget(
            name: "CuecastLoadCommand",
            dependencies: [
                "CommandSupport", "GatewayDocuments", "LoadEngine", "SystemSupport", "CuecastWire", argumentParser,
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "Microbenchmarks",
            dependencies: ["GatewayCore", "CuecastWire"],
            path: "Benchmarks/Micro",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "CueDecoding",
            dependencies: ["AdFormats"],
            path: "Benchmarks/Cues",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "StoreBenchmark",
            dependencies: ["SQLiteStore", "GatewayCore", "CuecastWire", argumentParser],
            path: "Benchmarks/Store",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "RadioPlayer",
            dependencies: ["Cuecast", "CuecastZeroMQ", argumentParser, logging],
            path: "Examples/RadioPlayer",
            swiftSettings: strict
        ),
        // The app that scripts/check-without-zeromq.sh looks at.
        .executableTarget(
            name: "PhonePlayer",
            dependencies: ["Cuecast", "CuecastNIO", "CuecastTesting"],
            path: "scripts/without-zeromq/Sources/Player",
            swiftSettings: strict
        ),
        // The snippets for those who come from other libraries, in the language mode of an older app: as snippets they are in
        // the newer one.
        portedInSwift5("LiveStream", ["Cuecast", "CuecastMycrocast", "CuecastNIO"]),
        portedInSwift5("Delegates", ["Cuecast", "CuecastNIO"]),
        portedInSwift5("Container", ["AdPresentation", "Cuecast", "CuecastDianomi"]),
        portedInSwift5("Providers", ["AdPresentation", "Cuecast", "CuecastApplicaster", "CuecastNIO"]),
        .executableTarget(
            name: "ClockSpread",
            dependencies: ["Cuecast", "CuecastZeroMQ", logging],
            path: "Benchmarks/Clock",
            swiftSettings: strict
        ),
        // What several test targets need that is of no module.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
        .target(
            name: "GatewayTestKit",
            dependencies: [
                "GatewayCore", "Gateway", "CuecastTesting", "CuecastWire", "TestSupport", "ZeroMQ", lifecycle, logging,
            ],
            path: "Tests/GatewayTestKit",
            swiftSettings: strict
        ),
        tests("ZeroMQTests", ["SecretFiles", "ZeroMQ", "TestSupport"]),
        tests("ZMTPTests", ["ZMTP", "ZeroMQ", "TestSupport"]),
        tests("EdgeTests", ["Edge", "GatewayCore", "CuecastWire", "ZMTP", "SystemSupport", "TLS", "TestSupport"]),
        tests(
            "LoadEngineTests",
            [
                "LoadEngine", "ZMTP", "CuecastWire", "ZeroMQ", "Gateway", "GatewayCore", "GatewayTestKit",
                "SystemSupport", "TLS", "TestSupport",
                histogram,
            ]
        ),
        // What libFuzzer runs (scripts/fuzz-targets.sh), and tests with inputs that were kept.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "AdFormats", "BreakDocuments", "Edge", "SystemSupport", "ZMTP", "GatewayCore", "LoadEngine",
                "CuecastWire",
                "TokenFormats",
                "TestSupport",
            ],
            path: "Tests/FuzzTargets",
            exclude: ["Corpora"],
            swiftSettings: strict
        ),
        tests("FuzzTargetsTests", ["FuzzTargets", "TestSupport"]),
        tests("CuecastWireTests", ["CuecastWire", "TestSupport", protobuf]),
        tests("AdFormatsTests", ["AdFormats", "TestSupport"]),
        tests("BreakDocumentsTests", ["AdFormats", "BreakDocuments", "CuecastWire"]),
        tests(
            "CuecastTests",
            ["Cuecast", "CuecastMycrocast", "CuecastTesting", "CuecastWire", "GatewayCore", "TestSupport", logging]
        ),
        tests(
            "AdPresentationTests",
            [
                "AdPresentation", "Cuecast", "CuecastApplicaster", "CuecastDianomi", "CuecastTesting", "TestSupport",
                logging, memoryLogging,
            ]
        ),
        tests("CuecastTestingTests", ["CuecastTesting", "Cuecast", "CuecastWire"]),
        tests("RadioPlayerTests", ["RadioPlayer"]),
        tests("ListenerSimulationTests", ["Cuecast", "CuecastTesting", "CuecastWire", "Edge", "GatewayCore", "ZMTP"]),
        tests(
            "CuecastBroadcastTests",
            ["CuecastBroadcast", "CuecastZeroMQ", "CuecastWire", "AdFormats", "GatewayCore", "ZeroMQ", logging]
        ),
        tests(
            "CueWatchingTests",
            ["CueWatching", "AdFormats", "CuecastBroadcast", "CuecastWire", "TestSupport", nioCore, nioEmbedded]
        ),
        tests(
            "BreakSchedulingTests",
            [
                "BreakDocuments", "BreakPlanning", "BreakScheduling", "CuecastBroadcast", "CuecastWire", "GatewayCore",
                "GatewayDocuments", "TestSupport",
            ]
        ),
        // A disk that fails when a test says so.
        .target(name: "FaultyDisk", path: "Tests/FaultyDisk", linkerSettings: [.linkedLibrary("sqlite3")]),
        tests(
            "SQLiteStoreTests",
            [
                "SQLiteStore", "GatewayCore", "GatewayTestKit", "CuecastWire", "FaultyDisk", "SecretFiles",
                "TestSupport", grdb,
            ]
        ),
        tests(
            "JetStreamLogTests",
            [
                .target(name: "CNATS", condition: .when(traits: ["JetStream"])), "JetStreamLog", "Gateway",
                "GatewayCore", "GatewayTestKit", "CuecastWire", "TestSupport",
            ]
        ),
        tests(
            "GatewayHTTPTests",
            [
                "AdFormats", "BreakPlanning", "CuecastBroadcast", "Gateway", "GatewayHTTP", "GatewayCore",
                "GatewayDocuments",
                "GatewayTestKit", "CuecastWire",
                "SecretFiles", "SQLiteStore", "TestSupport", "TokenFormats", "Tokens", lifecycle, logging,
            ]
        ),
        tests(
            "GatewayTests",
            [
                "Gateway", "GatewayCore", "GatewayDocuments", "GatewayTestKit", "CuecastWire", "Edge", "SystemSupport",
                "TLS", "ZeroMQ",
                "TestSupport",
                hashTrees, lifecycle, logging,
            ]
        ),
        tests(
            "CommandSupportTests",
            ["CommandSupport", "CuecastWire", "GatewayDocuments", "SecretFiles", "TestSupport", argumentParser]
        ),
        tests("LiveTerminalTests", ["LiveTerminal", "GatewayDocuments", "TestSupport"]),
        tests("GatewayDocumentsTests", ["GatewayDocuments", "GatewayCore"]),
        tests("GatewayCoreTests", ["GatewayCore", "CuecastWire", "TestSupport", crypto, hashTrees]),
        tests(
            "ListenerTransportTests",
            [
                "CuecastNIO", "CuecastZeroMQ", "Cuecast", "CuecastWire", "TestSupport", "ZMTP", "ZeroMQ",
                nioCore, nioEmbedded, nioPosix, nioSSL,
            ]
        ),
    ]
)

#if !os(Linux)
// The gateway, its commands and the load tool run on Linux. Elsewhere there are the libraries for players and broadcasters.
let onlyOnLinux: Set = [
    "CNATS", "COpenSSL", "CSHA256", "CSystemSupport", "ClockSpread", "CommandSupport", "CommandSupportTests",
    "AdServers", "BreakPlanning", "BreakScheduling", "BreakSchedulingTests", "CueWatching",
    "CueWatchingTests", "CuecastCommand",
    "CuecastLoadCommand",
    "Edge", "EdgeTests", "FaultyDisk", "FuzzTargets", "FuzzTargetsTests", "Gateway", "GatewayDocuments",
    "GatewayDocumentsTests", "GatewayHTTP", "GatewayHTTPTests",
    "GatewayTestKit", "GatewayTests", "JetStreamLog", "JetStreamLogTests",
    "LiveTerminal", "LiveTerminalTests", "LoadEngine",
    "ListenerSimulationTests", "LoadEngineTests", "Microbenchmarks", "SQLiteStore", "SQLiteStoreTests",
    "StoreBenchmark", "TLS", "TokenFormats", "Tokens", "ZMTPTests",
]
package.targets.removeAll { onlyOnLinux.contains($0.name) }
package.products.removeAll { ["cuecast", "cuecast-bench", "cuecast-load"].contains($0.name) }
#endif
