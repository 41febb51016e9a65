// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Reads what is asked about a break from JSON: the bodies of the HTTP API.
///
/// The ads are those of `AdsDocument`; the other members are the options of the command line, by the same names:
///
/// ```json
/// { "in": "10s", "duration": "30s", "exact": true, "ads": [ … ] }
/// ```
///
/// `variants` has other ads for some listeners.
///
/// What is read here is not checked by the rules of the wire yet, but for the ads: `BroadcastRequest.checked()` does it.
package enum BreakDocument {
    /// The longest document, in bytes.
    package static let bytesMax = AdsDocument.bytesMax

    /// Looks whether a document is JSON in which no object has a member twice: for other documents that come over HTTP.
    package static func check(_ document: [UInt8]) throws(DocumentFault) { _ = try AdsDocument.root(document) }

    /// A break that is published.
    ///
    /// Without one of `in`, `at`, `now`, `cued` and `preStream` it starts when the gateway receives it. Without `duration` it lasts
    /// as long as its ads together, with variants as long as those of the longest list; `"none"`: until it is ended.
    package static func publish(
        _ key: BreakKey,
        _ document: [UInt8]
    ) throws(DocumentFault) -> BroadcastRequest.Publish {
        let root = try AdsDocument.root(document)
        let fields = try JSONFields(root, path: "", shape: BreakShapes.publish)
        let ads = try AdsDocument.advertisements(fields, of: root)
        let variants = fields["variants"] == nil ? nil : try AdsDocument.variants(fields)
        return try Self.publish(key, fields, ads, variants, line: root.line)
    }

    /// A break with these ads; the other members are those of its fields.
    static func publish(
        _ key: BreakKey,
        _ fields: JSONFields,
        _ ads: [AdvertisementContent],
        _ variants: [AudienceVariant]?,
        line: Int
    ) throws(DocumentFault) -> BroadcastRequest.Publish {
        var publish = try Self.publish(key, fields, ads, line: line)
        guard let variants else { return publish }
        publish.variants = variants
        if fields["duration"] == nil {
            let lists = [ads] + variants.map(\.advertisements)
            publish.duration = try Self.whole(ofAny: lists.longestPlayingTime, "duration", line: line)
        }
        return publish
    }

    /// A break whose ads are those of a VAST document.
    ///
    /// - Parameters:
    ///   - key: which.
    ///   - vast: the document.
    ///   - charset: the encoding that the sender states; `nil`: none.
    ///   - settings: the rest, as text by its name.
    /// - Returns: the request, and the parts of the document that it leaves out, each with its reason.
    /// - Throws: the first thing that is wrong.
    package static func publish(
        _ key: BreakKey,
        vast: [UInt8],
        charset: String?,
        settings: [String: String]
    ) throws(DocumentFault) -> (publish: BroadcastRequest.Publish, leftOut: [String]) {
        let members = settings.sorted { $0.key < $1.key }
            .map { name, text in
                let value: JSONNode.Value =
                    switch text {
                    case "true": .boolean(true)
                    case "false": .boolean(false)
                    default: .string(text)
                    }
                return (key: name, value: JSONNode(value: value, line: 1))
            }
        let fields = try JSONFields(
            JSONNode(value: .object(members), line: 1),
            path: "",
            shape: BreakShapes.settings
        )
        let (ads, leftOut) = try AdsDocument.read(vast: vast, charset: charset)
        return (try Self.publish(key, fields, ads, line: 1), leftOut)
    }

    /// A cued break that starts; without a moment after the gateway's usual lead.
    package static func punch(_ key: BreakKey, _ document: [UInt8]) throws(DocumentFault) -> BroadcastRequest.Punch {
        let (fields, line) = try Self.fields(document, BreakShapes.punch)
        return BroadcastRequest.Punch(key: key, start: try Self.start(try Self.moment(fields), line: line))
    }

    /// A break that changes.
    package static func update(_ key: BreakKey, _ document: [UInt8]) throws(DocumentFault) -> BroadcastRequest.Update {
        let root = try AdsDocument.root(document)
        let fields = try JSONFields(root, path: "", shape: BreakShapes.update)
        let ads = fields["ads"] == nil ? nil : try AdsDocument.advertisements(fields, of: root)
        let moment = try Self.moment(fields)
        let duration = try fields.duration("duration")
        var update = BroadcastRequest.Update(
            key: key,
            start: try Self.start(moment, line: root.line),
            duration: try Self.whole(ofAny: duration, "duration", line: root.line),
            advertisements: ads
        )
        if fields["variants"] != nil { update.variants = try AdsDocument.variants(fields) }
        return update
    }

    /// A break that ends; now, unless it says when.
    package static func end(_ key: BreakKey, _ document: [UInt8]) throws(DocumentFault) -> BroadcastRequest.End {
        let (fields, _) = try Self.fields(document, BreakShapes.end)
        let instant = try Self.instant(fields)
        return BroadcastRequest.End(key: key, endMode: try Self.endMode(fields), at: instant)
    }

    /// A break that starts later.
    ///
    /// `from` is the start that it has now; a request that expects a revision needs none.
    package static func postpone(
        _ key: BreakKey,
        _ document: [UInt8]
    ) throws(DocumentFault) -> BroadcastRequest.Postpone {
        let (fields, line) = try Self.fields(document, BreakShapes.postpone)
        let delay = try fields.required("by", try fields.duration("by"))
        let from = try Self.instant(fields, "from")
        return BroadcastRequest.Postpone(key: key, by: try Self.whole(delay, "by", line: line), from: from)
    }

    /// The members of a document; an empty one has none.
    private static func fields(
        _ document: [UInt8],
        _ shape: RequestShape
    ) throws(DocumentFault) -> (JSONFields, line: Int) {
        let root = document.isEmpty ? JSONNode(value: .object([]), line: 1) : try AdsDocument.root(document)
        return (try JSONFields(root, path: "", shape: shape), root.line)
    }

    private static func publish(
        _ key: BreakKey,
        _ fields: JSONFields,
        _ ads: [AdvertisementContent],
        line: Int
    ) throws(DocumentFault) -> BroadcastRequest.Publish {
        let moment = try Self.moment(fields)
        let isCued = try fields.flag("cued") ?? false
        let isPreStream = try fields.flag("preStream") ?? false
        guard [moment != nil, isCued, isPreStream].count(where: { $0 }) <= 1 else {
            throw fields.fault(isCued ? "cued" : "preStream", "give one of in, at, now, cued and preStream")
        }
        let hold = try fields.duration("hold")
        guard hold == nil || isCued || isPreStream else {
            throw fields.fault("hold", "it goes with cued or preStream")
        }
        let isOpenEnded = if case .string("none")? = fields["duration"]?.value { true } else { false }
        let duration = isOpenEnded ? nil : try fields.duration("duration") ?? ads.playingTime
        let isExact = try fields.flag("exact") ?? false
        let endMode = try Self.endMode(fields) ?? .cut
        let start = isCued || isPreStream ? nil : try Self.start(moment ?? .now, line: line)
        let holdTime = try Self.whole(ofAny: hold, "hold", line: line)
        return BroadcastRequest.Publish(
            key: key,
            start: start,
            duration: try Self.whole(ofAny: duration, "duration", line: line),
            advertisements: ads,
            preStream: isPreStream,
            exact: isExact,
            endMode: endMode,
            hold: holdTime
        )
    }

    static func moment(_ fields: JSONFields) throws(DocumentFault) -> BreakStart? {
        let lead = try fields.duration("in")
        let instant = try Self.instant(fields)
        let isNow = try fields.flag("now") ?? false
        guard [lead != nil, instant != nil, isNow].count(where: { $0 }) <= 1 else {
            throw fields.fault(isNow ? "now" : "at", "give one of in, at and now")
        }
        if let lead { return .after(lead) }
        if let instant { return .at(instant) }
        return isNow ? .now : nil
    }

    /// A member that is an instant as RFC 3339 writes it.
    private static func instant(_ fields: JSONFields, _ name: String = "at") throws(DocumentFault) -> Timestamp? {
        guard let text = try fields.text(name) else { return nil }
        guard let instant = Timestamp(rfc3339: text) else {
            throw fields.fault(name, "it must be an instant such as \"2026-11-21T12:00:00Z\"")
        }
        return instant
    }

    private static func endMode(_ fields: JSONFields) throws(DocumentFault) -> EndMode? {
        guard let word = try fields.text("endMode") else { return nil }
        guard let mode = EndMode.allCases.first(where: { $0.documentWord == word }) else {
            throw fields.fault("endMode", "it must be \"cut\" or \"finishAd\"")
        }
        return mode
    }

    /// A start that the wire can hold.
    static func start(_ start: BreakStart?, line: Int) throws(DocumentFault) -> BreakStart? {
        guard case .after(let lead) = start else { return start }
        return .after(try Self.whole(lead, "start", line: line))
    }

    /// A duration that the wire can hold.
    static func whole(ofAny duration: Duration?, _ field: String, line: Int) throws(DocumentFault) -> Duration? {
        guard let duration else { return nil }
        return try Self.whole(duration, field, line: line)
    }

    private static func whole(_ duration: Duration, _ field: String, line: Int) throws(DocumentFault) -> Duration {
        do throws(WireError) {
            return try duration.wholeMilliseconds(field: field)
        } catch {
            throw DocumentFault(error, line: line)
        }
    }
}
