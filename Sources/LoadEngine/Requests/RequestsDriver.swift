// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import SystemSupport

/// Publishes what is asked for, connects, fetches deliveries, then keeps one request under way on each connection.
final class RequestsDriver: LoadDriver {
    private enum Phase: UInt32 {
        case publishing
        case connecting
        case fetching
        case warmingUp
        case measuring
        case draining
    }

    private enum TimerKind {
        static let pace: UInt32 = 1
        static let phaseTooLong: UInt32 = 2
        static let measure: UInt32 = 3
        static let drain: UInt32 = 4
        static let fetchAgain: UInt32 = 5
    }

    /// One connection.
    private struct Asker {
        var connection: Connection?
        /// The id of the request under way; 0: none is.
        var expectedID: UInt64 = 0
        var sent = LoopTime(nanoseconds: 0)
        var isFetching = false
        var pair = 0
        /// How many acknowledgements of the pair are sent, or requests in all for other kinds.
        var number = 0
    }

    private static let broadcasterTag = UInt64.max

    let settings: RequestsSettings
    private var book: RequestBook
    private var phase = Phase.publishing
    private var publications = PublicationQueue()
    private var askers: [Asker]
    private var pace: ConnectPace
    private var reconnects: Reconnects
    private var readyCount = 0
    private var waitingCount = 0
    private var lastID = WireRequest.firstID
    /// Deliveries of all pairs fetched beforehand, connection by connection; then one more for each connection.
    private var deliveries: [UInt8] = []

    private var statuses = StatusCount()
    private var latencies = RequestLatencyRecorder()
    private var count = 0
    private var lost = 0
    private var deliveriesFetched = 0
    private var began = LoopTime(nanoseconds: 0)
    private var seconds = 0.0
    private var cpuSeconds = 0.0
    private var exchange: RequestsResult.Exchange?
    private var expectedReplyBytes = 0
    private(set) var failure: LoadError?

    init(_ settings: RequestsSettings, run: UInt32) throws(LoadError) {
        try settings.check()
        self.settings = settings
        self.book = try RequestBook(settings, run: run)
        self.askers = [Asker](repeating: Asker(), count: settings.connections)
        self.pace = ConnectPace(total: settings.connections, perSecond: settings.connectionsPerSecond)
        self.reconnects = Reconnects(connections: settings.connections)
        for publication in try self.book.publications() { self.publications.add(publication) }
    }

    /// Begins; the rest follows from what comes.
    func start(in loop: LoadLoop<RequestsDriver>) {
        if let broadcast = self.settings.broadcast, !self.publications.isDone {
            self.enter(.publishing, in: loop)
            _ = loop.connect(.dealer, to: broadcast, tag: Self.broadcasterTag)
        } else {
            self.beginConnecting(in: loop)
        }
    }

    /// The measurement.
    func result() throws(LoadError) -> RequestsResult {
        if let failure = self.failure { throw failure }
        guard self.phase == .draining else { throw .unavailable("the test was ended before it was done") }
        let exchange = self.exchange ?? RequestsResult.Exchange(request: Array(self.book.measured[0].body), reply: [])
        return RequestsResult(
            mode: "requests",
            kind: self.settings.kind,
            connections: self.settings.connections,
            seconds: self.seconds,
            count: self.count,
            perSecond: Double(self.count) / self.seconds,
            requestBytes: exchange.request.count,
            replyBytes: exchange.reply.count,
            latency: self.latencies.summary,
            refused: self.statuses.refused,
            lost: self.lost,
            deliveriesFetched: self.deliveriesFetched,
            reconnects: self.reconnects.count,
            ownCPUSeconds: self.cpuSeconds,
            exchange: exchange
        )
    }

    // MARK: - What happens

    func ready(_ connection: Connection, in loop: LoadLoop<RequestsDriver>) {
        if connection.tag == Self.broadcasterTag {
            self.publications.send(on: connection, in: loop)
            return
        }
        self.askers[Int(connection.tag)].connection = connection
        self.readyCount += 1
        guard self.readyCount == self.settings.connections else { return }
        if self.book.needsDeliveries || self.book.needsTickets {
            self.enter(.fetching, in: loop)
            for index in self.askers.indices { self.fetch(index, in: loop) }
        } else {
            self.beginAsking(in: loop)
        }
    }

