// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// The rights of a listener with each ticket, on open streams and on those that require a token.
@Suite(.suiteLimit)
struct TicketTests {
    private static let protected = Sample.stream("premium")
    private static let other = Sample.stream("other")
    private static let until: Double = 100

    private static func key(_ byte: UInt8, _ state: SigningKey.State) throws -> SigningKey {
        try #require(SigningKey(secret: Array(repeating: byte, count: 32), state: state, since: Sample.at(0)))
    }

    private static func keys(_ keys: SigningKey...) throws -> MessageKeys { MessageKeys(try KeyRing(keys)) }

    /// The keys of the gateway: one signs, one is only accepted, one was withdrawn.
    private static func ring() throws -> MessageKeys {
        try Self.keys(Self.key(1, .signing), Self.key(2, .verifyOnly), Self.key(3, .revoked))
    }

    private func counter(checksTokens: Bool = true) throws -> Counter {
        var counter = Counter {
            $0.tickets = TicketRule(
                protectedStreams: [StreamPattern("prem*")].compactMap(\.self),
                checksTokens: checksTokens
            )
            $0.audiences = AudiencePolicy(rules: [.init(streams: .every, tokenKeys: ["tier", "0", "1", "2", "3"])])
        }
        counter.handler.keys = try Self.ring()
        counter.push = .free
        for stream in [Sample.stream, Self.protected] {
            _ = counter.desk.ask(.publish(Sample.publish(of: stream, start: .at(Sample.at(20)))), at: 1)
        }
        _ = counter.desk.tick(at: 12)
        return counter
    }

    // MARK: - The table

    /// The callers, by their tickets.
    private enum Caller: String, CaseIterable {
        case absent, open, holder, other, stolen, expired, overdue, rotated, revoked, foreign, forged

        /// The ticket that it sends with requests about a stream.
        func ticket(_ stream: StreamID) throws -> [UInt8] {
            var ticket = SessionTicket(
                session: Sample.session(),
                stream: stream,
                fetchUntil: Sample.at(TicketTests.until),
                acknowledgeUntil: Sample.at(TicketTests.until)
            )
            var keys = try TicketTests.ring()
            switch self {
            case .absent: return []
            case .open: ticket = SessionTicket(session: Sample.session(), stream: stream)
            case .holder, .forged: break
            case .other: ticket.stream = TicketTests.other
            case .stolen: ticket.session = Sample.session(2)
            case .expired: ticket.fetchUntil = Sample.at(24)
            case .overdue: (ticket.fetchUntil, ticket.acknowledgeUntil) = (Sample.at(23), Sample.at(24))
            case .rotated: keys = try TicketTests.keys(TicketTests.key(2, .signing))
            case .revoked: keys = try TicketTests.keys(TicketTests.key(3, .signing))
            case .foreign: keys = try TicketTests.keys(TicketTests.key(4, .signing))
            }
            var bytes = try #require(keys.ticket(ticket))
            // Its last bit, which is the code's.
            if self == .forged { bytes[bytes.count - 1] ^= 1 }
            return bytes
        }
    }

    /// The allowed requests, and the refusals.
    ///
    /// O: an open stream, P: a protected one.
    private static let table = """
                 absent  open    holder  other   stolen  expired overdue rotated revoked foreign forged
        join   O ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
        join   P need    need    ok      else    else    over    over    ok      gone    unknown forged
        token  O ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
        token  P check   check   ok      check   check   check   check   ok      check   check   check
        batch  O ok      ok      ok      else    else    over    over    ok      gone    unknown forged
        batch  P need    need    ok      else    else    over    over    ok      gone    unknown forged
        ack    O ok      ok      ok      else    else    ok      late    ok      gone    unknown forged
        ack    P need    need    ok      else    else    ok      late    ok      gone    unknown forged
        time   O ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
        time   P ok      ok      ok      ok      ok      ok      ok      ok      ok      ok      ok
        leave  O ok      ok      ok      else    else    ok      ok      ok      gone    unknown forged
        leave  P need    need    ok      else    else    ok      ok      ok      gone    unknown forged
        """

    private static func sentence(_ word: String, _ stream: StreamID) -> String? {
        switch word {
        case "need":
            "The stream \(stream) asks for a token: join with one, and send the ticket that the answer has."
        case "else": "The ticket is not of this session and the stream \(stream)."
        case "late": "The ticket was good for acknowledgements until \(Sample.at(24))."
        case "gone": "The ticket was signed with a key that was withdrawn; join again."
        case "unknown": "The ticket was signed with a key that this gateway does not have; join again."
        case "forged": "The ticket is not one that a gateway made; join again."
        default: nil
        }
    }

