// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import SystemSupport

/// The requests of a closed loop, made beforehand: which one a connection sends next.
///
/// For acknowledgements a connection walks over *pairs*, each a session and a break that it has a delivery for; every
/// pair gives as many acknowledgements as the break's advertisements are enough for, so that each outcome is new. For batches of
/// variants a pair is a session with the ticket that it got when it joined.
struct RequestBook {
    /// How many cued breaks one stream has; the gateway keeps at most 64 open.
    static let breaksPerStream = 60
    /// The most streams.
    static let streamsMax = 8
    /// Where an acknowledgement's delivery, or a batch's ticket, is to be put.
    private static let placeholder: UInt8 = 0xA5

    let settings: RequestsSettings
    let breaks: [BreakKey]
    /// How many acknowledgements one pair is enough for.
    let acknowledgementsPerPair: Int
    /// How many pairs a connection has deliveries for before it is measured.
    let pairsPerConnection: Int
    /// How many sessions there are per connection, by turns: the gateway limits the rate of each.
    private let sessionsPerConnection: Int
    /// The same in each run: runs in a row renew the gateway's leases instead of filling them up.
    private static let sessionSeed: UInt64 = 0x4C4F_4144

    /// The measured requests; for acknowledgements one for each break and group of advertisements.
    private(set) var measured: [WireRequest]
    /// The requests before those that are measured: `GetBatch`, one per break; for batches of variants `Join`, one per variant.
    private(set) var fetches: [WireRequest] = []
    /// The length of a delivery, or of a ticket; 0 while none has come.
    private(set) var deliveryBytes = 0
    private var deliveryOffset = 0

    init(_ settings: RequestsSettings, run: UInt32) throws(LoadError) {
        self.settings = settings
        // A connection that gets notices has one session.
        self.sessionsPerConnection =
            settings.isPushed ? 1 : max(1, (512 + settings.connections - 1) / settings.connections)
        self.acknowledgementsPerPair = max(1, settings.advertisementsPerBreak / settings.outcomes)
        let seconds = settings.duration.inSeconds + settings.warmUp.inSeconds
        let expected = settings.acknowledgementsPerSecondExpected * seconds / Double(settings.connections)
        self.pairsPerConnection =
            settings.variants == nil
            ? Int(expected / Double(self.acknowledgementsPerPair)) + 1 : self.sessionsPerConnection
        let count =
            settings.kind == .acknowledge
            ? min(settings.isBare ? 1 : self.pairsPerConnection, Self.breaksPerStream * Self.streamsMax) : 1
        var breaks: [BreakKey] = []
        for number in 0..<count {
            let stream = try TestContent.stream(run: run, number / Self.breaksPerStream)
            breaks.append(try TestContent.key(stream, number % Self.breaksPerStream))
        }
        self.breaks = breaks
        let key = breaks[0]
        let session = SessionID(high: 0, low: 0)
        func request(_ kind: ListenerRequest.Kind) -> WireRequest {
            WireRequest(ListenerRequest(id: 0, session: session, kind: kind))
        }
        switch settings.kind {
        case .time: self.measured = [request(.getTime)]
        case .join:
            // One for each token.
            self.measured = (0..<max(1, settings.tokens.count))
                .map { number in
                    let join = ListenerRequest.Join(
                        stream: key.stream,
                        instance: settings.isPushed ? 0 : 1,
                        token: String(decoding: settings.tokens.token(of: number), as: UTF8.self),
                        client: "cuecast-load",
                        push: settings.isPushed
                    )
                    return request(.join(join))
                }
        case .batch:
            self.measured = [request(.getBatch(ListenerRequest.GetBatch(key: key)))]
            self.fetches = (0..<(settings.variants ?? 0))
                .map { number in
                    let attributes = [TestContent.attribute: TestContent.variant(number)]
                    return request(
                        .join(
                            ListenerRequest.Join(
                                stream: key.stream,
                                instance: 1,
                                attributes: attributes,
                                client: "cuecast-load"
                            )
                        )
                    )
                }
        case .acknowledge:
            self.measured = []
            self.fetches = breaks.map { request(.getBatch(ListenerRequest.GetBatch(key: $0))) }
            if settings.isBare {
                let token = DeliveryToken(session: session, breakNumber: BreakNumber(rawValue: 1))
                try self.makeAcknowledgements(deliveryBytes: token.bytes.count)
            }
        }
    }

    /// The publications before the measurement.
    func publications() throws(LoadError) -> [BroadcastRequest.Kind] {
        guard !self.settings.isBare, self.settings.kind == .batch || self.settings.kind == .acknowledge else {
            return []
        }
        let count = self.settings.advertisementsPerBreak
        let advertisements = try TestContent.advertisements(count)
        let variants = try TestContent.variants(self.settings.variants ?? 1, advertisements: count)
        return self.breaks.map { TestContent.cuedBreak($0, advertisements: advertisements, variants: variants) }
    }

    /// Whether deliveries are needed.
    var needsDeliveries: Bool { self.settings.kind == .acknowledge && !self.settings.isBare }

