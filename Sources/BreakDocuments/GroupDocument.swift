// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// A file of the streams of a group, as `docs/broadcasters/groups.md` describes it.
package struct GroupDocument: Hashable, Sendable {
    /// The most streams of a group.
    package static let streamsMax = 1_000
    /// The furthest that a stream's break starts before or after that of the group (1 h).
    package static let offsetMax: Duration = .seconds(3_600)

    package struct Stream: Hashable, Sendable {
        package var stream: StreamID
        /// How much later its break starts than the group says; negative: earlier.
        package var offset: Duration
        /// Its own ads; `nil`: those of the group.
        package var ads: [AdvertisementContent]?
        /// Its own variants; `nil`: those of the group.
        package var variants: [AudienceVariant]?

        package init(
            stream: StreamID,
            offset: Duration = .zero,
            ads: [AdvertisementContent]? = nil,
            variants: [AudienceVariant]? = nil
        ) {
            self.stream = stream
            self.offset = offset
            self.ads = ads
            self.variants = variants
        }
    }

    /// Each stream once, in the order of the file; at least one.
    package let streams: [Stream]

    /// Reads a file.
    ///
    /// - Parameter document: at most one byte more than `CandidatesDocument.bytesMax` of it is looked at.
    /// - Returns: its streams.
    /// - Throws: the first thing that is wrong.
    package static func read(_ document: some Sequence<UInt8>) throws(DocumentFault) -> GroupDocument {
        let root = try AdsDocument.root(try Self.bounded(document))
        return GroupDocument(streams: try Self.streams(JSONFields(root, path: "", shape: GroupShapes.file)))
    }

    /// The bytes of a document that is not too long.
    static func bounded(_ document: some Sequence<UInt8>) throws(DocumentFault) -> [UInt8] {
        let bytes = Array(document.prefix(CandidatesDocument.bytesMax + 1))
        guard bytes.count <= CandidatesDocument.bytesMax else {
            throw .tooLarge(
                line: 1,
                field: "",
                reason: "the limit groupFileBytesMax is \(CandidatesDocument.bytesMax)"
            )
        }
        return bytes
    }

    /// The elements of `streams`: at least one, and not too many.
    static func list(_ fields: JSONFields) throws(DocumentFault) -> [JSONNode] {
        let nodes = try fields.elements("streams")
        guard !nodes.isEmpty else {
            throw DocumentFault(line: 1, field: "streams", reason: "there must be at least one")
        }
        guard nodes.count <= Self.streamsMax else {
            throw .tooLarge(
                line: nodes[Self.streamsMax].line,
                field: "streams",
                reason: "the limit groupStreamsMax is \(Self.streamsMax), and this has \(nodes.count)"
            )
        }
        return nodes
    }

    /// The member `streams`, in which each stream is once.
    static func streams(_ fields: JSONFields) throws(DocumentFault) -> [Stream] {
        var streams: [Stream] = []
        var lines: [StreamID: Int] = [:]
        for (index, node) in try Self.list(fields).enumerated() {
            let stream = try Self.stream(node, path: "streams[\(index)]")
            if let line = lines.updateValue(node.line, forKey: stream.stream) {
                throw DocumentFault(
                    line: node.line,
                    field: "streams[\(index)].stream",
                    reason: "the stream \(stream.stream) stands on line \(line) already"
                )
            }
            streams.append(stream)
        }
        return streams
    }

    private static func stream(_ node: JSONNode, path: String) throws(DocumentFault) -> Stream {
        let fields = try JSONFields(node, path: path, shape: GroupShapes.stream)
        let name = try fields.required("stream", fields.text("stream"))
        var stream: Stream
        do throws(WireError) {
            stream = Stream(stream: try StreamID(name))
        } catch {
            throw fields.fault("stream", "\(error)")
        }
        if let text = try fields.text("offset") {
            let isEarlier = text.hasPrefix("-")
            guard let length = Duration(text: isEarlier ? String(text.dropFirst()) : text), length <= Self.offsetMax
            else {
                throw fields.fault("offset", "it must be a duration such as \"2s\" or \"-500ms\", up to 1 h")
            }
            stream.offset = isEarlier ? .zero - length : length
        }
        if fields["ads"] != nil { stream.ads = try AdsDocument.advertisements(fields, of: node, path: "\(path).") }
        if fields["variants"] != nil { stream.variants = try AdsDocument.variants(fields) }
        return stream
    }
}
