// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import GatewayTestKit
import Logging
import TestSupport
import Testing

@testable import Gateway

/// A log that is full, and one that failed permanently.
@Suite(.suiteLimit)
struct LogCapacityTests {
    var station = Station()
    static let lane = Lane.acknowledgements(0)

    init() {
        self.station.configuration.limits[.requestsPerSessionPerSecondMax] = 0
        self.station.configuration.sampleInterval = .milliseconds(10)
    }

    private static let roomy = LogUsage(bytes: 10, bytesMax: 100)
    private static let near = LogUsage(bytes: 80, bytesMax: 100)
    private static let full = LogUsage(bytes: 100, bytesMax: 100)

    /// A listener with the batch of a break `b`, and its acknowledgement.
    private func fetched(
        from running: RunningGateway
    ) async throws -> (listener: RawListener, acknowledgement: ListenerRequest.Kind) {
        let listener = try await running.listener()
        _ = try await listener.join()
        try await running.broadcaster().publish("b", duration: .seconds(30))
        let batch = try await listener.batch(of: "b")
        try await until("the delivery is recorded") { try await !self.station.memory.acknowledgementGroups().isEmpty }
        return (listener, try listener.acknowledgement(of: batch, of: "b"))
    }

    @Test func `without room new work is refused, breaks can be ended, and it goes on by itself`() async throws {
        try await self.station.runByHand { running in
            let (listener, acknowledgement) = try await self.fetched(from: running)
            let broadcaster = try await running.broadcaster()
            try await broadcaster.publish("later", start: .after(.seconds(600)), duration: .seconds(30))
            self.station.log.set(usage: Self.near)
            try await until("it alarms") { running.gateway.readiness.alarms.contains { $0.alarm == "logNearlyFull" } }
            #expect(running.gateway.readiness.missing.isEmpty)
            #expect(try await listener.ask(acknowledgement).body == .acknowledged(recorded: 2))
            #expect(running.metrics.value(.logUsedBytes) == 80 && running.metrics.value(.logUsedBytesMax) == 100)

            self.station.log.set(usage: Self.full)
            try await until("it is not ready") { running.gateway.readiness.missing == [.log] }
            let refusal = try #require(
                try await broadcaster.ask(.publication(of: .of("radio2", "new"))).refusal
            )
            #expect(refusal.status == .unavailable)
            #expect(refusal.sentence.contains("log.bytesMax"))
            let second = try await running.listener()
            let batch = try await second.batch(of: "b")
            let late = try second.acknowledgement(of: batch, of: "b")
            #expect(try await second.ask(late).refusal?.status == .unavailable)
            #expect(running.metrics.value(.limitsHit, .limit(.logBytesMax)) == 2)
            let cancel = BroadcastRequest.Kind.cancel(try .of("radio1", "later"))
            #expect(try await broadcaster.ask(cancel).info?.state == .cancelled)
            #expect(
                running.gateway.readiness.missing == [.log],
                "what the reserve took does not say that there is room"
            )

            self.station.log.set(usage: Self.roomy)
            try await until("it is ready again") { running.gateway.readiness.missing.isEmpty }
            #expect(try await broadcaster.ask(.publication(of: .of("radio2", "new"))).info != nil)
            #expect(try await second.ask(late).body == .acknowledged(recorded: 2))
            try await until("the alarm is over") { running.gateway.readiness.alarms.isEmpty }
            // What was handed out without room is recorded when there is room.
            let books = try await running.books { $0.total.played == 4 }
            #expect(books.total.delivered == 4)
            #expect(books.balances)
        }
    }

    @Test func `requests that wait when the log is full are refused`() async throws {
        try await self.station.runByHand { running in
            let (listener, acknowledgement) = try await self.fetched(from: running)
            self.station.log.set(Self.lane, .holding)
            let before = self.station.log.appendCount(of: Self.lane)
            let first = try await listener.send(acknowledgement)
            try await until("one is with the log") { self.station.log.appendCount(of: Self.lane) == before + 1 }
            let second = try await listener.send(acknowledgement)
            #expect(try await listener.ask(.getTime).body == .done)
            self.station.log.set(usage: Self.full)
            self.station.log.set(Self.lane, .passing)
            #expect(try await listener.reply(to: first).body == .acknowledged(recorded: 2))
            // It was a repeat of what became durable, or it was refused; it got its answer.
            _ = try await listener.reply(to: second)
        }
    }

    @Test func `a log that failed for good has everybody answered, says so, and ends the gateway`() async throws {
        let error = await #expect(throws: LogStopped.self) {
            try await self.station.runByHand { running in
                let (listener, acknowledgement) = try await self.fetched(from: running)
                self.station.log.set(Self.lane, .holding)
                let id = try await listener.send(acknowledgement)
                #expect(try await listener.ask(.getTime).body == .done)
                #expect(running.gateway.readiness.failure == nil)
                self.station.log.stop("the disk is gone")
                #expect(try await listener.reply(to: id).refusal?.status == .unavailable)
                try await until("it is said") { running.gateway.readiness.failure != nil }
                #expect(running.gateway.readiness.missing.contains(.log))
                try await until("it is in the messages") {
                    running.logs.messages(.critical).contains { $0.contains("event log failed") }
                }
            }
        }
        #expect(try #require(error).reason == "the disk is gone")
    }

    @Test func `a log that fails without a request ends the gateway too`() async throws {
        await #expect(throws: LogStopped.self) {
            try await self.station.run { running in
                self.station.log.stop("the disk is gone")
                try await until("it is said") { running.gateway.readiness.failure != nil }
            }
        }
    }

    @Test func `sentences about room say what there is, and nothing where there is enough`() {
        #expect(CapacityService.sentence(about: nil) == nil)
        #expect(CapacityService.sentence(about: LogUsage(bytes: 79, bytesMax: 100)) == nil)
        #expect(CapacityService.sentence(about: Self.near)?.contains("80 of 100") == true)
        #expect(CapacityService.sentence(about: Self.full)?.contains("refused") == true)
        let least = CapacityService.diskFreeBytesMin
        #expect(CapacityService.sentence(aboutFree: nil, in: "/") == nil)
        #expect(CapacityService.sentence(aboutFree: least, in: "/") == nil)
        #expect(CapacityService.sentence(aboutFree: least - 1, in: "/")?.contains("\(least - 1)") == true)
    }

    @Test func `the machine says what the process has`() throws {
        let sample = MachineSample(folder: FileManager.default.temporaryDirectory.path)
        #expect(try #require(sample.diskFreeBytes) > 0)
        #expect(try #require(sample.descriptorsMax) > 0)
        #if os(Linux)
        #expect(try #require(sample.residentBytes) > 1_000_000)
        let open = try #require(sample.openDescriptors)
        #expect(open > 2 && open < 100_000)
        #endif
        #expect(MachineSample(folder: "/no/such/folder").diskFreeBytes == nil)
    }
}
