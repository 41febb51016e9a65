// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

/// Copies the files of a store as they are now, without its lock: what a killed process leaves.
///
/// The index of the write-ahead log (`-shm`) stays behind: it does not survive its processes.
func copyStoreFiles(from: String, to: String) throws {
    try FileManager.default.createDirectory(atPath: to, withIntermediateDirectories: true)
    for name in ["events.sqlite", "events.sqlite-wal", "ledger.sqlite", "ledger.sqlite-wal"] {
        let source = from + "/" + name
        let target = to + "/" + name
        try? FileManager.default.removeItem(atPath: target)
        if FileManager.default.fileExists(atPath: source) {
            try FileManager.default.copyItem(atPath: source, toPath: target)
        }
    }
}

func fileBytes(_ path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
}
