// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The bounds of everything that crosses a socket.
///
/// Decoding refuses what passes them, on both sides.
///
/// `docs/reference/limits-of-messages.md` lists them for people; a test keeps that page and this table equal.
package enum WireLimits {
    /// The longest stream id, in bytes.
    package static let streamIDBytesMax = 64
    /// The longest break id, in bytes.
    package static let breakIDBytesMax = 64
    /// The longest advertisement id, in bytes.
    package static let advertisementIDBytesMax = 128
    /// The most advertisements in one list of a break; each variant has one.
    package static let advertisementsPerBreakMax = 64
    /// The most variants of one break, `default` included.
    package static let variantsPerBreakMax = 32
    /// The longest name of a variant, in bytes.
    package static let variantNameBytesMax = 64
    /// The most values in one condition of a variant.
    package static let valuesPerConditionMax = 64
    /// The most media files of one advertisement.
    package static let mediaFilesPerAdvertisementMax = 32
    /// The most tracking URLs of one advertisement, with those of its icons and verifications.
    package static let trackersPerAdvertisementMax = 128
    /// The most universal ids of one advertisement.
    package static let universalIDsPerAdvertisementMax = 8
    /// The most verifications of one advertisement.
    package static let verificationsPerAdvertisementMax = 16
    /// The most forms of the code of one verification.
    package static let resourcesPerVerificationMax = 8
    /// The longest parameters of a verification, in bytes.
    package static let verificationParametersBytesMax = 8_192
    /// The most icons of one advertisement.
    package static let iconsPerAdvertisementMax = 8
    /// The most caption files of one advertisement.
    package static let captionFilesPerAdvertisementMax = 32
    /// The most mezzanines of one advertisement.
    package static let mezzaninesPerAdvertisementMax = 8
    /// The longest title, description and other text of an advertisement, in bytes each.
    package static let textBytesMax = 2_048
    /// The longest URL, in bytes.
    package static let urlBytesMax = 4_096
    /// The longest duration of one advertisement, in milliseconds (1 h).
    package static let advertisementDurationMillisecondsMax: UInt32 = 3_600_000
    /// The longest duration of a break, in milliseconds (6 h).
    package static let breakDurationMillisecondsMax: UInt32 = 21_600_000
    /// The longest hold of a cued or pre-stream break, in milliseconds (24 h).
    package static let holdMillisecondsMax: UInt32 = 86_400_000
    /// The furthest that a listener may hear a stream behind live, in milliseconds (1 h).
    package static let delayMillisecondsMax: UInt32 = 3_600_000
    /// The most outcomes in one acknowledgement.
    package static let outcomesPerRequestMax = 64
    /// The most attributes of a listener.
    package static let attributesMax = 16
    /// The longest key or value of a listener's attribute, and the longest client name, in bytes.
    package static let attributeBytesMax = 128
    /// The longest token, in bytes.
    package static let tokenBytesMax = 4_096
    /// The longest session ticket, in bytes.
    package static let ticketBytesMax = 1_024
    /// The longest delivery token, in bytes.
    package static let deliveryBytesMax = 64
    /// The longest notice frame, in bytes.
    package static let noticeFrameBytesMax = 1_024
    /// The longest request frame of a listener, in bytes.
    package static let requestFrameBytesMax = 16_384
    /// The longest request frame of a broadcaster, in bytes.
    package static let broadcastFrameBytesMax = 1_048_576
    /// The longest reply frame, in bytes: a batch of the largest break that fits into a broadcaster's request, or a
    /// recovery of the most notices, with its head.
    package static let replyFrameBytesMax = 1_114_112
    /// The most notices in one `Joined` reply.
    package static let noticesPerJoinMax = 512
    /// The most addresses of other gateways in one `Joined` reply.
    package static let alternativesMax = 16
    /// The longest address at which players reach a gateway, in bytes.
    package static let addressBytesMax = 128
    /// The most addresses that one gateway advertises.
    package static let advertisedAddressesMax = 4
    /// The longest time within which listeners are asked to move, in milliseconds (1 min): longer ones are cut to it.
    package static let moveMillisecondsMax: UInt32 = 60_000
    /// The most bytes of addresses in one notice that asks listeners to move, with 3 more for each address.
    package static let moveAddressesBytesMax = 768
    /// The most breaks on one page of a list.
    package static let breaksPerPageMax = 500
    /// The longest token of a page of a list, in bytes.
    package static let pageTokenBytesMax = 160
    /// The longest name of an ad list, in bytes.
    package static let adListNameBytesMax = 64
    /// The most ad lists that a gateway keeps.
    package static let adListsMax = 500
    /// The longest name of a source of signals, in bytes.
    package static let signalSourceBytesMax = 64
    /// The longest id of a signalled event, in bytes.
    package static let signalEventIDBytesMax = 64
    /// The most bytes of a signal as its source wrote it.
    package static let signalRawBytesMax = 4_096
    /// The most things that the report of a watcher tells one by one.
    package static let watchedCuesPerReportMax = 16
    /// The longest address or sentence in the report of a watcher, in bytes.
    package static let watchTextBytesMax = 256
    /// The longest time that something is said to have happened ago, in milliseconds (30 days): longer ones are cut to it.
    package static let watchAgeMillisecondsMax: Int64 = 30 * 86_400_000
    /// Sixteen: the length of a session id, in bytes.
    package static let sessionBytes = 16
}
