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
    /// - Returns: `false` where the break does not have one of the advertisements: whether that is a name at all is for the other
    ///   reader to say.
    @inline(__always)
    mutating func find(in frame: Span<UInt8>, of served: ServedBreak) -> Bool {
        self.ordinals.removeAll(keepingCapacity: true)
        for outcome in self.outcomes {
            guard let ordinal = served.ordinal(of: frame, at: outcome.advertisementID, near: self.next) else {
                return false
            }
            self.ordinals.append(UInt32(ordinal))
        }
        return true
    }

    /// Finds what was decoded in full.
    ///
    /// - Returns: the first advertisement that the break does not have; it, and what stands behind it, is left out.
    mutating func find(_ decoded: [Outcome], of served: ServedBreak) -> AdvertisementID? {
        self.ordinals.removeAll(keepingCapacity: true)
        self.outcomes.removeAll(keepingCapacity: true)
        for outcome in decoded {
            let name = Array(outcome.advertisementID.description.utf8)
            guard let ordinal = served.ordinal(of: name.span, at: name.indices, near: self.next) else {
                return outcome.advertisementID
            }
            self.ordinals.append(UInt32(ordinal))
            self.outcomes.append(ScannedRequest.Outcome(details: outcome.details))
        }
        return nil
    }

    /// The place behind the last one found: most listeners tell of one after the other.
    @inline(__always)
    private var next: Int { (self.ordinals.last.map { Int($0) } ?? -1) + 1 }
}
