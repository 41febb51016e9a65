// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import GatewayTestKit
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// The messages to a service manager, over a real socket.
@Suite(.suiteLimit)
struct ManagerTests {
    @Test(arguments: [false, true])
    func `the life of a gateway is told in order`(isAbstract: Bool) throws {
        let socket = try NotifySocket(isAbstract: isAbstract)
        let manager = socket.manager()
        manager.setStatus("starting")
        manager.needsTime(.seconds(30))
        manager.reloadBegan("too early")
        manager.reloadEnded("too early")
        manager.ready("serving")
        manager.ready("twice")
        manager.needsTime(.seconds(30))
        manager.setStatus("serving")
        manager.reloadBegan("reading")
        manager.reloadEnded("serving")
        manager.stopping("draining", atMost: .seconds(40))
        manager.stopping("twice", atMost: .seconds(40))
        manager.reloadBegan("too late")
        manager.ready("too late")
        manager.needsTime(.milliseconds(1_500))
        var told = socket.taken()
        let reload = try #require(told.firstIndex { $0.hasPrefix("RELOADING=1\n") })
        let since = try #require(told[reload].firstMatch(of: /MONOTONIC_USEC=([0-9]+)\n/)?.output.1)
        // By the clock that systemd compares it with.
        var now = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        let microseconds = UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1_000
        #expect(try #require(UInt64(since)) <= microseconds)
        told[reload] = told[reload].replacing(since, with: "…")
        #expect(
            told == [
                "STATUS=starting", "EXTEND_TIMEOUT_USEC=30000000", "READY=1\nSTATUS=serving",
                "RELOADING=1\nMONOTONIC_USEC=…\nSTATUS=reading", "READY=1\nSTATUS=serving",
                "STOPPING=1\nEXTEND_TIMEOUT_USEC=40000000\nSTATUS=draining", "EXTEND_TIMEOUT_USEC=1500000",
            ]
        )
    }

    @Test func `a start that fails says why, with the system's number where there is one`() throws {
        let socket = try NotifySocket()
        let manager = socket.manager()
        manager.failed("the port is in use", errorNumber: EADDRINUSE)
        manager.failed("something else", errorNumber: nil)
        #expect(socket.taken() == ["ERRNO=98\nSTATUS=the port is in use", "STATUS=something else"])
    }

    @Test func `a status is one line, however it is written, and not longer than its limit`() throws {
        let socket = try NotifySocket()
        let manager = socket.manager()
        manager.setStatus("one\nREADY=1\r\u{0}\u{85}two")
        manager.setStatus(String(repeating: "é", count: ManagerLimits.statusBytesMax / 2))
        manager.setStatus(String(repeating: "é", count: ManagerLimits.statusBytesMax / 2) + "e")
        let told = socket.taken()
        #expect(told[0] == "STATUS=one READY=1   two")
        #expect(told[1].hasSuffix("éé") && told[1].utf8.count == "STATUS=".utf8.count + ManagerLimits.statusBytesMax)
        #expect(told[2] == told[1] + "…")
    }

    @Test(
        arguments: [
            "/nowhere/at/all.sock", "relative.sock", "@", "/" + String(repeating: "x", count: 107),
            "@" + String(repeating: "x", count: 108), "vsock:2:1",
        ]
    )
    func `a manager that cannot be reached is one warning and nothing else`(name: String) {
        let warnings = Mutex<[String]>([])
        let manager = ServiceManager(ManagerEnvironment(["NOTIFY_SOCKET": name], process: 1)) { warning in
            warnings.withLock { $0.append(warning) }
        }
        for _ in 0..<3 {
            manager.ready("serving")
            _ = manager.giveSignOfLife()
        }
        let found = warnings.withLock { $0 }
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("the service manager cannot be told anything: ") == true)
    }

    @Test func `nothing is sent without a service manager`() {
        let manager = ServiceManager(ManagerEnvironment(["NOTIFY_SOCKET": ""], process: 1)) { Issue.record("\($0)") }
        manager.ready("serving")
        #expect(!manager.isThere)
        #expect(manager.watchdog == nil)
        #expect(!manager.giveSignOfLife())
    }

    @Test func `a manager whose socket is full costs no time and no warning`() throws {
        let socket = try NotifySocket()
        let manager = socket.manager { Issue.record("\($0)") }
        var taken = 0
        // The kernel keeps few datagrams of an unread socket (net.unix.max_dgram_qlen).
        while taken < 1_000_000, manager.giveSignOfLife() { taken += 1 }
        #expect((1..<1_000_000).contains(taken))
        #expect(socket.taken().count == taken)
        #expect(manager.giveSignOfLife())
    }

    @Test(
        arguments: [
            (["WATCHDOG_USEC": "30000000"], .seconds(30)),
            (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": ""], .seconds(30)),
            (["WATCHDOG_USEC": "1", "WATCHDOG_PID": "77"], .microseconds(1)),
            (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "78"], nil), (["WATCHDOG_USEC": "0"], nil),
            (["WATCHDOG_USEC": "-1"], nil), (["WATCHDOG_USEC": "30s"], nil), (["WATCHDOG_PID": "77"], nil),
            (["WATCHDOG_USEC": "99999999999999999999"], nil), (["WATCHDOG_USEC": "1", "WATCHDOG_PID": "x"], nil),
        ] as [([String: String], Duration?)]
    )
    func `a watchdog is ours where its variables say so`(environment: [String: String], watchdog: Duration?) {
        #expect(ManagerEnvironment(environment, process: 77).watchdog == watchdog)
    }

    @Test func `the status says at a glance what an operator must know`() {
        var status = ManagerStatus()
        status.listeners = 9_000
        status.streams = 12
        #expect(status.sentence == "serving 9,000 listeners, 12 streams")
        status.alarms = ["clock", "logNearlyFull"]
        #expect(status.sentence == "serving 9,000 listeners, 12 streams; alarms: clock, logNearlyFull")
        status.missing = [.log, .sockets]
        status.alarms = []
        status.listeners = 1_234_567
        status.streams = 1
        #expect(status.sentence == "not ready: missing log, sockets; 1,234,567 listeners, 1 stream")
        status.isStopping = true
        #expect(status.sentence == "draining")
        status.waiting = 1
        #expect(status.sentence == "draining: 1 acknowledgement to be confirmed")
        status.failure = "The event log failed."
        #expect(status.sentence == "failed: The event log failed.")
    }
}

