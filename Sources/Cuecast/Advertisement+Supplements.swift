// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The parts of an advertisement that are for others than the player, as the broadcaster's ad server gave them.
extension Advertisement {
    /// A name of the creative that is the same in all systems (VAST 4.3 section 3.7.1).
    public struct UniversalID: Hashable, Sendable {
        /// The registry, such as `ad-id.org`.
        public let registry: String
        /// The identifier in that registry.
        public let value: String
    }

    /// Code of a third party that measures how the advertisement is seen and heard (VAST 4.3 sections 3.16 and 3.17), such as that of the
    /// Open Measurement SDK.
    public struct Verification: Hashable, Sendable {
        /// One form of the code.
        public struct Resource: Hashable, Sendable {
            /// Where the code is.
            public let url: String
            /// The framework that the code needs, such as `omid`; `nil`: not said.
            public let apiFramework: String?
            /// Whether it is something else than JavaScript, of this ``type``.
            public let isExecutable: Bool
            /// MIME type of what is no JavaScript; `nil`: not known.
            public let type: String?
            /// Whether it is JavaScript that also works where no browser is.
            public let isBrowserOptional: Bool
        }

        /// The third party, as a key of its own, such as `company.com-omid`; `nil`: not said.
        public let vendor: String?
        /// The same code in several forms; at least one.
        public let resources: [Resource]
        /// The text that the code gets; `nil`: none.
        public let parameters: String?
        /// The addresses to call where the code is not run; the library does not call them.
        public let notExecutedURLs: [String]
    }

    /// An icon of an industry programme, such as AdChoices, to show over the advertisement (VAST 4.3 section 3.11).
    public struct Icon: Hashable, Sendable {
        /// The programme; `nil`: not said.
        public let program: String?
        /// Where the picture is, http or https.
        public let imageURL: String
        /// MIME type; `nil`: not known.
        public let type: String?
        /// Width in pixels; `nil`: not known.
        public let width: Int?
        /// Height in pixels; `nil`: not known.
        public let height: Int?
        /// Where its left edge is: a number of pixels, `left` or `right`; `nil`: not said.
        public let xPosition: String?
        /// Where its upper edge is: a number of pixels, `top` or `bottom`; `nil`: not said.
        public let yPosition: String?
        /// From when on it is shown; `nil`: from the start.
        public let offset: Duration?
        /// How long it is shown; `nil`: until the end.
        public let duration: Duration?
        /// The text to read out instead; `nil`: not given.
        public let alternativeText: String?
        /// The address that opens when the listener acts on it; `nil`: none.
        public let targetURL: String?
        /// The addresses to call when it is shown; the library does not call them.
        public let viewURLs: [String]
        /// The addresses to call when the listener acts on it; the library does not call them.
        public let clickURLs: [String]
    }

    /// A file with captions (VAST 4.3 section 3.9.4).
    public struct CaptionFile: Hashable, Sendable {
        /// Where it is, http or https.
        public let url: String
        /// MIME type, such as `text/vtt`; `nil`: not known.
        public let type: String?
        /// The language, as RFC 5646 names it; `nil`: not known.
        public let language: String?
    }

    /// Names of the creative that are the same in all systems.
    public var universalIDs: [UniversalID] {
        self.supplements.universalIDs.map { UniversalID(registry: $0.registry, value: $0.value) }
    }

    /// The identifier of this serving, as the ad server gave it; `nil`: it gave none.
    public var adServingID: String? { self.supplements.adServingID.orNil }

    /// Code of third parties that measures how the advertisement is seen and heard; the app decides whether it runs any.
    public var verifications: [Verification] { self.supplements.verifications.map { Verification($0) } }

    /// Icons of industry programmes to show over the advertisement.
    public var icons: [Icon] { self.supplements.icons.map { Icon($0) } }

    /// The captions of the advertisement.
    public var captionFiles: [CaptionFile] {
        self.supplements.captions.map { CaptionFile(url: $0.url, type: $0.type.orNil, language: $0.language.orNil) }
    }

    /// The advertisement in the best quality, for those who make encodings of their own; not for playing.
    public var mezzanines: [MediaFile] { self.supplements.mezzanines.map { MediaFile($0) } }
}

extension Advertisement.Verification {
    fileprivate init(_ content: AdvertisementContent.Verification) {
        self.vendor = content.vendor.orNil
        self.resources = content.resources.map { resource in
            Resource(
                url: resource.url,
                apiFramework: resource.apiFramework.orNil,
                isExecutable: resource.isExecutable,
                type: resource.type.orNil,
                isBrowserOptional: resource.isBrowserOptional
            )
        }
        self.parameters = content.parameters.orNil
        self.notExecutedURLs = content.trackers.map(\.url)
    }
}

extension Advertisement.Icon {
    fileprivate init(_ content: AdvertisementContent.Icon) {
        self.program = content.program.orNil
        self.imageURL = content.imageURL
        self.type = content.type.orNil
        self.width = content.width.orNil
        self.height = content.height.orNil
        self.xPosition = content.xPosition.orNil
        self.yPosition = content.yPosition.orNil
        self.offset = content.offset
        self.duration = content.duration
        self.alternativeText = content.alternativeText.orNil
        self.targetURL = content.targetURL.orNil
        self.viewURLs = content.trackers.filter { $0.event == AdvertisementContent.Icon.viewEvent }.map(\.url)
        self.clickURLs = content.trackers.filter { $0.event == AdvertisementContent.Icon.clickEvent }.map(\.url)
    }
}
