// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// One request while it is decided about: it begins when its bytes are read, and ends with its answer.
struct RequestAtHand: Sendable {
    let id: UInt64
    let session: SessionID
    /// Whether its peer may begin a session.
    let mayBeginSession: Bool
    /// The gateway's clock when it came.
    let now: Timestamp
    /// Its changes for the transport so far.
    var effects = RequestEffects()

    @inline(__always)
    init(id: UInt64, session: SessionID, from peer: PeerFacts, at now: Timestamp) {
        self.id = id
        self.session = session
        self.mayBeginSession = peer.mayBeginSession
        self.now = now
    }
}

/// The outcomes of an acknowledgement, as both readers hand them on: each with the place of its advertisement in the break.
struct FoundOutcomes: Sendable {
    /// The outcomes; the places of the advertisements' names are for the reader in place only.
    var outcomes: [ScannedRequest.Outcome] = []
    /// The ordinals of the advertisements, in the same order.
    private(set) var ordinals: [UInt32] = []

    /// Finds what was read in place.
    ///
    /// - Parameters:
    ///   - frame: the request.
    ///   - delivery: where its delivery lies: an advertisement is looked for in the variant that the delivery names.
    ///   - served: the break that it is about.
    /// - Returns: `false` where the break does not have one of the advertisements: whether that is a name at all is for the other
    ///   reader to say.
    @inline(__always)
    mutating func find(in frame: Span<UInt8>, _ delivery: Range<Int>, of served: ServedBreak) -> Bool {
        self.ordinals.removeAll(keepingCapacity: true)
        let variant = served.hasVariants ? Self.variant(DeliveryToken(frame, at: delivery), of: served) : 0
        for outcome in self.outcomes {
            guard let place = served.place(of: frame, at: outcome.advertisementID, in: variant, near: self.next) else {
                return false
            }
            self.ordinals.append(AdOrdinal.of(place, in: variant))
        }
        return true
    }

    /// The variant that a delivery names; `default` for one that is refused anyway.
    private static func variant(_ token: DeliveryToken?, of served: ServedBreak) -> UInt32 {
        guard let token, served.has(variant: token.variant) else { return 0 }
        return token.variant
    }

    /// Finds what was decoded in full.
    ///
    /// - Parameters:
    ///   - decoded: the outcomes.
    ///   - token: their delivery: an advertisement is looked for in the variant that it names.
    ///   - served: the break that they are about.
    /// - Returns: the first advertisement that the variant does not have; it, and what stands behind it, is left out.
    mutating func find(_ decoded: [Outcome], _ token: DeliveryToken?, of served: ServedBreak) -> AdvertisementID? {
        let variant = Self.variant(token, of: served)
        self.ordinals.removeAll(keepingCapacity: true)
        self.outcomes.removeAll(keepingCapacity: true)
        for outcome in decoded {
            let name = Array(outcome.advertisementID.description.utf8)
            guard let place = served.place(of: name.span, at: name.indices, in: variant, near: self.next) else {
                return outcome.advertisementID
            }
            self.ordinals.append(AdOrdinal.of(place, in: variant))
            self.outcomes.append(ScannedRequest.Outcome(details: outcome.details))
        }
        return nil
    }

    /// The place behind the last one found: most listeners tell of one after the other.
    @inline(__always)
    private var next: Int { (self.ordinals.last.map { AdOrdinal.place(of: $0) } ?? -1) + 1 }
}
