// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// A listener behind a network that loses, repeats and reorders ends with what the board has.
@Suite(.suiteLimit)
struct ListenerModelTests {
    /// A listener's use of notices, as the contract of positions says: it applies the next one only.
    private struct Listener {
        var position: Position?
        var open: [BreakID: Notice] = [:]
        /// The positions that it applied one by one since it last took a snapshot.
        var applied: [UInt64] = []
        var mustJoin = true

        mutating func receive(_ notice: Notice) {
            guard !self.mustJoin, let position else { return }
            guard notice.position.epoch == position.epoch else {
                self.mustJoin = true
                return
            }
            if notice.kind == .head {
                if notice.position.sequence > position.sequence { self.mustJoin = true }
                return
            }
            if notice.position.sequence <= position.sequence { return }
            guard notice.position.sequence == position.sequence + 1 else {
                self.mustJoin = true
                return
            }
            self.apply(notice)
        }

        mutating func apply(_ notice: Notice) {
            self.position = notice.position
            self.applied.append(notice.position.sequence)
            self.note(notice)
        }

        mutating func note(_ notice: Notice) {
            guard let id = notice.breakID else { return }
            self.open[id] = notice.kind == .cancelled ? nil : notice
        }

        mutating func join(_ board: Board, at now: Timestamp, delayMax: Duration) throws {
            let head = board.position(of: Sample.stream)
            let stream = board.stream(Sample.stream) ?? StreamBoard(stream: Sample.stream)
            switch stream.recovery(from: self.position, epoch: board.epoch, at: now, delayMax: delayMax) {
            case .current: break
            case .missed(let notices):
                for notice in notices {
                    let expected = Position(epoch: board.epoch, sequence: (self.position?.sequence ?? 0) + 1)
                    try #require(notice.position == expected, "a recovery has no gap")
                    self.apply(notice)
                }
            case .snapshot(let notices):
                self.open = [:]
                self.applied = []
                for notice in notices { self.note(notice) }
                self.position = head
            }
            try #require(self.position == head, "after a join nothing is missing")
            self.mustJoin = false
        }
    }

    @Test(arguments: 0..<8)
    func `a listener never misses a notice without knowing`(round: Int) throws {
        var broadcasters = RandomBroadcasters(for: "\(#function)\(round)")
        var network = SeededGenerator(for: "network \(round)")
        var desk = Desk()
        var listener = Listener()
        let delayMax: Duration = network.pick([.zero, .seconds(30), .seconds(3_600)])
        var seen = 0
        var inFlight: [Notice] = []
        var snapshots = 0
        var gaps = 0
        for step in 0..<150 {
            broadcasters.pass()
            desk.tick(at: broadcasters.now)
            _ = desk.ask(broadcasters.request(), at: broadcasters.now)
            let said = "CUECAST_SEED=\(SeededGenerator.seed) round \(round) step \(step)"

            if network.number(0...60) == 0 {
                // The gateway starts again from a snapshot of a history that was lost: another epoch.
                desk = Desk(Board(epoch: desk.board.epoch + 1, desk.board.record))
                inFlight = []
                seen = 0
            }
            for each in desk.notices[seen...] where each.stream == Sample.stream {
                // Now and then one is lost, and now and then one comes twice.
                let copies = network.pick([0, 1, 1, 1, 1, 2])
                for _ in 0..<copies { inFlight.append(each.notice) }
            }
            seen = desk.notices.count
            if network.number(0...3) == 0 { inFlight.shuffle(using: &network) }
            if network.number(0...2) == 0 {
                inFlight.append(.head(desk.board.position(of: Sample.stream), sent: broadcasters.now))
            }
            let arriving = network.number(0...inFlight.count)
            for notice in inFlight.prefix(arriving) { listener.receive(notice) }
            inFlight.removeFirst(arriving)

            if listener.mustJoin, network.bool() {
                gaps += 1
                let before = listener.applied.count
                try listener.join(desk.board, at: broadcasters.now, delayMax: delayMax)
                if listener.applied.count < before { snapshots += 1 }
            }
            // What it applied since the last snapshot is gapless, and ends where it believes to be.
            try #require(zip(listener.applied, listener.applied.dropFirst()).allSatisfy { $0 + 1 == $1 }, "\(said)")
            if let last = listener.applied.last { try #require(listener.position?.sequence == last, "\(said)") }
        }
        // At last a head gets through, and what is missing is noticed.
        listener.receive(.head(desk.board.position(of: Sample.stream), sent: broadcasters.now))
        if listener.mustJoin { try listener.join(desk.board, at: broadcasters.now, delayMax: delayMax) }
        let now = broadcasters.now
        let heard = listener.open.values.filter { $0.expires + delayMax > now }
        let open = desk.board.keys.filter { $0.stream == Sample.stream }.compactMap { desk.board[$0] }
            .filter { $0.record.phase == .announced && $0.over + delayMax > now }
        #expect(Set(heard.compactMap(\.breakID)) == Set(open.map(\.key.id)), "CUECAST_SEED=\(SeededGenerator.seed)")
        for each in open {
            let notice = try #require(listener.open[each.key.id])
            #expect(notice.start == each.record.start)
            #expect(notice.duration == each.lasting)
            #expect(notice.expires == each.over)
            #expect(notice.endMode == each.record.endMode)
            #expect(notice.advertisementCount == each.record.advertisements.count)
        }
        #expect(gaps > 1, "a network that loses nothing tests nothing")
    }
}
