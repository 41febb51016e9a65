// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Fetches content by http and https, with bounds on its time and size.
///
/// No cookies, no cache, no credentials. At most ``redirectsMax`` redirects are followed, never away from http and https
/// and never from https to http.
///
/// On Linux, Foundation reads ahead of us: of a server that sends without end somewhat more than ``bytesMax`` is taken from
/// the network before the connection is cut, the more the faster it sends and the busier the machine is. None of it is kept.
public struct HTTPAdFetcher: AdFetcher {
    /// How many redirects are followed.
    public static let redirectsMax = 5

    /// How many bytes the content has at most; 2 MiB.
    public var bytesMax = 2 * 1_024 * 1_024
    /// How long it may take from the request to the last byte; 10 s.
    public var timeout: Duration = .seconds(10)
    /// The types that are taken, in lower case; a document may be anything that is of one of them.
    public var mediaTypes: Set<String>

    /// Images of the kinds that every renderer shows.
    public static let imageTypes: Set<String> = ["image/png", "image/jpeg", "image/gif", "image/webp"]

    /// A fetcher with the default bounds that takes `mediaTypes`.
    public init(mediaTypes: Set<String> = HTTPAdFetcher.imageTypes) {
        self.mediaTypes = mediaTypes
    }

    /// The content at `url`, which is one of http or https.
    public func fetch(_ url: String) async throws(AdContentError) -> AdContent {
        guard let address = Self.address(url) else { throw .invalidURL(url) }
        let download = Download(bytesMax: self.bytesMax, mediaTypes: self.mediaTypes)
        let timeout = self.timeout
        let deadline = Task(name: "Fetch deadline") {
            guard (try? await Task.sleep(for: timeout)) != nil else { return }
            download.end(.failure(.timedOut(after: timeout)))
        }
        let result = await download.run(address)
        deadline.cancel()
        await deadline.value
        return try result.get()
    }

    /// Whether the redirect with this number, of which 1 is the first, is followed.
    static func follows(redirect number: Int, from origin: URL?, to target: URL?) -> Bool {
        guard let target, self.address(target.absoluteString) != nil, number <= self.redirectsMax else { return false }
        return origin?.scheme?.lowercased() != "https" || target.scheme?.lowercased() == "https"
    }

    /// The address that `text` is, where it is one of http or https and names a host.
    static func address(_ text: String) -> URL? {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased() ?? ""),
            !(url.host() ?? "").isEmpty
        else { return nil }
        return url
    }
}

/// One request and its answer.
private final class Download: NSObject, URLSessionDataDelegate {
    typealias Outcome = Result<AdContent, AdContentError>

    private struct State {
        var bytes: [UInt8] = []
        /// The type of the content, once the answer was found good; `nil`: not yet.
        var mediaType: String?
        var redirects = 0
        /// Whether the loading system waits for our word about a redirect.
        var isRedirecting = false
        var outcome: Outcome?
        var waiter: CheckedContinuation<Outcome, Never>?
        var task: URLSessionDataTask?
    }

    private let bytesMax: Int
    private let mediaTypes: Set<String>
    private let state = Mutex(State())

    init(bytesMax: Int, mediaTypes: Set<String>) {
        self.bytesMax = bytesMax
        self.mediaTypes = mediaTypes
    }

    func run(_ url: URL) async -> Outcome {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        // A session holds its delegate until it is invalidated: that is a circle for as long as the request lasts.
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: Self.makeQueue())
        defer { session.finishTasksAndInvalidate() }
        var request = URLRequest(url: url)
        request.setValue(self.mediaTypes.sorted().joined(separator: ", "), forHTTPHeaderField: "Accept")
        let task = session.dataTask(with: request)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let known = self.state.withLock { state in
                    guard state.outcome == nil else { return state.outcome }
                    state.waiter = waiter
                    state.task = task
                    return nil
                }
                if let known { waiter.resume(returning: known) } else { task.resume() }
            }
        } onCancel: {
            self.end(.failure(.unreachable(CancellationError())))
        }
        return outcome
    }

    /// The queue that we are told on.
    ///
    /// On Linux what arrives is read at once and waits for us in memory. Urgent work has threads of its own, so that we are
    /// told soon, also while those for usual work are busy.
    private static func makeQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.qualityOfService = .userInteractive
        return queue
    }

    /// Ends the request, where it has not ended: the first end counts.
    func end(_ outcome: Outcome) {
        let (waiter, task) = self.state.withLock {
            state -> (CheckedContinuation<Outcome, Never>?, URLSessionDataTask?) in
            guard state.outcome == nil else { return (nil, nil) }
            state.outcome = outcome
            defer { state.waiter = nil }
            return (state.waiter, state.isRedirecting ? nil : state.task)
        }
        task?.cancel()
        waiter?.resume(returning: outcome)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // On Linux a task that is cancelled while a redirect waits for our word traps when the word comes. So a request
        // that has ended is not answered any more, and one that ends in this moment is cancelled afterwards.
        let isWanted = self.state.withLock { state in
            state.redirects += 1
            state.isRedirecting = state.outcome == nil
            return state.isRedirecting
        }
        guard isWanted else { return }
        let count = self.state.withLock { $0.redirects }
        let isFollowed = HTTPAdFetcher.follows(redirect: count, from: response.url, to: request.url)
        // Where it is not followed, the redirect itself is the answer.
        completionHandler(isFollowed ? request : nil)
        let hasEnded = self.state.withLock { state in
            state.isRedirecting = false
            return state.outcome != nil
        }
        if hasEnded { task.cancel() }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(self.takes(response) ? .allow : .cancel)
    }

    /// Looks at the head of an answer, and ends the request where that is not good.
    private func takes(_ response: URLResponse?) -> Bool {
        let type = (response?.mimeType ?? "").lowercased()
        let refusal: AdContentError? =
            if let response = response as? HTTPURLResponse, !(200...299).contains(response.statusCode) {
                .status(response.statusCode)
            } else if !self.mediaTypes.contains(type) {
                .mediaType(type)
            } else if let response, response.expectedContentLength > Int64(self.bytesMax) {
                .tooLarge(bytesMax: self.bytesMax)
            } else {
                nil
            }
        if let refusal {
            self.end(.failure(refusal))
            return false
        }
        self.state.withLock { $0.mediaType = type }
        return true
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = self.state.withLock { state in
            guard state.outcome == nil else { return false }
            guard state.bytes.count + data.count <= self.bytesMax else { return true }
            state.bytes += data
            return false
        }
        if isTooLarge { self.end(.failure(.tooLarge(bytesMax: self.bytesMax))) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error {
            self.end(.failure(.unreachable(error)))
            return
        }
        // A redirect that leads nowhere ends without its head having been shown to us.
        if self.state.withLock({ $0.mediaType }) == nil, !self.takes(task.response) { return }
        let (type, bytes) = self.state.withLock { ($0.mediaType ?? "", $0.bytes) }
        let url = task.currentRequest?.url?.absoluteString
        self.end(.success(AdContent(mediaType: type, bytes: bytes, url: url)))
    }
}
