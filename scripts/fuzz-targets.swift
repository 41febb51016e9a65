// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors
//
// The end of a manifest, behind scripts/subset.swift: what libFuzzer calls, as an archive that scripts/fuzz-targets.sh links
// with it.

package.targets.append(
    .target(name: "Fuzz", dependencies: ["FuzzTargets", "TestSupport"], path: "Tests/Fuzz", swiftSettings: strict)
)
package.products.append(.library(name: "Fuzz", type: .static, targets: ["Fuzz"]))
