// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

/// Where the tests find files.
enum Places {
    /// The root of the package.
    static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Documents of other authors, which are not part of the package.
    ///
    /// They are beside it, or where `CUECAST_SAMPLES` says.
    static let samples =
        ProcessInfo.processInfo.environment["CUECAST_SAMPLES"].map { URL(filePath: $0) }
        ?? Places.package.appending(path: "../shared/samples").standardizedFileURL

    /// Whether the samples are there.
    static let hasSamples = FileManager.default.fileExists(atPath: Self.samples.appending(path: "vast").path)

    /// Whether the sample sections of SCTE 35 are there.
    static let hasSections = FileManager.default.fileExists(atPath: Self.samples.appending(path: "scte35").path)

    /// A page of the documents.
    static func page(_ path: String) throws -> String {
        try String(contentsOf: self.package.appending(path: "docs").appending(path: path), encoding: .utf8)
    }

    /// The XML files in a folder of the samples, by name.
    static func documents(in folder: String) throws -> [(name: String, bytes: [UInt8])] {
        try FileManager.default.contentsOfDirectory(atPath: self.samples.appending(path: folder).path)
            .filter { $0.hasSuffix(".xml") || $0.hasSuffix(".mpd") }.sorted()
            .map { ($0, [UInt8](try Data(contentsOf: self.samples.appending(path: "\(folder)/\($0)")))) }
    }
}

/// A number as the pages write it: with a comma between thousands.
func grouped(_ number: Int) -> String {
    let digits = String(number).reversed().enumerated().map { $0 > 0 && $0 % 3 == 0 ? "\($1)," : "\($1)" }
    return digits.reversed().joined()
}
