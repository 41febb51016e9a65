// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import LoadEngine
import TestSupport

/// The kind of an input, by its first byte.
private enum Format: UInt8, CaseIterable {
    case noticeFrame, acknowledgements, breaks, board

    static func of(_ input: [UInt8]) -> Format {
        Format(rawValue: (input.first ?? 0) % UInt8(Self.allCases.count)) ?? .noticeFrame
    }

    func sample(_ generator: inout SeededGenerator) -> [UInt8] {
        switch self {
        case .noticeFrame: generator.noticeFrame().encoded()
        case .acknowledgements: Self.acknowledgements(&generator)
        case .breaks: generator.breakGroup().encoded()
        case .board: generator.boardRecord().encoded()
        }
    }

    /// A record whose requests are acknowledgements, with as many ordinals as there are outcomes.
    private static func acknowledgements(_ generator: inout SeededGenerator) -> [UInt8] {
        var group = generator.acknowledgementGroup()
        for index in group.requests.indices {
            let outcomes = generator.list(1...3) { $0.outcome() }
            let request = ListenerRequest(
                id: generator.next(),
                session: generator.session(),
                kind: .acknowledge(.init(key: generator.key(), delivery: generator.bytes(0...29), outcomes: outcomes))
            )
            group.requests[index].request = request.encoded()
            group.requests[index].ordinals = outcomes.indices.map { UInt32($0) }
        }
        return group.encoded()
    }

    func check(_ bytes: [UInt8]) throws(Broken) {
        switch self {
        case .noticeFrame: try Self.checkNotice(bytes)
        case .acknowledgements: try Self.checkAcknowledgements(bytes)
        case .breaks:
            try reread(
                bytes,
                decode: { (bytes) throws(WireError) in try BreakGroup(decoding: bytes) },
                encode: { $0.encoded() }
            )
        case .board:
            try reread(
                bytes,
                decode: { (bytes) throws(WireError) in try BoardRecord(decoding: bytes) },
                encode: { $0.encoded() }
            )
        }
    }

    private static func checkNotice(_ frame: [UInt8]) throws(Broken) {
        let decoded = try reread(
            frame,
            decode: { (bytes) throws(WireError) in try NoticeFrame(decoding: bytes) },
            encode: { $0.encoded() }
        )
        let instance = tickInstance(in: frame.span)
        guard let decoded else { return }
        switch decoded {
        case .tick(let tick):
            try insist(instance == nil || instance == tick.instance, "the instance is \(String(describing: instance))")
        case .notice: try insist(instance == nil, "a notice is read as a tick")
        }
    }

    /// Checks that the ledger's reading in place agrees with reading in full.
    private static func checkAcknowledgements(_ record: [UInt8]) throws(Broken) {
        let found = try? LedgerPosting(LoggedRecord(offset: 1, bytes: record))
        guard let expected = try? Self.posting(inFull: record) else {
            // Ids are not looked at where a record is read in place: they were before it was written.
            return
        }
        try insist(found == expected, "\(String(describing: found)) in place, \(expected) in full")
    }

    private static func posting(inFull record: [UInt8]) throws(WireError) -> LedgerPosting {
        let group = try AcknowledgementGroup(decoding: record)
        var rows: [LedgerPosting.OutcomeRow] = []
        for accepted in group.requests {
            let request = try ListenerRequest(decoding: accepted.request)
            guard case .acknowledge(let acknowledge) = request.kind,
                acknowledge.outcomes.count == accepted.ordinals.count
            else { throw .unsupported }
            for (outcome, ordinal) in zip(acknowledge.outcomes, accepted.ordinals) {
                rows.append(
                    LedgerPosting.OutcomeRow(
                        breakNumber: accepted.breakNumber,
                        session: request.session,
                        ordinal: ordinal,
                        outcome: outcome.details,
                        received: accepted.received
                    )
                )
            }
        }
        return LedgerPosting(offset: 1, deliveries: group.deliveries, outcomes: rows)
    }
}

/// A broadcaster's request, and the reply to one: the first byte says which.
private func checkBroadcast(_ input: [UInt8]) throws(Broken) {
    let bytes = Array(input.dropFirst())
    guard (input.first ?? 0) & 1 == 0 else {
        try reread(
            bytes,
            decode: { (bytes) throws(WireError) in try BroadcastReply(decoding: bytes) },
            encode: { $0.encoded() }
        )
        return
    }
    let decoded = try reread(
        bytes,
        decode: { (bytes) throws(WireError) in try BroadcastRequest(decoding: bytes) },
        encode: { $0.encoded() }
    )
    let id = BroadcastRequest.requestID(of: bytes)
    if let decoded { try insist(id == decoded.id, "the id is \(decoded.id), and answers would carry \(id)") }
    _ = RequestEnvelope.refusal(of: .unsupported, in: bytes, on: .broadcasters)
}

/// Changes the message behind the first byte, and that byte seldom.
private func changed(_ input: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var first = input.first ?? 0
    if Int.random(in: 0..<64, using: &generator) == 0 { first = generator.number(0...3) }
    let rest = input.dropFirst()
    // A notice has its topic before the message.
    if first % UInt8(Format.allCases.count) == Format.noticeFrame.rawValue, let zero = rest.firstIndex(of: 0) {
        if Int.random(in: 0..<8, using: &generator) == 0 {
            return [first] + FieldTree.changed(Array(rest[...zero]), &generator) + rest[(zero + 1)...]
        }
        return [first] + rest[...zero] + FieldTree.changedMessage(rest[(zero + 1)...], &generator)
    }
    return [first] + FieldTree.changedMessage(rest, &generator)
}

extension FuzzTarget {
    static let broadcast = FuzzTarget(
        name: "broadcast",
        sample: { generator in
            generator.bool()
                ? [0] + generator.broadcastRequest().encoded() : [1] + generator.broadcastReply().encoded()
        },
        change: { [$0.first ?? 0] + FieldTree.changedMessage($0.dropFirst(), &$1) },
        fault: { input in firstBroken { () throws(Broken) in try checkBroadcast(input) } }
    )

    /// Frames of notices, and records of the log.
    static let records = FuzzTarget(
        name: "records",
        sample: { generator in
            let format = generator.pick(Format.allCases)
            return [format.rawValue] + format.sample(&generator)
        },
        change: { changed($0, &$1) },
        fault: { input in
            firstBroken { () throws(Broken) in try Format.of(input).check(Array(input.dropFirst())) }
        }
    )
}
