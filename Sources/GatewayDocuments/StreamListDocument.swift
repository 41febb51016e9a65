// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore

/// Streams with what happens on them now, as JSON: what `GET /v1/streams` answers.
///
/// Fields that have no value are `null`, so that every line has the same ones; the names are a contract.
package struct StreamListDocument: GatewayDocument {
    /// A break as far as a line has room for it.
    package struct Break: GatewayDocument {
        package var `break`: String
        package var state: String
        @OrNull package var start: String?
        @OrNull package var end: String?
        package var revision: UInt64

        package static let documentDescription = DocumentDescription(
            name: "StreamBreak",
            fields: [
                DocumentField("break", .breakID),
                DocumentField("state", .oneOf(BreakState.allCases.map(\.name))),
                .orNull("start", .instant),
                .orNull("end", .instant),
                DocumentField("revision", .count, "1 when it was published, and one more with each change."),
            ]
        )
    }

    /// One stream.
    package struct Stream: GatewayDocument {
        package var stream: String
        package var listeners: Int
        /// The break that runs now.
        @OrNull package var running: Break?
        /// The break that comes next.
        @OrNull package var next: Break?

        package init(stream: StreamID, listeners: Int, running: Break?, next: Break?) {
            self.stream = stream.description
            self.listeners = listeners
            self.running = running
            self.next = next
        }

        package static let documentDescription = DocumentDescription(
            name: "Stream",
            fields: [
                DocumentField("stream", .stream),
                DocumentField("listeners", .count, "How many sessions listen now, at all gateways of the log."),
                .orNull("running", .document(Break.self)),
                .orNull("next", .document(Break.self)),
            ]
        )
    }

    package var now: String
    /// In the order that was asked for.
    package var streams: [Stream]
    @OrNull package var after: String?
    package var total: Int

    package init(now: Timestamp, streams: [Stream], after: StreamID?, total: Int) {
        self.now = now.description
        self.streams = streams
        self.after = after?.description
        self.total = total
    }

    package static let documentDescription = DocumentDescription(
        name: "StreamList",
        fields: [
            DocumentField("now", .instant, "The gateway's clock."),
            DocumentField("streams", .array(of: .document(Stream.self))),
            .orNull("after", .text, "The value of `after` for the next page; null on the last one."),
            DocumentField("total", .count, "How many streams fit, on all pages."),
        ]
    )
}

extension StreamListDocument.Break {
    package init(_ each: GatewayCore.Break, at now: Timestamp) {
        self.break = each.key.id.description
        self.state = each.state(at: now).name
        self.start = each.record.start?.description
        self.end = each.end?.description
        self.revision = each.record.revision
    }
}

extension StreamListDocument {
    package static let example: JSONValue = [
        "now": "2026-05-01T12:00:10.000000Z", "streams": [Stream.example], "after": nil, "total": 1,
    ]
}

extension StreamListDocument.Stream {
    package static let example: JSONValue = [
        "stream": "radio1", "listeners": 1_204,
        "running": [
            "break": "noon-1", "state": "live", "start": "2026-05-01T12:00:00.000000Z",
            "end": "2026-05-01T12:00:30.000000Z", "revision": 2,
        ],
        "next": nil,
    ]
}
