// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import HeapModule
internal import SystemSupport
internal import TLS
internal import ZMTP

/// Thousands of ZMTP connections on one thread, plain or by TLS.
///
/// ```swift
/// let loop = try LoadLoop(driver: driver, connectionsMax: 18_000)
/// for index in 0..<9_000 { _ = loop.connect(.sub, to: notices, tag: UInt64(index)) }
/// try loop.run()  // until the driver calls stop()
/// ```
///
/// All connections read into one buffer; a connection keeps only the part of a frame that has not come in full, and what
/// the kernel did not take. Neither a message received nor one sent allocates.
///
/// Everything happens on the thread that calls `run()`: a loop is not `Sendable`.
package final class LoadLoop<Driver: LoadDriver> {
    struct Slot {
        enum Phase {
            case free
            case connecting
            /// TLS shakes hands.
            case encrypting
            case handshake
            case ready
        }

        var phase = Phase.free
        var kind = ConnectionKind.sub
        /// Whether the delimiter of a message came and its body did not.
        var isInMessage = false
        var isPaused = false
        var descriptor: Int32 = -1
        /// Counts the connections that had this slot.
        var generation: UInt32 = 0
        var tag: UInt64 = 0
        var session = Session(.sub)
        var endpoint: Endpoint?
        /// `nil`: it is plain.
        var encryption: TLSSession?
        /// `nil`: it speaks ZMTP.
        var webSocket: WebSocketClient?
        /// When it was begun.
        var began = LoopTime(nanoseconds: 0)
        /// The bytes of an incomplete frame.
        var input: [UInt8] = []
        /// The bytes that the kernel has not accepted yet; not empty: the poller reports when it will.
        var output: [UInt8] = []
        /// How much of the output is sent.
        var outputSent = 0
    }

    private struct Timer: Comparable {
        let at: LoopTime
        let token: TimerToken

        static func < (left: Self, right: Self) -> Bool { left.at < right.at }
    }

    let driver: Driver
    let settings: LoopSettings
    var slots: [Slot] = []
    private var freeSlots: [UInt32] = []
    /// The buffer into which all connections are read.
    var buffer: [UInt8]
    /// The buffer into which connections over WebSocket are read; it has room once there is such a connection.
    var frames: [UInt8] = []
    /// The buffers of encrypted connections.
    let pipe = TLSPipe()
    /// Made for the first encrypted connection.
    private var trust: TLSTrust?
    private var poller: Poller
    private var timers: Heap<Timer> = []
    /// Connections that ended inside a call of the driver, which is told afterwards.
    private var endings: [(connection: Connection, end: ConnectionEnd)] = []
    private var isStopped = false
    private var signals: Int32 = -1
    /// How many connections fit into the process.
    private let possible: Int

    /// When what is being handled was read from the network, or the timers were looked at.
    package internal(set) var now = LoopTime.now()
    /// How many connections have not ended; those that are being made count.
    package private(set) var openCount = 0

    /// A loop without connections.
    ///
    /// Raises the process's soft limit on descriptors to the hard one.
    ///
    /// - Parameters:
    ///   - driver: decides what the connections do.
    ///   - connectionsMax: the most that will be open at once.
    ///   - settings: limits.
    /// - Throws: `tooManyConnections` where the process may not open so many.
    package init(driver: Driver, connectionsMax: Int, settings: LoopSettings = LoopSettings()) throws(LoadError) {
        let (limit, open) = (ProcessDescriptors.raiseLimit(), ProcessDescriptors.openCount())
        self.possible = limit - open - Self.descriptorsReserved
        self.driver = driver
        self.settings = settings
        // A file that cannot be used is told before anything is connected.
        if settings.encryption.authorityFile != nil { self.trust = try settings.encryption.read() }
        do throws(SystemCallError) {
            self.poller = try Poller()
        } catch {
            throw LoadError(error)
        }
        self.buffer = [UInt8](
            repeating: 0,
            count: max(settings.frameBytesMax, ZMTPLimits.commandBytesMax) + ZMTPLimits.frameHeaderBytesMax
                + max(settings.readBytesMax, TLSPipe.inputBytesMax + TLSSession.recordBytesMax)
        )
        try self.makeRoom(for: connectionsMax)
        ProcessDescriptors.makeRoom(for: min(limit, connectionsMax + open + Self.descriptorsReserved))
        self.slots.reserveCapacity(connectionsMax)
        if settings.handlesSignals {
            let descriptor = System.takeSignals()
            guard descriptor >= 0 else { throw .system(operation: "signalfd", code: -descriptor) }
            self.signals = descriptor
            let code = self.poller.add(descriptor, key: Self.signalsKey, reading: true, writing: false)
            guard code == 0 else { throw .system(operation: "epoll_ctl", code: code) }
        }
    }

    deinit {
        for slot in self.slots where slot.phase != .free { System.close(slot.descriptor) }
        if self.signals >= 0 { System.close(self.signals) }
    }

    /// For epoll, signals, files of reports.
    private static var descriptorsReserved: Int { 16 }
    private static var signalsKey: UInt64 { .max }

    // MARK: - For drivers

    /// Whether so many connections fit into the process, with those that are open.
    ///
    /// - Throws: `tooManyConnections` where they do not.
    package func makeRoom(for connections: Int) throws(LoadError) {
        guard connections <= self.possible else {
            throw .tooManyConnections(wanted: connections, possible: max(0, self.possible))
        }
    }

    /// Ends a connection whose peer sent a message that makes no sense there; the driver hears of it afterwards.
    package func refuse(_ connection: Connection) {
        self.endLater(connection, .unexpectedMessage)
    }

    /// Begins a connection; the driver hears `ready` or `ended`.
    package func connect(_ kind: ConnectionKind, to endpoint: Endpoint, tag: UInt64) -> Connection {
        let index: UInt32
        if let free = self.freeSlots.popLast() {
            index = free
        } else {
            index = UInt32(self.slots.count)
            self.slots.append(Slot())
        }
        let connection = Connection(
            index: index,
            generation: self.slots[Int(index)].generation,
            kind: kind,
            tag: tag
        )
        let (result, isConnected) = System.connect(to: endpoint.address, port: endpoint.port)
        self.openCount += 1
        self.slots[Int(index)].kind = kind
        self.slots[Int(index)].tag = tag
        self.slots[Int(index)].phase = .connecting
        self.slots[Int(index)].descriptor = result
        self.slots[Int(index)].endpoint = endpoint
        self.slots[Int(index)].began = .now()
        self.slots[Int(index)].session = Session(
            kind.socketType,
            frameBytesMax: self.settings.frameBytesMax,
            start: endpoint.webSocketPath == nil ? .greeting : .handshake
        )
        guard result >= 0 else {
            self.endLater(connection, Self.end(ofConnecting: -result))
            return connection
        }
        let code = self.poller.add(result, key: connection.key, reading: isConnected, writing: !isConnected)
        if code != 0 {
            self.endLater(connection, .system(operation: "epoll_ctl", code: code))
        } else if isConnected {
            self.begin(connection)
        }
        return connection
    }

    /// How long ago a connection was begun, by `now`.
    package func age(of connection: Connection) -> UInt64 {
        self.index(of: connection).map { self.now - self.slots[$0].began } ?? 0
    }

    /// Closes a connection; the driver hears no more of it.
    package func close(_ connection: Connection) {
        guard let index = self.index(of: connection) else { return }
        self.endSession(index)
        if self.slots[index].descriptor >= 0 { System.close(self.slots[index].descriptor) }
        self.slots[index].phase = .free
        self.slots[index].webSocket = nil
        self.slots[index].descriptor = -1
        self.slots[index].generation &+= 1
        self.slots[index].isPaused = false
        self.slots[index].isInMessage = false
        self.slots[index].input = []
        self.slots[index].output = []
        self.slots[index].outputSent = 0
        self.freeSlots.append(connection.index)
        self.openCount -= 1
    }

    /// Reads no more from a connection, as a listener that hangs; what was read already still comes.
    package func pause(_ connection: Connection) {
        guard let index = self.index(of: connection), !self.slots[index].isPaused else { return }
        self.slots[index].isPaused = true
        self.watch(connection, index)
    }

    /// Reads again from a connection that was paused.
    package func resume(_ connection: Connection) {
        guard let index = self.index(of: connection), self.slots[index].isPaused else { return }
        self.slots[index].isPaused = false
        self.watch(connection, index)
    }

    /// Calls `fired` at an instant, or at once when that is over.
    package func schedule(_ token: TimerToken, at instant: LoopTime) {
        self.timers.insert(Timer(at: instant, token: token))
    }

    /// Makes `run()` return.
    package func stop() {
        self.isStopped = true
    }

    /// Runs until `stop()`, then closes all connections: once.
    ///
    /// - Throws: `system` when epoll itself fails.
    package func run() throws(LoadError) {
        while !self.isStopped {
            self.now = .now()
            self.fireTimers()
            self.reportEndings()
            guard !self.isStopped else { break }
            let wait = self.endings.isEmpty ? self.timers.min.map { $0.at - LoopTime.now() } : 0
            let count: Int
            do throws(SystemCallError) {
                count = try self.poller.wait(nanoseconds: wait)
            } catch {
                throw LoadError(error)
            }
            for index in 0..<count where !self.isStopped { self.handle(self.poller.event(index)) }
        }
        for index in self.slots.indices where self.slots[index].phase != .free {
            self.close(self.connection(at: index))
        }
    }

    // MARK: - Inside

    private func fireTimers() {
        let now = self.now
        while !self.isStopped, let timer = self.timers.min, timer.at <= now {
            self.timers.removeMin()
            self.driver.fired(timer.token, in: self)
        }
    }

    private func reportEndings() {
        guard !self.endings.isEmpty else { return }
        let endings = self.endings
        self.endings = []
        for (connection, end) in endings { self.end(connection, end) }
    }

    private func handle(_ event: Poller.Event) {
        guard event.key != Self.signalsKey else {
            self.driver.interrupted(in: self)
            // Not again for the same signal: a second one takes its course.
            System.close(self.signals)
            self.signals = -1
            System.releaseSignals()
            return
        }
        let index = Int(UInt32(truncatingIfNeeded: event.key))
        // An earlier event of the same wait may have ended it.
        guard self.slots[index].generation == UInt32(truncatingIfNeeded: event.key >> 32) else { return }
        if self.slots[index].phase == .connecting {
            let connection = self.connection(at: index)
            let code = System.connectResult(self.slots[index].descriptor)
            guard code == 0 else { return self.end(connection, Self.end(ofConnecting: code)) }
            self.begin(connection)
            return self.watch(connection, index)
        }
        if event.isWritable { self.flush(index) }
        if event.isReadable { self.read(index) }
    }

    /// Says the first words on a connection that is there: those of TLS where it is to be encrypted.
    private func begin(_ connection: Connection) {
        let index = Int(connection.index)
        guard let endpoint = self.slots[index].endpoint, endpoint.isEncrypted else { return self.greet(connection) }
        let trust: TLSTrust
        do throws(LoadError) {
            if let known = self.trust { trust = known } else { trust = try self.settings.encryption.read() }
        } catch {
            return self.endLater(connection, .untrusted(reason: error.description))
        }
        self.trust = trust
        let server = self.settings.encryption.serverName ?? endpoint.host
        guard let session = TLSSession(trust, server: server, through: self.pipe) else {
            return self.endLater(connection, .untrusted(reason: "\(server) cannot be a server's name"))
        }
        self.slots[index].encryption = session
        self.slots[index].phase = .encrypting
        self.beginEncryption(connection, index, session)
    }

    func greet(_ connection: Connection) {
        let index = Int(connection.index)
        self.slots[index].phase = .handshake
        guard self.slots[index].endpoint?.webSocketPath == nil else { return self.askForWebSocket(connection, index) }
        let greeting = self.slots[index].session.greeting
        self.write(greeting.span, connection, index)
    }

    /// Has the poller say what is wanted now.
    func watch(_ connection: Connection, _ index: Int) {
        let code = self.poller.change(
            self.slots[index].descriptor,
            key: connection.key,
            reading: !self.slots[index].isPaused,
            writing: !self.slots[index].output.isEmpty
        )
        if code != 0 { self.endLater(connection, .system(operation: "epoll_ctl", code: code)) }
    }

    /// The place of a connection that has not ended.
    @inline(__always)
    func index(of connection: Connection) -> Int? {
        let index = Int(connection.index)
        return self.slots[index].generation == connection.generation ? index : nil
    }

    @inline(__always)
    func connection(at index: Int) -> Connection {
        Connection(
            index: UInt32(index),
            generation: self.slots[index].generation,
            kind: self.slots[index].kind,
            tag: self.slots[index].tag
        )
    }

    /// Ends a connection, and the driver hears of it now.
    func end(_ connection: Connection, _ end: ConnectionEnd) {
        guard self.index(of: connection) != nil else { return }
        self.close(connection)
        self.driver.ended(connection, end, in: self)
    }

    /// Ends a connection, and the driver hears of it when its own call is over.
    func endLater(_ connection: Connection, _ end: ConnectionEnd) {
        self.endings.append((connection, end))
    }

    private static func end(ofConnecting code: Int32) -> ConnectionEnd {
        System.isRefusal(code) ? .refused : .system(operation: "connect", code: code)
    }
}

extension Connection {
    /// Its key at the poller.
    var key: UInt64 { UInt64(self.generation) << 32 | UInt64(self.index) }
}
