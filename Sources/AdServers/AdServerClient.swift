// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import AdFormats
internal import Foundation

/// The ads that ad servers gave, and how it went.
package struct AdServerReport: Sendable {
    /// The ads, and what became of every other one.
    package let resolution: VASTResolution
    /// The outcome of asking, by document.
    package let exchanges: [Int: AdServerExchange]
    /// How long it took in all.
    package let time: Duration
}

/// Finds the ads behind an ad tag: it asks, and ``VASTResolver`` decides.
///
/// It is for the broadcaster's side: nothing in a gateway asks an ad server.
package struct AdServerClient: Sendable {
    private let fetcher: AdServerFetcher
    private let limits: AdServerLimits
    private let userAgent: String

    /// A client.
    ///
    /// - Parameters:
    ///   - fetcher: Asks the servers.
    ///   - limits: The bounds.
    ///   - userAgent: What it calls itself.
    package init(_ fetcher: AdServerFetcher, limits: AdServerLimits = AdServerLimits(), userAgent: String) {
        self.fetcher = fetcher
        self.limits = limits
        self.userAgent = userAgent
    }

    /// Follows wrappers until the ads are known, or the time is over.
    ///
    /// - Parameters:
    ///   - resolver: With the first address, or the first document.
    ///   - breakDuration: How long the break lasts at most; nil: it is not known.
    /// - Returns: The ads, which may be none.
    package func resolve(_ resolver: VASTResolver, breakDuration: Duration? = nil) async -> AdServerReport {
        let begin = ContinuousClock.now
        let deadline = begin + self.limits.resolutionTimeMax
        let transactionID = UUID().uuidString.lowercased()
        var resolver = resolver
        var exchanges: [Int: AdServerExchange] = [:]
        await withTaskGroup(of: (Int, AdServerExchange).self) { group in
            var waiting = resolver.takeRequests()[...]
            var running = 0
            while true {
                while running < max(self.limits.requestsAtOnceMax, 1), let request = waiting.popFirst() {
                    running += 1
                    let address = self.macros(transactionID, breakDuration).filled(request.address)
                    group.addTask {
                        (request.document, await self.fetcher.document(at: address, until: deadline))
                    }
                }
                guard let (document, exchange) = await group.next() else { return }
                running -= 1
                exchanges[document] = exchange
                resolver.answer(document, exchange.answer)
                waiting += resolver.takeRequests()
            }
        }
        guard let resolution = resolver.resolution else {
            // Each request was answered, and the last answer makes the result.
            preconditionFailure("there is an answer to each request, and no result")
        }
        return AdServerReport(resolution: resolution, exchanges: exchanges, time: .now - begin)
    }

    /// The outcome of calling `Error` addresses.
    package struct Calls: Hashable, Sendable {
        /// How many were called.
        package internal(set) var called = 0
        /// Why others were not, as sentences.
        package internal(set) var failures: [String] = []
        /// How many were past ``AdServerLimits/errorCallsMax``.
        package internal(set) var pastLimit = 0
    }

    /// Calls `Error` addresses, each once.
    ///
    /// - Parameter addresses: The addresses, with the error code in them.
    /// - Returns: What came of it.
    package func report(_ addresses: [String]) async -> Calls {
        let deadline = ContinuousClock.now + self.limits.resolutionTimeMax
        let transactionID = UUID().uuidString.lowercased()
        var calls = Calls()
        var waiting = addresses.prefix(max(self.limits.errorCallsMax, 0))
        calls.pastLimit = addresses.count - waiting.count
        await withTaskGroup(of: String?.self) { group in
            var running = 0
            while true {
                while running < max(self.limits.requestsAtOnceMax, 1), let address = waiting.popFirst() {
                    running += 1
                    let filled = self.macros(transactionID, nil).filled(address)
                    group.addTask { await self.fetcher.call(filled, until: deadline) }
                }
                guard let failure = await group.next() else { return }
                running -= 1
                if let failure { calls.failures.append(failure) } else { calls.called += 1 }
            }
        }
        return calls
    }

    private func macros(_ transactionID: String, _ breakDuration: Duration?) -> VASTMacros {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return VASTMacros(
            cacheBusting: Int.random(in: 0..<100_000_000),
            timestamp: Date.now.formatted(style),
            transactionID: transactionID,
            breakMaxDuration: breakDuration.map { duration in
                let (seconds, rest) = duration.components
                return Int(clamping: seconds) + (rest > 0 ? 1 : 0)
            },
            userAgent: self.userAgent
        )
    }
}
