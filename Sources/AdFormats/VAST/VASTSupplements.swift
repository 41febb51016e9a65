// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The parts of an ad that are for others than the player: identifiers, icons, verifications, viewability, captions and mezzanines.
extension VASTAdReader {
    /// The identifiers of a creative, as many as there may be.
    mutating func readUniversalIDs(of creative: MarkupElement) -> [AdContent.UniversalID] {
        let all = self.universalIDs(of: creative)
        let most = max(0, self.limits.universalIDsPerAdMax)
        if all.count > most {
            self.take { $0.leave(creative, because: .pastLimit(.universalIDsPerAdMax, maximum: most)) }
        }
        return Array(all.prefix(most))
    }

    /// The icons of a linear creative (VAST 4.3 section 3.11).
    mutating func readIcons(of linear: MarkupElement) -> [AdIcon] {
        let elements = linear.children(named: "Icons").flatMap { $0.children(named: "Icon") }
        return self.first(self.limits.iconsPerAdMax, of: elements, .iconsPerAdMax).map { self.icon($0) }
    }

    private mutating func icon(_ element: MarkupElement) -> AdIcon {
        let textBytesMax = self.limits.textBytesMax
        return self.take { gleaner in
            var icon = AdIcon(
                program: gleaner.identifier(element, "program"),
                staticFiles: gleaner.staticFiles(of: element)
            )
            icon.width = gleaner.pixels(element, "width")
            icon.height = gleaner.pixels(element, "height")
            icon.xPosition = gleaner.position(element, "xPosition", edges: ["left", "right"])
            icon.yPosition = gleaner.position(element, "yPosition", edges: ["top", "bottom"])
            icon.offsetMilliseconds = gleaner.time(element, "offset")
            icon.durationMilliseconds = gleaner.time(element, "duration")
            icon.altText = element.attribute("altText")?.prefix(bytesMax: textBytesMax)
            icon.trackingEvents = gleaner.trackers("creativeView", of: element.children(named: "IconViewTracking"))
            if let clicks = element.child("IconClicks") {
                icon.clickThrough = gleaner.onlyURL(of: clicks.children(named: "IconClickThrough"))
                icon.clickTracking = gleaner.trackers(
                    AdTracker.clickTracking,
                    of: clicks.children(named: "IconClickTracking")
                )
            }
            return icon
        }
    }

    /// The verifications of an ad or of a wrapper (VAST 4.3 sections 3.16 and 3.17).
    ///
    /// Before VAST 4.1 they stood in an extension of the type `AdVerifications`.
    mutating func readVerifications(of body: MarkupElement) -> [AdVerification] {
        let extensions = body.children(named: "Extensions").flatMap { $0.children(named: "Extension") }
            .filter { $0.attribute("type")?.lowercased() == "adverifications" }
        let elements = ([body] + extensions).flatMap { $0.children(named: "AdVerifications") }
            .flatMap { $0.children(named: "Verification") }
        let few = self.first(self.limits.verificationsPerAdMax, of: elements, .verificationsPerAdMax)
        return few.compactMap { self.verification($0) }
    }

    private mutating func verification(_ element: MarkupElement) -> AdVerification? {
        let code = element.children(named: "ExecutableResource") + element.children(named: "JavaScriptResource")
        let elements = element.children.filter { code.contains($0) }
        let few = self.first(self.limits.resourcesPerVerificationMax, of: elements, .resourcesPerVerificationMax)
        let most = self.limits.verificationParametersBytesMax
        return self.take { gleaner in
            var verification = AdVerification(
                vendor: gleaner.identifier(element, "vendor"),
                resources: few.compactMap { gleaner.resource($0) }
            )
            guard !verification.resources.isEmpty else {
                gleaner.leave(element, because: .noResource)
                return nil
            }
            let parameters = element.child("VerificationParameters")?.text.trimmed ?? ""
            guard parameters.utf8.count <= most else {
                gleaner.leave(element, because: .parametersTooLong(maximum: most))
                return nil
            }
            // What is changed may not be read any more.
            guard !parameters.unicodeScalars.contains(where: { $0.isControl && $0 != "\n" && $0 != "\t" }) else {
                gleaner.leave(element, because: .unusableValue(parameters))
                return nil
            }
            verification.parameters = parameters.isEmpty ? nil : parameters
            let events = gleaner.trackingEvents(of: element, durationMilliseconds: nil)
            verification.notExecuted = events.filter { $0.event == AdVerification.notExecutedEvent }
            return verification
        }
    }

