// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Reads one `Ad` element.
struct VASTAdReader {
    private let element: MarkupElement
    private let position: Int
    private let options: VASTReadingOptions
    private var gleaner: VASTGleaner

    /// A reader of an `Ad` element, which is at this position of its document, counted from 1.
    init(_ element: MarkupElement, position: Int, options: VASTReadingOptions) {
        self.element = element
        self.position = position
        self.options = options
        self.gleaner = VASTGleaner(limits: options.limits)
    }

    /// The place of the ad in a pod, if it has one.
    ///
    /// The specification wants an integer above 0. A 0 is taken as a place before 1, since counting from 0 is the
    /// commonest slip; a negative number or anything else is taken as no place at all.
    mutating func sequence() -> Int? {
        guard let text = self.element.attribute("sequence") else { return nil }
        if let sequence = Int(text), sequence >= 0 { return sequence }
        self.gleaner.leave(self.element, attribute: "sequence", because: .unusableValue(text))
        return nil
    }

    /// The ad, or why it is to be skipped.
    mutating func read() throws(SkipReason) -> AdContent {
        guard !self.element.isTrue("conditionalAd") else { throw .conditional }
        let inLines = self.element.children(named: "InLine")
        let wrappers = self.element.children(named: "Wrapper")
        guard inLines.count + wrappers.count == 1 else {
            throw .notOneAd(inLines: inLines.count, wrappers: wrappers.count)
        }
        guard let inLine = inLines.first else { throw .wrapper(adTagURI: wrappers.first.flatMap(Self.adTagURI)) }
        let creatives = inLine.children(named: "Creatives").flatMap { $0.children(named: "Creative") }
        let (creative, linear) = try self.playable(creatives)
        var ad = AdContent(
            id: self.id(inLine: inLine, creative: creative),
            title: self.gleaner.text(of: inLine.child("AdTitle")) ?? "",
            durationMilliseconds: linear.durationMilliseconds,
            mediaFiles: linear.mediaFiles,
            kind: self.kind(of: linear.mediaFiles)
        )
        self.readFacts(of: inLine, creative: creative, into: &ad)
        self.readLinear(linear.element, into: &ad)
        ad.verifications = self.readVerifications(of: inLine)
        ad.viewability = self.readViewability(of: inLine)
        ad.captionFiles = self.captionFiles(of: linear.element)
        ad.mezzanines = self.mezzanines(of: linear.element)
        self.readCompanions(creatives, into: &ad)
        ad.leftOut = self.gleaner.leftOut
        let trackers = ad.trackerCount
        guard trackers <= self.options.limits.trackersPerAdMax else {
            throw .tooManyTrackers(found: trackers, maximum: self.options.limits.trackersPerAdMax)
        }
        return ad
    }

    /// Takes values with the reader's gleaner, for readers of parts.
    mutating func take<Value>(_ take: (inout VASTGleaner) -> Value) -> Value { take(&self.gleaner) }

    /// The ad as one that is skipped.
    mutating func skipped(because reason: SkipReason) -> SkippedAd {
        let body = self.element.child("InLine") ?? self.element.child("Wrapper")
        var skipped = SkippedAd(
            documentID: self.gleaner.identifier(self.element, "id"),
            title: self.gleaner.text(of: body?.child("AdTitle")),
            position: self.position,
            line: self.element.line,
            reason: reason
        )
        skipped.errorURLs = self.gleaner.urls(of: body?.children(named: "Error") ?? [])
        return skipped
    }

