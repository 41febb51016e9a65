// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import AdFormats
package import CuecastWire

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Reads what is asked about a break from JSON: the bodies of the HTTP API.
///
/// The ads are those of ``AdsFile``; the other members are the options of the command line, by the same names:
///
/// ```json
/// { "in": "10s", "duration": "30s", "exact": true, "ads": [ … ] }
/// ```
///
/// What is read here is checked by the rules of the wire afterwards, like what comes over a socket.
package enum BreakDocument {
    /// The longest document, in bytes.
    package static let bytesMax = AdsFile.fileBytesMax

    private static let moments: Set<String> = ["in", "at", "now"]
    /// What a break is published with, beside its ads.
    package static let settings: Set<String> = Self.moments.union([
        "cued", "preStream", "duration", "hold", "exact", "endMode",
    ])

    /// Looks whether a document is JSON in which no object has a member twice: for other documents that come over HTTP.
    package static func check(_ document: [UInt8]) throws(AdsFileError) { _ = try AdsFile.root(document) }

    /// A break that is published.
    ///
    /// Without one of `in`, `at`, `now`, `cued` and `preStream` it starts when the gateway receives it. Without `duration` it lasts
    /// as long as its ads together; `"none"`: until it is ended.
    package static func publish(
        _ key: BreakKey,
        _ document: [UInt8]
    ) throws(AdsFileError) -> BroadcastRequest.Publish {
        let root = try AdsFile.root(document)
        let fields = try JSONFields(root, path: "", known: Self.settings.union(["ads"]))
        return try Self.publish(key, fields, try AdsFile.advertisements(fields, of: root), line: root.line)
    }

    /// A break whose ads are those of a VAST document.
    ///
    /// - Parameters:
    ///   - key: which.
    ///   - vast: the document.
    ///   - charset: its encoding by the word of whoever sent it; `nil`: nothing was said.
    ///   - settings: the rest, as text by its name.
    /// - Returns: what is asked, and what of the document is not in it, each with its reason.
    /// - Throws: the first thing that is wrong.
    package static func publish(
        _ key: BreakKey,
        vast: [UInt8],
        charset: String?,
        settings: [String: String]
    ) throws(AdsFileError) -> (publish: BroadcastRequest.Publish, leftOut: [String]) {
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
        let fields = try JSONFields(JSONNode(value: .object(members), line: 1), path: "", known: Self.settings)
        var options = VASTReadingOptions()
        options.charset = charset
        let batch: AdBatch
        do throws(AdFormatError) {
            batch = try VAST.read(vast, options: options)
        } catch {
            throw AdsFileError(line: 1, field: "", reason: "the VAST document cannot be used: \(error)")
        }
        return (
            try Self.publish(key, fields, batch.ads.map { AdvertisementDescription($0) }, line: 1),
            batch.skipped.map(\.description) + (batch.leftOut + batch.ads.flatMap(\.leftOut)).map(\.description)
        )
    }

    /// A cued break that starts; without a moment after the gateway's usual lead.
    package static func punch(_ key: BreakKey, _ document: [UInt8]) throws(AdsFileError) -> BroadcastRequest.Punch {
        let (fields, line) = try Self.fields(document, known: Self.moments)
        let moment = try Self.moment(fields)
        var punch = BroadcastRequest.Punch(key: key)
        punch.start = try Self.wire(line) { () throws(BroadcastError) in try moment?.wire }
        return punch
    }

    /// A break that changes.
    package static func update(_ key: BreakKey, _ document: [UInt8]) throws(AdsFileError) -> BroadcastRequest.Update {
        let root = try AdsFile.root(document)
        let fields = try JSONFields(root, path: "", known: Self.moments.union(["duration", "ads"]))
        let ads = fields["ads"] == nil ? nil : try AdsFile.advertisements(fields, of: root)
        let moment = try Self.moment(fields)
        let duration = try fields.duration("duration")
        var update = BroadcastRequest.Update(key: key)
        update.start = try Self.wire(root.line) { () throws(BroadcastError) in try moment?.wire }
        if let duration {
            update.duration = try Self.wire(root.line) { () throws(BroadcastError) in
                try wireDuration(duration, field: "duration")
            }
        }
        if let ads {
            update.advertisements = try Self.wire(root.line) { () throws(BroadcastError) in
                try ads.map { (ad) throws(BroadcastError) in try ad.wire }
            }
        }
        return update
    }

    /// A break that ends; now, unless it says when.
    package static func end(_ key: BreakKey, _ document: [UInt8]) throws(AdsFileError) -> BroadcastRequest.End {
        let (fields, line) = try Self.fields(document, known: ["at", "endMode"])
        let instant = try Self.instant(fields)
        return BroadcastRequest.End(
            key: key,
            endMode: try Self.endMode(fields)?.wire,
            at: try Self.wire(line) { () throws(BroadcastError) in
                try instant.map { (date) throws(BroadcastError) in try Timestamp(date, field: "at") }
            }
        )
    }

    /// A break that starts later.
    ///
    /// `from` is the start that it has now; a request that expects a revision needs none.
    package static func postpone(
        _ key: BreakKey,
        _ document: [UInt8]
    ) throws(AdsFileError) -> BroadcastRequest.Postpone {
        let (fields, line) = try Self.fields(document, known: ["by", "from"])
        let delay = try fields.required("by", try fields.duration("by"))
        let from = try Self.instant(fields, "from")
        return try Self.wire(line) { () throws(BroadcastError) in
            BroadcastRequest.Postpone(
                key: key,
                by: try wireDuration(delay, field: "by"),
                from: try from.map { (date) throws(BroadcastError) in try Timestamp(date, field: "from") }
            )
        }
    }

    /// The members of a document; an empty one has none.
    private static func fields(
        _ document: [UInt8],
        known: Set<String>
    ) throws(AdsFileError) -> (JSONFields, line: Int) {
        let root = document.isEmpty ? JSONNode(value: .object([]), line: 1) : try AdsFile.root(document)
        return (try JSONFields(root, path: "", known: known), root.line)
    }

    private static func publish(
        _ key: BreakKey,
        _ fields: JSONFields,
        _ ads: [AdvertisementDescription],
        line: Int
    ) throws(AdsFileError) -> BroadcastRequest.Publish {
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
        let start: AdBreak.Start
        if isPreStream {
            start = .preStream(hold: hold)
        } else if isCued {
            start = .cued(hold: hold)
        } else {
            switch moment {
            case .at(let date): start = .at(date)
            case .in(let lead): start = .in(lead)
            case .now, nil: start = .now
            }
        }
        var adBreak = AdBreak(
            stream: key.stream.description,
            id: key.id.description,
            start: start,
            advertisements: ads
        )
        if case .string("none")? = fields["duration"]?.value {
            adBreak.duration = nil
        } else {
            adBreak.duration = try fields.duration("duration") ?? adBreak.advertisementsDuration
        }
        adBreak.isExact = try fields.flag("exact") ?? false
        adBreak.endMode = try Self.endMode(fields) ?? .cut
        return try Self.wire(line) { () throws(BroadcastError) in try adBreak.wire }
    }

    private static func moment(_ fields: JSONFields) throws(AdsFileError) -> BreakMoment? {
        let lead = try fields.duration("in")
        let instant = try Self.instant(fields)
        let isNow = try fields.flag("now") ?? false
        guard [lead != nil, instant != nil, isNow].count(where: { $0 }) <= 1 else {
            throw fields.fault(isNow ? "now" : "at", "give one of in, at and now")
        }
        if let lead { return .in(lead) }
        if let instant { return .at(instant) }
        return isNow ? .now : nil
    }

    /// A member that is an instant as RFC 3339 writes it.
    private static func instant(_ fields: JSONFields, _ name: String = "at") throws(AdsFileError) -> Date? {
        guard let text = try fields.text(name) else { return nil }
        guard let instant = Timestamp(rfc3339: text) else {
            throw fields.fault(name, "it must be an instant such as \"2026-11-21T12:00:00Z\"")
        }
        return Date(instant)
    }

    private static func endMode(_ fields: JSONFields) throws(AdsFileError) -> AdBreak.EndMode? {
        guard let text = try fields.text("endMode") else { return nil }
        guard let mode = AdBreak.EndMode(rawValue: text) else {
            throw fields.fault("endMode", "it must be \"cut\" or \"finishAd\"")
        }
        return mode
    }

    /// What the wire cannot hold is a fault of the document.
    private static func wire<Value>(
        _ line: Int,
        _ value: () throws(BroadcastError) -> Value
    ) throws(AdsFileError) -> Value {
        do throws(BroadcastError) {
            return try value()
        } catch {
            throw switch error {
            case .invalid(let field, let reason): AdsFileError(line: line, field: field, reason: reason)
            case .tooLarge(let limit, let maximum, let found):
                .tooLarge(line: line, field: "", reason: "the limit \(limit) is \(maximum), and this has \(found)")
            default: AdsFileError(line: line, field: "", reason: "\(error)")
            }
        }
    }
}
