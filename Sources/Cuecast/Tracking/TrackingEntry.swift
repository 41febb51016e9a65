// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// One line of the journal that makes calls of tracking URLs survive the app.
///
/// Entries of one call have its `id`; a later one takes the place of an earlier one of the same kind, and `finished` takes
/// the place of all.
enum TrackingEntry: Hashable, Sendable {
    /// Something happened, and this call is due for it; nothing was sent yet.
    struct Intent: Hashable, Sendable {
        let id: UInt64
        /// Names event, advertisement and tracker in the session, whatever the macros make of the URL.
        let key: UInt64
        let session: SessionID
        let breakID: String
        let adID: String
        let event: String
        /// With the macros replaced.
        let url: String
        /// When it happened.
        let wall: Timestamp
    }

    /// How a call ended.
    enum Outcome: UInt8, Hashable, Sendable, CaseIterable {
        case sent = 1
        case failed = 2
        case uncertain = 3
    }

    case intended(Intent)
    /// Attempt `attempt` begins now: where this is the last entry, whether it arrived is unknown.
    case sending(id: UInt64, attempt: Int)
    /// Attempt `attempt` ended, and the server did not take it: another one may follow.
    case waiting(id: UInt64, attempt: Int)
    /// The call is over. It has the key, so that the other entries are not needed any more.
    case finished(id: UInt64, key: UInt64, outcome: Outcome)

    var id: UInt64 {
        switch self {
        case .intended(let intent): intent.id
        case .sending(let id, _), .waiting(let id, _), .finished(let id, _, _): id
        }
    }
}

// The encoding: a version, a kind, then the fields in order. Numbers are little-endian; texts are UTF-8 after their length.
extension TrackingEntry {
    /// The version of the encoding.
    static let version: UInt8 = 1
    /// The longest text beside the URL, in bytes.
    static let textBytesMax = 1_024
    /// The longest encoded entry, in bytes.
    static let bytesMax = 64 + 3 * (4 + Self.textBytesMax) + 4 + TrackingMacros.urlBytesMax

    func encoded() -> [UInt8] {
        var bytes = [Self.version]
        switch self {
        case .intended(let intent):
            bytes.append(1)
            bytes.append(number: intent.id)
            bytes.append(number: intent.key)
            bytes += intent.session.bytes
            bytes.append(number: UInt64(bitPattern: intent.wall.microseconds))
            bytes.append(text: intent.breakID)
            bytes.append(text: intent.adID)
            bytes.append(text: intent.event)
            bytes.append(text: intent.url)
        case .sending(let id, let attempt):
            bytes.append(2)
            bytes.append(number: id)
            bytes.append(number: UInt64(clamping: attempt))
        case .waiting(let id, let attempt):
            bytes.append(3)
            bytes.append(number: id)
            bytes.append(number: UInt64(clamping: attempt))
        case .finished(let id, let key, let outcome):
            bytes.append(4)
            bytes.append(number: id)
            bytes.append(number: key)
            bytes.append(outcome.rawValue)
        }
        return bytes
    }

    /// Reads what `encoded()` wrote; `nil` for anything else.
    init?(decoding bytes: [UInt8]) {
        guard bytes.count <= Self.bytesMax else { return nil }
        var reader = Reader(rest: bytes[...])
        guard reader.byte() == Self.version, let kind = reader.byte(), let id = reader.number() else { return nil }
        switch kind {
        case 1:
            guard let key = reader.number(), let session = reader.session(), let wall = reader.number(),
                let breakID = reader.text(max: Self.textBytesMax), let adID = reader.text(max: Self.textBytesMax),
                let event = reader.text(max: Self.textBytesMax),
                let url = reader.text(max: TrackingMacros.urlBytesMax)
            else { return nil }
            self = .intended(
                Intent(
                    id: id,
                    key: key,
                    session: session,
                    breakID: breakID,
                    adID: adID,
                    event: event,
                    url: url,
                    wall: Timestamp(microseconds: Int64(bitPattern: wall))
                )
            )
        case 2, 3:
            guard let number = reader.number(), let attempt = Int(exactly: number) else { return nil }
            self = kind == 2 ? .sending(id: id, attempt: attempt) : .waiting(id: id, attempt: attempt)
        case 4:
            guard let key = reader.number(), let outcome = reader.byte().flatMap(Outcome.init) else { return nil }
            self = .finished(id: id, key: key, outcome: outcome)
        default: return nil
        }
        guard reader.rest.isEmpty else { return nil }
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func byte() -> UInt8? { self.rest.popFirst() }

        mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
            guard count <= self.rest.count else { return nil }
            defer { self.rest = self.rest.dropFirst(count) }
            return self.rest.prefix(count)
        }

        mutating func number() -> UInt64? {
            self.bytes(8)?.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }

        mutating func session() -> SessionID? {
            self.bytes(WireLimits.sessionBytes).flatMap { try? SessionID(bytes: $0) }
        }

        mutating func text(max: Int) -> String? {
            guard let count = self.bytes(4)?.reversed().reduce(0, { $0 << 8 | Int($1) }), count <= max else {
                return nil
            }
            return self.bytes(count).flatMap { String(validating: $0, as: UTF8.self) }
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { self.append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }

    fileprivate mutating func append(text: String) {
        let count = UInt32(clamping: text.utf8.count)
        for shift in stride(from: 0, to: 32, by: 8) { self.append(UInt8(truncatingIfNeeded: count >> UInt32(shift))) }
        self += text.utf8
    }
}
