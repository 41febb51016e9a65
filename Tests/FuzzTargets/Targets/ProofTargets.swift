// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport

/// The kind of an input, by its first byte.
private enum Proof: UInt8, CaseIterable {
    case ticket, delivery, keys, tracking

    static func of(_ input: [UInt8]) -> Proof {
        Proof(rawValue: (input.first ?? 0) % UInt8(Self.allCases.count)) ?? .ticket
    }

    func sample(_ generator: inout SeededGenerator) -> [UInt8] {
        switch self {
        case .ticket: MessageKeys.fixed.ticket(Self.ticket(&generator)) ?? []
        case .delivery: generator.delivery().bytes
        case .keys: Array(MessageKeys.fixed.ring.text.utf8)
        case .tracking: Self.tracking(&generator)
        }
    }

    private static func ticket(_ generator: inout SeededGenerator) -> SessionTicket {
        var attributes: [String: String] = [:]
        for _ in 0..<generator.number(0...5) {
            attributes["\(generator.number(0...99))"] = String(generator.words().prefix(20))
        }
        return SessionTicket(
            session: generator.session(),
            stream: generator.streamID(),
            fetchUntil: generator.timestamp(),
            acknowledgeUntil: generator.timestamp(),
            subject: String(generator.words().prefix(30)),
            sessionsMax: generator.number(0...UInt32.max),
            attributes: attributes
        )
    }

    private static func tracking(_ generator: inout SeededGenerator) -> [UInt8] {
        let delivery = MessageKeys.fixed.delivery(
            to: generator.session(),
            of: BreakNumber(rawValue: generator.number(0...UInt64.max)),
            first: generator.number(0...63),
            at: generator.timestamp()
        )
        let token = MessageKeys.fixed.tracking(
            generator.pick(TrackingKind.allCases),
            ordinal: generator.number(0...63),
            of: delivery
        )
        return token?.bytes ?? []
    }

    func check(_ bytes: [UInt8]) throws(Broken) {
        switch self {
        case .ticket: try Self.checkTicket(bytes)
        case .delivery: try Self.checkDelivery(bytes)
        case .keys: try Self.checkKeys(bytes)
        case .tracking: try Self.checkTracking(bytes)
        }
    }

    /// Checks that a tracking URL has one encoding and one code, and so has the delivery in it.
    private static func checkTracking(_ bytes: [UInt8]) throws(Broken) {
        guard let read = TrackingToken(bytes: bytes) else { return }
        try insist(read.bytes == bytes, "\(read) has two encodings")
        guard MessageKeys.fixed.fault(of: read) == nil else { return }
        try insist(
            MessageKeys.fixed.fault(of: read.delivery) == nil,
            "\(read) is taken with a forged delivery"
        )
        let again = MessageKeys.fixed.tracking(read.kind, ordinal: Int(read.ordinal), of: read.delivery)
        try insist(again == read, "\(read) is taken with another code than its own")
    }

    /// Checks that a ticket read in place and in full is the same, and has one encoding and one code.
    private static func checkTicket(_ bytes: [UInt8]) throws(Broken) {
        let head = TicketHead(bytes.span, at: bytes.indices)
        let ticket = SessionTicket(bytes: bytes)
        guard let head else { return try insist(ticket == nil, "a ticket is read that has no head") }
        let fault = MessageKeys.fixed.fault(ofTicket: bytes[head.coded], head.signature)
        guard let ticket else { return try insist(fault != nil, "what cannot be read has the code of a gateway") }
        try insist(
            ticket.session == head.session && ticket.fetchUntil == head.fetchUntil
                && ticket.acknowledgeUntil == head.acknowledgeUntil && ticket.sessionsMax == head.sessionsMax
                && bytes[head.stream].elementsEqual(ticket.stream.description.utf8),
            "\(ticket) has another head"
        )
        guard let again = MessageKeys.fixed.ticket(ticket) else {
            throw Broken(sentence: "\(ticket) cannot be written")
        }
        // Without the key's id and the code.
        try insist(
            again.dropFirst(5).dropLast(AuthenticationCode.byteCount)
                == bytes.dropFirst(5).dropLast(AuthenticationCode.byteCount),
            "\(ticket) has two encodings"
        )
        try insist((fault == nil) == (again == bytes), "\(ticket) is taken with another code than its own")
    }

    private static func checkDelivery(_ bytes: [UInt8]) throws(Broken) {
        let read = try? DeliveryToken(bytes: bytes)
        try insist(read == DeliveryToken(bytes.span, at: bytes.indices), "read in place it is another delivery")
        guard let read else { return }
        try insist(read.bytes == bytes, "\(read) has two encodings")
        guard read.signature != nil, MessageKeys.fixed.fault(of: read) == nil else { return }
        let again = MessageKeys.fixed.delivery(
            to: read.session,
            of: read.breakNumber,
            variant: read.variant,
            first: Int(read.first),
            at: read.issued
        )
        try insist(again == read, "\(read) is taken with another code than its own")
    }

    private static func checkKeys(_ bytes: [UInt8]) throws(Broken) {
        try reread(
            bytes,
            decode: { (bytes) throws(KeyRingFault) in try KeyRing(text: String(decoding: bytes, as: UTF8.self)) },
            encode: { Array($0.text.utf8) }
        )
    }
}

extension FuzzTarget {
    /// Tickets, deliveries and what tracking URLs hold, which strangers send, and files of keys.
    static let proofs = FuzzTarget(
        name: "proofs",
        sample: { generator in
            let proof = generator.pick(Proof.allCases)
            return [proof.rawValue] + proof.sample(&generator)
        },
        change: { input, generator in
            [input.first ?? 0] + FieldTree.changed(Array(input.dropFirst()), &generator)
        },
        fault: { input in
            firstBroken { () throws(Broken) in try Proof.of(input).check(Array(input.dropFirst())) }
        }
    )
}