/// The watchdog is fed by the thread that answers requests, and by no other.
@Suite(.suiteLimit)
struct WatchdogTests {
    var station = Station()

    private static func isSign(_ datagram: String) -> Bool { datagram == "WATCHDOG=1" }

    @Test func `signs of life come while idle, cease while the request thread is held, and come again`() async throws {
        let socket = try NotifySocket()
        let interval: Duration = .milliseconds(100)
        let gate = Gate()
        self.station.log.set(beforeAppend: gate.pass)
        try await withGateway(
            log: self.station.log,
            ledger: InMemoryLedger(),
            manager: socket.manager(watchdog: interval)
        ) { running in
            for _ in 0..<5 { _ = try await socket.next("a sign of life while idle", where: Self.isSign) }

            let broadcaster = try await running.broadcaster()
            gate.close()
            defer { gate.open() }
            _ = try await broadcaster.send(.publication(of: .of("radio1", "b")))
            try await until("the request thread is held inside a handler") { gate.isThreadWaiting }
            _ = socket.taken()
            // None can come, however long one waits.
            try await Task.sleep(for: interval * 5)
            #expect(socket.taken().filter(Self.isSign).isEmpty)

            gate.open()
            for _ in 0..<5 { _ = try await socket.next("a sign of life after it", where: Self.isSign) }
        }
    }

    @Test func `signs of life come under load`() async throws {
        let socket = try NotifySocket()
        try await withGateway(
            log: self.station.log,
            ledger: InMemoryLedger(),
            manager: socket.manager(watchdog: .milliseconds(100))
        ) { running in
            let listener = try await running.listener()
            _ = try await listener.join()
            let load = Gate()
            load.close()
            try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask {
                    var count = 0
                    repeat {
                        for _ in 0..<32 { _ = try await listener.ask(.getTime) }
                        count += 32
                    } while load.isClosed
                    return count
                }
                // What came before the load says nothing about it.
                try await until("the load has begun") { running.metrics.value(.listenerRequests, .time) > 0 }
                _ = socket.taken()
                for _ in 0..<5 { _ = try await socket.next("a sign of life under load", where: Self.isSign) }
                load.open()
                #expect(try await group.next() ?? 0 > 0)
            }
        }
    }

    @Test func `the status follows what happens, and a stop is told before anything ends`() async throws {
        let socket = try NotifySocket()
        let manager = socket.manager()
        try await withGateway(log: self.station.log, ledger: InMemoryLedger(), manager: manager) { running in
            manager.ready("serving")
            running.gateway.readiness.raise(.clock, "The wall clock is 1 h ahead.")
            _ = try await socket.next("the alarm") { $0 == "STATUS=serving 0 listeners, 0 streams; alarms: clock" }
            running.gateway.readiness.clear(.clock)
            running.gateway.readiness.set(.log, isReady: false)
            _ = try await socket.next("what is missing") {
                $0 == "STATUS=not ready: missing log; 0 listeners, 0 streams"
            }
            running.gateway.readiness.set(.log, isReady: true)

            // Something waits, so that the drain takes time.
            let broadcaster = try await running.broadcaster()
            self.station.log.set(.breaks, .holding)
            _ = try await broadcaster.send(.publication(of: .of("radio1", "b")))
            try await until("it is with the log") { self.station.log.appendCount(of: .breaks) == 1 }
            await running.beginShutdown()
            let told = try await socket.next("the stop") { $0.hasPrefix("STOPPING=1\n") }
            #expect(told.hasSuffix("STATUS=draining"))
            _ = try await socket.next("more time") { $0 == "EXTEND_TIMEOUT_USEC=30000000" }
            self.station.log.set(.breaks, .passing)
        }
    }
}

