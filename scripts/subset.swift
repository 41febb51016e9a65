// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors
//
// The end of a manifest: what precedes it is a copy of Package.swift (scripts/lib.sh, `make_subset`). It leaves the
// targets that CUECAST_SUBSET names, what they need, and the libraries of these, so that nothing else is built.

/// The names of what a target depends on: of targets, and of packages.
private func needs(_ target: Target) -> (targets: [String], packages: [String]) {
    var (targets, packages): ([String], [String]) = ([], [])
    for dependency in target.dependencies {
        switch dependency {
        case .targetItem(let name, _), .byNameItem(let name, _): targets.append(name)
        case .productItem(_, let package, _, _): if let package { packages.append(package.lowercased()) }
        @unknown default: break
        }
    }
    return (targets, packages)
}

private var wanted: Set<String> = []
private var wantedPackages: Set<String> = []
private var open = (Context.environment["CUECAST_SUBSET"] ?? "").split(separator: " ").map(String.init)
while let name = open.popLast() {
    guard wanted.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else { continue }
    let needed = needs(target)
    open += needed.targets
    wantedPackages.formUnion(needed.packages)
}
package.targets = package.targets.filter { wanted.contains($0.name) }
package.products = package.products.filter { product in
    (product as? Product.Library).map { wanted.isSuperset(of: $0.targets) } ?? false
}
package.dependencies = package.dependencies.filter { dependency in
    guard case .sourceControl(_, let location, _) = dependency.kind else { return false }
    return wantedPackages.contains(location.split(separator: "/").last.map { $0.lowercased() } ?? "")
}
