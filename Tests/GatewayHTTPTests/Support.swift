// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import GatewayTestKit
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

/// Books that a test wrote.
struct WrittenBooks: Ledger {
    /// Newest first.
    var breaks: [Report.Break] = []
    var failure: LedgerError?
    /// Runs before a report is read.
    var beforeReport: @Sendable () async -> Void = {}

    func appliedOffset(of lane: Lane) async throws(LedgerError) -> UInt64 { 0 }
    @discardableResult
    func apply(_ postings: [LedgerPosting], of lane: Lane) async throws(LedgerError) -> NewOutcomes { throw .closed }
    func record(_ breaks: [BreakSummary], through offset: UInt64) async throws(LedgerError) { throw .closed }
    func checkpoint() async throws(LedgerError) -> [Lane: UInt64] { [:] }
    func audit() async throws(LedgerError) -> [String] { [] }
    func prune(
        rowsOfBreaksEndedBefore rowsLimit: Timestamp,
        totalsBefore totalsLimit: Timestamp
    ) async throws(LedgerError) -> [BreakNumber] { [] }
    func close() async {}

    func report(_ query: ReportQuery) async throws(LedgerError) -> Report {
        await self.beforeReport()
        if let failure { throw failure }
        let found = self.breaks.filter { query.takes($0.summary) }
        return Report(
            breaks: found.prefix(query.limit).map { query.part(of: $0) },
            offsets: [.breaks: 3, .acknowledgements(0): 17],
            more: found.count > query.limit,
            variant: query.variant
        )
    }
}

/// A log of which only the heads are asked.
struct LogHeads: EventLog {
    let identity = LogIdentity(epoch: 7)
    var heads: [Lane: UInt64]

    func append(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) { done(.failure(.closed)) }
    func read(
        _ lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> [LoggedRecord] { throw .closed }
    func head(of lane: Lane) async throws(EventLogError) -> UInt64 {
        guard let head = self.heads[lane] else { throw .closed }
        return head
    }
    func close() async {}
}

/// The parts of a test's server.
struct Parts: Sendable {
    /// No connection is cut off because a busy machine took its time: a test that is about one of these times sets it.
    var configuration = {
        var configuration = GatewayHTTPConfiguration(host: "127.0.0.1", port: 0)
        configuration.idleTimeout = .seconds(3_600)
        configuration.exchangeTimeout = .seconds(3_600)
        return configuration
    }()
    var books = WrittenBooks()
    var heads: [Lane: UInt64] = [.breaks: 3, .acknowledgements(0): 20]
    /// The log that is read if more than the heads is; `nil`: only they are.
    var log: (any EventLog)?
    var metrics = MetricRegistry()
    var missing: [String] = []
    var failure: String?
    var alarms: [RaisedAlarm] = []
    var board = Board(epoch: 7)
    /// The board of a gateway that runs; `nil`: the one above.
    var runningBoard: (@Sendable () -> Board)?
    /// A gateway that runs: then its board, clock, ledger, metrics and everything else are its own.
    var running: RunningGateway?
    /// The clock where there is none that runs.
    var clock: @Sendable () -> Timestamp = { Self.now }
    /// Where listeners' requests go; `nil`: there are none.
    var listeners: ListenerEntrance?
    /// The rights; unless a test sets them, all callers may read.
    var access: HTTPAccessHolder?
    /// The certificate that the server shows, if it speaks TLS.
    var identity: HTTPIdentityHolder?
    /// The answers for broadcasters; `nil`: as without a gateway.
    var broadcast: (@Sendable (CheckedBroadcastRequest, BroadcastPrincipal, HTTPRequestOrigin) async -> BroadcastReply)?
    /// The signals of a stream; `nil`: nothing is kept.
    var signals: (@Sendable (StreamID) -> SignalBook.Stream?)?
    /// The watchers of a stream; `nil`: none.
    var watchers: (@Sendable (StreamID) -> [WatcherBook.Watcher])?
    /// The mappings for messages of automation systems.
    var mappings = AutomationMapping.ready
    /// The audit's store; `nil`: none.
    var audit: InMemoryAudit? = InMemoryAudit()
    /// Which requests are traced; `nil`: none.
    var traces: RequestTraces?
    var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    var reload: @Sendable () async throws -> ReloadDocument = { ReloadDocument(changed: [], needRestart: []) }