    /// The URLs for whether an ad was seen (VAST 4.3 section 3.5).
    mutating func readViewability(of body: MarkupElement) -> [AdTracker] {
        let parts = body.children(named: "ViewableImpression")
        return self.take { gleaner in
            [
                ("Viewable", AdTracker.viewable), ("NotViewable", AdTracker.notViewable),
                ("ViewUndetermined", AdTracker.viewUndetermined),
            ]
            .flatMap { name, event in gleaner.trackers(event, of: parts.flatMap { $0.children(named: name) }) }
        }
    }

    /// The captions of a linear creative (VAST 4.3 section 3.9.4).
    mutating func captionFiles(of linear: MarkupElement) -> [AdCaptionFile] {
        let elements = linear.children(named: "MediaFiles").flatMap { $0.children(named: "ClosedCaptionFiles") }
            .flatMap { $0.children(named: "ClosedCaptionFile") }
        let few = self.first(self.limits.captionFilesPerAdMax, of: elements, .captionFilesPerAdMax)
        return self.take { gleaner in
            few.compactMap { element in
                let (type, language) = (
                    gleaner.identifier(element, "type"), gleaner.identifier(element, "language")
                )
                return gleaner.url(of: element).map { AdCaptionFile(url: $0, type: type ?? "", language: language) }
            }
        }
    }

    /// The mezzanines of a linear creative (VAST 4.3 section 3.9.2).
    mutating func mezzanines(of linear: MarkupElement) -> [AdMediaFile] {
        let elements = linear.children(named: "MediaFiles").flatMap { $0.children(named: "Mezzanine") }
        let few = self.first(self.limits.mezzaninesPerAdMax, of: elements, .mezzaninesPerAdMax)
        return self.take { gleaner in
            few.compactMap { element in
                VASTLinear.plainFile(element, type: gleaner.mediaType(element, "type"), gleaner: &gleaner)
            }
        }
    }

    /// The first of some elements; further ones are left out by a limit.
    private mutating func first(
        _ most: Int,
        of elements: [MarkupElement],
        _ limit: AdFormatLimits.Name
    ) -> [MarkupElement] {
        let few = max(0, most)
        for further in elements.dropFirst(few) {
            self.take { $0.leave(further, because: .pastLimit(limit, maximum: few)) }
        }
        return Array(elements.prefix(few))
    }
}

extension LeftOut.Reason {
    static func pastLimit(_ limit: AdFormatLimits.Name, maximum: Int) -> Self {
        .pastLimit(name: limit.rawValue, maximum: maximum)
    }
}

extension VASTGleaner {
    /// One form of a verification's code.
    fileprivate mutating func resource(_ element: MarkupElement) -> AdVerification.Resource? {
        guard let url = self.url(of: element) else { return nil }
        var resource = AdVerification.Resource(url: url, apiFramework: self.identifier(element, "apiFramework"))
        if element.name == "ExecutableResource" {
            resource.kind = .executable(type: self.identifier(element, "type") ?? "")
        } else {
            resource.isBrowserOptional = element.isTrue("browserOptional")
        }
        return resource
    }

    /// A place in pixels, or at an edge; nil where it is absent.
    fileprivate mutating func position(_ element: MarkupElement, _ attribute: String, edges: [String]) -> String? {
        if let edge = element.attribute(attribute)?.lowercased(), edges.contains(edge) { return edge }
        return self.pixels(element, attribute).map(String.init)
    }

    /// A time; nil where it is absent.
    fileprivate mutating func time(_ element: MarkupElement, _ attribute: String) -> Int? {
        guard let text = element.attribute(attribute) else { return nil }
        let time = VASTTime.duration(text)
        if time == nil { self.leave(element, attribute: attribute, because: .unusableOffset(text)) }
        return time
    }
}
