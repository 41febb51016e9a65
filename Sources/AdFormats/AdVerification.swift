// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Code that measures for a third party how an ad is seen and heard (VAST 4.3 sections 3.16 and 3.17), such as that of the Open Measurement
/// SDK.
///
/// Nothing here runs it: the app decides, and calls ``notExecuted`` where it does not.
public struct AdVerification: Hashable, Sendable {
    /// One form of the code.
    public struct Resource: Hashable, Sendable {
        /// The kind of the code.
        public enum Kind: Hashable, Sendable {
            /// JavaScript (`JavaScriptResource`).
            case javaScript
            /// Something else, of this MIME type or with this name; empty where the document does not say (`ExecutableResource`).
            case executable(type: String)
        }

        /// Where the code is.
        public var url: String
        /// The kind of the code.
        public var kind: Kind
        /// The framework that the code needs, such as `omid`.
        public var apiFramework: String?
        /// Whether the code also works where no browser is (`browserOptional`).
        public var isBrowserOptional: Bool

        /// Code at an address.
        public init(url: String, kind: Kind = .javaScript, apiFramework: String? = nil) {
            self.url = url
            self.kind = kind
            self.apiFramework = apiFramework
            self.isBrowserOptional = false
        }
    }

    /// The event name of ``notExecuted``.
    public static let notExecutedEvent = "verificationNotExecuted"

    /// The third party, as a key of its own, such as `company.com-omid`.
    public var vendor: String?
    /// The same code in several forms, in document order; at least one.
    public var resources: [Resource]
    /// The text that the code gets, as the document has it.
    public var parameters: String?
    /// The URLs to call when the code is not run (event `verificationNotExecuted`).
    public var notExecuted: [AdTracker]

    /// Code in several forms.
    public init(vendor: String? = nil, resources: [Resource]) {
        self.vendor = vendor
        self.resources = resources
        self.notExecuted = []
    }
}

/// A file with the captions of an ad (VAST 4.3 section 3.9.4).
public struct AdCaptionFile: Hashable, Sendable {
    /// Where the file is.
    public var url: String
    /// The MIME type, such as `text/vtt`; empty where the document does not say.
    public var type: String
    /// The language, as RFC 5646 names it, such as `en`.
    public var language: String?

    /// A file of a type.
    public init(url: String, type: String, language: String? = nil) {
        self.url = url
        self.type = type
        self.language = language
    }
}