    static let now = Timestamp(microseconds: 1_700_000_000_000_000)

    func service(bound: @escaping @Sendable (String) async -> Void) async throws -> GatewayHTTPService {
        let parts = self
        var access = self.access
        if access == nil { access = HTTPAccessHolder(try await TokenWorkshop().access(.all)) }
        var health = HTTPParts.Health(missing: { parts.missing })
        health.failure = { parts.failure }
        health.alarms = { parts.alarms }
        var breaks = HTTPParts.Breaks(board: { parts.running?.board ?? parts.runningBoard?() ?? parts.board })
        if let broadcast { breaks.broadcast = broadcast }
        breaks.mappings = { parts.mappings }
        if let signals { breaks.signals = signals }
        if let watchers { breaks.watchers = watchers }
        var administration = HTTPParts.Administration(reload: self.reload)
        if let audit {
            administration.audit = { try await audit.records($0) }
            administration.note = { audit.add($0) }
        }
        if let running {
            breaks.overview = running.gateway.overview
            breaks.changes = running.gateway.breakChanges
            breaks.signals = { running.gateway.signals.stream($0) }
            breaks.watchers = { running.gateway.signals.watchers($0) }
            health.alarms = { running.gateway.readiness.alarms }
            health.draining = { running.gateway.readiness.isDraining }
            administration.limits = { running.gateway.limits(.forTests) }
        }
        var http = HTTPParts(
            stores: HTTPParts.Stores(
                ledger: self.running?.ledger ?? self.books,
                log: self.log ?? LogHeads(heads: self.heads)
            ),
            metrics: self.running?.metrics ?? self.metrics,
            health: health,
            breaks: breaks,
            administration: administration,
            access: try #require(access),
            now: self.clock,
            logger: self.logger
        )
        http.listeners = self.running.map(\.gateway.listeners) ?? self.listeners
        http.traces = self.traces
        return GatewayHTTPService(
            configuration: self.configuration,
            parts: http,
            identity: self.identity,
            bound: bound
        )
    }

    /// Runs a server while `body` runs, then ends it gracefully.
    func serve(_ body: @escaping @Sendable (HTTPPeer) async throws -> Void) async throws {
        let (addresses, sink) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(1))
        let service = try await self.service { address in
            sink.yield(address)
            sink.finish()
        }
        var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        let group = ServiceGroup(services: [service], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for await address in addresses { try await body(HTTPPeer(address: address)) }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }
}

/// A client that sends exactly the bytes that it is given.
struct HTTPPeer: Sendable {
    struct Answer: Sendable {
        let status: Int
        let headers: [String: String]
        let body: String

        /// The body as one of the documents.
        func decoded<Document: Decodable>(as type: Document.Type = Document.self) throws -> Document {
            try JSONDecoder().decode(type, from: Data(self.body.utf8))
        }
    }

    struct Failure: Error {
        let what: String
    }

    let address: String
    /// How TLS is spoken, as options of `openssl s_client`; `nil`: not at all.
    var encryption: [String]?

    func get(_ target: String, method: String = "GET", headers: [String: String] = [:]) async throws -> Answer {
        try await self.send(String(decoding: Self.request(target, method: method, headers: headers), as: UTF8.self))
    }

    /// A request after whose answer the server closes.
    static func request(_ target: String, method: String = "GET", headers: [String: String] = [:]) -> [UInt8] {
        let all = ["Host": "test", "Connection": "close"].merging(headers) { _, new in new }
        let lines = all.map { "\($0): \($1)\r\n" }.joined()
        return Array("\(method) \(target) HTTP/1.1\r\n\(lines)\r\n".utf8)
    }

    /// Sends, and reads until the server closes.
    func send(_ request: String) async throws -> Answer {
        let bytes = try await self.exchange(Array(request.utf8))
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { throw Failure(what: "no head in: \(text.prefix(200))") }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        guard let status = lines[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw Failure(what: "no status in: \(lines[0])")
        }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        return Answer(status: status, headers: headers, body: String(text[end.upperBound...]))
    }