    /// Where a wrapper points to: `VASTAdTagURI`, or `VASTAdTagURL` with a `URL` inside as in VAST 1.
    private static func adTagURI(of wrapper: MarkupElement) -> String? {
        let old = wrapper.child("VASTAdTagURL")
        let text = (wrapper.child("VASTAdTagURI") ?? old?.child("URL") ?? old)?.text.trimmed
        return text.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The bounds of what is taken.
    var limits: AdFormatLimits { self.options.limits }

    /// The parts that were left out so far.
    var leftOut: [LeftOut] { self.gleaner.leftOut }

    // MARK: Facts

    /// The first usable of: the ad's id, the id of its serving, the creative's id, its universal id, its position.
    private func id(inLine: MarkupElement, creative: MarkupElement) -> String {
        self.gleaner.identifier(self.element, "id")
            ?? self.gleaner.identifier(inLine.child("AdServingId"))
            ?? self.gleaner.identifier(creative, "AdID")
            ?? self.universalIDs(of: creative).first?.value
            ?? "ad-\(self.position)"
    }

    /// The identifiers that say something: the default of the specification, `unknown`, does not (section 3.7.1).
    ///
    /// VAST 4.0 repeats the value in an attribute, which stands in where the element is empty.
    func universalIDs(of creative: MarkupElement) -> [AdContent.UniversalID] {
        creative.children(named: "UniversalAdId")
            .compactMap { element in
                let value = self.gleaner.identifier(element) ?? self.gleaner.identifier(element, "idValue")
                guard let value, value.lowercased() != "unknown" else { return nil }
                let registry = self.gleaner.identifier(element, "idRegistry") ?? "unknown"
                return AdContent.UniversalID(registry: registry, value: value)
            }
    }

    /// The document's kind; without one, audio if all media is (before VAST 4.1 there was no kind).
    private func kind(of mediaFiles: [AdMediaFile]) -> AdContent.Kind {
        self.element.attribute("adType").flatMap { AdContent.Kind(rawValue: $0.lowercased()) }
            ?? (mediaFiles.allSatisfy { $0.type.lowercased().hasPrefix("audio/") } ? .audio : .video)
    }

    private mutating func readFacts(of inLine: MarkupElement, creative: MarkupElement, into ad: inout AdContent) {
        ad.documentID = self.gleaner.identifier(self.element, "id")
        ad.adServingID = self.gleaner.identifier(inLine.child("AdServingId"))
        ad.description = self.gleaner.text(of: inLine.child("Description"))
        ad.advertiser = self.gleaner.text(of: inLine.child("Advertiser"))
        ad.adSystem = self.gleaner.text(of: inLine.child("AdSystem"))
        ad.universalIDs = self.readUniversalIDs(of: creative)
        ad.impressions = self.gleaner.trackers(AdTracker.impression, of: inLine.children(named: "Impression"))
        ad.errorURLs = self.gleaner.urls(of: inLine.children(named: "Error"))
        ad.categories = inLine.children(named: "Category")
            .compactMap { element in
                let authority = self.gleaner.identifier(element, "authority") ?? ""
                return self.gleaner.identifier(element).map { AdContent.Category(authority: authority, code: $0) }
            }
        if let expires = inLine.child("Expires") {
            ad.expiresAfterSeconds = Int(expires.text.trimmed).flatMap { $0 >= 0 ? $0 : nil }
            if ad.expiresAfterSeconds == nil {
                self.gleaner.leave(expires, because: .unusableValue(expires.text.trimmed))
            }
        }
    }

    // MARK: Linear creative

    /// The first creative with a linear part that can be played, in the order of `Creative@sequence`.
    ///
    /// That order is one of parts of an ad and makes no pod (VAST 4.3 section 3.7).
    private mutating func playable(
        _ creatives: [MarkupElement]
    ) throws(SkipReason) -> (creative: MarkupElement, linear: VASTLinear) {
        let linears = creatives.flatMap { creative in creative.children(named: "Linear").map { (creative, $0) } }
        let ordered = linears.enumerated()
            .sorted { one, other in
                let ranks = [one, other].map { $0.element.0.number("sequence") ?? .max }
                return (ranks[0], one.offset) < (ranks[1], other.offset)
            }
        var reason = SkipReason.noLinear
        for (index, (_, (creative, element))) in ordered.enumerated() {
            var attempt = self.gleaner
            do throws(SkipReason) {
                let linear = try VASTLinear(element, creative: creative, options: self.options, gleaner: &attempt)
                self.gleaner = attempt
                for (_, further) in ordered[(index + 1)...] {
                    self.gleaner.leave(further.1, because: .anotherCameFirst)
                }
                return (creative, linear)
            } catch {
                if index == 0 { reason = error }
            }
        }
        throw reason
    }

    private mutating func readLinear(_ linear: MarkupElement, into ad: inout AdContent) {
        let duration = ad.durationMilliseconds
        if let text = linear.attribute("skipoffset") {
            let offset = VASTTime.offset(text, durationMilliseconds: duration)
            if offset == nil { self.gleaner.leave(linear, attribute: "skipoffset", because: .unusableOffset(text)) }
            // An ad that may be skipped only once it is over may never be.
            ad.skipOffsetMilliseconds = offset.flatMap { $0 < duration ? $0 : nil }
        }
        ad.trackingEvents = self.gleaner.trackingEvents(of: linear, durationMilliseconds: duration)
        let clicks = linear.children(named: "VideoClicks")
        ad.clickThrough = self.gleaner.onlyURL(of: clicks.flatMap { $0.children(named: "ClickThrough") })
        ad.clickTracking = self.gleaner.trackers(
            AdTracker.clickTracking,
            of: clicks.flatMap { $0.children(named: "ClickTracking") }
        )
        ad.customClicks = self.gleaner.trackers(
            AdTracker.customClick,
            of: clicks.flatMap { $0.children(named: "CustomClick") }
        )
        ad.icons = self.readIcons(of: linear)
    }

    // MARK: Companions

    mutating func readCompanions(_ creatives: [MarkupElement], into ad: inout AdContent) {
        for companions in creatives.flatMap({ $0.children(named: "CompanionAds") }) {
            let required = companions.attribute("required")?.lowercased()
            if let required = required.flatMap({ AdContent.CompanionsRequired(rawValue: $0) }),
                ad.companionsRequired == .none
            {
                ad.companionsRequired = required
            }
            ad.companions += companions.children(named: "Companion").map { self.companion($0) }
        }
    }

    private mutating func companion(_ element: MarkupElement) -> AdCompanion {
        var companion = AdCompanion(
            width: self.gleaner.pixels(element, "width"),
            height: self.gleaner.pixels(element, "height"),
            staticFiles: self.gleaner.staticFiles(of: element)
        )
        if companion.image != nil, companion.width ?? 0 == 0 || companion.height ?? 0 == 0 {
            self.gleaner.leave(element, because: .noSize)
        }
        companion.id = self.gleaner.identifier(element, "id")
        companion.iframeURLs = self.gleaner.urls(of: element.children(named: "IFrameResource"))
        companion.hasHTML = element.child("HTMLResource") != nil
        companion.altText = self.gleaner.text(of: element.child("AltText"))
        companion.clickThrough = self.gleaner.onlyURL(of: element.children(named: "CompanionClickThrough"))
        companion.clickTracking = self.gleaner.trackers(
            AdTracker.clickTracking,
            of: element.children(named: "CompanionClickTracking")
        )
        companion.trackingEvents = self.gleaner.trackingEvents(of: element, durationMilliseconds: nil)
        return companion
    }
}
