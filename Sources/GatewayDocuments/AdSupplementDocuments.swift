// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// An identifier of a creative that is the same in all systems.
package struct UniversalIDDocument: GatewayDocument {
    package var registry: String
    package var value: String

    package static let documentDescription = DocumentDescription(fields: [
        DocumentField("registry", .text, "For instance `ad-id.org`."),
        DocumentField("value", .text),
    ])

    init(_ id: AdvertisementContent.UniversalID) {
        self.registry = id.registry
        self.value = id.value
    }
}

/// One form of the code of a verification.
package struct VerificationResourceDocument: GatewayDocument {
    package var url: String
    package var apiFramework: String?
    package var executable: Bool?
    package var type: String?
    package var browserOptional: Bool?

    package static let documentDescription = DocumentDescription(fields: [
        DocumentField("url", .text),
        .optional("apiFramework", .text, "The framework that the code needs, for instance `omid`."),
        .optional("executable", .flag, "It is no JavaScript."),
        .optional("type", .text),
        .optional("browserOptional", .flag, "JavaScript that also works where no browser is."),
    ])

    init(_ resource: AdvertisementContent.Verification.Resource) {
        self.url = resource.url
        self.apiFramework = resource.apiFramework.orNil
        self.executable = resource.isExecutable ? true : nil
        self.type = resource.type.orNil
        self.browserOptional = resource.isBrowserOptional ? true : nil
    }
}

/// Code that measures for others.
package struct VerificationDocument<Tracker: GatewayDocument>: GatewayDocument {
    package var vendor: String?
    package var resources: [VerificationResourceDocument]
    package var parameters: String?
    package var trackers: [Tracker]?

    package static var documentDescription: DocumentDescription {
        DocumentDescription(fields: [
            .optional("vendor", .text),
            DocumentField("resources", .array(of: .document(VerificationResourceDocument.self))),
            .optional("parameters", .text, "The text that the code gets."),
            .optional("trackers", .array(of: .document(Tracker.self)), "The event verificationNotExecuted."),
        ])
    }

    init(_ verification: AdvertisementContent.Verification, _ tracker: (AdvertisementContent.Tracker) -> Tracker) {
        self.vendor = verification.vendor.orNil
        self.resources = verification.resources.map { VerificationResourceDocument($0) }
        self.parameters = verification.parameters.orNil
        self.trackers = verification.trackers.map(tracker).orNil
    }
}

/// A file with captions.
package struct CaptionFileDocument: GatewayDocument {
    package var url: String
    package var type: String?
    package var language: String?

    package static let documentDescription = DocumentDescription(fields: [
        DocumentField("url", .text),
        .optional("type", .text, "The media type, for instance `text/vtt`."),
        .optional("language", .text, "As RFC 5646 names it."),
    ])

    init(_ file: AdvertisementContent.CaptionFile) {
        self.url = file.url
        self.type = file.type.orNil
        self.language = file.language.orNil
    }
}

// MARK: - In a batch

extension BatchDocument.Advertisement {
    package typealias Verification = VerificationDocument<Tracker>

    package struct Icon: GatewayDocument {
        package var program: String?
        package var imageUrl: String
        package var type: String?
        package var width: Int?
        package var height: Int?
        package var xPosition: String?
        package var yPosition: String?
        package var offsetMs: Int64?
        package var durationMs: Int64?
        package var alternativeText: String?
        package var targetUrl: String?
        package var trackers: [Tracker]?

        package static let documentDescription = DocumentDescription(fields: [
            .optional("program", .text, "For instance `AdChoices`."),
            DocumentField("imageUrl", .text),
            .optional("type", .text),
            .optional("width", .count),
            .optional("height", .count),
            .optional("xPosition", .text, "Pixels, `left` or `right`."),
            .optional("yPosition", .text, "Pixels, `top` or `bottom`."),
            .optional("offsetMs", .count, "From when on it is shown."),
            .optional("durationMs", .count, "How long it is shown."),
            .optional("alternativeText", .text),
            .optional("targetUrl", .text),
            .optional("trackers", .array(of: .document(Tracker.self)), "The events iconView and iconClick."),
        ])

        init(_ icon: AdvertisementContent.Icon) {
            self.program = icon.program.orNil
            self.imageUrl = icon.imageURL
            self.type = icon.type.orNil
            self.width = icon.width.orNil
            self.height = icon.height.orNil
            self.xPosition = icon.xPosition.orNil
            self.yPosition = icon.yPosition.orNil
            self.offsetMs = icon.offset?.milliseconds
            self.durationMs = icon.duration?.milliseconds
            self.alternativeText = icon.alternativeText.orNil
            self.targetUrl = icon.targetURL.orNil
            self.trackers = icon.trackers.map { Tracker($0) }.orNil
        }
    }

