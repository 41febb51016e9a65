// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import GatewayDocuments
import TestSupport
import Testing

/// Which variables are named at the start, and with which suggestion.
@Suite(.suiteLimit)
struct EnvironmentCheckTests {
    private let check = EnvironmentCheck(
        known: EnvironmentCheck.commandVariables + ["CUECAST_BREAKS_ANNOUNCE_AHEAD", "CUECAST_DATA_DIR"],
        isComplete: true
    )

    @Test(arguments: [
        ("CUECAST_GATWAY", "CUECAST_GATEWAY"), ("CUECAST_BRAODCAST", "CUECAST_BROADCAST"),
        ("CUECAST_NOTICE", "CUECAST_NOTICES"), ("cuecast_http", "CUECAST_HTTP"),
        ("CUECAST_DATADIR", "CUECAST_DATA_DIR"),
        ("CUECAST_ANNOUNCE_AHEAD", nil), ("CUECAST_DATA_DIRECTORY", nil), ("CUECAST_", nil), ("CUECAST", nil),
        ("CUCAST_GATEWAY", "CUECAST_GATEWAY"), ("CUECATS_HTTP", "CUECAST_HTTP"),
        ("CUECAST_BREAKS_ANOUNCE_AHED", "CUECAST_BREAKS_ANNOUNCE_AHEAD"),
    ])
    func `an unused variable is named, with the one that is meant`(_ name: String, _ meant: String?) throws {
        let warnings = self.check.warnings(for: [name])
        let warning = try #require(warnings.first)
        #expect(warnings.count == 1)
        #expect(warning.contains(name))
        if let meant { #expect(warning.contains("is \(meant) meant?")) } else { #expect(!warning.contains("meant?")) }
    }

    @Test func `valid variables and those of others are ignored`() {
        let names = [
            "PATH", "HOME", "CUECAST_GATEWAY", "CUECAST_HTTP", "CUECAST_SEED", "CUECAST_TEST_PATIENCE", "CAST", "C",
        ]
        #expect(self.check.warnings(for: names) == [])
    }

    @Test func `a program that does not know all variables names misspelt ones only`() {
        let check = EnvironmentCheck(known: EnvironmentCheck.commandVariables, isComplete: false)
        #expect(check.warnings(for: ["CUECAST_BREAKS_ANNOUNCE_AHEAD", "CUECAST_LOG_LEVEL"]) == [])
        #expect(check.warnings(for: ["CUECAST_NOTICEZ"]).count == 1)
    }

    /// Whatever the environment holds, nothing is named that is read, and everything else of ours is at most once.
    @Test(arguments: 0..<20)
    func `any environment is looked at without harm`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let alphabet = Array("CUECAST_GATEWAYHTPNORIQSD_=ü\u{0}xyz")
        for _ in 0..<300 {
            let length = Int.random(in: 0...40, using: &random)
            let tail = String((0..<length).map { _ in alphabet.randomElement(using: &random) ?? "_" })
            let name = Bool.random(using: &random) ? "CUECAST_" + tail : tail
            let warnings = self.check.warnings(for: [name])
            #expect(warnings.count <= 1)
            if EnvironmentCheck.commandVariables.contains(name) { #expect(warnings == []) }
            for known in EnvironmentCheck.commandVariables {
                let letters = Spelling.distance(name, known)
                #expect(letters == Spelling.distance(known, name))
                #expect((letters == 0) == (name == known))
            }
        }
    }
}
