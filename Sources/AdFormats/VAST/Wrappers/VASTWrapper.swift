// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The part of a `Wrapper` that decides which ads may come from its address, and what it adds to them (VAST 4.3 section 3.19).
struct VASTWrapper: Sendable {
    /// The `Ad` element around it.
    let ad: MarkupElement
    /// The `Wrapper` element.
    let element: MarkupElement
    /// Where its answer comes from.
    let address: WebAddress
    /// Whether the answer may have wrappers itself.
    let followsWrappers: Bool
    /// Whether the answer may have a pod, or several ads.
    let allowsMultipleAds: Bool
    /// Whether another ad of the document takes its place when it gives none; nil: it does not say.
    let fallsBack: Bool?
    /// The categories that no ad behind it may have (section 3.19.2).
    let blockedCategories: [AdContent.Category]
    /// The URLs to call when an ad behind it cannot be played.
    let errorURLs: [String]

    /// Reads a `Wrapper` element.
    ///
    /// - Parameters:
    ///   - element: The element.
    ///   - ad: The `Ad` element around it.
    ///   - limits: The bounds of what is taken.
    init(_ element: MarkupElement, of ad: MarkupElement, limits: AdFormatLimits) {
        self.ad = ad
        self.element = element
        // VAST 1 had `VASTAdTagURL` with a `URL` inside, and servers still write it.
        let old = element.child("VASTAdTagURL")
        let text = (element.child("VASTAdTagURI") ?? old?.child("URL") ?? old)?.text ?? ""
        self.address = WebAddress(text, bytesMax: limits.urlBytesMax)
        self.followsWrappers = Self.flag(element, "followAdditionalWrappers") ?? true
        self.allowsMultipleAds = Self.flag(element, "allowMultipleAds") ?? false
        self.fallsBack = Self.flag(element, "fallbackOnNoAd")
        var gleaner = VASTGleaner(limits: limits)
        self.errorURLs = gleaner.urls(of: element.children(named: "Error"))
        self.blockedCategories = element.children(named: "BlockedAdCategories")
            .flatMap { list in
                let authority = gleaner.identifier(list, "authority") ?? ""
                return list.text.split(separator: ",").map(\.trimmed).filter { !$0.isEmpty }
                    .map { AdContent.Category(authority: authority, code: $0) }
            }
    }

