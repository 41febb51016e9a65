// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import FuzzTargets
import TestSupport
import Testing

/// The targets of the fuzzer: what was kept of its runs, and some new inputs each time.
@Suite(.suiteLimit)
struct FuzzTargetsTests {
    /// The inputs that are kept of a target, and their names.
    private static func kept(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../FuzzTargets/Corpora/\(target.name)")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .map { ($0.lastPathComponent, Array(try Data(contentsOf: $0))) }
    }

    @Test(arguments: FuzzTarget.all)
    func `kept inputs break nothing`(target: FuzzTarget) throws {
        let kept = try Self.kept(of: target)
        #expect(kept.count >= 10, "\(target.name) has too few")
        for each in kept {
            let fault = target.fault(each.bytes)
            #expect(fault == nil, "\(target.name)/\(each.name)")
        }
    }

    @Test(arguments: FuzzTarget.all)
    func `new inputs break nothing, whole or changed`(target: FuzzTarget) throws {
        var generator = SeededGenerator(for: #function + target.name)
        for _ in 0..<300 {
            var input = target.sample(&generator)
            for _ in 0..<4 {
                let fault = target.fault(input)
                try #require(fault == nil, "CUECAST_SEED=\(SeededGenerator.seed) \(target.name) \(input)")
                input = target.change(input, &generator)
            }
        }
    }

    @Test func `the names of targets are those of the folders`() throws {
        #expect(Set(FuzzTarget.all.map(\.name)).count == FuzzTarget.all.count)
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../FuzzTargets/Corpora")
        let folders = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    }
}

extension FuzzTarget: CustomTestStringConvertible {
    /// Its name.
    public var testDescription: String { self.name }
}
