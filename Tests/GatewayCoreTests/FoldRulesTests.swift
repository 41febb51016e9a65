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
        func record(_ version: UInt32) -> LoggedRecord {
            let group = BreakGroup(entries: [BreakEntry(at: Sample.at(0), kind: .rules(version))])
            return LoggedRecord(offset: 1, previous: 0, bytes: group.encoded())
        }
        for (version, isTaken) in [(0, false), (FoldRules.newest, true), (FoldRules.newest + 1, false)] {
            var board = Board(epoch: Sample.epoch)
            guard isTaken else {
                #expect(throws: WireError.self) { try board.apply(record(version)) }
                #expect(board.offset == 0 && board.rules == FoldRules.first)
                continue
            }
            #expect(try board.apply(record(version))?.results == [.activated(version)])
        }
        var loader = BoardLoader(epoch: Sample.epoch, names: SipHash(key: 0, 0))
        #expect(throws: WireError.self) { try loader.read(BoardRecord(rules: FoldRules.newest + 1)) }
        var newer = BoardLoader(epoch: Sample.epoch, names: SipHash(key: 0, 0), rulesKnown: FoldRules.newest + 1)
        try newer.read(BoardRecord(rules: FoldRules.newest + 1))
        #expect(newer.finish(at: 0).rules == FoldRules.newest + 1)
        let board = Board(epoch: Sample.epoch, BoardRecord(rules: FoldRules.newest))
        #expect(board.rules == FoldRules.newest)
        #expect(board.record.rules == nil, "a log of the first version has snapshots that every version reads")
    }
}
