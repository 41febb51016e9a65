// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// A break of a ``ScriptedGateway``: what plays in it, and for how long.
public struct ScriptedBreak: Hashable, Sendable {
    /// What an early end does to the advertisement that plays.
    public enum EndMode: Hashable, Sendable, CaseIterable {
        /// It stops.
        case cut
        /// It plays to its own end.
        case finishAd
    }

    /// The id of the break: 1 to 63 characters `a–z 0–9 -`, unique at its gateway.
    public var id: String
    /// What plays, first to last; 1 to 64.
    public var advertisements: [ScriptedAdvertisement]
    /// The most that it lasts, up to 6 h; `nil`: as long as its advertisements together.
    public var duration: Duration?
    /// Whether it lasts until it is ended, at most 5 min; then `duration` does not count.
    public var isOpenEnded = false
    /// Whether listeners who come late get only what fits into the rest of the break, so that nothing is cut.
    public var isExact = false
    /// What an early end does to the advertisement that plays, unless the end says otherwise.
    public var endMode = EndMode.cut

    /// A break.
    ///
    /// - Parameters:
    ///   - id: its id.
    ///   - advertisements: what plays, first to last.
    ///   - duration: the most that it lasts; `nil`: as long as its advertisements together.
    public init(_ id: String, _ advertisements: [ScriptedAdvertisement], duration: Duration? = nil) {
        self.id = id
        self.advertisements = advertisements
        self.duration = duration
    }
}

extension ScriptedBreak.EndMode {
    var wire: EndMode {
        switch self {
        case .cut: .cut
        case .finishAd: .finishAd
        }
    }
}
