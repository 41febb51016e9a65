// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

/// Looks for bytes in files, wherever in them they are.
enum FileSearch {
    private static let chunkBytes = 1_048_576

    /// Whether a file holds one of some runs of bytes; `false` also where it cannot be read.
    static func holds(_ needles: [[UInt8]], _ path: String) -> Bool {
        guard let file = try? FileHandle(forReadingFrom: URL(fileURLWithPath: path)) else { return false }
        defer { try? file.close() }
        let overlap = max(0, (needles.map(\.count).max() ?? 0) - 1)
        var window = Data()
        while let chunk = try? file.read(upToCount: Self.chunkBytes), !chunk.isEmpty {
            // A match that began in the chunk before may end in this one.
            window = Data(window.suffix(overlap)) + chunk
            if needles.contains(where: { Self.holds($0, window) }) { return true }
        }
        return false
    }

    /// Whether a database holds them, also in what is on its way into the file.
    static func databaseHolds(_ needle: [UInt8], _ path: String) -> Bool {
        ["", "-wal"].contains { Self.holds([needle], path + $0) }
    }

    private static func holds(_ needle: [UInt8], _ data: Data) -> Bool { data.range(of: Data(needle)) != nil }

    /// All files below a folder, by their paths in it; links are not followed.
    static func files(below folder: String) -> [String] {
        let found = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return found.sorted()
            .filter { path in
                let attributes = try? FileManager.default.attributesOfItem(atPath: folder + "/" + path)
                return attributes?[.type] as? FileAttributeType == .typeRegular
            }
    }
}
