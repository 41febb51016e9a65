// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

/// Files of this checkout, found from where this source file is.
enum RepositoryFile {
    static func text(_ path: String, from file: String = #filePath) throws -> String {
        var root = URL(fileURLWithPath: file).deletingLastPathComponent()
        func isRoot() -> Bool {
            FileManager.default.fileExists(atPath: root.appendingPathComponent("Package.swift").path)
        }
        while root.path != "/", !isRoot() { root = root.deletingLastPathComponent() }
        return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
}
