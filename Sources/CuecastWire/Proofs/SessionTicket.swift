// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The proof that `Joined` carries and every later request of the session shows: its identity, its rights, and their end.
///
/// Any gateway that has the keys knows by it what a token granted, without the token and without a store. Opaque to clients; at most
/// `WireLimits.ticketBytesMax` bytes. In order, numbers with their highest byte first: the version (1), the key's id (4), the session (16),
/// until when it fetches and hears (8) and acknowledges (8) in microseconds since 1970, the most sessions of the subject (4), the stream, the subject, how many
/// attributes there are (1), and each attribute's name and value; texts are UTF-8 behind their length (1). Then the code over all of it (16).
package struct SessionTicket: Hashable, Sendable {
    package var session: SessionID
    package var stream: StreamID
    /// The last instant at which it fetches batches, hears notices and joins again, by the gateway's clock; `latest`: it does not end.
    package var fetchUntil: Timestamp
    /// The last instant at which it acknowledges.
    package var acknowledgeUntil: Timestamp
    /// The subject whose token the session joined with; empty if it joined without a token.
    package var subject: String
    /// The most sessions of the subject at a time; 0: no limit.
    package var sessionsMax: UInt32
    /// The listener's attributes in its token; they replace those that the listener states itself.
    package var attributes: [String: String]

    package init(
        session: SessionID,
        stream: StreamID,
        fetchUntil: Timestamp = .latest,
        acknowledgeUntil: Timestamp = .latest,
        subject: String = "",
        sessionsMax: UInt32 = 0,
        attributes: [String: String] = [:]
    ) {
        self.session = session
        self.stream = stream
        self.fetchUntil = fetchUntil
        self.acknowledgeUntil = acknowledgeUntil
        self.subject = subject
        self.sessionsMax = sessionsMax
        self.attributes = attributes
    }

    /// The bytes of a signed ticket.
    ///
    /// - Parameters:
    ///   - key: the key that signs.
    ///   - code: makes the code of bytes with that key.
    /// - Returns: `nil` where it would be longer than `WireLimits.ticketBytesMax`.
    package func signed(_ key: KeyID, code: (_ bytes: [UInt8]) -> AuthenticationCode) -> [UInt8]? {
        var bytes: [UInt8] = [TicketHead.version]
        bytes.appendBigEndian(key.rawValue)
        bytes.appendBigEndian(self.session.high)
        bytes.appendBigEndian(self.session.low)
        bytes.appendBigEndian(UInt64(bitPattern: self.fetchUntil.microseconds))
        bytes.appendBigEndian(UInt64(bitPattern: self.acknowledgeUntil.microseconds))
        bytes.appendBigEndian(self.sessionsMax)
        guard self.attributes.count <= WireLimits.attributesMax else { return nil }
        var texts = [self.stream.description, self.subject]
        texts += self.attributes.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
        for (index, text) in texts.enumerated() {
            if index == 2 { bytes.append(UInt8(self.attributes.count)) }
            guard let length = UInt8(exactly: text.utf8.count) else { return nil }
            bytes.append(length)
            bytes += text.utf8
        }
        if texts.count == 2 { bytes.append(0) }
        guard bytes.count + AuthenticationCode.byteCount <= WireLimits.ticketBytesMax else { return nil }
        let made = code(bytes)
        bytes.appendBigEndian(made.high)
        bytes.appendBigEndian(made.low)
        return bytes
    }

    /// Reads a ticket whole; never traps.
    ///
    /// It is `nil` for anything that `signed` does not write. The caller checks separately whether a gateway signed it.
    package init?(bytes: [UInt8]) {
        guard let head = TicketHead(bytes.span, at: bytes.indices) else { return nil }
        func text(_ range: Range<Int>) -> String? { String(validating: bytes[range], as: UTF8.self) }
        var rest = BigEndianReader(head.rest)
        func next() -> String? {
            guard let length = rest.range(1), let range = rest.range(Int(bytes[length.lowerBound])) else { return nil }
            return text(range)
        }
        guard let name = text(head.stream), let stream = try? StreamID(name), let subject = next(),
            let count = rest.range(1), bytes[count.lowerBound] <= WireLimits.attributesMax
        else { return nil }
        var attributes: [String: String] = [:]
        var last: String?
        for _ in 0..<bytes[count.lowerBound] {
            // In their order, so that one ticket has one encoding.
            guard let key = next(), let value = next(), last.map({ $0 < key }) ?? true else { return nil }
            attributes[key] = value
            last = key
        }
        guard rest.rest.isEmpty else { return nil }
        self.init(
            session: head.session,
            stream: stream,
            fetchUntil: head.fetchUntil,
            acknowledgeUntil: head.acknowledgeUntil,
            subject: subject,
            sessionsMax: head.sessionsMax,
            attributes: attributes
        )
    }
}

/// The part of a ticket by which a request is decided, read in place.
package struct TicketHead: Sendable {
    package let signature: Signature
    package let session: SessionID
    package let fetchUntil: Timestamp
    package let acknowledgeUntil: Timestamp
    package let sessionsMax: UInt32
    /// Where the stream's id lies.
    package let stream: Range<Int>
    /// Where everything behind it lies that is not read here.
    let rest: Range<Int>
    /// Where the bytes lie that the code is over.
    package let coded: Range<Int>

    static let version: UInt8 = 1
    /// The bytes before the first text of a ticket, with the length of that.
    private static let fixedBytes = 42

    /// Finds the parts of a ticket; `nil` where it is none.
    ///
    /// - Parameters:
    ///   - frame: a request.
    ///   - range: where its ticket lies.
    package init?(_ frame: Span<UInt8>, at range: Range<Int>) {
        guard range.count >= Self.fixedBytes + AuthenticationCode.byteCount, range.count <= WireLimits.ticketBytesMax,
            frame[range.lowerBound] == Self.version
        else { return nil }
        let coded = range.dropLast(AuthenticationCode.byteCount)
        var numbers = BigEndianReader(coded.dropFirst())
        let key = KeyID(rawValue: UInt32(truncatingIfNeeded: numbers.next(4, in: frame)))
        self.session = SessionID(high: numbers.next(8, in: frame), low: numbers.next(8, in: frame))
        self.fetchUntil = Timestamp(microseconds: Int64(bitPattern: numbers.next(8, in: frame)))
        self.acknowledgeUntil = Timestamp(microseconds: Int64(bitPattern: numbers.next(8, in: frame)))
        self.sessionsMax = UInt32(truncatingIfNeeded: numbers.next(4, in: frame))
        let length = Int(truncatingIfNeeded: numbers.next(1, in: frame))
        guard let stream = numbers.range(length) else { return nil }
        self.stream = stream
        self.rest = numbers.rest
        self.coded = coded
        var code = BigEndianReader(range.suffix(AuthenticationCode.byteCount))
        self.signature = Signature(key: key, code: AuthenticationCode(&code, in: frame))
    }
}
