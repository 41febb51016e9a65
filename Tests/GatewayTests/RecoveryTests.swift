// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import Testing

/// Positions and recovery: no listener misses a notice without knowing.
@Suite(.suiteLimit)
struct RecoveryTests {
    let station = Station()

    @Test func `a listener that asks right after its notice always finds the break`() async throws {
        try await self.station.runByHand { running in
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for stream in ["one", "two", "three", "four"] {
                    let listener = try await running.listener(of: stream)
                    let broadcaster = try await running.broadcaster()
                    tasks.addTask {
                        for index in 0..<100 {
                            let id = "break-\(index)"
                            // Cued: announced at once, and breaks of one stream do not get in each other's way.
                            try await broadcaster.publish(id, of: stream, start: nil)
                            let notice = try await listener.notice { $0.kind == .available }
                            #expect(notice.breakID?.description == id)
                            #expect(try await listener.batch(of: id).advertisements.count == 2)
                            try await broadcaster.do(.cancel(.of(stream, id)))
                        }
                    }
                }
                try await tasks.waitForAll()
            }
        }
    }

    @Test func `a listener that dropped notices recovers all of them in order`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let joined = try await listener.join()
            let broadcaster = try await running.broadcaster()
            for index in 0..<10 { try await broadcaster.publish("break-\(index)", start: nil) }
            for sequence in 1...4 { #expect(try await listener.notice().position.sequence == UInt64(sequence)) }

            // It hears nothing of the rest.
            let position = Position(epoch: joined.head.epoch, sequence: 4)
            let again = try await listener.join(last: position)
            #expect(again.kind == .recovered)
            #expect(again.head.sequence == 10)
            #expect(again.notices.map(\.position.sequence) == Array(5...10))
            #expect(again.notices.map(\.breakID) == (try (4..<10).map { try BreakID("break-\($0)") }))

            let current = try await listener.join(last: again.head)
            #expect(current.kind == .current)
            #expect(current.notices.isEmpty)
            #expect(running.metrics.value(.joins, .recovered) == 1)
            #expect(running.metrics.value(.joins, .current) == 1)
        }
    }

    @Test(arguments: [BoardLimits.recoveryNoticesMax, BoardLimits.recoveryNoticesMax + 1])
    func `as many notices as are kept are recovered, one more is a snapshot`(missed: Int) async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let joined = try await listener.join()
            let broadcaster = try await running.broadcaster()
            for index in 0..<missed / 2 {
                try await broadcaster.publish("break-\(index)", start: nil)
                try await broadcaster.do(.cancel(.of("radio1", "break-\(index)")))
            }
            if missed % 2 == 1 { try await broadcaster.publish("last", start: nil) }

            let again = try await listener.join(last: joined.head)
            #expect(again.head.sequence == UInt64(missed))
            if missed == BoardLimits.recoveryNoticesMax {
                #expect(again.kind == .recovered)
                #expect(again.notices.map(\.position.sequence) == Array(1...UInt64(missed)))
            } else {
                #expect(again.kind == .snapshot)
                #expect(again.notices.map(\.breakID?.description) == ["last"])
            }
        }
    }

    @Test func `a position of another history, or ahead of this one, is answered with a snapshot`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            try await running.broadcaster().publish("open")
            let epoch = self.station.log.epoch
            for position in [
                Position(epoch: epoch &+ 1, sequence: 1), Position(epoch: epoch, sequence: 2),
                Position(epoch: epoch, sequence: .max),
            ] {
                let joined = try await listener.join(last: position)
                #expect(joined.kind == .snapshot)
                #expect(joined.head == Position(epoch: epoch, sequence: 1))
                #expect(joined.notices.map(\.breakID?.description) == ["open"])
            }
        }
    }

    @Test func `listeners that join while breaks are published miss none and get none twice`() async throws {
        let breakCount = 150
        try await self.station.runByHand { running in
            let broadcaster = try await running.broadcaster()
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask {
                    for index in 0..<breakCount {
                        try await broadcaster.publish("break-\(index)", start: nil)
                        if index >= 20 { try await broadcaster.do(.cancel(.of("radio1", "break-\(index - 20)"))) }
                    }
                    try await broadcaster.publish("the-last", start: nil)
                }
                for _ in 0..<12 {
                    tasks.addTask {
                        let listener = try await running.listener()
                        let joined = try await listener.join()
                        // From the position of the join on, every sequence once and in order, up to the last break.
                        var position = joined.head
                        var isLast = joined.notices.contains { $0.breakID?.description == "the-last" }
                        while !isLast {
                            let notice = try await listener.notice()
                            guard notice.position.sequence > position.sequence else { continue }
                            #expect(notice.position.sequence == position.sequence + 1)
                            position = notice.position
                            isLast = notice.breakID?.description == "the-last" && notice.kind == .available
                        }
                    }
                }
                try await tasks.waitForAll()
            }
        }
    }

    @Test func `a tick proves the subscription: what is published right after it arrives`() async throws {
        try await self.station.runByHand { running in
            let broadcaster = try await running.broadcaster()
            for index in 0..<40 {
                let stream = "stream-\(index)"
                let listener = try await running.listener(of: stream)
                try await broadcaster.publish("only", of: stream, start: nil)
                #expect(try await listener.notice().position.sequence == 1)
                await listener.close()
            }
        }
    }
}