    private func kind(_ request: String, _ stream: StreamID, _ counter: Counter) throws -> ListenerRequest.Kind {
        let key = Sample.key(of: stream)
        let number = try #require(counter.desk.board[key]).number
        switch request {
        case "join": return .join(.init(stream: stream, instance: 0, push: true))
        case "token": return .join(.init(stream: stream, instance: 0, token: "a.b.c", push: true))
        case "batch": return .getBatch(.init(key: key))
        case "ack":
            return .acknowledge(
                .init(
                    key: key,
                    delivery: Counter.delivery(of: number, keys: try Self.ring()).bytes,
                    outcomes: [Counter.played(at: 22)]
                )
            )
        case "time": return .getTime
        default: return .leave(stream)
        }
    }

    /// The result of a request at 25 s: a word of the table.
    private func outcome(_ frame: [UInt8], _ stream: StreamID, warm: Bool, _ counter: Counter) throws -> String {
        var counter = counter
        counter.handler.board = counter.desk.board
        let peer = PeerFacts(transport: "test", push: .free)
        if warm {
            // Then batches and acknowledgements are read in place.
            let session = Sample.session(9)
            let ticket = SessionTicket(session: session, stream: stream, fetchUntil: Sample.at(Self.until))
            let request = ListenerRequest(
                id: 1,
                session: session,
                ticket: try #require(counter.handler.keys.ticket(ticket)),
                kind: .getBatch(.init(key: Sample.key(of: stream)))
            )
            _ = counter.handler.handle(request.encoded(), from: peer, at: Sample.at(21))
        }
        switch counter.handler.handle(frame, from: peer, at: Sample.at(25)).answer {
        case .afterGroup: return "ok"
        case .afterToken(let token): return token == "a.b.c" ? "check" : "another token"
        case .afterCatchUp: return "behind"
        case .now(let bytes):
            guard case .refused(let refusal) = try ListenerReply(decoding: bytes.frame).body else { return "ok" }
            #expect(refusal.status == .notAllowed, "\(refusal)")
            let ended = [24.0, 23.0].map { "The ticket ended at \(Sample.at($0)); join with a new token." }
            if ended.contains(refusal.sentence) { return "over" }
            return ["need", "else", "late", "gone", "unknown", "forged"]
                .first { Self.sentence($0, stream) == refusal.sentence } ?? refusal.sentence
        }
    }

    @Test func `each caller gets what the table says, read in place and decoded in full`() throws {
        let lines = Self.table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let callers = try #require(lines.first)
        #expect(callers == Caller.allCases.map(\.rawValue))
        let counter = try self.counter()
        var cells = 0
        for line in lines.dropFirst() {
            let stream = line[1] == "O" ? Sample.stream : Self.protected
            for (caller, expected) in zip(Caller.allCases, line.dropFirst(2)) {
                let frame = ListenerRequest(
                    id: 7,
                    session: Sample.session(),
                    ticket: try caller.ticket(stream),
                    kind: try self.kind(line[0], stream, counter)
                )
                .encoded()
                for warm in [false, true] {
                    let found = try self.outcome(frame, stream, warm: warm, counter)
                    #expect(found == expected, "\(line[0]) \(stream) by \(caller), in place: \(warm)")
                    cells += 1
                }
            }
        }
        #expect(cells == 264)
    }

    // MARK: - Instants and changes

    private func ask(
        _ counter: inout Counter,
        _ kind: ListenerRequest.Kind,
        ticket: [UInt8],
        at seconds: Double
    ) throws -> Counter.Got {
        let request = ListenerRequest(id: 3, session: Sample.session(), ticket: ticket, kind: kind)
        return try counter.ask(request.encoded(), id: 3, at: Sample.at(seconds))
    }

    private func grant(until: Double = Self.until, sessionsMax: Int = 0, _ streams: String = "prem*") -> ListenerGrant {
        ListenerGrant(
            subject: "anna",
            streams: [StreamPattern(streams)].compactMap(\.self),
            attributes: ["tier": "gold"],
            until: Sample.at(until),
            sessionsMax: sessionsMax
        )
    }

    private func join(
        _ counter: inout Counter,
        _ granted: Result<ListenerGrant, Refusal>,
        by session: SessionID = Sample.session(),
        push: Bool = true,
        at seconds: Double = 13
    ) throws -> ListenerReply.Body {
        let join = ListenerRequest.Join(stream: Self.protected, instance: 0, token: "a.b.c", push: push)
        let request = ListenerRequest(id: 8, session: session, kind: .join(join)).encoded()
        return try counter.join(request, granted, at: Sample.at(seconds))
    }