/// A log that does not answer is told of, and ends nothing.
@Suite(.suiteLimit)
struct LogSilenceTests {
    var station = Station()
    private let start = ContinuousClock.now

    @Test func `a log is silent from its limit on, and not before`() {
        var silence = LogSilence(silenceMax: .seconds(10))
        #expect(silence.look(at: self.start + .seconds(1_000)) == .fine)
        silence.asked(at: self.start)
        silence.asked(at: self.start + .seconds(5))
        #expect(silence.look(at: self.start + .seconds(10) - .nanoseconds(1)) == .fine)
        #expect(silence.look(at: self.start + .seconds(10)) == .silent(.seconds(10)))
        silence.heard(at: self.start + .seconds(11))
        #expect(silence.look(at: self.start + .seconds(11)) == .answersAgain)
        #expect(silence.look(at: self.start + .seconds(12)) == .fine)
        // One still waits, and counts from the last answer on.
        #expect(silence.look(at: self.start + .seconds(21)) == .silent(.seconds(10)))
        silence.heard(at: self.start + .seconds(22))
        #expect(silence.look(at: self.start + .seconds(22)) == .answersAgain)
        #expect(silence.look(at: self.start + .seconds(1_000)) == .fine)
    }

    @Test func `the alarm is raised while the log says nothing, signs of life go on, and it ends with the answer`()
        async throws
    {
        var station = self.station
        // Longer than a busy machine takes for an answer that comes.
        station.configuration.logSilenceMax = .seconds(2)
        let socket = try NotifySocket()
        try await withGateway(
            configuration: station.configuration,
            log: station.log,
            ledger: InMemoryLedger(),
            manager: socket.manager(watchdog: .milliseconds(100))
        ) { running in
            let broadcaster = try await running.broadcaster()
            station.log.set(.breaks, .holding)
            let id = try await broadcaster.send(.publication(of: .of("radio1", "b")))
            try await until("the alarm") { running.gateway.readiness.alarms.map(\.alarm) == ["logSilent"] }
            #expect(running.gateway.readiness.missing.isEmpty)
            _ = socket.taken()
            for _ in 0..<3 { _ = try await socket.next("a sign of life") { $0 == "WATCHDOG=1" } }
            station.log.set(.breaks, .passing)
            #expect(try await broadcaster.reply(to: id).info != nil)
            try await until("it is over") { running.gateway.readiness.alarms.isEmpty }
            try await until("it is in the messages") {
                running.logs.messages(.notice).filter { $0.hasPrefix("the event log ") }
                    == ["the event log does not answer", "the event log answers again"]
            }
        }
    }
}

/// A gate: while it is closed, a thread that calls `pass` blocks until it opens.
private final class Gate: Sendable {
    private let condition = NSCondition()
    private let state = Mutex((isClosed: false, isThreadWaiting: false))

    var isClosed: Bool { self.state.withLock(\.isClosed) }
    var isThreadWaiting: Bool { self.state.withLock(\.isThreadWaiting) }

    func close() {
        self.state.withLock { $0.isClosed = true }
    }

    func open() {
        self.condition.withLock {
            self.state.withLock { $0.isClosed = false }
            self.condition.broadcast()
        }
    }

    func pass() {
        self.condition.withLock {
            while self.state.withLock({ state in
                state.isThreadWaiting = state.isClosed
                return state.isClosed
            }) {
                self.condition.wait()
            }
        }
    }
}
