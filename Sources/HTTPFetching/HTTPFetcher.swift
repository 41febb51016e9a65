// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Asks servers over HTTP, with bounds on time and size that hold whatever a server does.
///
/// It stands on Foundation's `URLSession`, and what that needs on Linux stands here and nowhere else. Nothing is kept: no
/// cookies, no cache, no credentials. A redirect is never followed: the caller sees where it leads, and asks again.
///
///     let fetcher = HTTPFetcher()
///     let exchange = await fetcher.get(HTTPFetcher.Request(url, bodyBytesMax: 65_536, deadline: .now + .seconds(10)))
///
/// It may be used from any thread. When its last reference is released its connections are closed, once running requests are
/// over.
package final class HTTPFetcher: Sendable {
    /// A GET, and its bounds.
    package struct Request: Sendable {
        package let url: URL
        package var headers: [String: String] = [:]
        /// The most bytes of a body; with one more the exchange ends.
        package var bodyBytesMax: Int
        /// When it is over at the latest.
        ///
        /// The time-outs of `URLSession` begin anew with each byte.
        package var deadline: ContinuousClock.Instant
        /// How long the server may say nothing; `nil`: until the deadline.
        package var silenceMax: Duration?
        /// Whether the body is wanted, by what stands before it.
        package var wantsBody: @Sendable (Head) -> Bool = { _ in true }

        /// A request without headers of its own.
        package init(_ url: URL, bodyBytesMax: Int, deadline: ContinuousClock.Instant) {
            self.url = url
            self.bodyBytesMax = bodyBytesMax
            self.deadline = deadline
        }
    }

    private let session: URLSession
    private let exchanges = RunningExchanges()

    /// A fetcher with connections of its own.
    ///
    /// - Parameter connectionsPerHostMax: how many there are at a time to the same host.
    package init(connectionsPerHostMax: Int = 4) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpMaximumConnectionsPerHost = connectionsPerHostMax
        // On Linux what arrives is read at once and waits for us in memory. Urgent work has threads of its own, so that we
        // are told soon, also while those for usual work are busy.
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.qualityOfService = .userInteractive
        self.session = URLSession(configuration: configuration, delegate: self.exchanges, delegateQueue: queue)
    }

    deinit {
        // A session holds its delegate until then.
        self.session.finishTasksAndInvalidate()
    }

    /// Asks once; ends early where the task is cancelled.
    package func get(_ request: Request) async -> Exchange {
        var message = URLRequest(url: request.url, cachePolicy: .reloadIgnoringLocalCacheData)
        message.httpShouldHandleCookies = false
        for (name, value) in request.headers { message.setValue(value, forHTTPHeaderField: name) }
        let task = self.session.dataTask(with: message)
        // Before anything can end it.
        self.exchanges.begin(task, request)
        let timer = Task(name: "Deadline of an exchange over HTTP") { [exchanges] in
            while let due = exchanges.due(task) {
                do {
                    try await Task.sleep(until: due, clock: .continuous)
                } catch {
                    return
                }
                exchanges.endWhereDue(task, at: .now)
            }
        }
        let exchange = await withTaskCancellationHandler {
            await self.exchanges.run(task)
        } onCancel: {
            self.exchanges.end(task, .cancelled)
        }
        timer.cancel()
        await timer.value
        return exchange
    }

    // MARK: What may be asked

    /// Whether an address is one of http or https, and names a host.
    package static func isWebAddress(_ url: URL) -> Bool {
        ["http", "https"].contains(url.scheme?.lowercased() ?? "") && url.host()?.isEmpty == false
    }

    /// Whether a redirect may be followed: to http and https only, and never from https to http.
    package static func mayFollow(_ target: URL, from origin: URL) -> Bool {
        self.isWebAddress(target)
            && (origin.scheme?.lowercased() != "https" || target.scheme?.lowercased() == "https")
    }
}
