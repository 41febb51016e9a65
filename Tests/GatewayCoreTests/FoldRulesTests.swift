// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// All gateways of a log fold by the same version of the rules.
@Suite(.suiteLimit)
struct FoldRulesTests {
    private func activation(on board: Board, own: UInt32, others: [UInt32]) -> BreakEntry.Kind? {
        RulesActivation.entry(on: board, own: own, others: others, at: Sample.at(0))?.kind
    }

    @Test func `a version is activated when every gateway that is alive knows it`() {
        let board = Board(epoch: Sample.epoch)
        #expect(self.activation(on: board, own: 1, others: []) == nil)
        #expect(self.activation(on: board, own: 3, others: [1, 3]) == nil)
        #expect(self.activation(on: board, own: 3, others: [2, 3]) == .rules(2))
        #expect(self.activation(on: board, own: 2, others: [3]) == .rules(2))
        #expect(self.activation(on: board, own: 3, others: []) == .rules(3))
    }

    @Test func `a record activates it, a repeat changes nothing, and no version comes back`() throws {
        var board = Board(epoch: Sample.epoch)
        #expect(board.rules == FoldRules.first)
        for (version, rules) in [(1, 1), (3, 3), (3, 3), (2, 3)] as [(UInt32, UInt32)] {
            let group = BreakGroup(entries: [BreakEntry(at: Sample.at(0), kind: .rules(version))])
            #expect(board.apply(group, offset: board.offset + 1) == [.activated(rules)])
            #expect(board.rules == rules)
        }
        #expect(self.activation(on: board, own: 3, others: [3]) == nil)
    }

    @Test func `a version that this program does not know is refused, in records and in snapshots`() throws {
        let known = BreakGroup(entries: [BreakEntry(at: Sample.at(0), kind: .rules(FoldRules.newest))])
        #expect(try BreakGroup(decoding: known.encoded()) == known)
        for version in [0, FoldRules.newest + 1] {
            let group = BreakGroup(entries: [BreakEntry(at: Sample.at(0), kind: .rules(version))])
            #expect(throws: WireError.self) { try BreakGroup(decoding: group.encoded()) }
        }
        #expect(throws: WireError.self) {
            try BoardRecord(decoding: BoardRecord(rules: FoldRules.newest + 1).encoded())
        }
        let board = Board(epoch: Sample.epoch, BoardRecord(rules: FoldRules.newest))
        #expect(board.rules == FoldRules.newest)
        #expect(board.record.rules == nil, "a log of the first version has snapshots that every version reads")
    }
}
