// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import AdFormats

/// The bounds of asking ad servers.
package struct AdServerLimits: Hashable, Sendable {
    /// How long it may take to find the ads, with all wrappers and redirects (5 s).
    package var resolutionTimeMax: Duration = .seconds(5)
    /// How long one address of a host is tried (1 s).
    package var connectTimeMax: Duration = .seconds(1)
    /// The largest answer, in bytes, as it comes and after decompression (1 MiB, as the reader of VAST has it).
    package var answerBytesMax = AdFormatLimits().documentBytesMax
    /// The most redirects of one request.
    package var redirectsMax = 5
    /// The most attempts of one request: a second one follows a broken connection and the statuses 502, 503 and 504.
    package var attemptsMax = 2
    /// The wait before the second attempt.
    package var retryDelay: Duration = .milliseconds(200)
    /// The most requests at a time.
    package var requestsAtOnceMax = 8
    /// The most `Error` addresses that are called for one result.
    package var errorCallsMax = 64
    /// The most addresses of a host that are tried.
    package var addressesPerHostMax = 4

    /// The default limits.
    package init() {}
}
