// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The rules about which listener may hear which stream, as far as they can change while the gateway runs.
package struct ListenerRules: Hashable, Sendable {
    /// Streams that ask for a token.
    package var protectedStreams: [StreamPattern]
    /// Sessions that are refused.
    package var forgotten: ForgottenSessions
    /// The attributes of listeners that count.
    package var audiences: AudiencePolicy

    package init(
        protectedStreams: [StreamPattern] = [],
        forgotten: ForgottenSessions = .empty(),
        audiences: AudiencePolicy = AudiencePolicy()
    ) {
        self.audiences = audiences
        self.protectedStreams = protectedStreams
        self.forgotten = forgotten
    }

    /// Whether a stream asks for a token.
    package func protects(_ stream: StreamID) -> Bool { self.protectedStreams.contains { $0.matches(stream) } }

    /// Whether a connection goes on hearing a stream.
    ///
    /// - Parameters:
    ///   - session: the session that joined on the connection; `nil`: it subscribed.
    ///   - stream: the stream that it hears.
    ///   - proof: the proof that lets it hear a protected stream.
    /// - Returns: `false` where the session is forgotten, or the stream asks for a token and none was shown.
    package func lets(_ session: SessionID?, hear stream: StreamID, with proof: PushProof?) -> Bool {
        if let session, self.forgotten.contains(session) { return false }
        return proof != nil || !self.protects(stream)
    }
}

extension Refusal {
    /// A request of a session that was forgotten.
    static let forgotten = Refusal(
        .notAllowed,
        "This session and its outcomes were forgotten; a listener begins a new session."
    )
}
