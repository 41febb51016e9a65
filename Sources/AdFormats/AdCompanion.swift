// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A file that is shown as it is, such as a picture (VAST 4.3 section 3.15.1).
public struct AdStaticFile: Hashable, Sendable {
    /// Where the file is.
    public var url: String
    /// The MIME type, such as `image/png`; empty where the document does not say.
    public var type: String

    /// A file of a type.
    public init(url: String, type: String) {
        self.url = url
        self.type = type
    }

    /// Whether the file is a picture: its type says so, or nothing says otherwise.
    public var isImage: Bool {
        self.type.isEmpty || self.type.lowercased().hasPrefix("image/")
    }
}

/// Something to show beside an ad (VAST 4.3 section 3.13).
public struct AdCompanion: Hashable, Sendable {
    /// The identifier of the companion.
    public var id: String?
    /// The width of the place that it is made for, in pixels.
    public var width: Int?
    /// The height of the place that it is made for, in pixels.
    public var height: Int?
    /// The same companion as files, in document order.
    public var staticFiles: [AdStaticFile]
    /// The same companion as pages to embed.
    public var iframeURLs: [String]
    /// Whether the document also has the companion as a snippet of HTML, which is not kept.
    public var hasHTML: Bool
    /// A description of the companion, in words.
    public var altText: String?
    /// The page that opens when the listener acts on the companion.
    public var clickThrough: String?
    /// The URLs to call when ``clickThrough`` opens (event `clickTracking`).
    public var clickTracking: [AdTracker]
    /// The URLs to call when the companion is shown (event `creativeView`).
    public var trackingEvents: [AdTracker]

    /// A companion with nothing in it yet.
    public init(width: Int? = nil, height: Int? = nil, staticFiles: [AdStaticFile] = []) {
        self.width = width
        self.height = height
        self.staticFiles = staticFiles
        self.iframeURLs = []
        self.hasHTML = false
        self.clickTracking = []
        self.trackingEvents = []
    }

    /// The first of the files that is a picture.
    public var image: AdStaticFile? {
        self.staticFiles.first { $0.isImage }
    }
}

/// The icon of an industry programme, such as AdChoices, to show over an ad (VAST 4.3 section 3.11).
public struct AdIcon: Hashable, Sendable {
    /// The programme.
    public var program: String?
    /// The width, in pixels.
    public var width: Int?
    /// The height, in pixels.
    public var height: Int?
    /// Where its left edge is: a number of pixels, `left` or `right`.
    public var xPosition: String?
    /// Where its upper edge is: a number of pixels, `top` or `bottom`.
    public var yPosition: String?
    /// From when on it is shown, in milliseconds from the start of the ad; nil: from the start.
    public var offsetMilliseconds: Int?
    /// For how long it is shown, in milliseconds; nil: until the ad ends.
    public var durationMilliseconds: Int?
    /// The same icon as files, in document order.
    public var staticFiles: [AdStaticFile]
    /// A description of the icon, in words.
    public var altText: String?
    /// The page that opens when the listener acts on the icon.
    public var clickThrough: String?
    /// The URLs to call when ``clickThrough`` opens (event `clickTracking`).
    public var clickTracking: [AdTracker]
    /// The URLs to call when the icon is shown (event `creativeView`).
    public var trackingEvents: [AdTracker]

    /// An icon of a programme.
    public init(program: String? = nil, staticFiles: [AdStaticFile] = []) {
        self.program = program
        self.staticFiles = staticFiles
        self.clickTracking = []
        self.trackingEvents = []
    }
}