    /// All bytes until the server closes; on a thread of its own, because it blocks.
    func exchange(_ bytes: [UInt8]) async throws -> [UInt8] {
        let connection = try self.connect()
        try connection.send(bytes)
        return try await onThread { try connection.rest() }
    }

    /// A connection that stays open until it is let go.
    func connect() throws -> HTTPConnection {
        if let encryption {
            return HTTPConnection(through: try TLSTunnel(connectedTo: self.address, ["-quiet"] + encryption))
        }
        return try HTTPConnection(port: self.address.split(separator: ":").last.flatMap { UInt16($0) } ?? 0)
    }
}

/// Does something that blocks on a thread of its own.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// One connection to a server, byte by byte.
final class HTTPConnection: Sendable {
    private let descriptor: Int32
    /// What encrypts; it ends with the connection.
    // Safety: nothing is asked of it once the connection is made.
    nonisolated(unsafe) private let tunnel: TLSTunnel?

    init(through tunnel: TLSTunnel) {
        self.descriptor = tunnel.descriptor
        unsafe self.tunnel = tunnel
    }

    init(port: UInt16) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw HTTPPeer.Failure(what: "socket") }
        self.descriptor = descriptor
        unsafe self.tunnel = nil
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw HTTPPeer.Failure(what: "connect: \(errno)") }
    }

    deinit { close(self.descriptor) }

    /// Sends; the server may refuse before it has read everything, and its answer is still there to be read.
    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...]
                .withUnsafeBytes { buffer in
                    unsafe Glibc.send(self.descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
                }
            guard count > 0 else { return }
            sent += count
        }
    }

    func send(_ text: String) throws { try self.send(Array(text.utf8)) }

    /// Sends nothing more, and goes on reading.
    func endSending() { _ = shutdown(self.descriptor, Int32(SHUT_WR)) }

    /// Some bytes; none when the server has closed.
    func receive() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe buffer.withUnsafeMutableBytes { buffer in
            unsafe recv(self.descriptor, buffer.baseAddress, buffer.count, 0)
        }
        return count > 0 ? Array(buffer[..<count]) : []
    }

    /// All bytes until the server closes.
    func rest() throws -> [UInt8] {
        var received: [UInt8] = []
        while true {
            let part = try self.receive()
            guard !part.isEmpty else { return received }
            received += part
        }
    }

    /// One answer with its body; the connection stays open.
    func answer() throws -> String {
        var bytes: [UInt8] = []
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n"),
                let line = text[..<end.lowerBound].components(separatedBy: "\r\n")
                    .first(where: {
                        $0.lowercased().hasPrefix("content-length:")
                    }), let length = Int(line.dropFirst("content-length:".count).trimmingCharacters(in: .whitespaces)),
                text[end.upperBound...].utf8.count >= length
            {
                return text
            }
            let part = try self.receive()
            guard !part.isEmpty else { throw HTTPPeer.Failure(what: "closed after \(text)") }
            bytes += part
        }
    }

    /// Asks, and reads until the answer's last bytes are there; the connection stays open.
    func ask(_ target: String, until end: String) throws {
        try self.send("GET \(target) HTTP/1.1\r\nHost: test\r\n\r\n")
        var text = ""
        while !text.hasSuffix(end) {
            let part = try self.receive()
            guard !part.isEmpty else { throw HTTPPeer.Failure(what: "closed after \(text)") }
            text += String(decoding: part, as: UTF8.self)
        }
    }
}

/// Holds everybody who comes until it is opened.
final class Barrier: Sendable {
    private struct State {
        var isOpen = false
        var hasSeenCaller = false
        var held: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    /// How many have come.
    let arrivals: AsyncStream<Void>
    private let sink: AsyncStream<Void>.Continuation

    init() {
        (self.arrivals, self.sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .unbounded)
    }

    /// Whether anybody has come.
    var hasSeenCaller: Bool { self.state.withLock(\.hasSeenCaller) }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = self.state.withLock { state in
                state.hasSeenCaller = true
                if !state.isOpen { state.held.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
            self.sink.yield()
        }
    }

    func open() {
        let held = self.state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for each in held { each.resume() }
    }

    /// Returns when one more has come.
    func arrival() async {
        for await _ in self.arrivals { return }
    }
}
