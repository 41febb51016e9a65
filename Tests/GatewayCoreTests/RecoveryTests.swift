// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// The answer to a joining listener: the complete truth, or a snapshot.
@Suite(.suiteLimit)
struct RecoveryTests {
    private func recovery(
        _ desk: Desk,
        from sequence: UInt64?,
        epoch: UInt64 = Sample.epoch,
        at seconds: Double,
        delayMax: Duration = .zero
    ) throws -> Recovery {
        try #require(desk.board.stream(Sample.stream))
            .recovery(
                from: sequence.map { Position(epoch: epoch, sequence: $0) },
                epoch: Sample.epoch,
                at: Sample.at(seconds),
                delayMax: delayMax
            )
    }

    /// One break with so many notices.
    private func desk(notices: Int) -> Desk {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish(start: nil)), at: 0)
        for number in 1..<notices {
            _ = desk.ask(.update(.init(key: Sample.key(), duration: .seconds(30 + number))), at: 1)
        }
        return desk
    }

    @Test func `a listener that missed nothing is told so`() throws {
        let desk = self.desk(notices: 3)
        #expect(try self.recovery(desk, from: 3, at: 2) == .current)
        // Before the first notice, too.
        let stream = StreamBoard(stream: Sample.stream)
        let start = Position(epoch: Sample.epoch, sequence: 0)
        #expect(stream.recovery(from: start, epoch: Sample.epoch, at: Sample.t0, delayMax: .zero) == .current)
        #expect(stream.recovery(from: nil, epoch: Sample.epoch, at: Sample.t0, delayMax: .zero) == .snapshot([]))
    }

    @Test func `a listener that missed some gets all of them, in order`() throws {
        let desk = self.desk(notices: 5)
        for last in 0..<5 as Range<UInt64> {
            let missed = Array(desk.notices.map(\.notice)[Int(last)...])
            #expect(try self.recovery(desk, from: last, at: 2) == .missed(missed))
        }
    }

    @Test func `a recovery is complete or it is none, at the limit and past it`() throws {
        let limit = BoardLimits.recoveryNoticesMax
        let full = self.desk(notices: limit)
        #expect(try self.recovery(full, from: 0, at: 2) == .missed(full.notices.map(\.notice)))
        let more = self.desk(notices: limit + 1)
        #expect(try self.recovery(more, from: 1, at: 2) == .missed(Array(more.notices.map(\.notice)[1...])))
        guard case .snapshot(let notices) = try self.recovery(more, from: 0, at: 2) else {
            Issue.record("the first notice is not remembered any more")
            return
        }
        #expect(notices.count == 1)
    }

    @Test(arguments: [6, 7, 1_000, UInt64.max - 1, UInt64.max])
    func `a position ahead of the stream is not believed`(sequence: UInt64) throws {
        guard case .snapshot = try self.recovery(self.desk(notices: 5), from: sequence, at: 2) else {
            Issue.record("\(sequence) is ahead")
            return
        }
    }

    @Test func `a position of another epoch is not believed`() throws {
        let desk = self.desk(notices: 5)
        for sequence in 0...5 as ClosedRange<UInt64> {
            guard case .snapshot = try self.recovery(desk, from: sequence, epoch: 1, at: 2) else {
                Issue.record("\(sequence) is of another epoch")
                return
            }
        }
    }

    @Test func `a snapshot has every open break as it stands, and no other`() throws {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish("scheduled", start: .after(.seconds(3_600)))), at: 0)
        _ = desk.ask(.publish(Sample.publish("cued", start: nil)), at: 0)
        _ = desk.ask(.publish(Sample.publish("pre", start: nil, preStream: true)), at: 0)
        _ = desk.ask(.publish(Sample.publish("cancelled", start: nil)), at: 0)
        _ = desk.ask(.publish(Sample.publish("ended", start: .at(Sample.at(5)))), at: 0)
        _ = desk.ask(.publish(Sample.publish("live", start: .at(Sample.at(40)))), at: 33)
        _ = desk.ask(.cancel(Sample.key("cancelled")), at: 34)
        _ = desk.ask(.update(.init(key: Sample.key("live"), duration: .seconds(20))), at: 41)
        _ = desk.ask(.end(.init(key: Sample.key("live"), endMode: .finishAd, at: Sample.at(50.000_5))), at: 42)
        func ids(_ seconds: Double, _ delayMax: Duration) throws -> [String] {
            guard case .snapshot(let notices) = try self.recovery(desk, from: nil, at: seconds, delayMax: delayMax)
            else { return ["no snapshot"] }
            #expect(notices.map(\.position.sequence) == notices.map(\.position.sequence).sorted())
            #expect(notices.allSatisfy { $0.kind == .available && $0.position.epoch == Sample.epoch })
            return notices.map { $0.breakID?.description ?? "" }
        }
        #expect(try ids(43, .zero) == ["cued", "pre", "live"])
        #expect(try ids(50.000_499, .zero) == ["cued", "pre", "live"])
        #expect(try ids(50.000_5, .zero) == ["cued", "pre"])
        // A listener that hears the stream late can still play what is over for others.
        #expect(try ids(60, .seconds(10)) == ["cued", "pre", "live"])
        #expect(try ids(60, .seconds(30)) == ["cued", "pre", "ended", "live"])
        #expect(try ids(1_800, .zero) == [])

        guard case .snapshot(let notices) = try self.recovery(desk, from: nil, at: 43), let live = notices.last else {
            Issue.record("no snapshot")
            return
        }
        #expect(live.start == Sample.at(40))
        #expect(live.duration == .milliseconds(10_000), "whole milliseconds, as the wire has them")
        #expect(live.expires == Sample.at(50.000_5))
        #expect(live.endMode == .finishAd)
        #expect(live.position == desk.board.position(of: Sample.stream))
        #expect(live.sent == Sample.at(42))
    }

    @Test func `a snapshot that would be too long leaves out what is over longest`() throws {
        let most = WireLimits.noticesPerJoinMax
        // The first notice is of the break that is over last.
        var breaks = [Sample.record(1, over: Sample.at(1_800))]
        for number in 2...UInt64(most + 1) {
            breaks.append(Sample.record(number, over: Sample.at(Double(number) / 100)))
        }
        let desk = Desk(Sample.board(breaks))
        guard case .snapshot(let notices) = try self.recovery(desk, from: nil, at: 60, delayMax: .seconds(3_600)) else {
            Issue.record("no snapshot")
            return
        }
        #expect(notices.count == most)
        #expect(notices.map(\.position.sequence) == [1] + (3...UInt64(most + 1)))
        let all = try self.recovery(desk, from: nil, at: 60, delayMax: .milliseconds(59_975))
        #expect(all == .snapshot(notices), "one less is all that there is")
    }

    @Test func `a break that cannot be requested any more is in no snapshot`() throws {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish(start: .now)), at: 0)
        let later = 30 + BoardLimits.batchesWithin.inSeconds + 1
        _ = desk.ask(.publish(Sample.publish("b2", start: nil)), at: later)
        desk.runHousekeeping(at: later)
        guard case .snapshot(let notices) = try self.recovery(desk, from: nil, at: later, delayMax: .seconds(7_200))
        else {
            Issue.record("no snapshot")
            return
        }
        #expect(notices.map(\.breakID) == [Sample.id("b2")])
    }
}