    /// A boolean in the manner of XML Schema but in any letter case; nil: there is none that can be read.
    private static func flag(_ element: MarkupElement, _ name: String) -> Bool? {
        switch element.attribute(name)?.lowercased() {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }

    /// Whether an ad is of a category that must not be behind it; the code, where it is.
    ///
    /// A category without an authority, on either side, is compared by its code alone.
    func blocked(_ ad: AdContent) -> String? {
        ad.categories.first { category in
            self.blockedCategories.contains { blocked in
                blocked.code == category.code
                    && (blocked.authority == category.authority || blocked.authority.isEmpty
                        || category.authority.isEmpty)
            }
        }?
        .code
    }
}

extension VASTWrapper {
    /// An ad with all that the wrappers around it add.
    ///
    /// Every tracker of every wrapper is called for each ad behind it (VAST 4.3 sections 2.3.4, 2.3.6.2 and 3.3.1). The
    /// specification has no order for them; here the outermost wrapper comes first and the ad itself last, as the documents were
    /// met. A click-through and companions are those of the ad; where it has none, those of the wrapper closest to it (2.3.5.2).
    /// Verifications and icons of wrappers come behind those of the ad, as many as there may be.
    ///
    /// - Parameters:
    ///   - content: The ad as its own document has it.
    ///   - wrappers: The wrappers around it, the outermost first.
    ///   - options: What is taken, and how much.
    /// - Returns: The ad, and for each wrapper what was left out of it.
    /// - Throws: Why the ad cannot be taken.
    static func carried(
        _ content: AdContent,
        through wrappers: [VASTWrapper],
        options: VASTReadingOptions
    ) throws(VASTLeftReason) -> (ad: AdContent, leftOut: [[LeftOut]]) {
        guard !wrappers.isEmpty else { return (content, []) }
        for wrapper in wrappers {
            if let code = wrapper.blocked(content) { throw .blockedCategory(code) }
        }
        var impressions: [AdTracker] = []
        var events: [AdTracker] = []
        var clicks: [AdTracker] = []
        var customClicks: [AdTracker] = []
        var clickThrough: String?
        var companions: AdContent?
        var viewability: [AdTracker] = []
        var verifications: [[AdVerification]] = []
        var icons: [[AdIcon]] = []
        var leftOut: [[LeftOut]] = []
        for wrapper in wrappers {
            var gleaner = VASTGleaner(limits: options.limits)
            impressions += gleaner.trackers(AdTracker.impression, of: wrapper.element.children(named: "Impression"))
            let creatives = wrapper.element.children(named: "Creatives").flatMap { $0.children(named: "Creative") }
            for linear in creatives.flatMap({ $0.children(named: "Linear") }) {
                events += gleaner.trackingEvents(of: linear, durationMilliseconds: content.durationMilliseconds)
                let elements = linear.children(named: "VideoClicks")
                let tracking = elements.flatMap { $0.children(named: "ClickTracking") }
                clicks += gleaner.trackers(AdTracker.clickTracking, of: tracking)
                let custom = elements.flatMap { $0.children(named: "CustomClick") }
                customClicks += gleaner.trackers(AdTracker.customClick, of: custom)
                let page = gleaner.onlyURL(of: elements.flatMap { $0.children(named: "ClickThrough") })
                clickThrough = page ?? clickThrough
            }
            var reader = VASTAdReader(wrapper.ad, position: 1, options: options)
            var shown = AdContent(id: "", title: "", durationMilliseconds: 1, mediaFiles: [])
            reader.readCompanions(creatives, into: &shown)
            viewability += reader.readViewability(of: wrapper.element)
            verifications.append(reader.readVerifications(of: wrapper.element))
            icons.append(creatives.flatMap { $0.children(named: "Linear") }.flatMap { reader.readIcons(of: $0) })
            if shown.companions.contains(where: \.hasSomethingToShow) { companions = shown }
            leftOut.append(gleaner.leftOut + reader.leftOut)
        }
        var ad = content
        ad.impressions = impressions + content.impressions
        ad.trackingEvents = events + content.trackingEvents
        ad.clickTracking = clicks + content.clickTracking
        ad.customClicks = customClicks + content.customClicks
        ad.errorURLs = wrappers.flatMap(\.errorURLs) + content.errorURLs
        ad.clickThrough = content.clickThrough ?? clickThrough
        ad.viewability = viewability + content.viewability
        for (place, wrapper) in wrappers.enumerated() {
            wrapper.add(verifications[place], to: &ad, options.limits, &leftOut[place])
        }
        // The closest to the ad first.
        for (place, wrapper) in wrappers.enumerated().reversed() {
            wrapper.add(icons[place], to: &ad, options.limits, &leftOut[place])
        }
        if let companions, content.companions.isEmpty {
            ad.companions = companions.companions
            ad.companionsRequired = companions.companionsRequired
        }
        let trackers = ad.trackerCount
        guard trackers <= options.limits.trackersPerAdMax else {
            throw .unplayable(.tooManyTrackers(found: trackers, maximum: options.limits.trackersPerAdMax))
        }
        return (ad, leftOut)
    }
}

extension VASTWrapper {
    /// Adds the verifications of this wrapper to an ad, as many as there may be.
    private func add(
        _ verifications: [AdVerification],
        to ad: inout AdContent,
        _ limits: AdFormatLimits,
        _ leftOut: inout [LeftOut]
    ) {
        for verification in verifications {
            if ad.verifications.count < limits.verificationsPerAdMax {
                ad.verifications.append(verification)
            } else {
                let reason = LeftOut.Reason.pastLimit(.verificationsPerAdMax, maximum: limits.verificationsPerAdMax)
                leftOut.append(LeftOut(part: "Verification", line: self.element.line, reason: reason))
            }
        }
    }

    /// Adds the icons of this wrapper to an ad, as many as there may be.
    ///
    /// Of several icons of one programme the one closest to the ad is shown (VAST 4.3 section 3.11).
    private func add(
        _ icons: [AdIcon],
        to ad: inout AdContent,
        _ limits: AdFormatLimits,
        _ leftOut: inout [LeftOut]
    ) {
        let known = Set(ad.icons.compactMap { $0.program?.lowercased() })
        for icon in icons {
            let reason: LeftOut.Reason
            if let program = icon.program?.lowercased(), known.contains(program) {
                reason = .anotherCameFirst
            } else if ad.icons.count >= limits.iconsPerAdMax {
                reason = .pastLimit(.iconsPerAdMax, maximum: limits.iconsPerAdMax)
            } else {
                ad.icons.append(icon)
                continue
            }
            leftOut.append(LeftOut(part: "Icon", line: self.element.line, reason: reason))
        }
    }
}

extension AdCompanion {
    /// Whether it is more than trackers.
    fileprivate var hasSomethingToShow: Bool { !self.staticFiles.isEmpty || !self.iframeURLs.isEmpty || self.hasHTML }
}
