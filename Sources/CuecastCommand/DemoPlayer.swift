// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
@_spi(Diagnostics) import Cuecast
import Synchronization

/// A player that takes its time but makes no sound.
final class DemoPlayer: Sendable {
    private let client: CuecastClient
    private let ignores: Bool
    private let speed: Double
    private let waits: Bool
    private let printer: ListenPrinter
    /// When to stop which ad, because its break was withdrawn.
    private let stops = Mutex<[Advertisement: ContinuousClock.Instant]>([:])

    init(client: CuecastClient, ignores: Bool, speed: Double, waits: Bool, printer: ListenPrinter) {
        self.client = client
        self.ignores = ignores
        self.speed = speed
        self.waits = waits
        self.printer = printer
    }

    /// Why it came to its end.
    enum End: Sendable {
        /// The breaks are over, or the client was stopped.
        case done
        /// The gateway refuses the listener, with this sentence.
        case refused(String)
        /// Nothing answered from the beginning, for this reason.
        case unreachable(String)
    }

    /// How often the progress line is drawn.
    private static let progressInterval: Duration = .milliseconds(200)

    /// Plays what comes until enough breaks are done, or the client stops.
    ///
    /// - Parameters:
    ///   - events: of the client, taken before it was started.
    ///   - breaks: how many breaks; `nil`: until the client stops.
    /// - Returns: why it came to its end.
    func follow(_ events: some AsyncSequence<ListenerEvent, Never>, breaks: Int?) async -> End {
        var books = BreakBooks()
        var contact = FirstContact()
        return await withTaskGroup(of: Void.self, returning: End.self) { group in
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
                case .connectionChanged(.refused(let reason)): return .refused(reason)
                case .connectionChanged(.waiting(let reason)):
                    contact.lost(self.client.connectionLoss)
                    if !self.waits, contact.isGivenUp { return .unreachable(reason) }
                case .joined: contact.isMade = true
                default: break
                }
                if let breaks, books.done >= breaks { return .done }
                if CommandOutput.isOver { return .done }
            }
            return .done
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

/// Knows whether an address has answered, or most likely never will.
///
/// A gateway that was reached once is waited for: it may be starting again. At an address where nothing has listened so far the
/// address is more likely wrong.
private struct FirstContact {
    /// So many attempts in a row may fail before the first join: a gateway that starts at the same time needs a moment.
    private static let attemptsMax = 3

    var isMade = false
    private var failures = 0

    /// An attempt has failed.
    mutating func lost(_ loss: ConnectionLoss?) {
        switch loss {
        case .closed, .connectTimedOut: self.failures += 1
        // Something is there, and has answered.
        default: self.failures = 0
        }
    }

    var isGivenUp: Bool { !self.isMade && self.failures >= Self.attemptsMax }
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
