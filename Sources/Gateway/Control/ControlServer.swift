// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import GatewayDocuments
import Logging
import Synchronization
import SystemSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The control socket's side that moves bytes: one thread, one poll.
///
/// It decides nothing: each command becomes a `Call`, whose answer comes back through `answer`.
final class ControlServer: Sendable {
    /// A command that a client asked for.
    struct Call: Sendable {
        /// Which connection asked.
        let connection: UInt64
        let request: ControlRequest
        /// Ends when the command is not wanted any more.
        let cancellation: AsyncStream<Void>
    }

    /// The messages of other threads to the serving one.
    fileprivate enum Message: Sendable {
        case progress(UInt64, [UInt8])
        case answer(UInt64, [UInt8])
        case stop
        case abandon
    }

    private struct Mailbox {
        var messages: [Message] = []
        var isStopping = false
        var hasEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    let calls: AsyncStream<Call>
    private let callSink: AsyncStream<Call>.Continuation
    private let mailbox: Mutex<Mailbox> = Mutex(Mailbox())
    private let wakeUp: WakeUp
    private let directory: String
    private let times: ControlTimes
    /// The socket that was bound, until the thread takes it.
    private let listener: Mutex<UnixSocket?>
    private let metrics: MetricRegistry
    private let logger: Logger

    init(
        directory: String,
        times: ControlTimes,
        metrics: MetricRegistry,
        logger: Logger
    ) throws(UnixSocketError) {
        self.directory = directory
        self.times = times
        self.metrics = metrics
        self.logger = logger
        do throws(SystemCallError) {
            self.wakeUp = try WakeUp()
        } catch {
            throw UnixSocketError(operation: error.operation, code: error.code)
        }
        (self.calls, self.callSink) = AsyncStream.makeStream(
            of: Call.self,
            // At most one for each connection.
            bufferingPolicy: .bufferingOldest(2 * ControlLimits.connectionsMax)
        )
        self.listener = Mutex(try UnixSocket.listening(on: ControlService.fileName, in: directory))
    }

    // MARK: - For other threads

    /// Ends the server: no more commands, running ones are cancelled, what was answered is sent.
    func stop() {
        let isFirst = self.mailbox.withLock { mailbox in
            defer { mailbox.isStopping = true }
            return !mailbox.isStopping
        }
        if isFirst { self.post(.stop) }
    }

    /// Ends the requests that will not be answered any more.
    func abandon() { self.post(.abandon) }

    func progress(_ call: Call, _ members: [String: JSONValue]) {
        self.post(.progress(call.connection, ControlReply.progress(members).line))
    }

    func answer(_ call: Call, _ reply: ControlReply) {
        var line = reply.line
        if line.count > ControlLimits.answerBytesMax {
            self.metrics.count(.limitsHit, .limit(.controlAnswerBytesMax))
            let sentence =
                "the answer has \(line.count) bytes; the limit answerBytesMax is \(ControlLimits.answerBytesMax)"
            line = ControlReply.failed(ControlError(sentence)).line
        }
        self.post(.answer(call.connection, line))
    }

    /// Returns when the thread is done and the file is gone.
    func waitForEnd() async {
        await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
            let hasEnded = self.mailbox.withLock { mailbox in
                if !mailbox.hasEnded { mailbox.waiters.append(waiter) }
                return mailbox.hasEnded
            }
            if hasEnded { waiter.resume() }
        }
    }

    private func post(_ message: Message) {
        let isFirst = self.mailbox.withLock { mailbox in
            // Progress that the thread has not taken yet is overtaken by the newest, so that the box stays small.
            if case .progress(let connection, _) = message,
                let old = mailbox.messages.firstIndex(where: { $0.isProgress(of: connection) })
            {
                mailbox.messages[old] = message
            } else {
                mailbox.messages.append(message)
            }
            return mailbox.messages.count == 1
        }
        if isFirst { self.wakeUp.signal() }
    }

    // MARK: - The thread

