// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// The values of a stream's cue policy that decide about a signal.
package struct SignalRule: Hashable, Sendable {
    /// Where the source stands among those of the policy: lower goes first.
    package var rank: UInt32
    /// Starts that lie this close to each other are of one break.
    package var tolerance: Duration
    /// How long a break lasts of which no signal says it; `nil`: until the safety limit.
    package var defaultDuration: Duration?
    /// The longest that a break lasts of which nothing else says it.
    package var safetyDuration: Duration

    package init(rank: UInt32, tolerance: Duration, defaultDuration: Duration?, safetyDuration: Duration) {
        self.rank = rank
        self.tolerance = tolerance
        self.defaultDuration = defaultDuration
        self.safetyDuration = safetyDuration
    }
}

extension BreakEntry {
    /// A signal, with all that the gateway's clock, the stream's cue policy and its list say about it.
    package struct Signal: Hashable, Sendable {
        package var request: BroadcastRequest.Signal
        /// When the break starts or ends by the gateway's clock; of CANCEL: when it was received.
        package var at: Timestamp
        /// When the announcement is due, for that start.
        package var announce: Timestamp
        package var window: RequestWindow
        package var rule: SignalRule
        /// Of OUT: of the list that the cue policy names.
        package var advertisements: [AdvertisementContent]

        package init(
            request: BroadcastRequest.Signal,
            at: Timestamp,
            announce: Timestamp,
            window: RequestWindow,
            rule: SignalRule,
            advertisements: [AdvertisementContent] = []
        ) {
            self.request = request
            self.at = at
            self.announce = announce
            self.window = window
            self.rule = rule
            self.advertisements = advertisements
        }
    }
}

// MARK: - Wire

extension SignalRule {
    init(wire: Cuecast_V1_SignalRule) {
        self.init(
            rank: wire.rank,
            tolerance: .milliseconds(wire.toleranceMs),
            defaultDuration: wire.hasDefaultDurationMs ? .milliseconds(wire.defaultDurationMs) : nil,
            safetyDuration: .milliseconds(wire.safetyDurationMs)
        )
    }

    var wire: Cuecast_V1_SignalRule {
        .with {
            $0.rank = self.rank
            $0.toleranceMs = self.tolerance.inMilliseconds
            if let duration = self.defaultDuration { $0.defaultDurationMs = duration.inMilliseconds }
            $0.safetyDurationMs = self.safetyDuration.inMilliseconds
        }
    }
}

extension BreakEntry.Signal {
    init(wire: Cuecast_V1_SignalEntry) throws(WireError) {
        self.init(
            request: try BroadcastRequest.Signal(wire: wire.signal),
            at: Timestamp(microseconds: wire.atUs),
            announce: Timestamp(microseconds: wire.announceUs),
            window: RequestWindow(wire: wire.window),
            rule: SignalRule(wire: wire.rule),
            advertisements: wire.advertisements.isEmpty ? [] : try AdvertisementContent.list(wire: wire.advertisements)
        )
        guard self.request.kind != .out || !self.advertisements.isEmpty else {
            throw .invalid(field: "advertisements", rule: "a signal that begins a break has at least one")
        }
    }

    var wire: Cuecast_V1_SignalEntry {
        .with {
            $0.signal = self.request.wire
            $0.atUs = self.at.microseconds
            $0.announceUs = self.announce.microseconds
            $0.window = self.window.wire
            $0.rule = self.rule.wire
            $0.advertisements = self.advertisements.map(\.wire)
        }
    }
}
