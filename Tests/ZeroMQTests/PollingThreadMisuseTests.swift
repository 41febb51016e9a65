// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing
import ZeroMQ

/// Misuse of a polling thread ends the process, which names the thread and the broken rule.
@Suite(.suiteLimit)
struct PollingThreadMisuseTests {
    /// The complaint of a process that ended.
    static func complaint(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test func `attaching from another thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try PollingThread(name: "strict")
            thread.attach(try Socket(.pull, in: try Context())) {}
        }
        #expect(Self.complaint(result).contains("attach(_:onReadable:) was called on another thread"))
        #expect(Self.complaint(result).contains("'strict'"))
    }

    @Test func `detaching from another thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try PollingThread(name: "strict")
            thread.detach(try Socket(.pull, in: try Context()))
        }
        #expect(
            Self.complaint(result).contains("detach(_:) was called on another thread than the polling thread 'strict'")
        )
    }

    @Test func `scheduling from another thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try PollingThread(name: "strict").schedule(at: .now) {}
        }
        #expect(Self.complaint(result).contains("schedule(at:_:) was called on another thread"))
    }

    @Test func `starting a tick from another thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try PollingThread(name: "strict").tick(every: .seconds(1)) {}
        }
        #expect(Self.complaint(result).contains("tick(every:_:) was called on another thread"))
    }

    @Test func `starting a monitor from another thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try PollingThread(name: "strict")
            try Socket(.pull, in: try Context()).startMonitor(.acceptance, on: thread) { _ in }
        }
        #expect(Self.complaint(result).contains("startMonitor(_:on:handler:) was called on another thread"))
    }

    /// An attached socket on the wrong thread.
    ///
    /// The compiler refuses this without the box.
    private static func useElsewhere(_ use: (borrowing Socket) throws -> Void) async throws {
        let thread = try PollingThread(name: "strict")
        let box = MonitorTests.Box(try Socket(.dealer, in: try Context()))
        await Witness(on: thread).run { _ in thread.attach(box.socket) {} }
        try use(box.socket)
    }

    @Test func `receiving on another thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await Self.useElsewhere { _ = try $0.receive() == nil }
        }
        #expect(
            Self.complaint(result).contains("receive() was called on another thread than the polling thread 'strict'")
        )
    }

    @Test func `sending on another thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await Self.useElsewhere { _ = try $0.send([1]) }
        }
        #expect(Self.complaint(result).contains("send(_:more:) was called on another thread"))
    }

    @Test func `setting an option on another thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await Self.useElsewhere { try $0.set(.linger, to: .zero) }
        }
        #expect(Self.complaint(result).contains("set(_:to:) was called on another thread"))
    }

    @Test func `closing on another thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await Self.useElsewhere { _ in }
        }
        #expect(
            Self.complaint(result).contains("close() was called on another thread than the polling thread 'strict'")
        )
    }

    @Test func `attaching a socket twice`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try PollingThread(name: "strict")
            let witness = Witness(on: thread, socket: try Socket(.pull, in: try Context()))
            await witness.run { witness in
                witness.attach { _ in }
                witness.attach { _ in }
            }
        }
        #expect(Self.complaint(result).contains("attached already"))
    }

    @Test func `assuming isolation on another thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let witness = Witness(on: try PollingThread(name: "strict"))
            Self.assume(witness)
        }
        #expect(Self.complaint(result).contains("Incorrect actor executor assumption"))
    }

    private static func assume(_ witness: Witness) {
        witness.assumeIsolated { _ in }
    }

    @Test func `a tick without a period`() async {
        await #expect(processExitsWith: .failure) {
            let thread = try PollingThread(name: "strict")
            await Witness(on: thread).run { _ in _ = thread.tick(every: .zero) {} }
        }
    }

    @Test func `a second monitor on one socket`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let socket = try Socket(.pull, in: try Context())
            try socket.startMonitor(.acceptance, threadName: "first") { _ in }
            try socket.startMonitor(.acceptance, threadName: "second") { _ in }
        }
        #expect(Self.complaint(result).contains("a monitor already"))
    }
}
