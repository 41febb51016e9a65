// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// What requests of listeners and of broadcasters have in common: their id, and that they may be sent to the wrong socket.
package enum RequestEnvelope {
    /// Whose requests a socket takes.
    package enum Audience: Sendable {
        case listeners
        case broadcasters
    }

    /// The id of a request, whoever sent it; 0 where it cannot be read.
    ///
    /// Both have it in field 1. What lies in the other fields does not matter, so that it can be read from a request that
    /// is of the other kind, or wrong within.
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
    /// Where all of it is what the other socket would take, the sentence says that as well. Not that alone: requests of both kinds have
    /// fields in common, and one that lacks something may look like another of the other kind.
    ///
    /// - Parameters:
    ///   - error: why it could not be read.
    ///   - frame: the request.
    ///   - audience: whose socket it came to.
    /// - Returns: the refusal.
    package static func refusal(of error: WireError, in frame: [UInt8], on audience: Audience) -> Refusal {
        guard let misdirected = Self.misdirected(frame, on: audience) else { return Refusal(error) }
        return Refusal(.invalid, "\(misdirected) If it is for this one: \(error)")
    }

    /// What is said of a request that is a good one on the other socket; `nil`: it is not.
    static func misdirected(_ frame: [UInt8], on audience: Audience) -> String? {
        switch audience {
        case .listeners:
            guard let other = try? BroadcastRequest(decoding: frame) else { return nil }
            return
                "This socket (requests) is for listeners, and this would be a \(other.kind.name) of a broadcaster: send that to the other one (broadcast)."
        case .broadcasters:
            guard frame.count <= WireLimits.requestFrameBytesMax, let other = try? ListenerRequest(decoding: frame)
            else { return nil }
            return
                "This socket (broadcast) is for broadcasters, and this would be a \(other.kind.name) of a listener: send that to the other one (requests)."
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
        }
    }
}
