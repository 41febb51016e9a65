// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The server-sent events that a listener reads (HTML, section "Server-sent events"), whichever part of the gateway writes it.
package enum ListenerEventText {
    /// The time after which a client without own settings reconnects, in milliseconds.
    private static let retryMilliseconds = 2_000

    /// The first event, with the time after which to reconnect.
    package static func joined(_ joined: ListenerReply.Joined, of session: SessionID, at time: Timestamp) -> [UInt8] {
        Array("retry: \(Self.retryMilliseconds)\n".utf8)
            + Self.event("joined", id: "\(joined.head)", JoinedDocument(joined, of: session, at: time))
    }

    /// A notice, or the position.
    package static func notice(_ notice: Notice) -> [UInt8] {
        Self.event(notice.kind == .head ? "head" : "notice", id: "\(notice.position)", NoticeDocument(notice))
    }

    /// The last event.
    package static func end(_ end: NoticeReaderEnd) -> [UInt8] {
        let document = EndDocument(end)
        return Self.event("end", id: document.finalEventID, document)
    }

    /// Whether the id of a reader's last event says that it must not listen again.
    package static func isFinal(_ lastEvent: String) -> Bool { lastEvent.hasPrefix(EndDocument.finalPrefix) }

    /// JSON has no line breaks, so that the data is one line.
    private static func event(_ name: String, id: String?, _ document: some Encodable) -> [UInt8] {
        let id = id.map { "id: \($0)\n" } ?? ""
        return Array("\(id)event: \(name)\ndata: ".utf8) + document.json + Array("\n\n".utf8)
    }
}

extension Encodable {
    /// A document as JSON on one line, with its keys in order.
    package var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(self))
        } catch {
            // Only floating-point numbers that JSON does not have can fail, and no document has any.
            preconditionFailure("a document could not be encoded: \(error)")
        }
    }
}
