// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// A request gets the same answer and leaves the same behind, whether it is read in place or decoded in full.
@Suite(.suiteLimit)
struct ReaderAgreementTests {
    private static let on = Sample.stream
    private static let withdrawn = Sample.stream("withdrawn")
    private static let planned = Sample.stream("planned")
    private static let protected = Sample.stream("premium")
    private static let streams = [Self.on, Self.withdrawn, Self.planned, Self.protected]
    private static let rules = ListenerRules(protectedStreams: [StreamPattern("premium")].compactMap(\.self))

    /// The result of a request.
    private enum Result: Equatable {
        case reply([UInt8], RequestEffects)
        case deferred(ListenerRequestHandler.Deferred, RequestEffects)
        case token(String)
        case behind

        init(_ handled: HandledRequest<ListenerRequestHandler.Deferred>) {
            switch handled.answer {
            case .now(let reply): self = .reply(reply.frame, handled.effects)
            case .afterGroup(let deferred): self = .deferred(deferred, handled.effects)
            case .afterToken(let token): self = .token(token)
            case .afterCatchUp: self = .behind
            }
        }

        var word: String {
            switch self {
            case .reply(let frame, _):
                if case .refused(let refusal)? = (try? ListenerReply(decoding: frame))?.body {
                    refusal.status.name
                } else {
                    "reply"
                }
            case .deferred: "later"
            case .token: "token"
            case .behind: "behind"
            }
        }
    }

    /// Two counters that are asked the same.
    private struct Pair {
        var inPlace: Counter
        var inFull: Counter
        var rules = ReaderAgreementTests.rules

        init() {
            self.inPlace = ReaderAgreementTests.counter()
            self.inFull = ReaderAgreementTests.counter()
            for stream in ReaderAgreementTests.streams {
                for _ in 0..<2 { _ = self.ask(ReaderAgreementTests.batchRequest(of: stream), at: Sample.at(29)) }
            }
        }

        mutating func ask(_ frame: [UInt8], mayBegin: Bool = true, at now: Timestamp) -> (Result, Result) {
            let peer = PeerFacts(transport: "test", mayBeginSession: mayBegin)
            // A break without a request since the rules changed is not found in place.
            self.inFull.handler.take(self.rules)
            return (
                Result(self.inPlace.handler.handle(frame, from: peer, at: now)),
                Result(self.inFull.handler.handle(frame, from: peer, at: now))
            )
        }

        mutating func change(_ body: (inout ListenerRequestHandler) -> Void) {
            body(&self.inPlace.handler)
            body(&self.inFull.handler)
        }
    }

    /// A break of each stream: one is on, one was withdrawn, one was not announced, and one asks for a token.
    private static func counter() -> Counter {
        var counter = Counter {
            $0.tickets = TicketRule(protectedStreams: Self.rules.protectedStreams)
            $0.acknowledgementsWaitingMax = 12
            $0.deliveriesWaitingMax = 6
            $0.requestsPerSessionPerSecondMax = 8
            $0.listenersMax = 4
            $0.fixedHashSecret = 7
        }
        for stream in [Self.on, Self.withdrawn, Self.protected] {
            _ = counter.desk.ask(.publish(Sample.publish(of: stream, start: .at(Sample.at(20)))), at: 1)
        }
        _ = counter.desk.ask(.publish(Sample.publish(of: Self.planned, start: .at(Sample.at(600)))), at: 1)
        counter.desk.tick(at: 12)
        _ = counter.desk.ask(.cancel(Sample.key(of: Self.withdrawn)), at: 13)
        counter.handler.board = counter.desk.board
        return counter
    }

    private static func batchRequest(of stream: StreamID) -> [UInt8] {
        let session = Sample.session(9)
        let ticket = SessionTicket(session: session, stream: stream, fetchUntil: Sample.at(9_999))
        return ListenerRequest(
            id: 1,
            session: session,
            ticket: MessageKeys.fixed.ticket(ticket) ?? [],
            kind: .getBatch(.init(key: Sample.key(of: stream)))
        )
        .encoded()
    }

