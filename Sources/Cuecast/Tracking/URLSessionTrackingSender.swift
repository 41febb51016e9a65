// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Foundation
internal import HTTPFetching

/// Calls tracking URLs with Foundation's `URLSession`.
///
/// Nothing is kept: no cookies, no cache, no credentials. Only http and https are called, also after a redirect, and never
/// http after https. An answer's body is dropped.
@_spi(Tracking) public final class URLSessionTrackingSender: TrackingSender {
    /// How many redirects are followed; the next one counts as the answer.
    public static let redirectsMax = 5
    /// How many bytes of an answer's body are read before the connection is closed.
    public static let bodyBytesMax = 65_536
    /// The longest `Retry-After` that is understood: a day.
    public static let retryAfterMax = Duration.seconds(86_400)

    private let fetcher = HTTPFetcher()
    private let timeout: Duration

    /// A sender that waits this long for each answer, redirects included: 10 s unless told, 1 ms at least.
    public init(timeout: Duration = .seconds(10)) {
        self.timeout = max(timeout, .milliseconds(1))
    }

    /// Makes one attempt.
    public func send(_ request: TrackingRequest) async -> TrackingResult {
        guard let url = Self.url(request.url), HTTPFetcher.isWebAddress(url) else {
            return .notSendable("it is not an http or https URL")
        }
        let end = ContinuousClock.now + self.timeout
        var next = url
        var hops = 0
        while true {
            let answer = await self.exchange(next, userAgent: request.userAgent, before: end)
            switch answer {
            case .answered(let status, _, let location?) where (300..<400).contains(status):
                guard hops < Self.redirectsMax, HTTPFetcher.mayFollow(location, from: next) else {
                    return .answered(status: status)
                }
                hops += 1
                next = location
            case .answered(let status, let retryAfter, _):
                return self.result(status, retryAfter: retryAfter, isRedirected: hops > 0)
            case .failed(let error):
                // The server that redirected us has taken the call already: it must not be made again.
                return hops > 0 ? .uncertain("after a redirect: \(error.reason)") : error
            }
        }
    }

    private func result(_ status: Int, retryAfter: String?, isRedirected: Bool) -> TrackingResult {
        let isFinal = status != 408 && status != 429 && !(500..<600).contains(status)
        if isRedirected, !isFinal { return .uncertain("after a redirect: the server answered with status \(status)") }
        return .answered(status: status, retryAfter: retryAfter.flatMap { Self.wait($0, now: Date()) })
    }

    /// A tracking URL as it goes over the wire: what RFC 3986 does not allow after the host is encoded.
    ///
    /// By hand: where one character must be encoded, `URL(string:)` encodes the percent signs around it once more.
    static func url(_ text: String) -> URL? {
        let bytes = Array(text.utf8)
        let authorityEnd = TrackingMacros.endOfAuthority(bytes)
        let digits = Set("0123456789ABCDEFabcdef".utf8)
        var result = Array(bytes[..<authorityEnd])
        for (index, byte) in bytes.enumerated().dropFirst(authorityEnd) {
            let isEscape =
                byte == UInt8(ascii: "%") && index + 2 < bytes.count && digits.contains(bytes[index + 1])
                && digits.contains(bytes[index + 2])
            if isEscape || Self.allowed.contains(byte) {
                result.append(byte)
            } else {
                result += TrackingMacros.encoded(byte: byte)
            }
        }
        let encoded = String(decoding: result, as: UTF8.self)
        // A host that is not ASCII becomes the name that is looked up.
        return URL(string: encoded, encodingInvalidCharacters: false) ?? URL(string: encoded)
    }

    /// Unreserved and reserved characters without the brackets (RFC 3986, section 2).
    private static let allowed = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#@!$&'()*+,;=".utf8
    )

    /// The value of `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3).
    static func wait(_ text: String, now: Date) -> Duration? {
        let text = text.trimmingCharacters(in: .whitespaces)
        if let seconds = UInt64(text) { return min(.seconds(Int64(clamping: seconds)), Self.retryAfterMax) }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        guard let date = format.date(from: text) else { return nil }
        let seconds = min(max(date.timeIntervalSince(now), 0), 86_400)
        return .seconds(seconds)
    }

    // MARK: One exchange

    private enum Answer {
        case answered(Int, retryAfter: String?, location: URL?)
        case failed(TrackingResult)
    }

    private func exchange(_ url: URL, userAgent: String, before end: ContinuousClock.Instant) async -> Answer {
        var request = HTTPFetcher.Request(url, bodyBytesMax: Self.bodyBytesMax, deadline: end)
        request.headers = ["User-Agent": userAgent]
        let exchange = await self.fetcher.get(request)
        // An answer has come with its head; the body is dropped, and where it ends does not matter.
        if let head = exchange.head {
            return .answered(head.status, retryAfter: head.value(of: "retry-after"), location: exchange.location)
        }
        switch exchange.end {
        case .failed(let error): return .failed(TrackingResult(error))
        case .tooSlow: return .failed(.uncertain("no answer within \(self.timeout)"))
        case .cancelled: return .failed(TrackingResult(URLError(.cancelled)))
        case .complete, .bodyRefused, .bodyTooLarge, .silent: return .failed(TrackingResult(nil))
        }
    }
}

extension TrackingResult {
    /// Why no answer came.
    ///
    /// Only where an error proves that no byte of the request left may it be sent again. A time-out, a connection that was
    /// lost, a failure of TLS that may come after the handshake, and whatever is not known prove nothing.
    init(_ error: (any Error)?) {
        guard let error = error as? URLError else {
            self = .uncertain(error.map { "\($0)" } ?? "no answer came")
            return
        }
        let reason = "\(error.localizedDescription) (URLError \(error.errorCode))"
        switch error.code {
        // There is no connection: names are not resolved, no server listens, or the network is away.
        case .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet, .internationalRoamingOff, .callIsActive,
            .dataNotAllowed:
            self = .couldNotConnect(reason)
        case .cannotConnectToHost: self = error.isWithoutConnection ? .couldNotConnect(reason) : .uncertain(reason)
        // The server's certificate is checked in the handshake, before the request.
        case .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid:
            self = .couldNotConnect(reason)
        case .badURL, .unsupportedURL, .appTransportSecurityRequiresSecureConnection: self = .notSendable(reason)
        default: self = .uncertain(reason)
        }
    }

    /// The reason of a failed attempt.
    fileprivate var reason: String {
        switch self {
        case .answered(let status, _): "status \(status)"
        case .couldNotConnect(let reason), .uncertain(let reason), .notSendable(let reason): reason
        }
    }
}

extension URLError {
    /// Whether `cannotConnectToHost` is true.
    ///
    /// Where Foundation stands on libcurl, it says so for every error after one address of the host refused, also when the
    /// request went to the next address and the answer did not come. Only libcurl's text tells which it was; where it is
    /// another one than expected, nothing is proven.
    fileprivate var isWithoutConnection: Bool {
        #if canImport(FoundationNetworking)
        (self.userInfo[NSLocalizedDescriptionKey] as? String)?.hasPrefix("Failed to connect to ") == true
        #else
        true
        #endif
    }
}
