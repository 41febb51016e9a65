// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import AdFormats
package import CuecastWire

// MARK: - JSON

extension AdsDocument {
    /// The members of an ad that are for others than the player.
    static func supplements(_ fields: JSONFields) throws(DocumentFault) -> AdvertisementContent.Supplements {
        var read = AdvertisementContent.Supplements()
        read.universalIDs = try fields.list("universalIds", Self.universalID)
        read.adServingID = try fields.text("adServingId") ?? ""
        read.verifications = try fields.list("verifications", Self.verification)
        read.icons = try fields.list("icons", Self.icon)
        read.captions = try fields.list("captions", Self.caption)
        read.mezzanines = try fields.list("mezzanines", Self.mediaFile)
        return read
    }

    private static func universalID(
        _ node: JSONNode,
        path: String
    ) throws(DocumentFault) -> AdvertisementContent.UniversalID {
        let fields = try JSONFields(node, path: path, shape: BreakShapes.universalID)
        return AdvertisementContent.UniversalID(
            registry: try fields.required("registry", fields.text("registry")),
            value: try fields.required("value", fields.text("value"))
        )
    }

    private static func verification(
        _ node: JSONNode,
        path: String
    ) throws(DocumentFault) -> AdvertisementContent.Verification {
        let fields = try JSONFields(node, path: path, shape: BreakShapes.verification)
        var verification = AdvertisementContent.Verification(
            resources: try fields.elements("resources", Self.resource)
        )
        verification.vendor = try fields.text("vendor") ?? ""
        verification.parameters = try fields.text("parameters") ?? ""
        verification.trackers = try fields.list("trackers", Self.tracker)
        return verification
    }

    private static func resource(
        _ node: JSONNode,
        path: String
    ) throws(DocumentFault) -> AdvertisementContent.Verification.Resource {
        let fields = try JSONFields(node, path: path, shape: BreakShapes.resource)
        var resource = AdvertisementContent.Verification.Resource(url: try fields.required("url", fields.text("url")))
        resource.apiFramework = try fields.text("apiFramework") ?? ""
        resource.isExecutable = try fields.flag("executable") ?? false
        resource.type = try fields.text("type") ?? ""
        resource.isBrowserOptional = try fields.flag("browserOptional") ?? false
        return resource
    }

    private static func icon(_ node: JSONNode, path: String) throws(DocumentFault) -> AdvertisementContent.Icon {
        let fields = try JSONFields(node, path: path, shape: BreakShapes.icon)
        var icon = AdvertisementContent.Icon(imageURL: try fields.required("image", fields.text("image")))
        icon.program = try fields.text("program") ?? ""
        icon.type = try fields.text("type") ?? ""
        icon.width = try fields.count("width") ?? 0
        icon.height = try fields.count("height") ?? 0
        icon.xPosition = try fields.text("x") ?? ""
        icon.yPosition = try fields.text("y") ?? ""
        icon.offset = try fields.duration("offset")
        icon.duration = try fields.duration("duration")
        icon.alternativeText = try fields.text("text") ?? ""
        icon.targetURL = try fields.text("target") ?? ""
        icon.trackers = try fields.list("trackers", Self.tracker)
        return icon
    }

    private static func caption(
        _ node: JSONNode,
        path: String
    ) throws(DocumentFault) -> AdvertisementContent.CaptionFile {
        let fields = try JSONFields(node, path: path, shape: BreakShapes.caption)
        return AdvertisementContent.CaptionFile(
            url: try fields.required("url", fields.text("url")),
            type: try fields.text("type") ?? "",
            language: try fields.text("language") ?? ""
        )
    }
}

// MARK: - From VAST

extension AdvertisementContent.Supplements {
    /// The parts that a document describes.
    ///
    /// - Parameter ad: an ad; the rules of the wire are not looked at.
    package init(_ ad: AdContent) {
        self.init()
        self.universalIDs = ad.universalIDs.map { .init(registry: $0.registry, value: $0.value) }
        self.adServingID = ad.adServingID ?? ""
        self.verifications = ad.verifications.map { AdvertisementContent.Verification($0) }
        self.icons = ad.icons.compactMap { AdvertisementContent.Icon($0) }
        self.captions = ad.captionFiles.map { .init(url: $0.url, type: $0.type, language: $0.language ?? "") }
        self.mezzanines = ad.mezzanines.map { AdvertisementContent.MediaFile($0) }
    }
}

