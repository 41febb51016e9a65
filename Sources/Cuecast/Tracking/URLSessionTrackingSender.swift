// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Calls tracking URLs with Foundation's `URLSession`.
///
/// Nothing is kept: no cookies, no cache, no credentials. Only http and https are called, also after a redirect, and never
/// http after https. An answer's body is dropped.
public final class URLSessionTrackingSender: TrackingSender {
    /// How many redirects are followed; the next one counts as the answer.
    public static let redirectsMax = 5
    /// How many bytes of an answer's body are read before the connection is closed.
    public static let bodyBytesMax = 65_536
    /// The longest `Retry-After` that is understood: a day.
    public static let retryAfterMax = Duration.seconds(86_400)

    private let session: URLSession
    private let exchanges: TrackingExchanges
    private let timeout: Duration

    /// A sender that waits this long for each answer, redirects included: 10 s unless told, 1 ms at least.
    public init(timeout: Duration = .seconds(10)) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpMaximumConnectionsPerHost = 4
        self.timeout = max(timeout, .milliseconds(1))
        self.exchanges = TrackingExchanges()
        self.session = URLSession(configuration: configuration, delegate: self.exchanges, delegateQueue: nil)
    }

    deinit {
        self.session.finishTasksAndInvalidate()
    }

    /// Makes one attempt.
    public func send(_ request: TrackingRequest) async -> TrackingResult {
        guard let url = Self.url(request.url), Self.isHTTP(url) else {
            return .notSendable("it is not an http or https URL")
        }
        let end = ContinuousClock.now + self.timeout
        var next = url
        var hops = 0
        while true {
            let answer = await self.exchange(next, userAgent: request.userAgent, before: end)
            switch answer {
            case .answered(let status, _, let location?) where (300..<400).contains(status):
                let isDowngrade = next.scheme?.lowercased() == "https" && location.scheme?.lowercased() != "https"
                guard hops < Self.redirectsMax, Self.isHTTP(location), !isDowngrade else {
                    return .answered(status: status)
                }
                hops += 1
                next = location
            case .answered(let status, let retryAfter, _):
                return self.result(status, retryAfter: retryAfter, isRedirected: hops > 0)
            case .failed(let error):
                // Whoever redirected us has taken the call already: it must not be made again.
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

    private static func isHTTP(_ url: URL) -> Bool {
        ["http", "https"].contains(url.scheme?.lowercased()) && url.host?.isEmpty == false
    }

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
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        request.httpShouldHandleCookies = false
        request.setValue(userAgent, forHTTPHeaderField: "User-Agent")
        let task = self.session.dataTask(with: request)
        // Before anything can end it.
        self.exchanges.begin(task)
        // One deadline for all of it, by a timer of our own: the session's own begins anew with each byte.
        let timer = Task(name: "Cuecast tracking timeout") { [exchanges] in
            do {
                try await Task.sleep(until: end, clock: .continuous)
            } catch {
                return
            }
            exchanges.end(task, isGivenUp: true)
        }
        let ended = await withTaskCancellationHandler {
            await self.exchanges.run(task)
        } onCancel: {
            self.exchanges.end(task, isGivenUp: false)
        }
        timer.cancel()
        await timer.value
        guard let response = ended.response else {
            if ended.isGivenUp { return .failed(.uncertain("no answer within \(self.timeout)")) }
            return .failed(TrackingResult(ended.error))
        }
        return .answered(
            response.statusCode,
            retryAfter: response.value(forHTTPHeaderField: "Retry-After"),
            location: ended.location
        )
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
        // There is no connection: names are not resolved, nobody listens, the network is away.
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

    /// What a failed attempt says.
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

/// Collects what the session says about each task.
private final class TrackingExchanges: NSObject, URLSessionDataDelegate {
    struct Ended: Sendable {
        var response: HTTPURLResponse?
        /// Where a redirect leads.
        var location: URL?
        var isGivenUp = false
        var error: (any Error)?
    }

    private struct Exchange {
        var ended = Ended()
        var bodyBytes = 0
        /// Whether it was ended before anybody waited for it.
        var isOver = false
        /// Whether a redirect waits for our word.
        var isRedirecting = false
        var continuation: CheckedContinuation<Ended, Never>?
    }

    private let exchanges = Mutex<[Int: Exchange]>([:])

    /// From here on `run` returns, whatever ends the task, and whenever.
    func begin(_ task: URLSessionDataTask) {
        self.exchanges.withLock { $0[task.taskIdentifier] = Exchange() }
    }

    /// Runs a task until it is over.
    func run(_ task: URLSessionDataTask) async -> Ended {
        await withCheckedContinuation { continuation in
            let over = self.exchanges.withLock { exchanges -> Ended? in
                guard exchanges[task.taskIdentifier]?.isOver == true else {
                    exchanges[task.taskIdentifier]?.continuation = continuation
                    return nil
                }
                return exchanges.removeValue(forKey: task.taskIdentifier)?.ended
            }
            if let over { continuation.resume(returning: over) } else { task.resume() }
        }
    }

    /// Ends a task that took too long, or that nobody wants any more.
    ///
    /// It is over at once: what the session says of it afterwards does not count, and need not come.
    func end(_ task: URLSessionDataTask, isGivenUp: Bool) {
        let isRedirecting = self.finish(task) { ended in
            ended.isGivenUp = isGivenUp
            ended.error = URLError(.cancelled)
        }
        // On Linux a task that is cancelled while a redirect waits for our word traps when the word comes: then whoever
        // gives it cancels the task afterwards.
        if !isRedirecting { task.cancel() }
    }

    /// Ends a task for whoever waits for it; the first end counts.
    ///
    /// - Returns: Whether a redirect waits for our word.
    @discardableResult
    private func finish(_ task: URLSessionTask, _ change: @Sendable (inout Ended) -> Void) -> Bool {
        let id = task.taskIdentifier
        let (waiting, isRedirecting) = self.exchanges.withLock {
            exchanges -> ((CheckedContinuation<Ended, Never>, Ended)?, Bool) in
            guard var exchange = exchanges[id], !exchange.isOver else { return (nil, false) }
            change(&exchange.ended)
            exchange.isOver = true
            exchanges[id] = exchange.continuation == nil ? exchange : nil
            return (exchange.continuation.map { ($0, exchange.ended) }, exchange.isRedirecting)
        }
        if let (continuation, ended) = waiting { continuation.resume(returning: ended) }
        return isRedirecting
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let id = task.taskIdentifier
        let isWanted = self.exchanges.withLock { exchanges in
            guard exchanges[id]?.isOver == false else { return false }
            exchanges[id]?.ended.response = response
            exchanges[id]?.ended.location = request.url
            exchanges[id]?.isRedirecting = true
            return true
        }
        guard isWanted else { return }
        // Each hop is a request of its own, so that it is known how far the call got.
        completionHandler(nil)
        let isOver = self.exchanges.withLock { exchanges in
            exchanges[id]?.isRedirecting = false
            return exchanges[id]?.isOver ?? true
        }
        if isOver { task.cancel() }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        self.exchanges.withLock { exchanges in
            exchanges[dataTask.taskIdentifier]?.ended.response = response as? HTTPURLResponse
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooMuch = self.exchanges.withLock { exchanges in
            exchanges[dataTask.taskIdentifier]?.bodyBytes += data.count
            return (exchanges[dataTask.taskIdentifier]?.bodyBytes ?? 0) > URLSessionTrackingSender.bodyBytesMax
        }
        if isTooMuch { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let response = task.response as? HTTPURLResponse
        self.finish(task) { ended in
            ended.error = error
            ended.response = ended.response ?? response
        }
    }
}
