// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@_spi(Tracking) @testable import Cuecast

/// The decisions that wait for the disk.
@Suite(.suiteLimit)
struct JournalCommitsTests {
    /// A listener with advertisements a, b and c queued.
    private func bench(_ disk: JournalDisk, tracks: Bool = false) throws -> CoreBench {
        var bench = try CoreBench(headInterval: .seconds(6_000), disk: disk) {
            $0.handOut = .manual
            if tracks { $0.tracking = TrackingConfiguration(sender: NoSender()) }
        }
        bench.listen()
        let ads = ["a", "b", "c"]
            .map { id in
                var content = content(id)
                content.trackers = [.init(event: "start", url: "https://t.example/\(id)")]
                return content
            }
        try bench.receive(bench.publish("b1", ads, start: gateway(5), at: gateway(0)))
        bench.advance(to: 5)
        return bench
    }

    private func complete(_ bench: inout CoreBench, _ adID: String) {
        bench.expectNext(adID, at: bench.now)
        bench.step { core, now in core.report(.completed, advertisement(adID), now: now) }
    }

    private func told(_ bench: CoreBench) -> [String] {
        bench.sent.flatMap { request -> [String] in
            guard case .acknowledge(let acknowledge) = request.kind else { return [] }
            return acknowledge.outcomes.map(\.advertisementID.description)
        }
    }

    private func commit(_ bench: inout CoreBench, through count: UInt64) {
        bench.step { $0.journal(.committed(count), now: $1) }
    }

    @Test func `in memory nothing waits`() throws {
        var bench = try self.bench(.none)
        self.complete(&bench, "a")
        #expect(self.told(bench) == ["a"])
    }

    @Test func `an outcome is told when its own entry is on the disk, and not an entry sooner`() throws {
        var bench = try self.bench(.committing(through: 0))
        self.complete(&bench, "a")
        let first = bench.core.keptCount
        self.complete(&bench, "b")
        let second = bench.core.keptCount
        #expect(self.told(bench) == [])
        // The last that is kept of "a" is its outcome.
        self.commit(&bench, through: first - 1)
        #expect(self.told(bench) == [])
        self.commit(&bench, through: first)
        #expect(self.told(bench) == ["a"])
        self.commit(&bench, through: second)
        #expect(self.told(bench) == ["a", "b"])
    }

    @Test func `outcomes of earlier runs are on the disk, and wait for nothing`() throws {
        var bench = try self.bench(.none)
        bench.answers = false
        self.complete(&bench, "a")
        var state = JournalState()
        for kind in bench.core.takeJournal() { state.apply(JournalEntry(written: gatewayStart, kind: kind)) }
        let core = ListenerCore(
            settings: bench.core.settings,
            session: SessionID(high: 1, low: 3),
            origin: .now,
            state: state,
            wallTime: gatewayStart + .seconds(6_000),
            disk: .committing(through: 0),
            seed: 2
        )
        var next = CoreBench(after: bench, core: core, now: local(20))
        next.listen()
        #expect(self.told(next) == ["a"])
    }

    @Test func `where the disk refuses outcomes do not wait, until it takes again`() throws {
        var bench = try self.bench(.committing(through: 0))
        self.complete(&bench, "a")
        bench.step { $0.journal(.failed("full"), now: $1) }
        #expect(self.told(bench) == ["a"])
        #expect(bench.events.contains { if case .storageFailed("full") = $0 { true } else { false } })
        self.complete(&bench, "b")
        #expect(self.told(bench) == ["a", "b"])
        self.commit(&bench, through: bench.core.keptCount)
        self.complete(&bench, "c")
        #expect(self.told(bench) == ["a", "b"])
        self.commit(&bench, through: bench.core.keptCount)
        #expect(self.told(bench) == ["a", "b", "c"])
    }

    private func called(_ bench: CoreBench) -> [String] {
        bench.actions.compactMap { if case .track(let request) = $0 { request.url } else { nil } }
    }

    @Test func `a tracking URL is called when the disk knows that it is, and taken back where that refuses`() throws {
        var bench = try self.bench(.committing(through: 0), tracks: true)
        bench.expectNext("a", at: bench.now)
        bench.step { core, now in core.report(.started, advertisement("a"), now: now) }
        // The last that is kept is that the call is made.
        let count = bench.core.keptCount
        self.commit(&bench, through: count - 1)
        #expect(self.called(bench) == [])
        self.commit(&bench, through: count)
        bench.expectNext("b", at: bench.now)
        bench.step { core, now in core.report(.started, advertisement("b"), now: now) }
        bench.step { $0.journal(.failed("full"), now: $1) }
        let waits = bench.events.contains { event in
            guard case .trackingChanged(let status) = event else { return false }
            return status.adID == "b" && status.state == .pending && status.attempts == 1
        }
        #expect(waits)
        #expect(!self.called(bench).contains("https://t.example/b"))
    }
}
