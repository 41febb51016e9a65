// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastTesting
import CuecastWire
import Foundation
import Synchronization
import TestSupport
import Testing

@_spi(Diagnostics) @_spi(Tracking) @_spi(Tuning) @testable import Cuecast

/// Takes every call, and keeps it.
private final class RecordingSender: TrackingSender {
    private let requests = Mutex<[TrackingRequest]>([])

    var urls: [String] { self.requests.withLock { $0.map(\.url) } }

    func send(_ request: TrackingRequest) async -> TrackingResult {
        self.requests.withLock { $0.append(request) }
        return .answered(status: 204)
    }
}

/// A client whose disk is slow, full, or killed in the middle.
@Suite(.suiteLimit)
struct ClientStorageTests {
    let gateway: ScriptedGateway
    let files = TroubledFileSystem()
    let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        self.gateway = try ScriptedGateway(headInterval: .seconds(600))
    }

    private func makeStoringClient(
        _ name: String = "session",
        _ configure: (inout ListenerConfiguration) -> Void = { _ in }
    ) throws -> CuecastClient {
        try makeClient(self.gateway, files: self.files) {
            $0.storage = .file(path: self.folder.path(name))
            configure(&$0)
        }
    }

    private func requests(_ kind: ScriptedRequest.Kind) -> [ScriptedRequest] {
        self.gateway.requests.filter { $0.kind == kind }
    }

    /// The outcomes in the file, as the next run of the app would find them now.
    private func outcomes(_ name: String = "session") throws -> Int {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: self.folder.path(name))))
        return try #require(JournalRecords.read(bytes)).entries
            .count { if case .outcome = $0.kind { true } else { false } }
    }

    private func tracked(_ id: String) -> ScriptedAdvertisement {
        var spot = spot(id, seconds: 3_000)
        spot.trackers = ["start", "complete"].map { .init(event: $0, url: "https://track.example/\(id)/\($0)") }
        return spot
    }

    // MARK: Before the file is read

    @Test func `starting returns while the disk is held, and nothing is decided before the file is read`() async throws
    {
        self.files.hold(.open)
        let client = try self.makeStoringClient { $0.timings.storageWait = .zero }
        let events = client.makeEvents()
        try await client.start()
        try await until { self.files.isHolding }
        #expect(client.connectionState == .idle)
        #expect(client.advertisements.getAdvertisement() == nil)
        #expect(client.advertisements.currentAdvertisement == nil)
        #expect(client.gatewayClock == nil)
        await #expect(throws: CuecastError.alreadyStarted) { try await client.start() }
        #expect(self.gateway.requests.isEmpty && self.gateway.openConnections == 0)
        client.setDelay(.seconds(7))
        client.setDelay(.seconds(8))
        client.advertisements.report(.started, for: advertisement("x"))
        self.files.letGo()
        let refusal = await events.first { if case .reportRefused(_, _, let why) = $0 { why } else { nil } }
        #expect(refusal == .notHandedOut)
        try await until { client.connectionState == .listening }
        #expect(self.requests(.join).map(\.delay) == [.seconds(8)])
        client.stop()
        await client.stopped()
    }

    @Test func `the app's calls before the file is read are bounded`() async throws {
        self.files.hold(.open)
        let client = try self.makeStoringClient {
            $0.timings.storageWait = .zero
            $0.eventsBufferedMax = 10_000
        }
        let events = client.makeEvents()
        try await client.start()
        for _ in 0..<ListenerEngine.callsWaitingMax + 1 {
            client.advertisements.report(.started, for: advertisement("x"))
        }
        self.files.letGo()
        try await until { client.connectionState == .listening }
        client.stop()
        await client.stopped()
        var refused = 0
        for await event in events { if case .reportRefused = event { refused += 1 } }
        #expect(refused == ListenerEngine.callsWaitingMax)
    }

    @Test func `stopping before the file is read ends at the limit, and no connection is ever made`() async throws {
        self.files.hold(.open)
        let client = try self.makeStoringClient {
            $0.timings.storageWait = .zero
            $0.timings.stopLimit = .milliseconds(900)
        }
        let events = client.makeEvents()
        try await client.start()
        client.stop()
        #expect(client.connectionState == .stopping)
        await client.stopped()
        var told: [StopShortfall] = []
        for await event in events { if case .stoppedWithout(let what) = event { told.append(what) } }
        #expect(told == [.storage])
        self.files.letGo()
        // The next session waits for the file, which the one before lets go of now.
        try await client.start()
        try await until { client.connectionState == .listening }
        #expect(self.requests(.join).count == 1)
        client.stop()
        await client.stopped()
    }

    @Test func `a file that another client uses, found too late to be thrown, is an event`() async throws {
        let first = try self.makeStoringClient()
        try await first.start()
        self.files.hold(.lock)
        let second = try self.makeStoringClient { $0.timings.storageWait = .zero }
        let events = second.makeEvents()
        try await second.start()
        self.files.letGo()
        let reason = await events.first { if case .storageFailed(let reason) = $0 { reason } else { nil } }
        #expect(reason == "Another client uses the file \(self.folder.path("session")).")
        try await until { second.connectionState == .listening }
        for client in [first, second] {
            client.stop()
            await client.stopped()
        }
    }

    // MARK: Commits

    @Test func `handing out and reporting wait for nothing, and an acknowledgement waits for the commit`() async throws
    {
        let client = try self.makeStoringClient()
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000), spot("b", seconds: 3_000)], in: 0)
        _ = await events.first(\.available)
        self.files.hold(.append, .synchronize)
        let first = try #require(client.advertisements.getAdvertisement())
        client.advertisements.report(.completed, for: first)
        #expect(client.advertisements.getAdvertisement()?.adID == "b")
        #expect(client.acknowledgements.map(\.adID) == ["a"], "the app sees it at once")
        try await until { self.files.isHolding }
        // Something that is asked for after the outcome, and waits for nothing.
        try self.gateway.publish("b2", [spot("c", seconds: 3_000)], in: 10_000)
        _ = await events.first { if case .ready(let each, _) = $0, each.id == "b2" { each } else { nil } }
        #expect(self.requests(.acknowledge).isEmpty)
        #expect(try self.outcomes() == 0)
        self.files.letGo()
        #expect(await events.first(\.acknowledged) == ["a"])
        #expect(try self.outcomes() == 1)
        client.stop()
        await client.stopped()
    }

    @Test func `a tracking URL is called once the disk knows that it is`() async throws {
        let sender = RecordingSender()
        let client = try self.makeStoringClient { $0.tracking = TrackingConfiguration(sender: sender) }
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [self.tracked("a")], in: 0)
        _ = await events.first(\.available)
        self.files.hold(.synchronize)
        let advertisement = try #require(client.advertisements.getAdvertisement())
        client.advertisements.report(.started, for: advertisement)
        try await until { self.files.isHolding }
        try self.gateway.publish("b2", [spot("c", seconds: 3_000)], in: 10_000)
        _ = await events.first { if case .ready(let each, _) = $0, each.id == "b2" { each } else { nil } }
        #expect(sender.urls == [])
        self.files.letGo()
        try await until { sender.urls == ["https://track.example/a/start"] }
        client.stop()
        await client.stopped()
    }

    @Test func `with a full disk acknowledgements go, tracking URLs are not called, and the app is told`() async throws
    {
        let sender = RecordingSender()
        let client = try self.makeStoringClient {
            $0.tracking = TrackingConfiguration(sender: sender)
            $0.timings.stopWait = .zero
        }
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [self.tracked("a"), spot("b", seconds: 3_000)], in: 0)
        _ = await events.first(\.available)
        self.files.fail(.append, ENOSPC)
        let advertisement = try #require(client.advertisements.getAdvertisement())
        let failure = await events.first { if case .storageFailed(let reason) = $0 { reason } else { nil } }
        #expect(failure == "append: No space left on device")
        client.advertisements.report(.completed, for: advertisement)
        #expect(await events.first(\.acknowledged) == ["a"])
        client.stop()
        await client.stopped()
        #expect(sender.urls == [])
    }

    @Test func `a file that cannot be used costs no advertisement`() async throws {
        self.files.fail(.lock, EACCES)
        let client = try self.makeStoringClient()
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        let failure = await events.first { if case .storageFailed(let reason) = $0 { reason } else { nil } }
        #expect(failure == "lock: Permission denied")
        _ = await events.first(\.available)
        let advertisement = try #require(client.advertisements.getAdvertisement())
        client.advertisements.report(.completed, for: advertisement)
        #expect(await events.first(\.acknowledged) == ["a"])
        client.stop()
        await client.stopped()
    }

    @Test func `when stopped returns, everything is on the disk`() async throws {
        let client = try self.makeStoringClient { $0.timings.stopWait = .milliseconds(1) }
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        _ = await events.first(\.available)
        self.gateway.answering = .never
        let advertisement = try #require(client.advertisements.getAdvertisement())
        self.files.hold(.synchronize)
        client.advertisements.report(.completed, for: advertisement)
        client.stop()
        try await until { self.files.isHolding }
        self.files.letGo()
        await client.stopped()
        #expect(try self.outcomes() == 1)
    }

    // MARK: Killed in between

    /// Copies the state that a kill in this moment would leave into another file.
    private func kill(into name: String) throws {
        try FileManager.default.copyItem(atPath: self.folder.path("session"), toPath: self.folder.path(name))
    }

    @Test func `an advertisement is handed out again after a kill only where its record was not on the disk`()
        async throws
    {
        let client = try self.makeStoringClient()
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000), spot("b", seconds: 3_000)], in: 0)
        _ = await events.first(\.available)
        // Closing a break is the last that is kept of the batch.
        try await until { (try? self.batches()) == 1 }
        self.files.hold(.append)
        #expect(client.advertisements.getAdvertisement()?.adID == "a")
        try await until { self.files.isHolding }
        try self.kill(into: "before")
        self.files.letGo()
        try await until { (try? self.handOuts()) == 1 }
        try self.kill(into: "after")
        client.stop()
        await client.stopped()
        for (name, expected) in [("before", "a"), ("after", "b")] {
            let next = try self.makeStoringClient(name)
            let events = next.makeEvents()
            try await next.start()
            _ = await events.first(\.available)
            #expect(next.advertisements.getAdvertisement()?.adID == expected, "killed \(name) the commit")
            next.stop()
            await next.stopped()
        }
    }

    @Test func `an outcome that a kill loses was not told, and the advertisement has one outcome in the end`()
        async throws
    {
        let client = try self.makeStoringClient()
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
        _ = await events.first(\.available)
        let advertisement = try #require(client.advertisements.getAdvertisement())
        client.advertisements.report(.started, for: advertisement)
        try await until { (try? self.progress()) == 1 }
        self.files.hold(.append)
        client.advertisements.report(.failed(vastError: 405), for: advertisement)
        try await until { self.files.isHolding }
        try self.kill(into: "killed")
        #expect(self.gateway.outcomes.isEmpty)
        let next = try self.makeStoringClient("killed")
        let later = next.makeEvents()
        self.files.letGo()
        // Of this run nothing arrives any more: it is the one that was killed.
        self.gateway.breakConnections()
        try await next.start()
        #expect(await later.first(\.acknowledged) == ["a"])
        client.stop()
        next.stop()
        await client.stopped()
        await next.stopped()
    }

    private func entries(_ matches: (JournalEntry.Kind) -> Bool) throws -> Int {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: self.folder.path("session"))))
        return try #require(JournalRecords.read(bytes)).entries.count { matches($0.kind) }
    }

    private func batches() throws -> Int { try self.entries { if case .batch = $0 { true } else { false } } }

    private func handOuts() throws -> Int { try self.entries { if case .handedOut = $0 { true } else { false } } }

    private func progress() throws -> Int {
        try self.entries { if case .progress(_, _, let each) = $0 { each.started } else { false } }
    }
}