    func received(_ message: Span<UInt8>, on connection: Connection, in loop: LoadLoop<RequestsDriver>) {
        guard connection.tag != Self.broadcasterTag else { return self.published(message, connection, in: loop) }
        let index = Int(connection.tag)
        guard self.askers[index].expectedID != 0 else {
            self.lost += 1
            return
        }
        let expectedID = self.askers[index].expectedID
        self.askers[index].expectedID = 0
        self.waitingCount -= 1
        if self.askers[index].isFetching {
            return self.fetched(message, expectedID: expectedID, index, in: loop)
        }
        let isMeasured = self.phase == .measuring
        if self.settings.isBare {
            if self.exchange == nil { self.keepExchange(message) }
            if message.count != self.expectedReplyBytes {
                self.lost += 1
            } else if isMeasured {
                self.count += 1
            }
        } else {
            self.check(message, expectedID: expectedID, isMeasured: isMeasured)
        }
        if isMeasured { self.latencies.record(nanoseconds: loop.now - self.askers[index].sent) }
        self.goOn(index, in: loop)
    }

    /// Messages beside the answers do not matter for this measurement.
    func pushed(_ message: Span<UInt8>, on connection: Connection, in loop: LoadLoop<RequestsDriver>) {
        if connection.tag == Self.broadcasterTag || !self.settings.isPushed { loop.refuse(connection) }
    }

    func ended(_ connection: Connection, _ end: ConnectionEnd, in loop: LoadLoop<RequestsDriver>) {
        if self.phase == .connecting, self.reconnects.allow(after: end) {
            if self.askers[Int(connection.tag)].connection.take() != nil { self.readyCount -= 1 }
            _ = loop.connect(self.askerKind, to: self.settings.requests, tag: connection.tag)
            return
        }
        guard self.phase.rawValue >= Phase.warmingUp.rawValue, connection.tag != Self.broadcasterTag else {
            let endpoint = connection.tag == Self.broadcasterTag ? self.settings.broadcast : self.settings.requests
            return self.fail(.unavailable("\(endpoint?.description ?? ""): \(end)"), in: loop)
        }
        let index = Int(connection.tag)
        self.askers[index].connection = nil
        self.readyCount -= 1
        if self.askers[index].expectedID != 0 {
            self.lost += 1
            self.waitingCount -= 1
        }
        self.askers[index].expectedID = 0
        if self.readyCount == 0 {
            self.fail(.unavailable("\(self.settings.requests): every connection has ended: \(end)"), in: loop)
        }
    }

    func fired(_ timer: TimerToken, in loop: LoadLoop<RequestsDriver>) {
        switch timer.kind {
        case TimerKind.pace: self.openConnections(in: loop)
        case TimerKind.measure:
            if self.phase == .warmingUp {
                self.beginMeasuring(in: loop)
            } else if self.phase == .measuring {
                self.endMeasuring(in: loop)
            }
        case TimerKind.drain:
            self.lost += self.waitingCount
            loop.stop()
        case TimerKind.fetchAgain:
            if self.phase != .draining { self.fetch(Int(timer.value), in: loop) }
        case TimerKind.phaseTooLong:
            guard timer.value == self.phase.rawValue else { return }
            self.fail(.unavailable("\(self.settings.requests) does not answer in time (\(self.phase))"), in: loop)
        default: break
        }
    }

    /// The measurement until now is the result.
    func interrupted(in loop: LoadLoop<RequestsDriver>) {
        if self.phase == .measuring { self.endMeasuring(in: loop) } else { loop.stop() }
    }

    private func fail(_ error: LoadError, in loop: LoadLoop<RequestsDriver>) {
        self.failure = self.failure ?? error
        loop.stop()
    }

    /// Begins a phase that may only take so long.
    private func enter(_ phase: Phase, in loop: LoadLoop<RequestsDriver>) {
        self.phase = phase
        var limit = self.settings.patience
        if phase == .connecting && self.settings.connectionsPerSecond > 0 {
            limit += .seconds(Double(self.settings.connections) / self.settings.connectionsPerSecond)
        }
        if phase == .fetching { limit += .seconds(60) }
        loop.schedule(TimerToken(kind: TimerKind.phaseTooLong, value: phase.rawValue), at: loop.now + limit)
    }
}

// MARK: - Before

extension RequestsDriver {
    private func published(_ reply: Span<UInt8>, _ connection: Connection, in loop: LoadLoop<RequestsDriver>) {
        self.publications.take(reply)
        if let refusal = self.publications.refusal { return self.fail(.unavailable(refusal), in: loop) }
        self.publications.send(on: connection, in: loop)
        guard self.publications.isDone else { return }
        loop.close(connection)
        self.beginConnecting(in: loop)
    }

