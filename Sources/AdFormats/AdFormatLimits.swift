// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The bounds of a document from outside, and of what is taken from it.
///
/// The defaults fit what the gateway accepts for a break, so that whatever was read can also be published. What happens
/// past a limit is said with each. `docs/broadcasters/vast.md` lists them for people; a test keeps that page and this type equal.
public struct AdFormatLimits: Hashable, Sendable {
    /// The largest document, in bytes as received (1 MiB); a larger one is refused.
    public var documentBytesMax = 1_048_576
    /// The deepest nesting of elements, counting the root as 1; a deeper document is refused.
    public var depthMax = 64
    /// The most elements in a document; a document with more is refused.
    public var elementsMax = 32_768
    /// The most attributes on one element; a document with more is refused.
    public var attributesPerElementMax = 64
    /// The most ads in a document, whether or not they can be played; a document with more is refused.
    public var adsMax = 64
    /// The most media files of one ad; further ones are left out, since any one of them plays the ad.
    public var mediaFilesPerAdMax = 32
    /// The most universal ids of one ad; further ones are left out.
    public var universalIDsPerAdMax = 8
    /// The most icons of one ad; further ones are left out.
    public var iconsPerAdMax = 8
    /// The most verifications of one ad; further ones are left out.
    public var verificationsPerAdMax = 16
    /// The most resources of one verification; further ones are left out.
    public var resourcesPerVerificationMax = 8
    /// The longest parameters of a verification, in bytes of UTF-8 (8 KiB); a verification with longer ones is left out.
    public var verificationParametersBytesMax = 8_192
    /// The most caption files of one ad; further ones are left out.
    public var captionFilesPerAdMax = 32
    /// The most mezzanines of one ad; further ones are left out.
    public var mezzaninesPerAdMax = 8
    /// The most trackers of one ad (``AdContent/trackers``), with those of its icons and verifications; an ad with more is skipped, since dropping some would
    /// falsify its counts.
    public var trackersPerAdMax = 128
    /// The longest title, description or other text of an ad, in bytes of UTF-8; longer text is shortened.
    public var textBytesMax = 2_048
    /// The longest URL, in bytes of UTF-8; a longer one is left out.
    public var urlBytesMax = 4_096
    /// The longest identifier, MIME type, codec or event name, in bytes of UTF-8; a longer one counts as absent.
    public var identifierBytesMax = 128

    /// The default limits.
    public init() {}

    /// The names of the limits, for callers that have to tell them apart.
    ///
    /// New cases may appear in a minor release.
    @nonexhaustive
    public enum Name: String, Hashable, Sendable, CaseIterable {
        /// See ``AdFormatLimits/documentBytesMax``.
        case documentBytesMax
        /// See ``AdFormatLimits/depthMax``.
        case depthMax
        /// See ``AdFormatLimits/elementsMax``.
        case elementsMax
        /// See ``AdFormatLimits/attributesPerElementMax``.
        case attributesPerElementMax
        /// See ``AdFormatLimits/adsMax``.
        case adsMax
        /// See ``AdFormatLimits/mediaFilesPerAdMax``.
        case mediaFilesPerAdMax
        /// See ``AdFormatLimits/universalIDsPerAdMax``.
        case universalIDsPerAdMax
        /// See ``AdFormatLimits/iconsPerAdMax``.
        case iconsPerAdMax
        /// See ``AdFormatLimits/verificationsPerAdMax``.
        case verificationsPerAdMax
        /// See ``AdFormatLimits/resourcesPerVerificationMax``.
        case resourcesPerVerificationMax
        /// See ``AdFormatLimits/verificationParametersBytesMax``.
        case verificationParametersBytesMax
        /// See ``AdFormatLimits/captionFilesPerAdMax``.
        case captionFilesPerAdMax
        /// See ``AdFormatLimits/mezzaninesPerAdMax``.
        case mezzaninesPerAdMax
        /// See ``AdFormatLimits/trackersPerAdMax``.
        case trackersPerAdMax
        /// See ``AdFormatLimits/textBytesMax``.
        case textBytesMax
        /// See ``AdFormatLimits/urlBytesMax``.
        case urlBytesMax
        /// See ``AdFormatLimits/identifierBytesMax``.
        case identifierBytesMax
    }
}
