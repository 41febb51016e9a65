// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@_spi(Tracking) @testable import Cuecast

@Suite(.suiteLimit)
struct TrackingQueueTests {
    let one = tracked(trackers: [.init(event: "start", url: "https://t.example/start")])

    /// A queue with one call under way.
    func sending(_ change: (inout TrackingLimits) -> Void = { _ in }) throws -> (TrackingBench, UInt64) {
        var bench = TrackingBench(.testing(change))
        _ = bench.report(.started, self.one, at: .at(0))
        let id = try #require(bench.due(0).sends.first?.id)
        return (bench, id)
    }

    @Test func `the intent is journaled before anything else, and the attempt before it is sent`() throws {
        var bench = TrackingBench()
        let actions = bench.report(.started, self.one, at: .at(0)) + bench.due(0)
        let intent = try #require(actions.intended.first)
        #expect(intent.url == "https://t.example/start")
        let pending = TrackingStatus(
            id: 1,
            event: "start",
            url: intent.url,
            breakID: "b1",
            adID: "a",
            state: .pending,
            attempts: 0
        )
        let sending = TrackingStatus(
            id: 1,
            event: "start",
            url: intent.url,
            breakID: "b1",
            adID: "a",
            state: .sending,
            attempts: 1
        )
        let request = TrackingRequest(
            id: 1,
            url: intent.url,
            userAgent: "Player/1.0",
            event: "start",
            breakID: "b1",
            adID: "a",
            attempt: 1
        )
        #expect(
            actions == [
                .journal(.intended(intent)), .status(pending), .status(sending),
                .journal(.sending(id: 1, attempt: 1)), .send(request),
            ]
        )
        #expect(bench.due(0).isEmpty)
        #expect(bench.next(0) == nil)
    }

    @Test(arguments: [200, 204, 299, 301, 304, 399])
    func `an answer from 200 to 399 ends it`(status: Int) throws {
        var (bench, id) = try self.sending()
        let actions = bench.finished(id, .answered(status: status), 1)
        #expect(actions.statuses.map(\.state) == [.sent(status: status)])
        #expect(actions.journal.count == 1)
        #expect(bench.queue.count == 0)
        #expect(bench.due(1_000).isEmpty)
    }

    @Test func `consent that is withdrawn gives up what waits, and what is under way is not tried again`() throws {
        var (bench, id) = try self.sending { $0.inFlightMax = 1 }
        _ = bench.report(.started, tracked("b"), at: .at(0))
        let waiting = bench.queue.count - 1
        #expect(waiting > 0)
        let actions = bench.queue.set(consent: ListenerConsent(deniesTracking: true))
        #expect(actions.statuses.count == waiting && actions.statuses.allSatisfy { $0.state == .failed(.denied) })
        #expect(bench.finished(id, .answered(status: 503), 1).statuses.map(\.state) == [.failed(.denied)])
        #expect(bench.queue.set(consent: nil).isEmpty)
        #expect(bench.due(1_000).isEmpty)
    }

    @Test(arguments: [100, 199, 400, 401, 404, 407, 410, 428, 499, 600])
    func `a refusal is final and visible`(status: Int) throws {
        var (bench, id) = try self.sending()
        #expect(
            bench.finished(id, .answered(status: status), 1).statuses.map(\.state) == [
                .failed(.refused(status: status))
            ]
        )
        #expect(bench.due(1_000).isEmpty)
    }

    @Test(arguments: [
        TrackingResult.answered(status: 408), .answered(status: 429), .answered(status: 500), .answered(status: 503),
        .answered(status: 599), .couldNotConnect("the connection was refused"),
    ])
    func `a failed call is retried after a growing wait`(result: TrackingResult) throws {
        var (bench, id) = try self.sending()
        var now = 0.0
        for limit in [1.0, 2, 4, 8, 16, 32] {
            let actions = bench.finished(id, result, now)
            #expect(actions.statuses.map(\.state) == [.pending])
            #expect(actions.journal == [.waiting(id: id, attempt: actions.statuses[0].attempts)])
            let next = try #require(bench.next(now))
            #expect(next >= local(now) && next <= local(now + limit))
            now += limit
            #expect(bench.due(now).sends.map(\.id) == [id])
        }
    }

    @Test func `a server that asks to wait is obeyed`() throws {
        var (bench, id) = try self.sending()
        _ = bench.finished(id, .answered(status: 429, retryAfter: .seconds(30)), 0)
        #expect(bench.due(29.9).isEmpty)
        #expect(bench.due(31).sends.map(\.attempt) == [2])
    }

    @Test func `a server that asks to wait too long gets no further attempt`() throws {
        var (bench, id) = try self.sending { $0.ageMax = .seconds(100) }
        let actions = bench.finished(id, .answered(status: 503, retryAfter: .seconds(101)), 0)
        #expect(actions.statuses.map(\.state) == [.failed(.tooOld)])
        var (other, again) = try self.sending { $0.ageMax = .seconds(100) }
        #expect(
            other.finished(again, .answered(status: 503, retryAfter: .seconds(100)), 0).statuses.map(\.state) == [
                .pending
            ]
        )
    }

    @Test func `a call that may have arrived is never repeated`() throws {
        var (bench, id) = try self.sending()
        let actions = bench.finished(id, .uncertain("the connection was lost"), 1)
        #expect(actions.statuses.map(\.state) == [.uncertain("the connection was lost")])
        #expect(actions.journal == [.finished(id: id, key: try self.key(of: id), outcome: .uncertain)])
        #expect(bench.due(1_000).isEmpty)
    }

    /// The key of the only call.
    private func key(of id: UInt64) throws -> UInt64 {
        var bench = TrackingBench()
        return try #require(bench.report(.started, self.one, at: .at(0)).intended.first?.key)
    }

    @Test func `a call that cannot be sent is not retried`() throws {
        var (bench, id) = try self.sending()
        let actions = bench.finished(id, .notSendable("it is not a URL"), 1)
        #expect(actions.statuses.map(\.state) == [.failed(.notSendable("it is not a URL"))])
    }

    @Test func `the last attempt is the last`() throws {
        var (bench, id) = try self.sending { $0.attemptsMax = 2 }
        #expect(bench.finished(id, .couldNotConnect("no"), 0).statuses.map(\.state) == [.pending])
        #expect(bench.due(10).sends.map(\.attempt) == [2])
        #expect(
            bench.finished(id, .couldNotConnect("no"), 10).statuses.map(\.state) == [.failed(.attemptsExhausted("no"))]
        )
        #expect(bench.due(1_000).isEmpty)
    }

    @Test func `a call that waited too long is given up visibly`() {
        for (age, isSent) in [(100.0, true), (100.001, false)] {
            var bench = TrackingBench(.testing { $0.ageMax = .seconds(100) })
            _ = bench.report(.started, self.one, at: .at(0))
            let actions = bench.due(age)
            #expect(actions.sends.isEmpty == !isSent)
            #expect(actions.statuses.map(\.state) == [isSent ? .sending : .failed(.tooOld)])
        }
    }

    @Test func `only so many are under way at a time, oldest first`() throws {
        var bench = TrackingBench(.testing { $0.inFlightMax = 2 })
        _ = bench.report(.started, tracked(), at: .at(0))
        _ = bench.report(.muted, tracked(), at: .at(0))
        #expect(bench.due(0).sends.map(\.event) == ["impression", "start"])
        #expect(bench.due(0).isEmpty)
        _ = bench.finished(2, .answered(status: 200), 1)
        #expect(bench.next(1) == local(1))
        #expect(bench.due(1).sends.map(\.event) == ["mute"])
    }

    @Test func `at the limit the oldest that waits makes room, visibly`() {
        var bench = TrackingBench(
            .testing {
                $0.pendingMax = 2
                $0.inFlightMax = 1
            }
        )
        _ = bench.report(.started, tracked(), at: .at(0))
        #expect(bench.queue.count == 2)
        #expect(bench.due(0).sends.map(\.event) == ["impression"])
        let actions = bench.report(.muted, tracked(), at: .at(1))
        #expect(actions.statuses.map(\.event) == ["start", "mute"])
        #expect(actions.statuses.map(\.state) == [.failed(.tooManyPending), .pending])
        #expect(bench.queue.count == 2)
    }

    @Test func `where all are under way the new one is given up, visibly`() {
        var bench = TrackingBench(
            .testing {
                $0.pendingMax = 1
                $0.inFlightMax = 1
            }
        )
        _ = bench.report(.started, self.one, at: .at(0))
        _ = bench.due(0)
        let actions = bench.report(.muted, tracked("other"), at: .at(1))
        #expect(actions.statuses.map(\.state) == [.failed(.tooManyPending)])
        #expect(actions.journal.isEmpty)
    }

    @Test func `of calls that are over only so many are remembered, and the journal hears of it`() {
        var bench = TrackingBench(
            .testing {
                $0.rememberedMax = 1
                $0.inFlightMax = 10
            }
        )
        _ = bench.report(.started, tracked(), at: .at(0))
        _ = bench.due(0)
        #expect(bench.finished(1, .answered(status: 200), 1).forgotten.isEmpty)
        #expect(bench.finished(2, .answered(status: 200), 1).forgotten == [1])
    }

    @Test func `answers for calls that are not under way change nothing`() throws {
        var (bench, id) = try self.sending()
        #expect(bench.finished(id + 1, .answered(status: 200), 1).isEmpty)
        _ = bench.finished(id, .couldNotConnect("no"), 1)
        #expect(bench.finished(id, .answered(status: 200), 1).isEmpty)
        #expect(bench.queue.count == 1)
    }

    @Test func `a URL that is too long with its macros replaced fails visibly and once`() {
        let url = "https://t.example/" + String(repeating: "[ASSETURI]", count: 400)
        var content = content("a")
        content.media[0].url = "https://media.example/" + String(repeating: "x", count: 100)
        content.trackers = [.init(event: "start", url: url)]
        let long = Advertisement(content, breakID: breakID("b1"), delivery: [], position: .init(index: 1, count: 1))
        var bench = TrackingBench()
        let actions = bench.report(.started, long, at: .at(0))
        #expect(actions.journal.isEmpty)
        #expect(actions.statuses.map(\.url) == [url])
        guard case .failed(.notSendable) = actions.statuses.first?.state else {
            Issue.record("\(actions)")
            return
        }
        #expect(bench.report(.started, long, at: .at(1)).isEmpty)
    }

    @Test func `limits out of range are taken as the least that works`() {
        var bench = TrackingBench(
            .testing {
                $0.pendingMax = -1
                $0.inFlightMax = 0
                $0.attemptsMax = 0
                $0.rememberedMax = -5
                $0.ageMax = .seconds(-1)
                $0.retryDelayFirst = .seconds(-1)
                $0.retryDelayMax = .seconds(-2)
            }
        )
        _ = bench.report(.started, self.one, at: .at(0))
        #expect(bench.due(0).sends.count == 1)
    }

    @Test func `control characters never get into the header`() {
        var configuration = TrackingConfiguration.testing()
        configuration.userAgent = "Player/1\r\nCookie: x\u{7F}\u{85}é"
        var bench = TrackingBench(configuration)
        _ = bench.report(.started, self.one, at: .at(0))
        #expect(bench.due(0).sends.map(\.userAgent) == ["Player/1Cookie: xé"])
    }

    // MARK: After the app died

    @Test func `an intended call that had not begun is sent after a restart`() {
        var bench = TrackingBench()
        let journal = bench.report(.started, tracked(), at: .at(0)).journal
        var next = TrackingBench(restoring: journal)
        #expect(next.next(0) == local(0))
        let actions = next.due(5)
        #expect(actions.statuses.map(\.state) == [.pending, .pending, .sending, .sending])
        #expect(actions.sends.map(\.event) == ["impression", "start"])
    }

    @Test func `a call under way when the app died is uncertain and not repeated`() throws {
        var bench = TrackingBench()
        let journal = (bench.report(.started, self.one, at: .at(0)) + bench.due(0)).journal
        var next = TrackingBench(restoring: journal)
        let actions = next.due(1)
        #expect(actions.sends.isEmpty)
        #expect(actions.statuses.map(\.state) == [.uncertain("the app ended while it was sent")])
        #expect(actions.journal == [.finished(id: 1, key: try self.key(of: 1), outcome: .uncertain)])
        #expect(next.due(1_000).isEmpty)
    }

    @Test func `a call that waited for its next attempt continues with it`() throws {
        var bench = TrackingBench()
        var journal = (bench.report(.started, self.one, at: .at(0)) + bench.due(0)).journal
        journal += bench.finished(1, .couldNotConnect("no"), 1).journal
        var next = TrackingBench(restoring: journal)
        #expect(next.due(1).sends.map(\.attempt) == [2])
    }

    @Test func `a finished call is never repeated in the same session, and ids continue`() {
        var bench = TrackingBench()
        var journal = (bench.report(.started, self.one, at: .at(0)) + bench.due(0)).journal
        journal += bench.finished(1, .answered(status: 200), 1).journal
        // Only the last entry of a call that is over needs to be kept.
        for entries in [journal, [journal[journal.count - 1]], journal + journal] {
            var next = TrackingBench(restoring: entries)
            #expect(next.due(2).isEmpty)
            #expect(next.report(.started, self.one, at: .at(3)).isEmpty)
            #expect(next.report(.started, tracked("other"), at: .at(3)).intended.map(\.id) == [2, 3])
        }
    }

    @Test func `entries that make no sense are forgotten`() {
        var bench = TrackingBench(restoring: [.sending(id: 5, attempt: 1), .waiting(id: 6, attempt: 2)])
        #expect(bench.due(0) == [.forget([5, 6])])
    }

    @Test func `more calls that are over than are remembered are forgotten at the start`() {
        let entries = (1...3).map { TrackingEntry.finished(id: $0, key: $0 + 100, outcome: .sent) }
        var bench = TrackingBench(.testing { $0.rememberedMax = 2 }, restoring: entries)
        #expect(bench.due(0) == [.forget([1])])
    }

    @Test func `a listener who denies tracking has nothing sent, also nothing from before`() {
        var bench = TrackingBench()
        let journal = bench.report(.started, self.one, at: .at(0)).journal
        var next = TrackingBench(consent: ListenerConsent(deniesTracking: true), restoring: journal)
        #expect(next.due(1).statuses.map(\.state) == [.failed(.denied)])
        #expect(next.report(.started, tracked("b"), at: .at(2)).isEmpty)
        #expect(next.tell(2, TrackingEvents.clicked, tracked("b")).isEmpty)
        #expect(next.due(3).isEmpty)
    }
}
