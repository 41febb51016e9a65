// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Synchronization
import TestSupport
import Testing

@_spi(Tracking) @testable import Cuecast

/// The queue, the dispatcher and the sender together, with a real server.
@Suite(.suiteLimit)
struct TrackingLoopTests {
    /// Answers 204, but 503 to the first call of `/start`, 404 to `/skip`, and nothing to `/mute`.
    private func server() throws -> LoopbackServer {
        let isSecond = Mutex(false)
        return try LoopbackServer { path in
            switch path {
            case "/start"
            where !isSecond.withLock({ before in
                defer { before = true }
                return before
            }):
                .bytes("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            case "/skip": .bytes("HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            case "/mute": .close
            default: .bytes("HTTP/1.1 204 Yes\r\nConnection: close\r\n\r\n")
            }
        }
    }

    private func advertisement(_ server: LoopbackServer) -> Advertisement {
        let events = ["impression", "start", "firstQuartile", "midpoint", "thirdQuartile", "skip", "mute"]
        return tracked(trackers: events.map { .init(event: $0, url: server.url("/\($0)")) })
    }

    @Test func `each URL is called once, again only where the server said that it is busy, and all ends are told`()
        async throws
    {
        let server = try self.server()
        defer { server.stop() }
        let ad = self.advertisement(server)
        let loop = TrackingLoop(restoring: [])
        loop.report(.started, ad)
        loop.report(.muted, ad)
        loop.report(.quartile(3), ad)
        loop.report(.skipped, ad)
        await loop.settled()
        var ends = loop.ends
        guard case .uncertain = ends.removeValue(forKey: "mute") else {
            Issue.record("\(loop.ends)")
            return
        }
        #expect(
            ends == [
                "impression": .sent(status: 204), "start": .sent(status: 204), "firstQuartile": .sent(status: 204),
                "midpoint": .sent(status: 204), "thirdQuartile": .sent(status: 204),
                "skip": .failed(.refused(status: 404)),
            ]
        )
        let paths = server.heads.map { $0.split(separator: " ")[1] }.sorted()
        #expect(
            paths == [
                "/firstQuartile", "/impression", "/midpoint", "/mute", "/skip", "/start", "/start", "/thirdQuartile",
            ]
        )
        // The app starts again and the same happens once more: nothing is called.
        let next = TrackingLoop(restoring: loop.journal)
        next.report(.started, ad)
        next.report(.muted, ad)
        next.report(.skipped, ad)
        await next.settled()
        #expect(server.heads.count == paths.count)
    }
}

/// The work of an engine: the queue decides behind a lock, and the decisions are performed in order.
private final class TrackingLoop: Sendable {
    private struct State {
        var bench: TrackingBench
        var journal: [TrackingEntry] = []
        var ends: [String: TrackingStatus.State] = [:]
    }

    private let state: Mutex<State>
    private let dispatcher = TrackingDispatcher(sender: URLSessionTrackingSender())
    private let origin = ContinuousClock.now

    init(restoring entries: [TrackingEntry]) {
        var limits = TrackingLimits()
        limits.retryDelayFirst = .milliseconds(20)
        let configuration = TrackingConfiguration(sender: NoSender(), userAgent: "Player/1.0", limits: limits)
        self.state = Mutex(State(bench: TrackingBench(configuration, restoring: entries)))
    }

    var journal: [TrackingEntry] { self.state.withLock { $0.journal } }
    var ends: [String: TrackingStatus.State] { self.state.withLock { $0.ends } }
    private var now: LocalInstant { LocalInstant(sinceStart: self.origin.duration(to: .now)) }

    func report(_ report: AdvertisementReport, _ advertisement: Advertisement) {
        self.step { $0.report(report, advertisement, at: .at($1)) }
    }

    private func step(
        _ decide: @Sendable (inout TrackingBench, _ seconds: Double) -> [TrackingQueue.Action]
    ) {
        self.state.withLock { state in
            let now = self.now.sinceStart.inSeconds
            let actions = decide(&state.bench, now) + state.bench.advance(now) + state.bench.due(now)
            for action in actions { self.perform(action, &state) }
        }
    }

    private func perform(_ action: TrackingQueue.Action, _ state: inout State) {
        switch action {
        case .journal(let entry): state.journal.append(entry)
        case .forget(let ids): state.journal.removeAll { ids.contains($0.id) }
        case .status(let status): state.ends[status.event] = status.state
        case .send(let request):
            self.dispatcher.send(request) { [weak self] id, result in
                self?.step { $0.finished(id, result, $1) }
            }
        }
    }

    /// Returns when nothing is pending.
    func settled() async {
        while self.state.withLock({ $0.bench.queue.count }) > 0 {
            await self.dispatcher.idle()
            guard let next = self.state.withLock({ $0.bench.next(self.now.sinceStart.inSeconds) }) else {
                // The end of an attempt is being told.
                await Task.yield()
                continue
            }
            try? await Task.sleep(until: self.origin + next.sinceStart, clock: .continuous)
            self.step { _, _ in [] }
        }
    }
}
