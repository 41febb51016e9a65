// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// A ring of keys, ready to sign and to check: what depends on the keys alone is worked out once.
///
/// Each kind of thing that is signed has a key of its own, made of the secret, so that no ticket passes for a delivery.
package struct MessageKeys: Sendable {
    /// The kinds of data that are signed.
    private enum Purpose: String {
        case delivery = "cuecast delivery 1"
        case ticket = "cuecast ticket 1"
        case tracking = "cuecast tracking 1"
        case session = "cuecast session 1"
        case serving = "cuecast serving 1"
    }

    /// Why something that was signed is not taken.
    package enum Fault: Hashable, Sendable {
        /// No key of this name is here: it is another gateway's, or one from before a file was lost.
        case unknownKey
        case revokedKey
        /// The code is not one of this key.
        case forged
    }

    private struct Entry: Sendable {
        let id: KeyID
        let isRevoked: Bool
        let delivery: KeyedHash
        let ticket: KeyedHash
        let tracking: KeyedHash
        let session: KeyedHash
        let serving: KeyedHash

        init(_ key: SigningKey) {
            self.id = key.id
            self.isRevoked = key.state == .revoked
            self.delivery = Self.keyedHash(of: key, for: .delivery)
            self.ticket = Self.keyedHash(of: key, for: .ticket)
            self.tracking = Self.keyedHash(of: key, for: .tracking)
            self.session = Self.keyedHash(of: key, for: .session)
            self.serving = Self.keyedHash(of: key, for: .serving)
        }

        private static func keyedHash(of key: SigningKey, for purpose: Purpose) -> KeyedHash {
            KeyedHash(key: KeyedHash(key: key.secret).wholeCode(of: Array(purpose.rawValue.utf8)))
        }
    }

    package let ring: KeyRing
    /// The one that signs is the first.
    private let entries: [Entry]

    package init(_ ring: KeyRing) {
        self.ring = ring
        self.entries = ring.keys.map(Entry.init)
    }

    /// Keys that are always the same, for doubles and measurements of what is decided; they keep no secret.
    package static let fixed: MessageKeys = {
        let secret = [UInt8](repeating: 0x5A, count: SigningKey.secretBytes)
        guard let key = SigningKey(secret: secret, state: .signing, since: Timestamp(microseconds: 0)),
            let ring = try? KeyRing([key])
        else { preconditionFailure("a secret of the right length makes a ring") }
        return MessageKeys(ring)
    }()

    /// A signed delivery.
    ///
    /// - Parameters:
    ///   - session: the session that gets the batch.
    ///   - breakNumber: of which break.
    ///   - variant: which choice of advertisements.
    ///   - first: the ordinal of its first advertisement.
    ///   - now: the gateway's clock.
    /// - Returns: the token that the batch carries.
    package func delivery(
        to session: SessionID,
        of breakNumber: BreakNumber,
        variant: UInt32 = 0,
        first: Int,
        at now: Timestamp
    ) -> DeliveryToken {
        DeliveryToken(
            session: session,
            breakNumber: breakNumber,
            variant: variant,
            first: UInt8(truncatingIfNeeded: first),
            issued: now,
            key: self.entries[0].id
        ) { self.entries[0].delivery.code(of: $0[...]) }
    }

    /// The bytes of a signed ticket.
    ///
    /// - Returns: `nil` where it would be longer than tickets may be.
    package func ticket(_ ticket: SessionTicket) -> [UInt8]? {
        ticket.signed(self.entries[0].id) { self.entries[0].ticket.code(of: $0[...]) }
    }

    /// Why a ticket is not one that a gateway with these keys made; `nil`: it is.
    ///
    /// - Parameters:
    ///   - bytes: the bytes that its code covers.
    ///   - signature: its code.
    /// - Returns: the fault of it.
    package func fault(ofTicket bytes: ArraySlice<UInt8>, _ signature: Signature) -> Fault? {
        self.fault(of: signature) { $0.ticket.code(of: bytes) }
    }

    // MARK: - Players that only call URLs

    /// The content of a tracking URL, signed by the key of its delivery.
    ///
    /// - Parameters:
    ///   - kind: the event that it reports.
    ///   - ordinal: of which advertisement.
    ///   - delivery: that these keys signed.
    /// - Returns: `nil` where nothing is taken that the key of the delivery signs.
    package func tracking(_ kind: TrackingKind, ordinal: Int, of delivery: DeliveryToken) -> TrackingToken? {
        guard let key = delivery.signature?.key, let ordinal = UInt8(exactly: ordinal),
            let entry = self.entries.first(where: { $0.id == key && !$0.isRevoked })
        else { return nil }
        return TrackingToken(kind, ordinal: ordinal, of: delivery) { entry.tracking.code(of: $0[...]) }
    }

    /// Why what a tracking URL holds is not of a gateway with these keys; `nil`: it is, and so is its delivery.
    package func fault(of tracking: TrackingToken) -> Fault? {
        let bytes = tracking.codedBytes
        return self.fault(of: tracking.signature) { $0.tracking.code(of: bytes[...]) }
    }

    /// The session of a player that only has a name for its playback: the same for the same stream and name, and impossible to
    /// compute without the keys.
    ///
    /// With another key that signs it is another session.
    package func session(of name: String, on stream: StreamID) -> SessionID {
        // No stream's id has a zero.
        let bytes = Array(stream.description.utf8) + [0] + Array(name.utf8)
        let code = self.entries[0].session.code(of: bytes[...])
        return SessionID(high: code.high, low: code.low)
    }

    /// A name for one serving of an advertisement, of which nothing can be told: as a UUID is written.
    ///
    /// It is the same whenever the same session gets the same advertisement of the same break, while the same key signs.
    package func servingID(of delivery: DeliveryToken, ordinal: Int) -> String {
        var bytes: [UInt8] = []
        for number in [
            delivery.session.high, delivery.session.low, delivery.breakNumber.rawValue, UInt64(clamping: ordinal),
        ] {
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
        }
        let code = self.entries[0].serving.code(of: bytes[...])
        var text = SessionID(high: code.high, low: code.low).description
        for place in [20, 16, 12, 8] { text.insert("-", at: text.index(text.startIndex, offsetBy: place)) }
        return text
    }

    /// Whether anything that a key signed is taken.
    package func takes(_ key: KeyID) -> Bool { self.entries.contains { $0.id == key && !$0.isRevoked } }

    /// Why a delivery is not one that a gateway with these keys made; `nil`: it is, or it is not signed.
    package func fault(of delivery: DeliveryToken) -> Fault? {
        guard let signature = delivery.signature, let bytes = delivery.codedBytes else { return nil }
        return self.fault(of: signature) { $0.delivery.code(of: bytes[...]) }
    }

    @inline(__always)
    private func fault(of signature: Signature, code: (Entry) -> AuthenticationCode) -> Fault? {
        // By index: an entry is a kilobyte, which need not be copied.
        for index in self.entries.indices where self.entries[index].id == signature.key {
            if self.entries[index].isRevoked { return .revokedKey }
            return code(self.entries[index]).matches(signature.code) ? nil : .forged
        }
        return .unknownKey
    }
}
