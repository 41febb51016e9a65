// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The identity of a broadcaster, and the streams on which it may publish.
///
/// There is one right to a stream: to publish breaks on it, to change, end and cancel its breaks regardless of their publisher, and
/// to list them.
package struct BroadcastPrincipal: Hashable, Sendable {
    /// Its name in records, lists and logs; empty where broadcasters are not told apart.
    package let name: String
    /// `nil`: every stream.
    private let streams: [StreamPattern]?

    /// Any caller, where broadcasters are not told apart: every stream.
    package static let anybody = BroadcastPrincipal(name: "", all: ())

    package init(name: String, streams: [StreamPattern]) {
        self.name = name
        self.streams = streams
    }

    private init(name: String, all: Void) {
        self.name = name
        self.streams = nil
    }

    /// Whether it has the right to a stream.
    package func mayPublish(on stream: StreamID) -> Bool {
        guard let streams = self.streams else { return true }
        return streams.contains { $0.matches(stream) }
    }

    /// Whether it has the right to ad lists: a list may fill the breaks of any stream, so that it takes the right to every stream.
    package var mayChangeLists: Bool { self.streams?.contains(.every) ?? true }

    /// The refusal without that right.
    package var refusalForLists: Refusal {
        Refusal(
            .notAllowed,
            "The broadcaster \(self.name) has no right to ad lists: it needs the right to every stream (*)."
        )
    }

    /// The refusal for a stream that it has no right to: the same whether the stream or the break exists or not.
    package func refusal(for stream: StreamID) -> Refusal {
        Refusal(.notAllowed, "The broadcaster \(self.name) has no right to the stream \(stream).")
    }
}
