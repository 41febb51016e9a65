// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How simulated listeners behave.
package struct ListenerBehaviour: Sendable {
    /// Ask for batches at once, and not in the slot that session and break give.
    package var asksAtOnce = false
    package var mix: OutcomeMix
    /// Ask for notices on the connection that asks for everything else, and fall back to two where the gateway has none.
    package var push = false
    /// How much faster than the advertisements last they are played; `nil`: they are acknowledged at once.
    package var speed: Double?
    /// By what they join streams that ask for a token.
    ///
    /// It is sent with each join: the gateway does not look at it where the ticket holds.
    package var tokens = JoinTokens.none
    /// The client name that listeners send.
    package var client: [UInt8] = Array("cuecast-load".utf8)
    /// How long its connections may take to be made.
    package var connectTimeout: Microseconds = 10_000_000
    /// How long the proof of the subscription may take.
    package var proofTimeout: Microseconds = 5_000_000
    /// After what time a request without a reply is asked again.
    package var requestTimeout: Microseconds = 5_000_000
    /// The longest wait before the first try again; the limit doubles with each failure.
    package var retryFirst: Microseconds = 250_000
    package var retryMax: Microseconds = 30_000_000
    /// How often in a row requests may stay without a reply before everything is connected anew.
    package var unansweredMax: UInt8 = 3

    package init(mix: OutcomeMix) {
        self.mix = mix
    }
}

/// The state that the listeners of one process share: the streams, the gateway's clock, findings and measurements.
package struct LoadWorld: Sendable {
    package var behaviour: ListenerBehaviour
    package var streams: [StreamKnowledge]
    package var clock: GatewayClockEstimate
    /// The gateways that listeners connect to.
    package var places: GatewayPlaces
    package var statistics: RunStatistics
    /// Another process publishes, and hears when a break is to be announced: here it follows from the window.
    package var guessesAnnouncements = false

    package init(
        behaviour: ListenerBehaviour,
        streams: [StreamKnowledge],
        clock: GatewayClockEstimate = GatewayClockEstimate(),
        places: GatewayPlaces = GatewayPlaces(),
        began: Microseconds = 0
    ) {
        self.behaviour = behaviour
        self.streams = streams
        self.clock = clock
        self.places = places
        self.statistics = RunStatistics(began: began)
    }
}
