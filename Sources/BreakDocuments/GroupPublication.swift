// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// A break that is published on many streams by one document, as `docs/broadcasters/groups.md` describes it.
///
/// It has the members of a break that is published (`BreakShapes.publish`), and `streams` as the file of a group. `ads` and `variants`
/// are those of the streams that have none of their own.
package struct GroupPublication: Hashable, Sendable {
    /// The break of one stream.
    package struct Stream: Hashable, Sendable {
        /// How much later it starts than the group; negative: earlier.
        package var offset: Duration
        /// With the start that the group has.
        package var publish: BroadcastRequest.Publish
    }

    /// Each stream once, in the order of the document; at least one.
    package let streams: [Stream]

    /// When the group starts, as it is said; `nil`: it is cued, or plays before the stream.
    package var start: BreakStart? { self.streams[0].publish.start }

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - id: the id of the break on each stream.
    ///   - document: at most one byte more than `CandidatesDocument.bytesMax` of it is looked at.
    /// - Returns: the breaks.
    /// - Throws: the first thing that is wrong.
    package static func read(_ id: BreakID, _ document: [UInt8]) throws(DocumentFault) -> GroupPublication {
        let root = try AdsDocument.root(try GroupDocument.bounded(document))
        let fields = try JSONFields(root, path: "", shape: GroupShapes.publication)
        let ads = fields["ads"] == nil ? nil : try AdsDocument.advertisements(fields, of: root)
        let variants = fields["variants"] == nil ? nil : try AdsDocument.variants(fields)
        var streams: [Stream] = []
        for (index, each) in try GroupDocument.streams(fields).enumerated() {
            guard let own = each.ads ?? ads else {
                throw DocumentFault(
                    line: root.line,
                    field: "streams[\(index)].ads",
                    reason: "the stream \(each.stream) has no ads of its own: give ads for such streams"
                )
            }
            let publish = try BreakDocument.publish(
                BreakKey(stream: each.stream, id: id),
                fields,
                own,
                each.variants ?? variants,
                line: root.line
            )
            guard publish.start != nil || each.offset == .zero else {
                throw DocumentFault(
                    line: root.line,
                    field: "streams[\(index)].offset",
                    reason: "a break without a start has no offset: leave cued, preStream or the offset out"
                )
            }
            streams.append(Stream(offset: each.offset, publish: publish))
        }
        return GroupPublication(streams: streams)
    }
}

/// The streams on which the break of a group is called off.
package enum GroupCancellation {
    /// Reads a document.
    ///
    /// - Parameter document: at most one byte more than `CandidatesDocument.bytesMax` of it is looked at.
    /// - Returns: the streams as they are named, at least one.
    /// - Throws: the first thing that is wrong.
    package static func read(_ document: [UInt8]) throws(DocumentFault) -> [StreamID] {
        let root = try AdsDocument.root(try GroupDocument.bounded(document))
        let fields = try JSONFields(root, path: "", shape: GroupShapes.cancellation)
        return try GroupDocument.list(fields).enumerated()
            .map { (index, node) throws(DocumentFault) -> StreamID in
                let path = "streams[\(index)]"
                guard case .string(let text) = node.value else {
                    throw DocumentFault(line: node.line, field: path, reason: "it must be the id of a stream")
                }
                do throws(WireError) {
                    return try StreamID(text)
                } catch {
                    throw DocumentFault(line: node.line, field: path, reason: "\(error)")
                }
            }
    }
}

/// The documents of a group.
package enum GroupShapes {
    package static let publication = RequestShape(
        "PublishedGroup",
        "A break on many streams; at most one of in, at, now, cued and preStream.",
        members: BreakShapes.settings.members + [
            .optional("ads", BreakShapes.ads, "What plays, first to last, on streams that have no ads of their own."),
            .optional("variants", BreakShapes.variants, "Those of streams that have none of their own."),
            .required("streams", .list(of: .object(Self.stream), count: 1...GroupDocument.streamsMax)),
        ]
    )

    package static let cancellation = RequestShape(
        "CancelledGroup",
        members: [
            .required(
                "streams",
                .list(
                    of: .text(bytesMin: 1, bytesMax: WireLimits.streamIDBytesMax),
                    count: 1...GroupDocument.streamsMax
                ),
                "The streams; others may have a break of the same id that is none of the group."
            )
        ]
    )

    static let file = RequestShape(members: [
        .required("streams", .list(of: .object(Self.stream), count: 1...GroupDocument.streamsMax))
    ])

    static let stream = RequestShape(members: [
        .required("stream", .text(bytesMin: 1, bytesMax: WireLimits.streamIDBytesMax), "Once in a group."),
        .optional("offset", .text(bytesMin: 1), "How much later it starts, such as 2s; with a minus earlier."),
        .optional("ads", BreakShapes.ads, "Its own."),
        .optional("variants", BreakShapes.variants, "Its own."),
    ])
}
