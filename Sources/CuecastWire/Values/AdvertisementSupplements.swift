// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

extension AdvertisementContent {
    /// The parts of an advertisement that are for others than the player; most advertisements have none.
    package struct Supplements: Hashable, Sendable {
        package var universalIDs: [UniversalID] = []
        /// As the ad server gave it; empty: it gave none.
        package var adServingID = ""
        package var verifications: [Verification] = []
        package var icons: [Icon] = []
        package var captions: [CaptionFile] = []
        package var mezzanines: [MediaFile] = []

        package init() {}
    }

    /// An identifier of the creative that is the same in all systems (VAST 4.3 section 3.7.1).
    package struct UniversalID: Hashable, Sendable {
        package var registry: String
        package var value: String

        package init(registry: String, value: String) {
            self.registry = registry
            self.value = value
        }
    }

    /// Code that measures for others (VAST 4.3 sections 3.16 and 3.17).
    package struct Verification: Hashable, Sendable {
        package struct Resource: Hashable, Sendable {
            package var url: String
            /// Empty: none.
            package var apiFramework = ""
            /// Whether it is no JavaScript.
            package var isExecutable = false
            /// Of what is no JavaScript; empty: not known.
            package var type = ""
            package var isBrowserOptional = false

            package init(url: String) { self.url = url }
        }

        /// Empty: not known.
        package var vendor = ""
        package var resources: [Resource]
        package var parameters = ""
        /// The event `verificationNotExecuted`.
        package var trackers: [Tracker] = []

        package init(resources: [Resource]) { self.resources = resources }
    }

    /// An icon of an industry programme (VAST 4.3 section 3.11).
    package struct Icon: Hashable, Sendable {
        package var program = ""
        package var imageURL: String
        package var type = ""
        /// 0: not known.
        package var width: UInt32 = 0
        package var height: UInt32 = 0
        /// Pixels, `left` or `right`; empty: not said.
        package var xPosition = ""
        /// Pixels, `top` or `bottom`; empty: not said.
        package var yPosition = ""
        /// From when on it is shown; `nil`: from the start.
        package var offset: Duration?
        /// How long it is shown; `nil`: until the end.
        package var duration: Duration?
        package var alternativeText = ""
        package var targetURL = ""
        /// The events ``viewEvent`` and ``clickEvent``.
        package var trackers: [Tracker] = []

        /// The icon is shown.
        package static let viewEvent = "iconView"
        /// The listener acted on the icon.
        package static let clickEvent = "iconClick"

        package init(imageURL: String) { self.imageURL = imageURL }
    }

    /// A file with captions (VAST 4.3 section 3.9.4).
    package struct CaptionFile: Hashable, Sendable {
        package var url: String
        package var type: String
        package var language: String

        package init(url: String, type: String = "", language: String = "") {
            self.url = url
            self.type = type
            self.language = language
        }
    }
}

// MARK: - Rules

extension AdvertisementContent.Supplements {
    /// How many tracking URLs icons and verifications have.
    var trackerCount: Int {
        self.icons.reduce(0) { $0 + $1.trackers.count } + self.verifications.reduce(0) { $0 + $1.trackers.count }
    }

    /// Cuts its times to whole milliseconds, and refuses those that the wire cannot hold.
    mutating func cutTimes() throws(WireError) {
        for index in self.icons.indices {
            self.icons[index].offset = try self.icons[index].offset?.wholeMilliseconds(field: "icon offset")
            self.icons[index].duration = try self.icons[index].duration?.wholeMilliseconds(field: "icon duration")
        }
    }

    mutating func check() throws(WireError) {
        guard self != Self() else { return }
        try requireAtMost(
            WireLimits.universalIDsPerAdvertisementMax,
            self.universalIDs.count,
            limit: "universalIDsPerAdvertisementMax"
        )
        for each in self.universalIDs {
            try requireText(each.registry, field: "universal id registry")
            try requireText(each.value, field: "universal id value")
            guard !each.value.isEmpty else { throw .invalid(field: "universal id value", rule: "it is empty") }
        }
        try requireText(self.adServingID, field: "ad_serving_id")
        try requireAtMost(
            WireLimits.verificationsPerAdvertisementMax,
            self.verifications.count,
            limit: "verificationsPerAdvertisementMax"
        )
        for index in self.verifications.indices { try self.verifications[index].check() }
        try requireAtMost(WireLimits.iconsPerAdvertisementMax, self.icons.count, limit: "iconsPerAdvertisementMax")
        for index in self.icons.indices { try self.icons[index].check() }
        try requireAtMost(
            WireLimits.captionFilesPerAdvertisementMax,
            self.captions.count,
            limit: "captionFilesPerAdvertisementMax"
        )
        for index in self.captions.indices { try self.captions[index].check() }
        try requireAtMost(
            WireLimits.mezzaninesPerAdvertisementMax,
            self.mezzanines.count,
            limit: "mezzaninesPerAdvertisementMax"
        )
        for index in self.mezzanines.indices { try self.mezzanines[index].check() }
    }
}

extension AdvertisementContent.Verification {
    fileprivate mutating func check() throws(WireError) {
        try requireText(self.vendor, field: "verification vendor")
        guard !self.resources.isEmpty else {
            throw .invalid(field: "verification resources", rule: "there must be at least one")
        }
        try requireAtMost(
            WireLimits.resourcesPerVerificationMax,
            self.resources.count,
            limit: "resourcesPerVerificationMax"
        )
        for index in self.resources.indices {
            self.resources[index].url = try requireURL(self.resources[index].url, field: "verification url")
            try requireText(self.resources[index].apiFramework, field: "verification api_framework")
            try requireText(self.resources[index].type, field: "verification type")
        }
        try requireText(
            self.parameters,
            field: "verification parameters",
            atMost: WireLimits.verificationParametersBytesMax,
            limit: "verificationParametersBytesMax"
        )
        for index in self.trackers.indices { try self.trackers[index].check() }
    }
}

extension AdvertisementContent.Icon {
    fileprivate mutating func check() throws(WireError) {
        try requireText(self.program, field: "icon program")
        self.imageURL = try requireURL(self.imageURL, field: "icon image_url")
        try requireText(self.type, field: "icon type")
        try Self.check(self.xPosition, edges: ["left", "right"], field: "icon x_position")
        try Self.check(self.yPosition, edges: ["top", "bottom"], field: "icon y_position")
        self.offset = self.offset?.cutToMilliseconds
        self.duration = self.duration?.cutToMilliseconds
        try requireText(self.alternativeText, field: "icon alternative_text")
        if !self.targetURL.isEmpty { self.targetURL = try requireURL(self.targetURL, field: "icon target_url") }
        for index in self.trackers.indices { try self.trackers[index].check() }
    }

    private static func check(_ position: String, edges: [String], field: String) throws(WireError) {
        guard !position.isEmpty, !edges.contains(position) else { return }
        guard position.utf8.count <= 5, position.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .invalid(field: field, rule: "it is neither a number of pixels nor \(edges[0]) or \(edges[1])")
        }
    }
}

extension AdvertisementContent.CaptionFile {
    fileprivate mutating func check() throws(WireError) {
        self.url = try requireURL(self.url, field: "caption url")
        try requireText(self.type, field: "caption type")
        try requireText(self.language, field: "caption language")
    }
}