    // MARK: - Requests

    private static func ticket(
        of session: SessionID,
        _ stream: StreamID,
        _ generator: inout SeededGenerator
    ) -> [UInt8] {
        let kind = generator.number(0...7)
        guard kind > 1 || stream == Self.protected else { return [] }
        let ticket = SessionTicket(
            session: kind == 2 ? Sample.session(77) : session,
            stream: kind == 3 ? Self.planned : stream,
            fetchUntil: Sample.at(kind == 4 ? 35 : 9_999),
            acknowledgeUntil: Sample.at(kind == 4 ? 40 : 9_999)
        )
        var bytes = MessageKeys.fixed.ticket(ticket) ?? []
        if kind == 5 { bytes[generator.number(0...bytes.count - 1)] ^= 1 }
        return kind == 6 ? [] : bytes
    }

    private static func delivery(
        of session: SessionID,
        _ number: BreakNumber,
        _ generator: inout SeededGenerator
    ) -> [UInt8] {
        switch generator.number(0...19) {
        case 0: return []
        case 1: return generator.bytes(1...WireLimits.deliveryBytesMax)
        case 2: return Counter.delivery(to: Sample.session(77), of: number).bytes
        case 3: return Counter.delivery(to: session, of: BreakNumber(rawValue: 1)).bytes
        case 4, 5: return Counter.delivery(to: session, of: number, first: 1).bytes
        case 6: return Counter.delivery(to: session, of: number, variant: 1).bytes
        case 7: return DeliveryToken(session: session, breakNumber: number).bytes
        case 8:
            var bytes = Counter.delivery(to: session, of: number).bytes
            bytes[generator.number(0...bytes.count - 1)] ^= 0x10
            return bytes
        default: return Counter.delivery(to: session, of: number).bytes
        }
    }

    private static func outcome(_ generator: inout SeededGenerator) -> Outcome {
        let advertisement = generator.pick(["ad0", "ad0", "ad0", "ad1", "ad1", "ad1", "ad2", "ad2", "ad2", "ad9"])
        // Mostly one of two versions, so that some repeat and some contradict.
        var outcome = Counter.played(advertisement, at: 25)
        switch generator.number(0...15) {
        case 0: outcome.occurred = Sample.at(1)
        case 1: outcome.occurred = Sample.at(59.5)
        case 2: outcome.occurred = Timestamp(microseconds: generator.number(Int64.min...Int64.max))
        case 3: outcome.quartiles = generator.number(0...5)
        case 4: outcome.vastError = generator.number(0...1_000)
        case 5: outcome.heard = .milliseconds(generator.number(0...3_600_001))
        case 6, 7: (outcome.kind, outcome.reason) = (.ignored, .user)
        case 8: outcome.reason = .user
        default: break
        }
        return outcome
    }

    private static func request(
        _ id: UInt64,
        _ numbers: [StreamID: BreakNumber],
        _ generator: inout SeededGenerator
    ) -> [UInt8] {
        let session = Sample.session(generator.number(1...5))
        let stream = generator.pick([
            Self.on, Self.on, Self.on, Self.on, Self.withdrawn, Self.planned, Self.protected, Self.protected,
        ])
        let key = BreakKey(stream: stream, id: generator.number(0...15) == 0 ? Sample.id("none") : Sample.id("b1"))
        let number = numbers[stream] ?? BreakNumber(rawValue: 0)
        let kind: ListenerRequest.Kind
        switch generator.number(0...9) {
        case 0: kind = .getTime
        case 1: kind = .leave(stream)
        case 2, 3, 4:
            let delay = ListenerDelay(now: .milliseconds(generator.pick([0, 0, 0, 5_000, 3_600_000, 3_600_001])))
            kind = .getBatch(.init(key: key, delay: delay))
        default:
            let outcomes = generator.number(0...30) == 0 ? [] : generator.list(1...4) { Self.outcome(&$0) }
            let delivery = Self.delivery(of: session, number, &generator)
            kind = .acknowledge(.init(key: key, delivery: delivery, outcomes: outcomes))
        }
        let ticket = Self.ticket(of: session, stream, &generator)
        var frame = ListenerRequest(id: id, session: session, ticket: ticket, kind: kind).encoded()
        switch generator.number(0...11) {
        case 0: frame[generator.number(0...frame.count - 1)] ^= 1 << generator.number(0...7)
        case 1: frame.removeLast(generator.number(0...frame.count))
        case 2: frame[generator.number(0...frame.count - 1)] = generator.pick([0, 1, 0x7F, 0x80, 0xFF])
        // A field of a later version: not to be read in place, and not to be logged.
        case 3: frame += [0xFA, 0x3E, 2, 0x5A, 0x5A]
        default: break
        }
        return frame
    }

