// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The bounds of following wrappers.
package struct VASTResolutionLimits: Hashable, Sendable {
    /// The most wrappers on the way to an ad (5, as VAST 4.3 section 2.3.5.1 has it); one more is left out.
    package var wrappersMax = 5
    /// The most addresses that are asked for one result (32); a wrapper that needs one more is left out.
    package var documentsMax = 32
    /// The most ads of one result (64); further ones are left out.
    package var adsMax = 64

    /// The default limits.
    package init() {}
}

/// The ads that a chain of wrappers led to, and what became of every other one.
package struct VASTResolution: Hashable, Sendable {
    /// An ad of a document.
    package struct Place: Hashable, Sendable {
        /// Which of ``VASTResolution/documents``.
        package let document: Int
        /// Which ad of the document, counted from 1.
        package let position: Int
    }

    /// A document, or the address that gave none.
    package struct Document: Hashable, Sendable {
        /// The wrapper that led to it; nil for the first.
        package let parent: Place?
        /// Where it was asked for, with its macros unfilled; nil: it was given.
        package let address: String?
        /// How many wrappers led to it.
        package let wrappers: Int
        /// The version that it claims; nil where it claims none.
        package internal(set) var version: String?
        /// Why it has no ads; nil: it has.
        package internal(set) var fault: VASTDocumentFault?
        /// The ads of the document, by position from 1, as they are called.
        package internal(set) var ads: [Name] = []
        /// The parts outside its ads, and of its wrappers, that were left out.
        package internal(set) var leftOut: [LeftOut] = []
    }

    /// The name of an ad of a document, as sentences have it.
    package struct Name: Hashable, Sendable {
        /// The `id` of the ad in the document, where it has one.
        package let documentID: String?
        /// The title, where it has one.
        package let title: String?
        /// The line of the document, counted from 1.
        package let line: Int
        /// Whether it is a wrapper.
        package let isWrapper: Bool
    }

    /// An ad that was taken.
    package struct Taken: Hashable, Sendable {
        /// Where it is from.
        package let place: Place
        /// The ad, with all that the wrappers around it add.
        package internal(set) var ad: AdContent
    }

    /// An ad that was not taken.
    package struct Left: Hashable, Sendable {
        /// Where it is.
        package let place: Place
        /// Why it was not taken.
        package let reason: VASTLeftReason
        /// The URLs that tell the ad servers, the outermost first, with the error code in them; none where there is no error.
        package let errorURLs: [String]
        /// The ad that took its place in the pod.
        package internal(set) var replacedBy: Place?
    }

    /// The ads to play, first to last; none: there is nothing to play.
    ///
    /// Their ids differ.
    package let taken: [Taken]
    /// Every other ad, by document and position.
    package let left: [Left]
    /// Every document that was read, or asked for in vain, in the order in which they were asked.
    package let documents: [Document]

    /// All URLs to call because of what was left out, the document's own among them.
    ///
    /// An address that gave no ads has its own `Error` elements, to be called with code 303 (VAST 4.3 section 2.3.6.4).
    package var errorURLs: [String] {
        var urls = self.left.flatMap(\.errorURLs)
        if let fault = self.documents.first?.fault {
            urls += fault.errorURLs.map { VASTMacros.filled($0, errorCode: fault.vastErrorCode) }
        }
        return urls
    }

    /// The name of an ad; nil: there is none at that place.
    package func name(of place: Place) -> Name? {
        let ads = self.documents[place.document].ads
        return ads.indices.contains(place.position - 1) ? ads[place.position - 1] : nil
    }
}
