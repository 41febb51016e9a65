// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Glibc
import LoadEngine
import Testing
import ZMTP
import ZeroMQ

/// The loop against libzmq's sockets, and against peers that do not behave.
///
/// One at a time: they block the threads that other tests share.
@Suite(.serialized, .suiteLimit)
struct LoopTests {
    let context: Context
    private let anyPort = "tcp://127.0.0.1:*"

    init() throws {
        self.context = try Context()
    }

    @Test func `many subscribers each hear every message once and in order`() throws {
        let publisher = try Socket(.xpub, in: self.context)
        try publisher.set(.sendHighWaterMark, to: 0)
        let endpoint = try Endpoint(try publisher.bind(self.anyPort))
        let driver = ScriptedDriver()
        let loop = try LoadLoop(driver: driver, connectionsMax: 50)
        for tag in 0..<50 { _ = loop.connect(.sub, to: endpoint, tag: UInt64(tag)) }
        driver.onReady = { $1.subscribe([UInt8(ascii: "t")], on: $0) }
        // libzmq tells of the first subscription only: the others are proven by what each hears.
        var heard = [Int](repeating: 0, count: 50)
        var sent = 0
        driver.onTimer = { _, loop in
            while try publisher.receive() != nil {}
            // Until the last subscriber has heard enough, however late it came.
            if sent < 60_000 {
                sent += 1
                #expect(try publisher.send([UInt8(ascii: "t"), UInt8(sent & 255), UInt8(sent >> 8)]) == .sent)
            }
            loop.schedule(TimerToken(kind: 0), at: loop.now + .microseconds(200))
        }
        driver.onMessage = { message, connection, loop in
            let tag = Int(connection.tag)
            let number = Int(message[1]) | Int(message[2]) << 8
            #expect(heard[tag] == 0 || number == heard[tag] + 1)
            heard[tag] = number
            if number >= 400, heard.allSatisfy({ $0 >= 400 }) { loop.stop() }
        }
        loop.schedule(TimerToken(kind: 0), at: .now() + .milliseconds(200))
        try loop.run()
        #expect(heard.allSatisfy { $0 >= 400 })
        #expect(driver.ends.isEmpty)
        #expect(loop.openCount == 0)
    }

