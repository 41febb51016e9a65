// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A programme of which a VMAP document has the breaks.
package struct Programme: Hashable, Sendable {
    /// When it starts, in milliseconds since 1970.
    package var startMilliseconds: Int64
    /// How long it lasts, in milliseconds; `nil`: that is not known.
    package var durationMilliseconds: Int64?
    /// The places of its breaks, in milliseconds from its start, first to last; empty: they are not known.
    package var positionsMilliseconds: [Int64]

    package init(startMilliseconds: Int64, durationMilliseconds: Int64? = nil, positionsMilliseconds: [Int64] = []) {
        self.startMilliseconds = startMilliseconds
        self.durationMilliseconds = durationMilliseconds
        self.positionsMilliseconds = positionsMilliseconds
    }
}

/// Reads VMAP 1.0.1: the breaks of a programme.
package struct VMAPReader {
    private static let namespaces: Set<String> = ["http://www.iab.net/videosuite/vmap", "http://www.iab.net/vmap-1.0"]

    private let programme: Programme
    private var result = ScheduleDocument()

    /// One `AdBreak` with its place.
    private struct Place {
        let offset: Int64
        let id: String
        let line: Int
        let ads: [ScheduledAds]
    }

    /// The breaks of a programme.
    ///
    /// Breaks with the same offset are one break with their ads in order (VMAP 1.0.1 section 2.3.1). A break has the id of its
    /// `breakId`, else of its offset.
    ///
    /// - Parameters:
    ///   - document: its bytes.
    ///   - programme: when it starts, how long it lasts, where its breaks are.
    /// - Returns: the breaks, and a fault for each one that cannot be read.
    /// - Throws: where the whole of it cannot be read.
    package static func read(_ document: [UInt8], programme: Programme) throws(ScheduleFault) -> ScheduleDocument {
        guard document.count <= ScheduleLimits.scheduleBytesMax else {
            throw ScheduleFault(limit: "scheduleBytesMax", ScheduleLimits.scheduleBytesMax)
        }
        if let length = programme.durationMilliseconds, length > ScheduleLimits.programmeMillisecondsMax {
            throw ScheduleFault(limit: "programmeMillisecondsMax", ScheduleLimits.programmeMillisecondsMax)
        }
        var limits = AdFormatLimits()
        limits.documentBytesMax = ScheduleLimits.scheduleBytesMax
        limits.elementsMax = 131_072
        let root: MarkupElement
        do throws(AdFormatError) {
            root = try MarkupReader.read(document, limits: limits)
        } catch {
            if case .malformed(let fault, let line, let column) = error {
                throw ScheduleFault("this is not well-formed XML: column \(column): \(fault)", line: line)
            }
            throw ScheduleFault(error.description)
        }
        guard root.name == "VMAP",
            root.namespace.isEmpty || Self.namespaces.contains(root.namespace) || root.namespace == "vmap:"
        else { throw ScheduleFault("this is not VMAP: the outermost element is \(quoted(root.name))", line: root.line) }
        let version = root.attribute("version") ?? ""
        guard version == "1.0" || version.hasPrefix("1.0.") else {
            throw ScheduleFault("this is VMAP \(quoted(version)); version 1.0 is read", line: root.line)
        }
        var reader = VMAPReader(programme: programme)
        var places: [Place] = []
        for element in root.children where element.name == "AdBreak" && element.namespace == root.namespace {
            do throws(ScheduleFault) {
                places += try reader.places(of: element)
                guard places.count <= ScheduleLimits.scheduleBreaksMax else {
                    throw ScheduleFault(
                        limit: "scheduleBreaksMax",
                        ScheduleLimits.scheduleBreaksMax,
                        line: element.line
                    )
                }
            } catch {
                guard error.limit != "scheduleBreaksMax" else { throw error }
                reader.result.add(error)
            }
        }
        let breaks = reader.pods(places)
        try reader.result.finish(breaks)
        return reader.result
    }

    private init(programme: Programme) { self.programme = programme }

    /// One break for each offset, with the ads of all elements that have it.
    private mutating func pods(_ places: [Place]) -> [ScheduledBreak] {
        var order: [Int64] = []
        var byOffset: [Int64: [Place]] = [:]
        for place in places {
            if byOffset[place.offset] == nil { order.append(place.offset) }
            byOffset[place.offset, default: []].append(place)
        }
        var breaks: [ScheduledBreak] = []
        for offset in order {
            guard let pod = byOffset[offset], let first = pod.first else { continue }
            let ads = pod.flatMap(\.ads)
            guard ads.count <= ScheduleLimits.scheduleSourcesPerBreakMax else {
                let maximum = ScheduleLimits.scheduleSourcesPerBreakMax
                self.result.add(ScheduleFault(limit: "scheduleSourcesPerBreakMax", maximum, line: first.line))
                continue
            }
            if let without = pod.first(where: { $0.ads.isEmpty }), !ads.isEmpty {
                self.result.add(
                    ScheduleFault("the break has no ads, and others with its offset have some", line: without.line)
                )
                continue
            }
            breaks.append(
                ScheduledBreak(
                    id: first.id,
                    startMilliseconds: self.programme.startMilliseconds + offset,
                    ads: ads,
                    line: first.line
                )
            )
        }
        return breaks
    }

    /// The places of an `AdBreak`, with its repeats; none where nothing of it can play in a stream.
    private mutating func places(of element: MarkupElement) throws(ScheduleFault) -> [Place] {
        guard let said = element.attribute("timeOffset") else {
            throw ScheduleFault("the break has no timeOffset", line: element.line)
        }
        let types = (element.attribute("breakType") ?? "").split(separator: ",").map { $0.trimmed.lowercased() }
        guard !types.isEmpty else { throw ScheduleFault("the break has no breakType", line: element.line) }
        guard types.contains("linear") else {
            let text =
                "The break \(quoted(said)) is left out: its breakType is \(types.joined(separator: ",")), and a stream has linear ads."
            self.result.add(ScheduleNote(text, line: element.line))
            return []
        }
        let offset = try self.offset(said, line: element.line)
        let ads = try self.ads(of: element)
        self.noteTracking(of: element)
        let id = ScheduleID.id(from: element.attribute("breakId") ?? "at-\(said)")
        let first = Place(offset: offset, id: id, line: element.line, ads: ads)
        guard let every = element.attribute("repeatAfter") else { return [first] }
        guard let step = ScheduleText.offset(every), step > 0 else {
            throw ScheduleFault("repeatAfter is \(quoted(every)), and not hh:mm:ss above zero", line: element.line)
        }
        guard let length = self.programme.durationMilliseconds else {
            throw ScheduleFault(
                "repeatAfter needs the programme's length; give it with --programme-duration",
                line: element.line
            )
        }
        guard (length - offset - 1) / step < Int64(ScheduleLimits.scheduleOccurrencesMax) else {
            throw ScheduleFault(
                limit: "scheduleOccurrencesMax",
                ScheduleLimits.scheduleOccurrencesMax,
                line: element.line
            )
        }
        return [first]
            + stride(from: offset + step, to: length, by: Int(step)).enumerated()
            .map { number, place in
                Place(offset: place, id: ScheduleID.id(from: "\(id)-\(number + 2)"), line: element.line, ads: ads)
            }
    }

    /// `timeOffset`, in milliseconds from the programme's start (VMAP 1.0.1 section 2.3.1).
    private func offset(_ text: String, line: Int) throws(ScheduleFault) -> Int64 {
        let length = self.programme.durationMilliseconds
        let needsLength = "needs the programme's length; give it with --programme-duration"
        switch text {
        case "start": return 0
        case "end":
            guard let length else { throw ScheduleFault("the timeOffset end \(needsLength)", line: line) }
            return length
        case _ where text.hasSuffix("%"):
            let digits = text.dropLast()
            guard digits.utf8.count <= 16, let percent = Double(digits), (0...100).contains(percent),
                digits.utf8.allSatisfy({
                    $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                })
            else { throw ScheduleFault("the timeOffset \(quoted(text)) is no percentage from 0% to 100%", line: line) }
            guard let length else { throw ScheduleFault("the timeOffset \(quoted(text)) \(needsLength)", line: line) }
            return Int64((Double(length) * percent / 100).rounded())
        case _ where text.hasPrefix("#"):
            guard let number = Int(text.dropFirst()), number >= 1, text.utf8.count <= 8 else {
                throw ScheduleFault("the timeOffset \(quoted(text)) is no position such as #1", line: line)
            }
            let positions = self.programme.positionsMilliseconds
            guard number <= positions.count else {
                throw ScheduleFault(
                    "the timeOffset \(text) is a position, and \(positions.count) are known; give them with --position",
                    line: line
                )
            }
            return positions[number - 1]
        default:
            guard let offset = ScheduleText.offset(text) else {
                throw ScheduleFault(
                    "the timeOffset \(quoted(text)) is none of hh:mm:ss.mmm, start, end, n% and #n",
                    line: line
                )
            }
            if let length, offset > length {
                throw ScheduleFault("the timeOffset \(text) is behind the programme's end", line: line)
            }
            return offset
        }
    }

    /// The ads of an `AdBreak` (sections 2.3.2 and 2.3.3); none where it has no `AdSource`.
    private mutating func ads(of element: MarkupElement) throws(ScheduleFault) -> [ScheduledAds] {
        let sources = element.children.filter { $0.name == "AdSource" && $0.namespace == element.namespace }
        guard let source = sources.first else { return [] }
        guard sources.count == 1 else { throw ScheduleFault("the break has two AdSource", line: sources[1].line) }
        let known = source.children.filter { ["VASTAdData", "VASTData", "AdTagURI", "CustomAdData"].contains($0.name) }
        guard let data = known.first, known.count == 1 else {
            throw ScheduleFault("AdSource has not one of VASTAdData, AdTagURI and CustomAdData", line: source.line)
        }
        switch data.name {
        case "AdTagURI":
            guard var tag = ScheduledTag(text: data.text) else {
                throw ScheduleFault("AdTagURI has no absolute http or https address", line: data.line)
            }
            tag.isSingle = Self.isFalse(source.attribute("allowMultipleAds"))
            tag.followsWrappers = !Self.isFalse(source.attribute("followRedirects"))
            return [.tag(tag)]
        case "CustomAdData":
            throw ScheduleFault("CustomAdData is in a form that only its author knows", line: data.line)
        default:
            return [
                .inline(
                    try self.inline(data, isSingle: Self.isFalse(source.attribute("allowMultipleAds")))
                )
            ]
        }
    }

    private static func isFalse(_ text: String?) -> Bool {
        text.map { ["false", "0"].contains($0.lowercased()) } ?? false
    }

    private mutating func inline(_ data: MarkupElement, isSingle: Bool) throws(ScheduleFault) -> [AdContent] {
        do throws(AdFormatError) {
            var batch: AdBatch
            if let root = data.children.first {
                let options = VASTReadingOptions()
                batch = try VAST.batch(of: try VASTDocument(root: root, options: options), options: options)
            } else {
                // Some servers put the document into a CDATA section.
                batch = try VAST.read(Array(data.text.trimmed.utf8))
            }
            for each in batch.skipped { self.result.add(ScheduleNote("Skipped: \(each)", line: data.line)) }
            if isSingle, batch.ads.count > 1 {
                let text = "\(batch.ads.count - 1) ads are left out: allowMultipleAds is false."
                self.result.add(ScheduleNote(text, line: data.line))
                batch.ads.removeSubrange(1...)
            }
            return batch.ads
        } catch {
            throw ScheduleFault(
                "its VAST: " + error.description.split(whereSeparator: \.isNewline).joined(separator: " "),
                line: data.line
            )
        }
    }

    /// A break has no tracking of its own on the wire: only its ads have.
    private mutating func noteTracking(of element: MarkupElement) {
        let events = element.children.filter { $0.name == "TrackingEvents" && $0.namespace == element.namespace }
            .flatMap(\.children).filter { $0.name == "Tracking" }
        guard !events.isEmpty else { return }
        let names = Set(events.compactMap { $0.attribute("event") }).sorted().prefix(8).joined(separator: ", ")
        let text = "\(events.count) tracking URLs of the break itself are not carried (\(names)); those of its ads are."
        self.result.add(ScheduleNote(text, line: events.first?.line ?? element.line))
    }
}
