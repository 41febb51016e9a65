// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// The common parts of listeners' and broadcasters' requests: their id, and that they may be sent to the wrong socket.
package enum RequestEnvelope {
    /// The clients whose requests a socket takes.
    package enum Audience: Sendable {
        case listeners
        case broadcasters
    }

    /// The id of a request, from either kind of client; 0 where it cannot be read.
    ///
    /// Both have it in field 1. The other fields do not matter, so the id can be read from a request that is of the other kind, or
    /// is otherwise wrong.
    static func requestID(of frame: [UInt8]) -> UInt64 {
        var id: UInt64 = 0
        var fields = FieldReader<RequestField>(0..<frame.count)
        while let field = fields.next(in: frame.span) {
            switch field {
            case .varint(.requestID, let value): id = value
            case .varint, .fixed64, .fixed32, .bytes: continue
            case .unreadable:
                if let wire = try? Cuecast_V1_Request(serializedBytes: frame) { return wire.requestID }
                return (try? Cuecast_V1_BroadcastRequest(serializedBytes: frame))?.requestID ?? 0
            }
        }
        return id
    }

    /// How a request is refused that could not be read.
    ///
    /// Where all of it is what the other socket would take, one sentence names the address to send it to. A listener's request that has
    /// no session may look like a broadcaster's: then the sentence says that a session is missing, too.
    ///
    /// - Parameters:
    ///   - error: why it could not be read.
    ///   - frame: the request.
    ///   - audience: the clients of the socket that it came to.
    /// - Returns: the refusal.
    package static func refusal(of error: WireError, in frame: [UInt8], on audience: Audience) -> Refusal {
        guard let misdirected = Self.misdirected(frame, on: audience) else { return Refusal(error) }
        if audience == .listeners, case .invalid(field: "session", rule: _) = error {
            return Refusal(.invalid, "\(misdirected), and listeners send a session of 16 bytes with each request.")
        }
        return Refusal(.invalid, "\(misdirected).")
    }

    /// A hint, without the full stop, for a request that is valid on the other socket; `nil`: it is not.
    static func misdirected(_ frame: [UInt8], on audience: Audience) -> String? {
        switch audience {
        case .listeners:
            guard let other = try? BroadcastRequest(decoding: frame) else { return nil }
            return
                "This is the listeners' address (requests); broadcasters send a \(other.kind.name) to theirs (broadcast, port 7402 by default)"
        case .broadcasters:
            guard frame.count <= WireLimits.requestFrameBytesMax, let other = try? ListenerRequest(decoding: frame)
            else { return nil }
            return
                "This is the broadcasters' address (broadcast); listeners send a \(other.kind.name) to theirs (requests, port 7401 by default)"
        }
    }
}

extension ListenerRequest.Kind {
    /// In a word, for people.
    fileprivate var name: String {
        switch self {
        case .join: "join"
        case .getBatch: "batch request"
        case .acknowledge: "acknowledgement"
        case .getTime: "time request"
        case .leave: "leave"
        }
    }
}

extension BroadcastRequest.Kind {
    /// In a word, for people.
    fileprivate var name: String {
        switch self {
        case .publish: "publication"
        case .punch: "punch"
        case .update: "update"
        case .end: "end"
        case .cancel: "cancel"
        case .list: "list request"
        case .postpone: "postponement"
        case .signal: "signal"
        case .putList, .removeList: "change of an ad list"
        case .lists: "request for ad lists"
        case .watchReport: "report of a watcher"
        }
    }
}