extension AdvertisementContent.Verification {
    fileprivate init(_ verification: AdVerification) {
        self.init(
            resources: verification.resources.map { resource in
                var content = Resource(url: resource.url)
                content.apiFramework = resource.apiFramework ?? ""
                content.isBrowserOptional = resource.isBrowserOptional
                if case .executable(let type) = resource.kind { (content.isExecutable, content.type) = (true, type) }
                return content
            }
        )
        self.vendor = verification.vendor ?? ""
        self.parameters = verification.parameters ?? ""
        self.trackers = verification.notExecuted.map { .init(event: $0.event, url: $0.url) }
    }
}

extension AdvertisementContent.Icon {
    /// The first of its files that is a picture; `nil` where it has none.
    fileprivate init?(_ icon: AdIcon) {
        guard let image = icon.staticFiles.first(where: \.isImage) else { return nil }
        self.init(imageURL: image.url)
        self.type = image.type
        self.program = icon.program ?? ""
        self.width = UInt32(clamping: icon.width ?? 0)
        self.height = UInt32(clamping: icon.height ?? 0)
        self.xPosition = icon.xPosition ?? ""
        self.yPosition = icon.yPosition ?? ""
        self.offset = icon.offsetMilliseconds.map { .milliseconds($0) }
        self.duration = icon.durationMilliseconds.map { .milliseconds($0) }
        self.alternativeText = icon.altText ?? ""
        self.targetURL = icon.clickThrough ?? ""
        self.trackers =
            icon.trackingEvents.map { .init(event: Self.viewEvent, url: $0.url) }
            + icon.clickTracking.map { .init(event: Self.clickEvent, url: $0.url) }
    }
}

// MARK: - To VAST

extension AdContent {
    /// Takes over the parts that the wire has.
    package mutating func add(_ supplements: AdvertisementContent.Supplements) {
        self.universalIDs = supplements.universalIDs.map { .init(registry: $0.registry, value: $0.value) }
        self.adServingID = supplements.adServingID.orNil
        self.verifications = supplements.verifications.map { AdVerification($0) }
        self.icons = supplements.icons.map { AdIcon($0) }
        self.captionFiles = supplements.captions.map { .init(url: $0.url, type: $0.type, language: $0.language.orNil) }
        self.mezzanines = supplements.mezzanines.map { AdMediaFile($0) }
    }
}

extension AdVerification {
    fileprivate init(_ content: AdvertisementContent.Verification) {
        self.init(
            vendor: content.vendor.orNil,
            resources: content.resources.map { resource in
                var read = Resource(
                    url: resource.url,
                    kind: resource.isExecutable ? .executable(type: resource.type) : .javaScript,
                    apiFramework: resource.apiFramework.orNil
                )
                read.isBrowserOptional = resource.isBrowserOptional
                return read
            }
        )
        self.parameters = content.parameters.orNil
        self.notExecuted = content.trackers.map { AdTracker(event: $0.event, url: $0.url) }
    }
}

extension AdIcon {
    fileprivate init(_ content: AdvertisementContent.Icon) {
        self.init(
            program: content.program.orNil,
            staticFiles: [AdStaticFile(url: content.imageURL, type: content.type)]
        )
        self.width = content.width.orNil
        self.height = content.height.orNil
        self.xPosition = content.xPosition.orNil
        self.yPosition = content.yPosition.orNil
        self.offsetMilliseconds = content.offset.map { Int($0.inMilliseconds) }
        self.durationMilliseconds = content.duration.map { Int($0.inMilliseconds) }
        self.altText = content.alternativeText.orNil
        self.clickThrough = content.targetURL.orNil
        for tracker in content.trackers {
            switch tracker.event {
            case AdvertisementContent.Icon.clickEvent:
                self.clickTracking.append(AdTracker(event: AdTracker.clickTracking, url: tracker.url))
            default: self.trackingEvents.append(AdTracker(event: "creativeView", url: tracker.url))
            }
        }
    }
}