    /// Whether tickets are needed.
    var needsTickets: Bool { self.settings.variants != nil }

    func session(connection: Int, pair: Int) -> SessionID {
        TestContent.session(seed: Self.sessionSeed, connection: connection, number: pair / self.breaks.count)
    }

    /// Makes the requests that are measured, once it is known how long a delivery or a ticket is.
    mutating func makeRequests(partBytes: Int) throws(LoadError) {
        guard self.needsTickets else { return try self.makeAcknowledgements(deliveryBytes: partBytes) }
        self.deliveryBytes = partBytes
        let request = WireRequest(
            ListenerRequest(
                id: 0,
                session: SessionID(high: 0, low: 0),
                ticket: [UInt8](repeating: Self.placeholder, count: partBytes),
                kind: .getBatch(ListenerRequest.GetBatch(key: self.breaks[0]))
            )
        )
        let body = Array(request.body)
        var fields = FieldReader<RequestField>(0..<body.count)
        while let field = fields.next(in: body.span) {
            if case .bytes(.ticket, let range) = field { self.deliveryOffset = range.lowerBound }
        }
        precondition(self.deliveryOffset > 0, "a request of ours has its ticket")
        self.measured = [request]
    }

    /// Makes the acknowledgements, once it is known how long a delivery is.
    mutating func makeAcknowledgements(deliveryBytes: Int) throws(LoadError) {
        self.deliveryBytes = deliveryBytes
        let delivery = [UInt8](repeating: Self.placeholder, count: deliveryBytes)
        let now = Timestamp(microseconds: System.wallClockMicroseconds())
        for key in self.breaks {
            for group in 0..<self.acknowledgementsPerPair {
                var outcomes: [Outcome] = []
                for number in 0..<self.settings.outcomes {
                    outcomes.append(
                        Outcome(
                            advertisementID: try TestContent.advertisementID(group * self.settings.outcomes + number),
                            kind: .played,
                            heard: .seconds(15),
                            quartiles: 4,
                            occurred: now
                        )
                    )
                }
                let acknowledge = ListenerRequest.Acknowledge(key: key, delivery: delivery, outcomes: outcomes)
                self.measured.append(
                    WireRequest(
                        ListenerRequest(id: 0, session: SessionID(high: 0, low: 0), kind: .acknowledge(acknowledge))
                    )
                )
            }
        }
        let body = Array(self.measured[0].body)
        var scanned = ScannedRequest()
        var outcomes: [ScannedRequest.Outcome] = []
        precondition(scanned.scan(body.span, outcomes: &outcomes), "an acknowledgement of ours can be read in place")
        self.deliveryOffset = scanned.delivery.lowerBound
    }

    /// The request for the delivery or the ticket of a pair, ready to be sent.
    mutating func fetch(connection: Int, pair: Int, id: UInt64) -> Int {
        let index = self.needsTickets ? (connection + pair) % self.fetches.count : pair % self.breaks.count
        self.fetches[index].patch(id: id)
        self.fetches[index].patch(session: self.session(connection: connection, pair: pair))
        return index
    }

    /// The acknowledgement of this number of a pair, ready to be sent.
    mutating func acknowledgement(
        connection: Int,
        pair: Int,
        number: Int,
        id: UInt64,
        delivery: Span<UInt8>
    ) -> Int {
        let index = pair % self.breaks.count * self.acknowledgementsPerPair + number
        self.measured[index].patch(id: id)
        self.measured[index].patch(session: self.session(connection: connection, pair: pair))
        self.measured[index].patch(delivery, at: self.deliveryOffset)
        return index
    }

    /// The request for a batch with the ticket of a pair, ready to be sent.
    mutating func batch(connection: Int, pair: Int, id: UInt64, ticket: Span<UInt8>) -> Int {
        self.measured[0].patch(id: id)
        self.measured[0].patch(session: self.session(connection: connection, pair: pair))
        self.measured[0].patch(ticket, at: self.deliveryOffset)
        return 0
    }

    /// The request of the other kinds, ready to be sent.
    mutating func request(connection: Int, turn: Int, id: UInt64) -> Int {
        let index = connection % self.measured.count
        self.measured[index].patch(id: id)
        self.measured[index]
            .patch(
                session: TestContent.session(
                    seed: Self.sessionSeed,
                    connection: connection,
                    number: turn % self.sessionsPerConnection
                )
            )
        return index
    }

    /// The part of an answer that is kept: the delivery of a batch, or the ticket of a join.
    func part(of reply: Span<UInt8>) -> Range<Int>? {
        guard self.needsTickets else { return Self.delivery(of: reply) }
        guard let scanned = ScannedReply(reply), case .joined(let range) = scanned.body,
            let joined = ScannedJoin(range, in: reply), !joined.ticket.isEmpty
        else { return nil }
        return joined.ticket
    }

    private static func delivery(of reply: Span<UInt8>) -> Range<Int>? {
        guard let scanned = ScannedReply(reply), case .batch(let range) = scanned.body,
            let batch = ScannedBatch(range, in: reply), !batch.delivery.isEmpty
        else { return nil }
        return batch.delivery
    }
}