    private func ticket(_ body: ListenerReply.Body) throws -> [UInt8] {
        guard case .joined(let joined) = body else {
            Issue.record("not joined: \(body)")
            return []
        }
        return joined.ticket
    }

    @Test func `a ticket fetches up to its instant, and acknowledges for nine days more`() throws {
        var counter = try self.counter()
        let ticket = try self.ticket(try self.join(&counter, .success(self.grant(until: 21))))
        let batch = ListenerRequest.Kind.getBatch(.init(key: Sample.key(of: Self.protected)))
        let delivery = try #require(try self.ask(&counter, batch, ticket: ticket, at: 21).batch).delivery
        let late = try self.ask(&counter, batch, ticket: ticket, at: 21.000_001)
        #expect(late.refusal?.sentence == "The ticket ended at \(Sample.at(21)); join with a new token.")
        let read = try #require(SessionTicket(bytes: ticket))
        #expect(read.acknowledgeUntil == Sample.at(21) + .seconds(9 * 86_400))
        #expect(read.attributes == ["tier": "gold"] && read.subject == "anna")
        let acknowledge = ListenerRequest.Kind.acknowledge(
            .init(key: Sample.key(of: Self.protected), delivery: delivery, outcomes: [Counter.played(at: 22)])
        )
        #expect(try self.ask(&counter, acknowledge, ticket: ticket, at: 40).deferred != nil)
    }