    private func beginConnecting(in loop: LoadLoop<RequestsDriver>) {
        self.enter(.connecting, in: loop)
        self.openConnections(in: loop)
    }

    private func openConnections(in loop: LoadLoop<RequestsDriver>) {
        guard self.failure == nil else { return }
        let first = self.pace.opened
        let due = self.pace.due(at: loop.now, inProgress: first - self.readyCount)
        for index in first..<first + due {
            _ = loop.connect(self.askerKind, to: self.settings.requests, tag: UInt64(index))
        }
        guard !self.pace.isComplete else { return }
        loop.schedule(TimerToken(kind: TimerKind.pace), at: loop.now + .milliseconds(1))
    }

    private var askerKind: ConnectionKind { self.settings.isPushed ? .dealer : .req }

    private func fetch(_ index: Int, in loop: LoadLoop<RequestsDriver>) {
        guard let connection = self.askers[index].connection else { return }
        let id = self.nextID()
        let request = self.book.fetch(connection: index, pair: self.askers[index].pair, id: id)
        self.askers[index].isFetching = true
        self.askers[index].expectedID = id
        self.waitingCount += 1
        let wire = self.book.fetches[request].bytes
        loop.send(wire.span, on: connection)
    }

    private func fetched(
        _ reply: Span<UInt8>,
        expectedID: UInt64,
        _ index: Int,
        in loop: LoadLoop<RequestsDriver>
    ) {
        guard let head = ReplyHead(reply), head.requestID == expectedID else {
            return self.fail(.unavailable("a request was answered with something else"), in: loop)
        }
        if StatusCode(rawValue: head.status)?.canRetry == true {
            // The log is behind: deliveries are recorded too. At the end no more batches are needed.
            guard self.phase != .draining else {
                self.askers[index].isFetching = false
                return self.goOn(index, in: loop)
            }
            let again = TimerToken(kind: TimerKind.fetchAgain, value: UInt32(index))
            return loop.schedule(again, at: loop.now + .milliseconds(20))
        }
        guard head.status == StatusCode.ok.rawValue, let delivery = self.book.part(of: reply) else {
            let name = StatusCode(rawValue: head.status)?.name ?? "status \(head.status)"
            let what = self.book.needsTickets ? "join" : "batch"
            return self.fail(.unavailable("a \(what) was refused: \(name)"), in: loop)
        }
        if self.deliveries.isEmpty {
            do throws(LoadError) {
                try self.book.makeRequests(partBytes: delivery.count)
            } catch {
                return self.fail(error, in: loop)
            }
            let pairs = self.settings.connections * (self.book.pairsPerConnection + 1)
            self.deliveries = [UInt8](repeating: 0, count: pairs * delivery.count)
        }
        guard delivery.count == self.book.deliveryBytes else {
            return self.fail(.unavailable("deliveries or tickets differ in length"), in: loop)
        }
        let place = self.deliveryPlace(index, pair: self.askers[index].pair)
        for offset in 0..<delivery.count { self.deliveries[place + offset] = reply[delivery.lowerBound + offset] }
        self.askers[index].isFetching = false
        guard self.phase == .fetching else {
            self.deliveriesFetched += self.phase == .measuring ? 1 : 0
            return self.goOn(index, in: loop)
        }
        self.askers[index].pair += 1
        if self.askers[index].pair < self.book.pairsPerConnection {
            self.fetch(index, in: loop)
        } else {
            self.askers[index].pair = 0
            if self.waitingCount == 0, self.askers.allSatisfy({ $0.pair == 0 && !$0.isFetching }) {
                self.beginAsking(in: loop)
            }
        }
    }

    /// Where the delivery of a connection's pair is kept: beyond those fetched beforehand there is one place.
    private func deliveryPlace(_ index: Int, pair: Int) -> Int {
        let places = self.book.pairsPerConnection + 1
        return (index * places + min(pair, places - 1)) * self.book.deliveryBytes
    }

    private func nextID() -> UInt64 {
        self.lastID = self.lastID == WireRequest.lastID ? WireRequest.firstID : self.lastID + 1
        return self.lastID
    }
}

// MARK: - The loop

extension RequestsDriver {
    private func beginAsking(in loop: LoadLoop<RequestsDriver>) {
        self.phase = .warmingUp
        for index in self.askers.indices { self.ask(index, in: loop) }
        loop.schedule(TimerToken(kind: TimerKind.measure), at: .now() + self.settings.warmUp)
    }