    @Test(arguments: [ConnectionKind.req, .dealer])
    func `requests of any length go out and their replies come back`(kind: ConnectionKind) throws {
        let router = try Socket(.router, in: self.context)
        let endpoint = try Endpoint(try router.bind(self.anyPort))
        let driver = ScriptedDriver()
        let loop = try LoadLoop(driver: driver, connectionsMax: 1)
        let lengths = [0, 1, 255, 256, 70_000, 2_000_000]
        var answered: [Int] = []
        let ask = { (connection: Connection, loop: LoadLoop<ScriptedDriver>) in
            loop.sendRequest([UInt8](repeating: 8, count: lengths[answered.count]), on: connection)
        }
        driver.onReady = ask
        driver.onTimer = { _, loop in
            var frames = FrameBuffer(framesMax: 4)
            if try router.receive(into: &frames) == .message {
                #expect(frames.count == 3)
                for index in 0..<3 { #expect(try router.send(frames.bytes(at: index), more: index < 2) == .sent) }
            }
            loop.schedule(TimerToken(kind: 0), at: loop.now + .milliseconds(1))
        }
        driver.onMessage = { message, connection, loop in
            #expect(message.count == lengths[answered.count])
            answered.append(message.count)
            if answered.count == lengths.count { loop.stop() } else { ask(connection, loop) }
        }
        loop.schedule(TimerToken(kind: 0), at: .now())
        _ = loop.connect(kind, to: endpoint, tag: 0)
        try loop.run()
        #expect(answered == lengths)
    }

    @Test func `a frame beyond the limit ends the connection, and the driver is told`() throws {
        let publisher = try Socket(.xpub, in: self.context)
        let endpoint = try Endpoint(try publisher.bind(self.anyPort))
        let driver = ScriptedDriver()
        var settings = LoopSettings()
        settings.frameBytesMax = 1_000
        let loop = try LoadLoop(driver: driver, connectionsMax: 1, settings: settings)
        driver.onReady = { $1.subscribe([], on: $0) }
        driver.onTimer = { _, loop in
            if try publisher.receive() != nil {
                #expect(try publisher.send([UInt8](repeating: 1, count: 1_000)) == .sent)
                #expect(try publisher.send([UInt8](repeating: 1, count: 1_001)) == .sent)
            }
            loop.schedule(TimerToken(kind: 0), at: loop.now + .milliseconds(1))
        }
        var received = 0
        driver.onMessage = { message, _, _ in received += message.count }
        driver.onEnd = { _, loop in loop.stop() }
        loop.schedule(TimerToken(kind: 0), at: .now())
        _ = loop.connect(.sub, to: endpoint, tag: 0)
        try loop.run()
        #expect(received == 1_000)
        #expect(driver.ends == [.violation(.frameTooLong(bytes: 1_001, bytesMax: 1_000))])
    }

    @Test func `a refused connection and a peer of another pattern are reported as such`() throws {
        let publisher = try Socket(.xpub, in: self.context)
        let wrong = try Endpoint(try publisher.bind(self.anyPort))
        let port = try HeldPort()
        let closed = try Endpoint(port.endpoint)
        let driver = ScriptedDriver()
        let loop = try LoadLoop(driver: driver, connectionsMax: 2)
        driver.onEnd = { end, loop in
            if driver.ends.count == 2 { loop.stop() }
        }
        _ = loop.connect(.req, to: wrong, tag: 1)
        _ = loop.connect(.sub, to: closed, tag: 2)
        try loop.run()
        #expect(driver.ends.contains { $0 == .refused || $0 == .closedByPeer })
        #expect(driver.ends.contains { $0 == .violation(.incompatible(.req, .xpub)) || $0 == .closedByPeer })
    }

    @Test func `heartbeats are answered without the driver`() async throws {
        let (endings, sink) = AsyncStream.makeStream(of: [ConnectionEnd].self, bufferingPolicy: .bufferingOldest(1))
        let peer = try WirePeer.accepting(Session(.router, minor: 1)) { endpoint in
            let endpoint = try Endpoint(endpoint)
            Thread.detachNewThread {
                let driver = ScriptedDriver()
                driver.onMessage = { _, _, loop in loop.stop() }
                do {
                    let loop = try LoadLoop(driver: driver, connectionsMax: 1)
                    _ = loop.connect(.dealer, to: endpoint, tag: 0)
                    try loop.run()
                    sink.yield(driver.ends)
                } catch {
                    Issue.record(error)
                }
                sink.finish()
            }
        }
        try peer.shakeHands()
        // PING with a time to live of 1 s and a context, which PONG repeats. (ZMTP 3.1, "Heartbeating")
        for number in 0..<3 {
            let body = [4] + Array("PING".utf8) + [0, 10] + Array("context".utf8) + [UInt8(number)]
            try peer.send([4, UInt8(body.count)] + body)
            #expect(try peer.next() == .pong)
        }
        var bytes: [UInt8] = []
        Outgoing.appendRequest([1], to: &bytes)
        try peer.send(bytes)
        var iterator = endings.makeAsyncIterator()
        #expect(await iterator.next() == [])
    }

    @Test func `a paused connection takes nothing in until it is resumed`() throws {
        let publisher = try Socket(.xpub, in: self.context)
        let endpoint = try Endpoint(try publisher.bind(self.anyPort))
        let driver = ScriptedDriver()
        let loop = try LoadLoop(driver: driver, connectionsMax: 1)
        var connection: Connection?
        var isPaused = false
        driver.onReady = { ready, loop in
            connection = ready
            loop.subscribe([], on: ready)
            loop.schedule(TimerToken(kind: 0), at: loop.now + .milliseconds(300))
        }
        driver.onTimer = { timer, loop in
            let ready = try #require(connection)
            switch timer.value {
            case 0:
                loop.pause(ready)
                isPaused = true
                #expect(try publisher.waitUntilReadable(for: .seconds(1_800)))
                while try publisher.receive() != nil {}
                #expect(try publisher.send([1]) == .sent)
                loop.schedule(TimerToken(kind: 0, value: 1), at: loop.now + .milliseconds(100))
            default:
                isPaused = false
                loop.resume(ready)
            }
        }
        driver.onMessage = { _, _, loop in
            #expect(!isPaused)
            loop.stop()
        }
        _ = loop.connect(.sub, to: endpoint, tag: 0)
        try loop.run()
        #expect(driver.messageCount == 1)
    }

    @Test func `timers fire in their order, and not before their time`() throws {
        let driver = ScriptedDriver()
        let loop = try LoadLoop(driver: driver, connectionsMax: 0)
        let start = LoopTime.now()
        var fired: [UInt32] = []
        driver.onTimer = { timer, loop in
            fired.append(timer.value)
            #expect(loop.now >= start + .milliseconds(Int(timer.value)))
            if timer.value == 30 { loop.stop() }
        }
        for value in [30, 10, 20, 0] as [UInt32] {
            loop.schedule(TimerToken(kind: 0, value: value), at: start + .milliseconds(Int(value)))
        }
        try loop.run()
        #expect(fired == [0, 10, 20, 30])
    }

    @Test func `a closed connection's handle does nothing, also when its place is used again`() throws {
        let router = try Socket(.router, in: self.context)
        let endpoint = try Endpoint(try router.bind(self.anyPort))
        let driver = ScriptedDriver()
        let loop = try LoadLoop(driver: driver, connectionsMax: 2)
        var first: Connection?
        driver.onReady = { connection, loop in
            guard let stale = first else {
                first = connection
                loop.close(connection)
                #expect(loop.openCount == 0)
                _ = loop.connect(.dealer, to: endpoint, tag: 2)
                return
            }
            #expect(connection.tag == 2)
            loop.close(stale)
            loop.sendRequest([1], on: stale)
            #expect(loop.openCount == 1)
            loop.stop()
        }
        _ = loop.connect(.dealer, to: endpoint, tag: 1)
        try loop.run()
        #expect(driver.ends.isEmpty)
    }

    @Test func `a signal is told to the driver and ends the loop`() throws {
        let driver = ScriptedDriver()
        var settings = LoopSettings()
        settings.handlesSignals = true
        let loop = try LoadLoop(driver: driver, connectionsMax: 1, settings: settings)
        // To this thread only: others of the test process would die of it.
        driver.onTimer = { _, _ in #expect(pthread_kill(pthread_self(), SIGTERM) == 0) }
        loop.schedule(TimerToken(kind: 0), at: .now())
        try loop.run()
        #expect(driver.interruptions == 1)
    }

    @Test func `connections are opened at the chosen rate, and no more at once than may be`() {
        let start = LoopTime(nanoseconds: 1_000_000_000)
        var pace = ConnectPace(total: 1_000, perSecond: 100, inProgressMax: 50)
        #expect(pace.due(at: start, inProgress: 0) == 1)
        #expect(pace.due(at: start + .milliseconds(100), inProgress: 0) == 10)
        #expect(pace.due(at: start + .milliseconds(100), inProgress: 0) == 0)
        #expect(pace.due(at: start + .seconds(5), inProgress: 0) == 50)
        #expect(pace.due(at: start + .seconds(5), inProgress: 50) == 0)
        #expect(pace.opened == 61 && !pace.isComplete)
        var all = 61
        while !pace.isComplete { all += pace.due(at: start + .seconds(60), inProgress: 0) }
        #expect(all == 1_000)
        var unlimited = ConnectPace(total: 70, perSecond: 0, inProgressMax: 64)
        #expect(unlimited.due(at: start, inProgress: 0) == 64)
        #expect(unlimited.due(at: start, inProgress: 60) == 4)
    }

    @Test func `an unrequested message is a notice on DEALER, and the end on other sockets`() throws {
        for takes in [true, false] {
            let router = try Socket(.router, in: self.context)
            let endpoint = try Endpoint(try router.bind(self.anyPort))
            let driver = ScriptedDriver()
            let loop = try LoadLoop(driver: driver, connectionsMax: 1)
            var heard: [String] = []
            driver.onReady = { $1.sendRequest([1], on: $0) }
            driver.onTimer = { _, loop in
                var frames = FrameBuffer(framesMax: 4)
                if try router.receive(into: &frames) == .message {
                    let peer = frames.bytes(at: 0)
                    for part in [["", "a"], ["b"], [""], ["", "c"]] {
                        _ = try router.send(peer, more: true)
                        for (index, frame) in part.enumerated() {
                            _ = try router.send(Array(frame.utf8), more: index < part.count - 1)
                        }
                    }
                }
                loop.schedule(TimerToken(kind: 0), at: loop.now + .milliseconds(1))
            }
            let text = { (message: Span<UInt8>) in String(decoding: message.indices.map { message[$0] }, as: UTF8.self)
            }
            driver.onMessage = { message, _, loop in
                heard.append("reply \(text(message))")
                if heard.count == 4 { loop.stop() }
            }
            if takes { driver.onNotice = { message, _, _ in heard.append("notice \(text(message))") } }
            driver.onEnd = { _, loop in loop.stop() }
            loop.schedule(TimerToken(kind: 0), at: .now())
            _ = loop.connect(.dealer, to: endpoint, tag: 0)
            try loop.run()
            if takes {
                #expect(heard == ["reply a", "notice b", "notice ", "reply c"] && driver.ends.isEmpty)
            } else {
                #expect(heard.first == "reply a" && driver.ends == [.unexpectedMessage])
            }
        }
    }

    @Test func `more connections than descriptors are refused with a sentence`() throws {
        let error = #expect(throws: LoadError.self) {
            _ = try LoadLoop(driver: ScriptedDriver(), connectionsMax: 100_000_000)
        }
        guard case .tooManyConnections(100_000_000, let possible) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(possible > 0)
        _ = try LoadLoop(driver: ScriptedDriver(), connectionsMax: possible / 2)
    }

    @Test func `endpoints that cannot be used are refused`() throws {
        for text in [
            "", "tcp://", "tcp://:80", "udp://127.0.0.1:80", "tcp://127.0.0.1", "tcp://127.0.0.1:0",
            "tcp://127.0.0.1:70000",
        ] {
            #expect(throws: LoadError.self) { try Endpoint(text) }
        }
        #expect(try Endpoint("tcp://localhost:80").description == "tcp://localhost:80")
    }
}

/// A driver whose calls a test fills in.
final class ScriptedDriver: LoadDriver {
    var onReady: ((Connection, LoadLoop<ScriptedDriver>) -> Void)?
    var onMessage: ((Span<UInt8>, Connection, LoadLoop<ScriptedDriver>) -> Void)?
    var onEnd: ((ConnectionEnd, LoadLoop<ScriptedDriver>) -> Void)?
    var onTimer: ((TimerToken, LoadLoop<ScriptedDriver>) throws -> Void)?
    /// `nil`: it takes none.
    var onNotice: ((Span<UInt8>, Connection, LoadLoop<ScriptedDriver>) -> Void)?
    private(set) var ends: [ConnectionEnd] = []
    private(set) var messageCount = 0
    private(set) var interruptions = 0

    func ready(_ connection: Connection, in loop: LoadLoop<ScriptedDriver>) {
        self.onReady?(connection, loop)
    }

    func received(_ message: Span<UInt8>, on connection: Connection, in loop: LoadLoop<ScriptedDriver>) {
        self.messageCount += 1
        self.onMessage?(message, connection, loop)
    }

    func pushed(_ message: Span<UInt8>, on connection: Connection, in loop: LoadLoop<ScriptedDriver>) {
        guard let onNotice else { return loop.refuse(connection) }
        onNotice(message, connection, loop)
    }

    func ended(_ connection: Connection, _ end: ConnectionEnd, in loop: LoadLoop<ScriptedDriver>) {
        self.ends.append(end)
        self.onEnd?(end, loop)
    }

    func interrupted(in loop: LoadLoop<ScriptedDriver>) {
        self.interruptions += 1
        loop.stop()
    }

    func fired(_ timer: TimerToken, in loop: LoadLoop<ScriptedDriver>) {
        do {
            try self.onTimer?(timer, loop)
        } catch {
            Issue.record(error)
            loop.stop()
        }
    }
}