    /// Serves until it is stopped; on a thread of its own.
    func serve() {
        let listener = self.listener.withLock { $0.take() }
        var poll = ControlPoll(
            listener: listener,
            times: self.times,
            calls: self.callSink,
            metrics: self.metrics,
            logger: self.logger
        )
        while !poll.isDone {
            poll.wait(wakeUp: self.wakeUp.descriptor)
            self.wakeUp.reset()
            let messages = self.mailbox.withLock { mailbox in
                defer { mailbox.messages = [] }
                return mailbox.messages
            }
            for message in messages {
                switch message {
                case .progress(let connection, let line): poll.progress(line, for: connection)
                case .answer(let connection, let line): poll.answer(line, for: connection)
                case .stop:
                    poll.stop()
                    // From here on no client can connect; the data directory is still held.
                    UnixSocket.remove(ControlService.fileName, in: self.directory)
                case .abandon: poll.abandon()
                }
            }
            poll.moveBytes()
        }
        self.callSink.finish()
        let waiters = self.mailbox.withLock { mailbox in
            mailbox.hasEnded = true
            defer { mailbox.waiters = [] }
            return mailbox.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

extension ControlServer.Message {
    fileprivate func isProgress(of connection: UInt64) -> Bool {
        if case .progress(connection, _) = self { true } else { false }
    }
}

/// The serving thread's view of its connections.
private struct ControlPoll {
    private struct Connection {
        /// `nil`: the client is gone, but its command still runs.
        var socket: UnixSocket?
        var reader = ControlLineReader()
        /// The command that runs: ending this cancels it.
        var running: AsyncStream<Void>.Continuation?
        var output: ArraySlice<UInt8> = []
        /// Whether it is closed as soon as `output` is out.
        var isClosing = false
        /// When it is closed, or told that its command still runs.
        var deadline: ContinuousClock.Instant

        /// The events to poll for.
        var events: Int32 {
            if !self.output.isEmpty { return POLLOUT }
            // While a command runs nothing more is read: a client that sends on waits in its own buffer.
            return self.running == nil ? POLLIN : 0
        }
    }

    /// After `accept` failed, for want of descriptors for instance, the socket is left alone for this long.
    private static let acceptAgainAfter: Duration = .seconds(1)

    private var listener: UnixSocket?
    private var acceptAgain: ContinuousClock.Instant?
    private var connections: [UInt64: Connection] = [:]
    private var counter: UInt64 = 0
    private var isStopping = false
    private let times: ControlTimes
    private let calls: AsyncStream<ControlServer.Call>.Continuation
    private let metrics: MetricRegistry
    private let logger: Logger

    init(
        listener: UnixSocket?,
        times: ControlTimes,
        calls: AsyncStream<ControlServer.Call>.Continuation,
        metrics: MetricRegistry,
        logger: Logger
    ) {
        self.listener = listener
        self.times = times
        self.calls = calls
        self.metrics = metrics
        self.logger = logger
    }

    /// Whether the server was stopped and no client waits for anything.
    var isDone: Bool { self.isStopping && self.connections.isEmpty }

    /// Waits for bytes, room, a message of another thread, or the next deadline.
    func wait(wakeUp: Int32) {
        var asked = [pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)]
        if let listener = self.listener, self.acceptAgain == nil {
            asked.append(pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0))
        }
        for connection in self.connections.values {
            guard let socket = connection.socket else { continue }
            asked.append(pollfd(fd: socket.descriptor, events: Int16(connection.events), revents: 0))
        }
        let deadlines =
            self.connections.values.filter { $0.socket != nil }.map(\.deadline) + [self.acceptAgain].compactMap(\.self)
        let timeout = deadlines.min().map { max(.zero, $0 - .now).pollMilliseconds } ?? -1
        // Reading and writing find the same again.
        _ = unsafe poll(&asked, nfds_t(asked.count), timeout)
    }

    /// Takes new connections, reads, writes, and minds the deadlines.
    mutating func moveBytes() {
        self.acceptConnections()
        for id in self.connections.keys.sorted() {
            guard var connection = self.connections.removeValue(forKey: id) else { continue }
            if self.move(&connection, id) { self.connections[id] = connection }
        }
    }

    mutating func progress(_ line: [UInt8], for id: UInt64) {
        guard let connection = self.connections[id], connection.running != nil, connection.socket != nil else { return }
        guard connection.output.count + line.count <= ControlLimits.progressBytesWaitingMax else { return }
        self.say(line, to: id)
    }

    mutating func answer(_ line: [UInt8], for id: UInt64) {
        guard let running = self.connections[id]?.running else { return }
        running.finish()
        self.connections[id]?.running = nil
        if self.isStopping { self.connections[id]?.isClosing = true }
        self.say(line, to: id)
    }

    mutating func stop() {
        self.isStopping = true
        self.listener = nil
        self.acceptAgain = nil
        for id in self.connections.keys {
            if let running = self.connections[id]?.running {
                running.finish()
            } else {
                self.connections[id]?.isClosing = true
            }
        }
    }

    mutating func abandon() {
        for id in self.connections.keys {
            self.connections[id]?.running?.finish()
            self.connections[id]?.running = nil
            self.connections[id]?.isClosing = true
        }
    }

    private mutating func say(_ line: [UInt8], to id: UInt64) {
        guard var connection = self.connections[id] else { return }
        if connection.output.isEmpty { connection.deadline = .now + self.times.readTimeout }
        connection.output += line
        self.connections[id] = connection
    }

    private mutating func acceptConnections() {
        if let again = self.acceptAgain {
            guard ContinuousClock.now >= again else { return }
            self.acceptAgain = nil
        }
        do throws(UnixSocketError) {
            while let socket = try self.listener?.accepted() {
                guard self.connections.count < ControlLimits.connectionsMax else {
                    self.metrics.count(.limitsHit, .limit(.controlConnectionsMax))
                    let refusal = ControlError(
                        "too many ask at once: the limit connectionsMax is \(ControlLimits.connectionsMax)"
                    )
                    // A buffer that is empty takes a line; where it does not, the closed connection says enough.
                    _ = socket.send(ControlReply.failed(refusal).line[...])
                    continue
                }
                self.counter += 1
                self.connections[self.counter] = Connection(
                    socket: socket,
                    deadline: .now + self.times.idleTimeout
                )
            }
        } catch {
            self.logger.warning("the control socket cannot take a connection", metadata: ["error": "\(error)"])
            self.acceptAgain = .now + Self.acceptAgainAfter
        }
    }

    /// The next step for a connection.
    private enum Step {
        case again
        case wait
        case over
    }

    /// Moves what can be moved; `false`: the connection is over.
    private mutating func move(_ connection: inout Connection, _ id: UInt64) -> Bool {
        while true {
            switch self.step(&connection, id) {
            case .again: continue
            case .wait: return true
            case .over: return false
            }
        }
    }

    private mutating func step(_ connection: inout Connection, _ id: UInt64) -> Step {
        guard let socket = connection.socket else { return connection.running == nil ? .over : .wait }
        if connection.running != nil {
            // Both directions are closed: no client is left to answer. (A client that only has no more to ask is still there.)
            if socket.isGone { return self.leave(&connection) }
        } else if connection.output.isEmpty, !connection.isClosing {
            self.read(socket, &connection, id)
        }
        while !connection.output.isEmpty {
            switch socket.send(connection.output) {
            case .bytes(let count):
                connection.output.removeFirst(count)
                connection.deadline =
                    .now + (connection.output.isEmpty ? self.wait(of: connection) : self.times.readTimeout)
            case .wouldBlock:
                guard ContinuousClock.now >= connection.deadline else { return .wait }
                self.metrics.count(.limitsHit, .limit(.controlReadTimeout))
                return self.leave(&connection)
            case .ended: return self.leave(&connection)
            }
        }
        if connection.running != nil {
            guard ContinuousClock.now >= connection.deadline else { return .wait }
            connection.output = ControlReply.progress([:]).line[...]
            connection.deadline = .now + self.times.readTimeout
            return .again
        }
        if connection.isClosing { return .over }
        // What came behind the line that is answered by now is here already: no poll would tell of it.
        if connection.reader.mayHaveLine { return .again }
        if ContinuousClock.now >= connection.deadline {
            self.metrics.count(.limitsHit, .limit(.controlIdleTimeout))
            return .over
        }
        return .wait
    }

    private func wait(of connection: Connection) -> Duration {
        connection.running == nil ? self.times.idleTimeout : self.times.stillRunningInterval
    }

    /// Gives up a client; waits while its command still runs.
    private func leave(_ connection: inout Connection) -> Step {
        connection.socket = nil
        connection.output = []
        connection.running?.finish()
        return connection.running == nil ? .over : .wait
    }

    private mutating func read(_ socket: UnixSocket, _ connection: inout Connection, _ id: UInt64) {
        do throws(ControlLineReader.TooLong) {
            while true {
                if let line = try connection.reader.next() { return self.begin(line, &connection, id) }
                switch socket.receive(into: &connection.reader) {
                case .bytes: continue
                case .wouldBlock: return
                case .ended:
                    connection.isClosing = true
                    return
                }
            }
        } catch {
            self.metrics.count(.limitsHit, .limit(.controlLineBytesMax))
            let sentence = "a line is too long: the limit lineBytesMax is \(ControlLimits.lineBytesMax) bytes"
            connection.output = ControlReply.failed(ControlError(sentence, exitCode: 65)).line[...]
            connection.isClosing = true
        }
    }

    private mutating func begin(_ line: [UInt8], _ connection: inout Connection, _ id: UInt64) {
        do throws(ControlError) {
            let request = try ControlRequest(line: line)
            let (cancellation, continuation) = AsyncStream.makeStream(
                of: Void.self,
                bufferingPolicy: .bufferingOldest(1)
            )
            connection.running = continuation
            connection.deadline = .now + self.times.stillRunningInterval
            self.calls.yield(ControlServer.Call(connection: id, request: request, cancellation: cancellation))
        } catch {
            connection.output = ControlReply.failed(error).line[...]
        }
    }
}

extension UnixSocket {
    /// Whether the other end closed altogether.
    fileprivate var isGone: Bool {
        var asked = pollfd(fd: self.descriptor, events: 0, revents: 0)
        return unsafe poll(&asked, 1, 0) > 0 && Int32(asked.revents) & (POLLHUP | POLLERR) != 0
    }
}