    // MARK: - Agreement

    /// The gathered content, as a reader of the record sees it.
    private func gathered(_ counter: Counter) throws -> [String] {
        let group = try counter.gathered
        return try group.requests.map {
            "\(try ListenerRequest(decoding: $0.request)) \($0.received) \($0.breakNumber) \($0.ordinals)"
        } + group.deliveries.map { "\($0)" }
    }

    @Test func `both readers answer the same, log the same and count the same`() throws {
        var seen = Seen()
        for round in 0..<12 { try self.compare(round, &seen) }
        let said: Comment = "CUECAST_SEED=\(SeededGenerator.seed) \(seen)"
        #expect(seen.readInPlace > 1_000, said)
        for word in ["reply", "later", "INVALID", "DELIVERY_INVALID", "NOT_ALLOWED", "UNAVAILABLE", "DRAINING"] {
            #expect(seen.words[word, default: 0] > 0, said)
        }
    }

    /// The kinds of requests of all rounds, so that the rounds show something.
    private struct Seen {
        /// The requests that can be read in place.
        var readInPlace = 0
        /// How often each thing came of a request.
        var words: [String: Int] = [:]
    }

    private func compare(_ round: Int, _ seen: inout Seen) throws {
        var generator = SeededGenerator(for: "\(#function)\(round)")
        var pair = Pair()
        let board = pair.inPlace.desk.board
        let numbers = Dictionary(
            uniqueKeysWithValues: Self.streams
                .compactMap { stream in board[Sample.key(of: stream)].map { (stream, $0.number) } }
        )
        try #require(numbers.count == 4)
        if round % 4 == 3 {
            try pair.rules.forgotten.forget(Sample.session(2), at: Sample.at(0))
            pair.change { [rules = pair.rules] in $0.take(rules) }
        }
        var now = Sample.at(30)
        var outcomes: [ScannedRequest.Outcome] = []
        for step in 0..<500 {
            now = now + .milliseconds(generator.number(0...60))
            let frame = Self.request(UInt64(step), numbers, &generator)
            var scanned = ScannedRequest()
            if scanned.scan(frame.span, outcomes: &outcomes) { seen.readInPlace += 1 }
            let (inPlace, inFull) = pair.ask(frame, mayBegin: generator.number(0...5) > 0, at: now)
            let said: Comment = "CUECAST_SEED=\(SeededGenerator.seed) round \(round) step \(step) \(frame)"
            try #require(inPlace == inFull, said)
            seen.words[inPlace.word, default: 0] += 1
            try #require(try self.gathered(pair.inPlace) == self.gathered(pair.inFull), said)
            switch generator.number(0...19) {
            case 0, 1:
                let isDurable = generator.bool()
                pair.change { _ = $0.answered($0.takeGroup().number, isDurable: isDurable) }
            case 2:
                let isFull = generator.number(0...3) == 0
                pair.change { $0.isLogFull = isFull }
            case 3:
                let isDraining = generator.number(0...3) == 0
                pair.change { $0.isDraining = isDraining }
            default: break
            }
        }
        #expect(pair.inPlace.metrics.exposition() == pair.inFull.metrics.exposition())
        #expect(pair.inPlace.handler.leases.count == pair.inFull.handler.leases.count)
    }
}
