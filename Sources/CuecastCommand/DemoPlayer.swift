// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import Cuecast
import Synchronization

/// A player that takes its time but makes no sound.
final class DemoPlayer: Sendable {
    private let client: CuecastClient
    private let ignores: Bool
    private let speed: Double
    private let printer: ListenPrinter
    /// When to stop which ad, because its break was withdrawn.
    private let stops = Mutex<[Advertisement: ContinuousClock.Instant]>([:])

    init(client: CuecastClient, ignores: Bool, speed: Double, printer: ListenPrinter) {
        self.client = client
        self.ignores = ignores
        self.speed = speed
        self.printer = printer
    }

    /// How often the progress line is drawn.
    private static let progressInterval: Duration = .milliseconds(200)

    /// Plays what comes until enough breaks are done, or the client stops.
    ///
    /// - Parameters:
    ///   - events: of the client, taken before it was started.
    ///   - breaks: how many breaks; `nil`: until the client stops.
    /// - Returns: why the gateway refused the listener, if it did.
    func follow(_ events: some AsyncSequence<ListenerEvent, Never>, breaks: Int?) async -> String? {
        var books = BreakBooks()
        return await withTaskGroup(of: Void.self, returning: String?.self) { group in
            let (wishes, wish) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            group.addTask { await self.play(wishes) }
            defer {
                wish.finish()
                group.cancelAll()
            }
            for await event in events {
                self.printer.print(event, session: self.client.sessionID)
                books.note(event)
                switch event {
                case .available:
                    if self.ignores {
                        self.client.advertisements.ignoreReceivedAdvertisements()
                    } else {
                        wish.yield()
                    }
                case .withdrawn(let withdrawal):
                    if let current = withdrawal.current {
                        self.stops.withLock { $0[current] = withdrawal.stopAt ?? .now }
                    }
                case .connectionChanged(.refused(let reason)): return "the gateway refuses this listener: \(reason)"
                default: break
                }
                if let breaks, books.done >= breaks { return nil }
                if CommandOutput.isOver { return nil }
            }
            return nil
        }
    }

    private func play(_ wishes: AsyncStream<Void>) async {
        for await _ in wishes {
            while !Task.isCancelled, let advertisement = self.client.advertisements.getAdvertisement() {
                await self.play(advertisement)
            }
        }
    }

    private func play(_ advertisement: Advertisement) async {
        let advertisements = self.client.advertisements
        advertisements.report(.started, for: advertisement)
        let length = advertisement.exactDuration
        let began = ContinuousClock.now
        var quartile = 1
        while !Task.isCancelled {
            // The client records by itself what was heard of a withdrawn ad.
            if let stop = self.stops.withLock({ $0[advertisement] }), stop <= .now { return }
            let heard = min(length, (ContinuousClock.now - began) * self.speed)
            self.printer.progress(advertisement, heard: heard)
            while quartile < 4, heard >= length * quartile / 4 {
                advertisements.report(.quartile(quartile), for: advertisement)
                quartile += 1
            }
            guard heard < length else {
                advertisements.report(.completed, for: advertisement)
                return
            }
            let step = min(Self.progressInterval, (length - heard) / self.speed)
            try? await Task.sleep(for: step)
        }
    }
}

/// Knows when a break is done: when the gateway has confirmed all its ads, or nothing of it can come any more.
private struct BreakBooks {
    private var open: [String: Set<String>] = [:]
    private(set) var done = 0

    mutating func note(_ event: ListenerEvent) {
        switch event {
        case .available(let each, let advertisements): self.open[each.id] = Set(advertisements.map(\.adID))
        case .acknowledged(let id, let adIDs): self.close(id, adIDs)
        case .acknowledgementGivenUp(let id, let adIDs, _): self.close(id, adIDs)
        case .outcomeUnknown(let advertisement): self.close(advertisement.breakID, [advertisement.adID])
        case .missed: self.done += 1
        case .withdrawn(let withdrawal):
            if self.open[withdrawal.breakID] == nil { self.done += 1 }
        default: break
        }
    }

    private mutating func close(_ id: String, _ adIDs: some Sequence<String>) {
        guard var ads = self.open[id] else { return }
        ads.subtract(adIDs)
        self.open[id] = ads.isEmpty ? nil : ads
        if ads.isEmpty { self.done += 1 }
    }
}
