// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Why an ad of a chain of wrappers was not taken.
package enum VASTLeftReason: Error, Hashable, Sendable {
    /// The ad cannot be played, or was not needed, as ``SkipReason`` says.
    case unplayable(SkipReason)
    /// It is a wrapper without an address.
    case noAddress
    /// It is a wrapper whose address is not an absolute `http` or `https` address.
    case unusableAddress(String)
    /// It is a wrapper whose address is longer than ``AdFormatLimits/urlBytesMax``.
    case addressTooLong(maximum: Int)
    /// It is a wrapper behind one that says `followAdditionalWrappers="false"`.
    case wrapperNotAllowed
    /// It is behind as many wrappers as are followed (``VASTResolutionLimits/wrappersMax``).
    case tooManyWrappers(maximum: Int)
    /// It is a wrapper whose address was asked before, on the way to it.
    case loop
    /// So many addresses were asked already (``VASTResolutionLimits/documentsMax``).
    case tooManyDocuments(maximum: Int)
    /// Its address gave no document with ads.
    case noDocument(VASTDocumentFault)
    /// Its address gave ads, and none of them was taken; each has its own reason.
    case nothingTaken
    /// It is in a pod behind a wrapper that allows one stand-alone ad only, and there is none.
    case podNotAllowed
    /// It is not the one stand-alone ad that the wrapper around it allows.
    case notTheOnlyOne
    /// It has a category that a wrapper around it blocks (VAST 4.3 section 3.19.2).
    case blockedCategory(String)
    /// So many ads were taken already (``VASTResolutionLimits/adsMax``).
    case tooManyAds(maximum: Int)
}

extension VASTLeftReason {
    /// The VAST error code that tells the ad servers (VAST 4.3 section 2.3.6.3); nil where there is no error, or where each ad
    /// behind a wrapper has its own.
    package var vastErrorCode: Int? {
        switch self {
        case .unplayable(let reason): reason.vastErrorCode
        case .noAddress, .unusableAddress, .addressTooLong, .wrapperNotAllowed: 300
        case .tooManyWrappers, .loop, .tooManyDocuments: 302
        case .noDocument(let fault): fault.vastErrorCode
        case .podNotAllowed: 200
        case .blockedCategory: 205
        case .tooManyAds: 206
        case .nothingTaken, .notTheOnlyOne: nil
        }
    }

    /// The name of the reason, for programs.
    package var name: String {
        switch self {
        case .unplayable(let reason): reason.name
        case .noAddress: "noAddress"
        case .unusableAddress: "unusableAddress"
        case .addressTooLong: "addressTooLong"
        case .wrapperNotAllowed: "wrapperNotAllowed"
        case .tooManyWrappers: "tooManyWrappers"
        case .loop: "loop"
        case .tooManyDocuments: "tooManyDocuments"
        case .noDocument(let fault): fault.name
        case .nothingTaken: "nothingTaken"
        case .podNotAllowed: "podNotAllowed"
        case .notTheOnlyOne: "notTheOnlyOne"
        case .blockedCategory: "blockedCategory"
        case .tooManyAds: "tooManyAds"
        }
    }
}

extension VASTLeftReason: CustomStringConvertible {
    /// The end of a sentence that begins with the ad.
    package var description: String {
        switch self {
        case .unplayable(let reason): "\(reason)"
        case .noAddress: "is a wrapper without a VASTAdTagURI"
        case .unusableAddress(let text):
            "is a wrapper whose VASTAdTagURI is not an absolute http or https address: \(quoted(text))"
        case .addressTooLong(let maximum):
            "is a wrapper whose VASTAdTagURI has more than \(maximum) bytes (urlBytesMax)"
        case .wrapperNotAllowed: "is a wrapper, and the one around it says followAdditionalWrappers=\"false\""
        case .tooManyWrappers(let maximum): "is one wrapper more than the limit wrappersMax of \(maximum)"
        case .loop: "is a wrapper whose address was asked already, on the way to it"
        case .tooManyDocuments(let maximum):
            "is a wrapper, and \(maximum) addresses were asked already (documentsMax)"
        case .noDocument(let fault):
            "is a wrapper, and its address gave no ads: \(fault.clause)"
        case .nothingTaken: "is a wrapper, and no ad behind it was taken"
        case .podNotAllowed: "is in a pod, and the wrapper around it allows one stand-alone ad only"
        case .notTheOnlyOne: "is not the one ad that the wrapper around it allows"
        case .blockedCategory(let code): "has the category \(quoted(code)), which a wrapper around it blocks"
        case .tooManyAds(let maximum): "is one more than the limit adsMax of \(maximum)"
        }
    }
}

extension SkipReason {
    /// The name of the reason, for programs.
    package var name: String {
        switch self {
        case .wrapper: "wrapper"
        case .notOneAd: "notOneAd"
        case .conditional: "conditional"
        case .noLinear: "noLinear"
        case .noMediaFile: "noMediaFile"
        case .needsFramework: "needsFramework"
        case .noUsableMediaFile: "noUsableMediaFile"
        case .noDuration: "noDuration"
        case .unusableDuration: "unusableDuration"
        case .tooLong: "tooLong"
        case .tooManyTrackers: "tooManyTrackers"
        case .notNeeded: "notNeeded"
        }
    }
}

/// Why an address gave no document with ads.
package enum VASTDocumentFault: Error, Hashable, Sendable {
    /// It was not there in time.
    case timedOut(String)
    /// The server could not be reached, or answered with an error.
    case unavailable(String)
    /// The address may not be asked.
    case refused(String)
    /// The server said that there is no document, which is how some servers say that there is no ad (RFC 9110 section 15.3.5).
    case noContent
    /// The answer is not a document that can be read, or has no ad.
    case unreadable(AdFormatError)
}

extension VASTDocumentFault {
    /// The VAST error code that tells the ad servers (VAST 4.3 section 2.3.6.3).
    package var vastErrorCode: Int {
        switch self {
        case .timedOut, .unavailable: 301
        case .refused: 300
        case .noContent: 303
        case .unreadable(let error): error.vastErrorCode ?? 900
        }
    }

    /// The name of the fault, for programs.
    package var name: String {
        switch self {
        case .timedOut: "timedOut"
        case .unavailable: "unavailable"
        case .refused: "refused"
        case .noContent: "noAds"
        case .unreadable(let error):
            switch error {
            case .malformed: "malformed"
            case .unsupportedEncoding: "unsupportedEncoding"
            case .tooLarge: "tooLarge"
            case .notVAST: "notVAST"
            case .unsupportedVersion: "unsupportedVersion"
            case .noAds: "noAds"
            case .nothingPlayable: "nothingPlayable"
            }
        }
    }

    /// The URLs to call that the document itself has.
    var errorURLs: [String] {
        if case .unreadable(.noAds(let urls)) = self { urls } else { [] }
    }
}

extension VASTDocumentFault: CustomStringConvertible {
    /// The sentence as a part of a larger one.
    fileprivate var clause: String {
        let sentence = self.description
        return sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }

    /// One sentence for people.
    package var description: String {
        switch self {
        case .timedOut(let sentence), .unavailable(let sentence), .refused(let sentence): sentence
        case .noContent: "The server has no ad: it answers with status 204."
        case .unreadable(let error): "\(error)"
        }
    }
}
