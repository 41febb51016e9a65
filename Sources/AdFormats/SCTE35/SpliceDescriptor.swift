// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A descriptor in the loop of a section: `splice_descriptor()` (SCTE 35 section 10.2).
public struct SpliceDescriptor: Hashable, Sendable {
    /// The number of SCTE, "CUEI", which the descriptors of the specification have as `identifier`.
    public static let cueIdentifier: UInt32 = 0x4355_4549

    /// The kinds of descriptors.
    ///
    /// New cases may appear in a minor release.
    @nonexhaustive
    public enum Content: Hashable, Sendable {
        /// `avail_descriptor()`: `provider_avail_id`, a number of the provider for the break (section 10.3.1).
        case avail(providerAvailID: UInt32)
        /// `DTMF_descriptor()`: tones for old equipment (section 10.3.2).
        case dtmf(DTMFDescriptor)
        /// `segmentation_descriptor()`: a segment begins, ends or is cancelled (section 10.3.3).
        case segmentation(SegmentationDescriptor)
        /// `time_descriptor()`: the wall clock of the programmer (section 10.3.4).
        case time(TimeDescriptor)
        /// `audio_descriptor()`: the audio streams in use, at most 15 (section 10.3.5).
        case audio([AudioChannel])
        /// A descriptor of another owner, or of a tag that is not known.
        case other(OtherDescriptor)
    }

    /// The content.
    public var content: Content
    /// Bytes after the last known field, before the end that `descriptor_length` gives.
    public var extraBytes: [UInt8] = []

    /// A descriptor.
    public init(_ content: Content) { self.content = content }

    /// A segmentation descriptor.
    public static func segmentation(_ descriptor: SegmentationDescriptor) -> SpliceDescriptor {
        SpliceDescriptor(.segmentation(descriptor))
    }

    /// `splice_descriptor_tag` (section 10.1, table 16).
    public var tag: UInt8 {
        switch self.content {
        case .avail: 0
        case .dtmf: 1
        case .segmentation: 2
        case .time: 3
        case .audio: 4
        case .other(let other): other.tag
        }
    }

    /// The name of a tag of ``cueIdentifier``; `nil`: it is not known.
    static func name(ofTag tag: UInt8) -> String? {
        switch tag {
        case 0: "avail_descriptor"
        case 1: "DTMF_descriptor"
        case 2: "segmentation_descriptor"
        case 3: "time_descriptor"
        case 4: "audio_descriptor"
        default: nil
        }
    }
}

/// Tones for old equipment: `DTMF_descriptor()` (SCTE 35 section 10.3.2).
public struct DTMFDescriptor: Hashable, Sendable {
    /// `preroll`: how long before the splice point the tones end, in tenths of a second.
    public var prerollTenths: UInt8
    /// `DTMF_char`: at most 7 characters in ASCII, of `0` to `9`, `*` and `#`.
    public var characters: [UInt8]

    /// A descriptor.
    public init(prerollTenths: UInt8, characters: [UInt8]) {
        self.prerollTenths = prerollTenths
        self.characters = characters
    }
}

/// The wall clock of the programmer: `time_descriptor()` (SCTE 35 section 10.3.4).
public struct TimeDescriptor: Hashable, Sendable {
    /// `TAI_seconds`: seconds of international atomic time since 1970; below 2^48.
    public var taiSeconds: UInt64
    /// `TAI_ns`: nanoseconds after the second.
    public var taiNanoseconds: UInt32
    /// `UTC_offset`: seconds to subtract for UTC.
    public var utcOffsetSeconds: UInt16

    /// A time.
    public init(taiSeconds: UInt64, taiNanoseconds: UInt32, utcOffsetSeconds: UInt16) {
        self.taiSeconds = taiSeconds
        self.taiNanoseconds = taiNanoseconds
        self.utcOffsetSeconds = utcOffsetSeconds
    }
}

/// One audio stream of an `audio_descriptor()` (SCTE 35 section 10.3.5).
public struct AudioChannel: Hashable, Sendable {
    /// `component_tag`: the tag of the stream; 255: the order of the programme map counts.
    public var componentTag: UInt8
    /// `ISO_code`: the language, three letters of ISO 639-2 as a number of 24 bits.
    public var languageCode: UInt32
    /// `Bit_Stream_Mode`, 0 to 7 (ATSC A/52 table 5.7).
    public var bitStreamMode: UInt8
    /// `Num_Channels`, 0 to 15 (ATSC A/52 table A4.5).
    public var channelsCode: UInt8
    /// `Full_Srvc_Audio`: whether the stream can be presented without another one.
    public var isFullService: Bool

    /// An audio stream.
    public init(
        componentTag: UInt8,
        languageCode: UInt32,
        bitStreamMode: UInt8,
        channelsCode: UInt8,
        isFullService: Bool
    ) {
        self.componentTag = componentTag
        self.languageCode = languageCode
        self.bitStreamMode = bitStreamMode
        self.channelsCode = channelsCode
        self.isFullService = isFullService
    }
}

/// A descriptor of another owner, or of a tag that is not known (SCTE 35 section 10.2.2).
public struct OtherDescriptor: Hashable, Sendable {
    /// `splice_descriptor_tag`, as the owner defines it.
    public var tag: UInt8
    /// `identifier`: the registered number of the owner.
    public var identifier: UInt32
    /// `private_byte`: the content.
    public var bytes: [UInt8]

    /// A descriptor; with ``SpliceDescriptor/cueIdentifier`` the tag is above 4.
    public init(tag: UInt8, identifier: UInt32, bytes: [UInt8]) {
        self.tag = tag
        self.identifier = identifier
        self.bytes = bytes
    }
}