    private func beginMeasuring(in loop: LoadLoop<RequestsDriver>) {
        self.phase = .measuring
        self.began = .now()
        self.cpuSeconds = ProcessUsage.cpuSeconds()
        loop.schedule(TimerToken(kind: TimerKind.measure), at: self.began + self.settings.duration)
    }

    private func endMeasuring(in loop: LoadLoop<RequestsDriver>) {
        self.phase = .draining
        self.seconds = Double(LoopTime.now() - self.began) / 1e9
        self.cpuSeconds = ProcessUsage.cpuSeconds() - self.cpuSeconds
        guard self.waitingCount > 0 else { return loop.stop() }
        loop.schedule(TimerToken(kind: TimerKind.drain), at: loop.now + self.settings.drain)
    }

    /// The next request of a connection, or the end.
    private func goOn(_ index: Int, in loop: LoadLoop<RequestsDriver>) {
        if self.phase != .draining {
            self.ask(index, in: loop)
        } else if self.waitingCount == 0 {
            loop.stop()
        }
    }

    private func ask(_ index: Int, in loop: LoadLoop<RequestsDriver>) {
        guard let connection = self.askers[index].connection else { return }
        if self.settings.kind == .acknowledge, self.askers[index].number == self.book.acknowledgementsPerPair {
            self.askers[index].number = 0
            self.askers[index].pair += 1
            if self.book.needsDeliveries && self.askers[index].pair >= self.book.pairsPerConnection {
                return self.fetch(index, in: loop)
            }
        }
        let id = self.nextID()
        let request = self.prepare(index, id: id)
        let wire = self.book.measured[request].bytes
        self.askers[index].number += 1
        self.askers[index].expectedID = id
        self.askers[index].sent = .now()
        self.waitingCount += 1
        loop.send(wire.span, on: connection)
    }

    /// Writes id, session and delivery into the request that is next.
    private func prepare(_ index: Int, id: UInt64) -> Int {
        if self.book.needsTickets {
            let tickets = self.deliveries
            let pair = self.askers[index].number % self.book.pairsPerConnection
            let place = self.deliveryPlace(index, pair: pair)
            let ticket = tickets.span.extracting(place..<place + self.book.deliveryBytes)
            return self.book.batch(connection: index, pair: pair, id: id, ticket: ticket)
        }
        guard self.settings.kind == .acknowledge else {
            return self.book.request(connection: index, turn: self.askers[index].number, id: id)
        }
        let deliveries = self.deliveries
        let place = self.deliveryPlace(index, pair: self.askers[index].pair)
        let bytes = self.settings.isBare ? 0..<0 : place..<place + self.book.deliveryBytes
        return self.book.acknowledgement(
            connection: index,
            pair: self.askers[index].pair,
            number: self.askers[index].number,
            id: id,
            delivery: deliveries.span.extracting(bytes)
        )
    }

    private func check(_ reply: Span<UInt8>, expectedID: UInt64, isMeasured: Bool) {
        guard let head = ReplyHead(reply) else { return self.statuses.add(0) }
        guard head.requestID == expectedID else {
            self.lost += 1
            return
        }
        if head.status != StatusCode.ok.rawValue {
            self.statuses.add(head.status)
        } else {
            if self.exchange == nil { self.keepExchange(reply) }
            if isMeasured { self.count += 1 }
        }
    }

    /// Keeps the first exchange, for baselines that answer with the same bytes.
    private func keepExchange(_ reply: Span<UInt8>) {
        var bytes: [UInt8] = []
        System.append(reply, to: &bytes)
        self.expectedReplyBytes = bytes.count
        self.exchange = RequestsResult.Exchange(request: Array(self.book.measured[0].body), reply: bytes)
    }
}

/// Measures how many requests a gateway, or a bare peer, answers.
///
/// - Throws: `usage`, `tooManyConnections`, and `unavailable` where the peer does not answer, or not as a gateway.
package func measureRequests(_ settings: RequestsSettings) throws(LoadError) -> RequestsResult {
    let driver = try RequestsDriver(settings, run: UInt32.random(in: 0...UInt32.max))
    var loopSettings = LoopSettings()
    loopSettings.handlesSignals = settings.handlesSignals
    loopSettings.encryption = settings.encryption
    let loop = try LoadLoop(driver: driver, connectionsMax: settings.connections + 1, settings: loopSettings)
    driver.start(in: loop)
    try loop.run()
    return try driver.result()
}