    @Test func `another gateway with the keys, and the next run, take a ticket; a revoked key ends it at once`() throws
    {
        var first = try self.counter()
        let ticket = try self.ticket(try self.join(&first, .success(self.grant())))
        let batch = ListenerRequest.Kind.getBatch(.init(key: Sample.key(of: Self.protected)))
        var second = try self.counter()
        #expect(try self.ask(&second, batch, ticket: ticket, at: 21).batch != nil)
        second.handler.keys = try Self.keys(Self.key(2, .signing), Self.key(1, .verifyOnly))
        #expect(try self.ask(&second, batch, ticket: ticket, at: 22).batch != nil)
        second.handler.keys = try Self.keys(Self.key(2, .signing), Self.key(1, .revoked))
        #expect(
            try self.ask(&second, batch, ticket: ticket, at: 23).refusal?.sentence
                == Self.sentence("gone", Self.protected)
        )
        second.handler.keys = try Self.ring()
        #expect(try self.ask(&second, batch, ticket: ticket, at: 24).batch != nil, "the file was put back")
    }

    @Test func `a join with a ticket grants no more than the ticket`() throws {
        var counter = try self.counter()
        let ticket = try self.ticket(try self.join(&counter, .success(self.grant())))
        let join = ListenerRequest.Kind.join(.init(stream: Self.protected, instance: 0, push: true))
        let again = try #require(try self.ask(&counter, join, ticket: ticket, at: 30).joined)
        #expect(SessionTicket(bytes: again.ticket) == SessionTicket(bytes: ticket))
    }

    @Test func `a grant is for its streams and its time, and for connections that notices are pushed on`() throws {
        var counter = try self.counter()
        #expect(
            try self.join(&counter, .success(self.grant("radio*")))
                == .refused(Refusal(.notAllowed, "The token has no right to the stream premium."))
        )
        #expect(
            try self.join(&counter, .success(self.grant(until: 12)))
                == .refused(Refusal(.notAllowed, "The token ended at \(Sample.at(12)); join with a new one."))
        )
        let refused = Refusal(.notAllowed, "The token is not true.")
        #expect(try self.join(&counter, .failure(refused)) == .refused(refused))
        let needsPush = Refusal(
            .notAllowed,
            "Notices of the stream premium are only pushed: join with push, on a DEALER socket."
        )
        #expect(try self.join(&counter, .success(self.grant()), push: false) == .refused(needsPush))
        counter.push = .none
        #expect(try self.join(&counter, .success(self.grant())) == .refused(needsPush))
        #expect(counter.handler.leases.count == 0, "what is refused changes nothing")
        #expect(counter.takePushChange() == nil)
        counter.push = .free
        _ = try self.ticket(try self.join(&counter, .success(self.grant())))
        let proof = PushProof(key: try Self.ring().ring.signing.id, until: Sample.at(Self.until))
        #expect(
            counter.takePushChange()
                == .begins(
                    session: Sample.session(),
                    stream: Self.protected,
                    after: counter.desk.board.position(of: Self.protected),
                    proof: proof
                )
        )
    }

    @Test func `a connection's right ends with its time and with its key`() throws {
        let proof = PushProof(key: try Self.key(1, .signing).id, until: Sample.at(30))
        #expect(proof.holds(try Self.ring(), at: Sample.at(30)))
        #expect(!proof.holds(try Self.ring(), at: Sample.at(30.000_001)))
        let rotated = try Self.keys(Self.key(2, .signing), Self.key(1, .verifyOnly))
        #expect(proof.holds(rotated, at: Sample.at(30)))
        #expect(!proof.holds(try Self.keys(Self.key(2, .signing), Self.key(1, .revoked)), at: Sample.at(0)))
        #expect(!proof.holds(try Self.keys(Self.key(2, .signing)), at: Sample.at(0)))
    }

    @Test func `a protected stream cannot be joined without a check of tokens`() throws {
        var counter = try self.counter(checksTokens: false)
        let join = ListenerRequest.Kind.join(.init(stream: Self.protected, instance: 0, token: "x", push: true))
        #expect(
            try self.ask(&counter, join, ticket: [], at: 13).refusal?.sentence
                == "The stream premium asks for a token, and this gateway has no keys to check tokens with."
        )
    }

    @Test func `a subject has as many sessions as its token says, and another begins when one has ended`() throws {
        var counter = try self.counter()
        let grant = self.grant(sessionsMax: 2)
        for session in 1...2 as ClosedRange<UInt64> {
            _ = try self.ticket(try self.join(&counter, .success(grant), by: Sample.session(session)))
        }
        let third = try self.join(&counter, .success(grant), by: Sample.session(3))
        guard case .refused(let refusal) = third else { return #expect(Bool(false), "\(third)") }
        #expect(refusal.status == .limitReached)
        #expect(counter.metrics.value(.limitsHit, .limit(.sessionsPerSubjectMax)) == 1)
        // The same session again, and another subject.
        let ticket = try self.ticket(try self.join(&counter, .success(grant), by: Sample.session(1)))
        var bob = grant
        bob.subject = "bob"
        _ = try self.ticket(try self.join(&counter, .success(bob), by: Sample.session(4)))
        #expect(try self.ask(&counter, .leave(Self.protected), ticket: ticket, at: 14).body == .done)
        _ = try self.ticket(try self.join(&counter, .success(grant), by: Sample.session(3)))
        // One whose lease is over begins again with its ticket, where there is room.
        let batch = ListenerRequest.Kind.getBatch(.init(key: Sample.key(of: Self.protected)))
        #expect(try self.ask(&counter, batch, ticket: ticket, at: 15).refusal?.status == .limitReached)
    }

    @Test func `a ticket is as long as it may be, and no longer`() throws {
        var counter = try self.counter()
        var grant = self.grant()
        grant.attributes = [:]
        let base = try self.ticket(try self.join(&counter, .success(grant))).count
        // Each attribute has two lengths of one byte.
        func attributes(_ bytes: Int) -> [String: String] {
            var (rest, attributes): (Int, [String: String]) = (bytes, [:])
            for index in 0..<4 where rest > 0 {
                let length = min(250, rest - 3)
                attributes["\(index)"] = String(repeating: "x", count: length)
                rest -= 3 + length
            }
            return attributes
        }
        grant.attributes = attributes(WireLimits.ticketBytesMax - base)
        #expect(try self.ticket(try self.join(&counter, .success(grant))).count == WireLimits.ticketBytesMax)
        grant.attributes = attributes(WireLimits.ticketBytesMax - base + 1)
        guard case .refused(let refusal) = try self.join(&counter, .success(grant)) else {
            return #expect(Bool(false), "too long")
        }
        #expect(refusal.status == .tooLarge)
        #expect(
            refusal.sentence
                == "What the token and the join say is too long for a ticket; the limit ticketBytesMax is 1024."
        )
    }

    @Test func `no ticket reaches the log`() throws {
        let base = try self.counter()
        let kind = try self.kind("ack", Self.protected, base)
        let ticket = try Caller.holder.ticket(Self.protected)
        for warm in [false, true] {
            var counter = base
            if warm {
                let batch = ListenerRequest.Kind.getBatch(.init(key: Sample.key(of: Self.protected)))
                #expect(try self.ask(&counter, batch, ticket: ticket, at: 21).batch != nil)
            }
            #expect(try self.ask(&counter, kind, ticket: ticket, at: 25).deferred != nil)
            let plain = ListenerRequest(id: 3, session: Sample.session(), kind: kind).encoded()
            #expect(try counter.gathered.requests.map(\.request) == [plain])
        }
    }

    // MARK: - Bytes

    @Test func `nothing of a ticket can be changed, and no part of one is a ticket`() throws {
        var counter = try self.counter()
        let ticket = try self.ticket(try self.join(&counter, .success(self.grant())))
        let batch = ListenerRequest.Kind.getBatch(.init(key: Sample.key(of: Self.protected)))
        for bit in 0..<(8 * ticket.count) {
            var forged = ticket
            forged[bit / 8] ^= 1 << (bit % 8)
            #expect(try self.ask(&counter, batch, ticket: forged, at: 21).refusal?.status == .notAllowed, "bit \(bit)")
        }
        for count in 1..<ticket.count {
            let part = Array(ticket.prefix(count))
            #expect(try self.ask(&counter, batch, ticket: part, at: 21).refusal?.status == .notAllowed)
            #expect(SessionTicket(bytes: part) == nil)
        }
        #expect(try self.ask(&counter, batch, ticket: ticket, at: 21).batch != nil)
    }

    @Test func `a code for a delivery is none for a ticket`() throws {
        let ring = try Self.ring()
        let session = Sample.session()
        let bytes = try #require(ring.ticket(SessionTicket(session: session, stream: Sample.stream)))
        let read = TicketHead(bytes.span, at: bytes.indices)
        let head = try #require(read)
        #expect(ring.fault(ofTicket: bytes[head.coded], head.signature) == nil)
        let delivery = ring.delivery(to: session, of: BreakNumber(rawValue: 1), first: 0, at: Sample.at(0))
        let (coded, signature) = (try #require(delivery.codedBytes), try #require(delivery.signature))
        #expect(ring.fault(ofTicket: coded[...], signature) == .forged)
    }

    @Test func `another implementation of HMAC makes the same bytes`() throws {
        // Python: hmac.new(hmac.new(key, b"cuecast ticket 1", sha256).digest(), bytes, sha256).digest()[:16]
        func bytes(_ hexadecimal: String) -> [UInt8] {
            let digits = hexadecimal.compactMap(\.hexDigitValue)
            return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        }
        let session = try SessionID(bytes: Array(0..<16))
        let ticket = SessionTicket(
            session: session,
            stream: Self.protected,
            fetchUntil: Timestamp(microseconds: 1_800_000_000_000_000),
            acknowledgeUntil: Timestamp(microseconds: 1_800_777_600_000_000),
            subject: "anna",
            sessionsMax: 3,
            attributes: ["tier": "gold", "region": "éu"]
        )
        let ticketBytes = bytes(
            "013f204652000102030405060708090a0b0c0d0e0f0006651728988000000665cc352ae00000000003077072656d69756d04616e6e61"
                + "0206726567696f6e03c3a975047469657204676f6c64f6df74bee46b2c88cda1fa6ec4e2db6a"
        )
        #expect(MessageKeys.fixed.ticket(ticket) == ticketBytes)
        #expect(SessionTicket(bytes: ticketBytes) == ticket)
        let delivery = MessageKeys.fixed.delivery(
            to: session,
            of: BreakNumber(rawValue: 1_024),
            first: 0,
            at: Timestamp(microseconds: 1_800_000_000_000_000)
        )
        #expect(
            delivery.bytes
                == bytes(
                    "023f204652000102030405060708090a0b0c0d0e0f000000000000040000000000000006651728988000"
                        + "26011833cec1168b6cec74ff7ca2f105"
                )
        )
    }

    @Test func `random and damaged bytes are a ticket or none`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<300 {
            let ticket = SessionTicket(
                session: SessionID(high: generator.next(), low: generator.next()),
                stream: Sample.stream("radio\(generator.number(0...99))"),
                fetchUntil: Timestamp(microseconds: Int64(bitPattern: generator.next())),
                acknowledgeUntil: Timestamp(microseconds: Int64(bitPattern: generator.next())),
                subject: String(repeating: "s", count: generator.number(0...40)),
                sessionsMax: generator.number(0...UInt32.max),
                attributes: Dictionary(
                    uniqueKeysWithValues: (0..<generator.number(0...6))
                        .map { ("key\($0)", "value \(generator.number(0...9))") }
                )
            )
            var bytes = try #require(MessageKeys.fixed.ticket(ticket))
            #expect(SessionTicket(bytes: bytes) == ticket)
            bytes[generator.number(0...(bytes.count - 1))] = generator.number(0...UInt8.max)
            if let read = SessionTicket(bytes: bytes), let again = MessageKeys.fixed.ticket(read) {
                // One ticket has one encoding, but for key and code.
                #expect(again.dropFirst(5).dropLast(16) == bytes.dropFirst(5).dropLast(16))
            }
            _ = SessionTicket(bytes: generator.bytes(0...200))
        }
    }
}
