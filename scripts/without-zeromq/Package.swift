// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import PackageDescription

/// The player's client library, its transport, the one for its tests, and one more where `scripts/check-without-zeromq.sh` is to be seen
/// failing.
let libraries = ["Cuecast", "CuecastNIO", "CuecastTesting"] + (Context.environment["CUECAST_ALSO"].map { [$0] } ?? [])

/// An app that depends on these libraries and on nothing else of this package, as one for a phone does.
let package = Package(
    name: "without-zeromq",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [.package(name: "cuecast", path: "../..")],
    targets: [
        .executableTarget(name: "Player", dependencies: libraries.map { .product(name: $0, package: "cuecast") })
    ]
)