    static let supplementFields: [DocumentField] = [
        .optional("universalIds", .array(of: .document(UniversalIDDocument.self))),
        .optional("adServingId", .text, "The identifier of this serving, as the ad server gave it."),
        .optional(
            "verifications",
            .array(of: .document(Verification.self)),
            "Code that measures for others; the app decides whether it runs any."
        ),
        .optional("icons", .array(of: .document(Icon.self)), "Icons of industry programmes to show over the ad."),
        .optional("captions", .array(of: .document(CaptionFileDocument.self))),
        .optional(
            "mezzanines",
            .array(of: .document(MediaFile.self)),
            "The ad in the best quality, for those who make encodings of their own."
        ),
    ]

    mutating func add(_ supplements: AdvertisementContent.Supplements) {
        self.universalIds = supplements.universalIDs.map { UniversalIDDocument($0) }.orNil
        self.adServingId = supplements.adServingID.orNil
        self.verifications = supplements.verifications.map { Verification($0) { Tracker($0) } }.orNil
        self.icons = supplements.icons.map { Icon($0) }.orNil
        self.captions = supplements.captions.map { CaptionFileDocument($0) }.orNil
        self.mezzanines = supplements.mezzanines.map { MediaFile($0) }.orNil
    }
}

// MARK: - As the file of ads has them

extension AdDocument {
    package typealias Verification = VerificationDocument<Tracker>

    package struct Icon: GatewayDocument {
        package var program: String?
        package var image: String
        package var type: String?
        package var width: Int?
        package var height: Int?
        package var x: String?
        package var y: String?
        package var offset: String?
        package var duration: String?
        package var text: String?
        package var target: String?
        package var trackers: [Tracker]?

        package static let documentDescription = DocumentDescription(fields: [
            .optional("program", .text),
            DocumentField("image", .text, "The URL of the picture."),
            .optional("type", .text),
            .optional("width", .count),
            .optional("height", .count),
            .optional("x", .text, "Pixels, `left` or `right`."),
            .optional("y", .text, "Pixels, `top` or `bottom`."),
            .optional("offset", .text, "From when on it is shown, such as `5s`."),
            .optional("duration", .text, "How long it is shown."),
            .optional("text", .text, "For those who do not see the picture."),
            .optional("target", .text, "The URL that a click opens."),
            .optional("trackers", .array(of: .document(Tracker.self)), "The events iconView and iconClick."),
        ])

        init(_ icon: AdvertisementContent.Icon) {
            self.program = icon.program.orNil
            self.image = icon.imageURL
            self.type = icon.type.orNil
            self.width = icon.width.orNil
            self.height = icon.height.orNil
            self.x = icon.xPosition.orNil
            self.y = icon.yPosition.orNil
            self.offset = icon.offset.map { AdDocument.text($0) }
            self.duration = icon.duration.map { AdDocument.text($0) }
            self.text = icon.alternativeText.orNil
            self.target = icon.targetURL.orNil
            self.trackers = icon.trackers.map { Tracker($0) }.orNil
        }
    }

    static let supplementFields: [DocumentField] = [
        .optional("universalIds", .array(of: .document(UniversalIDDocument.self))),
        .optional("adServingId", .text, "The identifier of this serving, as the ad server gave it."),
        .optional("verifications", .array(of: .document(Verification.self))),
        .optional("icons", .array(of: .document(Icon.self))),
        .optional("captions", .array(of: .document(CaptionFileDocument.self))),
        .optional("mezzanines", .array(of: .document(MediaFile.self))),
    ]

    mutating func add(_ supplements: AdvertisementContent.Supplements) {
        self.universalIds = supplements.universalIDs.map { UniversalIDDocument($0) }.orNil
        self.adServingId = supplements.adServingID.orNil
        self.verifications = supplements.verifications.map { Verification($0) { Tracker($0) } }.orNil
        self.icons = supplements.icons.map { Icon($0) }.orNil
        self.captions = supplements.captions.map { CaptionFileDocument($0) }.orNil
        self.mezzanines = supplements.mezzanines.map { MediaFile($0) }.orNil
    }
}

extension Array {
    /// `nil` where there is nothing in it.
    fileprivate var orNil: [Element]? { self.isEmpty ? nil : self }
}
