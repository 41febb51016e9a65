// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import AdFormats
package import CueWatching
internal import Foundation
internal import HTTPFetching

/// The outcome of asking one address of an ad server.
package struct AdServerExchange: Sendable {
    /// The address that was asked, its macros filled.
    package let address: String
    /// The status of the last answer; nil: there was none.
    package internal(set) var status: Int?
    /// How many redirects were followed.
    package internal(set) var redirects = 0
    /// How many attempts there were.
    package internal(set) var attempts = 0
    /// How long it took, with all redirects and attempts.
    package internal(set) var time: Duration = .zero
    /// The bytes of the document, after decompression.
    package internal(set) var bytes = 0
    /// The document, or why there is none.
    package internal(set) var answer: VASTResolver.Answer
}

/// Asks ad servers, with bounds that hold whatever a server does.
///
/// A host is looked up once for each request, and only addresses that were checked are connected to: a name cannot lead to the
/// machines beside us, also where it changes its addresses or where a redirect names it.
package struct AdServerFetcher: Sendable {
    private let hosts: HostRule
    private let limits: AdServerLimits
    private let connection: DirectConnection

    /// Why a fetcher cannot be made: a sentence.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// A fetcher.
    ///
    /// - Parameters:
    ///   - hosts: Which hosts may be asked.
    ///   - limits: The bounds.
    ///   - userAgent: What it calls itself.
    ///   - roots: The certificates (PEM) that servers' are checked against; nil: the system's.
    /// - Throws: Why the certificates cannot be used.
    package init(
        hosts: HostRule,
        limits: AdServerLimits = AdServerLimits(),
        userAgent: String,
        roots: [UInt8]? = nil
    ) throws(Fault) {
        self.hosts = hosts
        self.limits = limits
        do {
            self.connection = try DirectConnection(
                bounds: DirectConnection.Bounds(
                    addressesMax: limits.addressesPerHostMax,
                    connectTimeMax: limits.connectTimeMax,
                    bodyBytesMax: limits.answerBytesMax
                ),
                headers: [
                    "User-Agent": userAgent, "Accept": "application/xml, text/xml, */*", "Accept-Encoding": "gzip",
                ],
                roots: roots
            )
        } catch {
            throw Fault(description: "The certificates to check the ad servers' cannot be read: \(error).")
        }
    }

    /// Asks for a document.
    ///
    /// - Parameters:
    ///   - address: Where, its macros filled.
    ///   - deadline: When it is over at the latest.
    /// - Returns: What came of it.
    package func document(at address: String, until deadline: ContinuousClock.Instant) async -> AdServerExchange {
        await self.ask(address, until: deadline, wantsBody: true)
    }

    /// Calls an address of which only the status counts.
    ///
    /// - Parameters:
    ///   - address: Where, its macros filled.
    ///   - deadline: When it is over at the latest.
    /// - Returns: Why it failed, as a sentence; nil: it was called.
    package func call(_ address: String, until deadline: ContinuousClock.Instant) async -> String? {
        let exchange = await self.ask(address, until: deadline, wantsBody: false)
        if let status = exchange.status, (200..<300).contains(status) { return nil }
        guard case .fault(let fault) = exchange.answer else { return nil }
        return fault.description
    }

    private func ask(
        _ address: String,
        until deadline: ContinuousClock.Instant,
        wantsBody: Bool
    ) async -> AdServerExchange {
        let begin = ContinuousClock.now
        var exchange = AdServerExchange(address: address, answer: .fault(.timedOut("It was not asked in time.")))
        while true {
            exchange.attempts += 1
            exchange.redirects = 0
            exchange.status = nil
            let mayRetry: Bool
            do throws(Ending) {
                exchange.answer = .document([], charset: nil)
                try await self.follow(&exchange, until: deadline, wantsBody: wantsBody)
                mayRetry = false
            } catch {
                exchange.answer = .fault(error.fault)
                mayRetry = error.mayRetry
            }
            exchange.time = .now - begin
            guard mayRetry, exchange.attempts < self.limits.attemptsMax,
                ContinuousClock.now + self.limits.retryDelay < deadline,
                (try? await Task.sleep(for: self.limits.retryDelay)) != nil
            else { return exchange }
        }
    }

    /// The end of an attempt without a document.
    private struct Ending: Error {
        let fault: VASTDocumentFault
        var mayRetry = false
    }

    private func follow(
        _ exchange: inout AdServerExchange,
        until deadline: ContinuousClock.Instant,
        wantsBody: Bool
    ) async throws(Ending) {
        guard var url = URL(string: exchange.address), HTTPFetcher.isWebAddress(url) else {
            throw Ending(fault: .refused("The address is none of http or https."))
        }
        while true {
            let answer = try await self.answer(at: url, until: deadline, wantsBody: wantsBody)
            exchange.status = answer.status
            switch answer.status {
            case 200 where !wantsBody: return
            case 200: return try self.read(answer, of: url, into: &exchange)
            case 204: throw Ending(fault: .noContent)
            case _ where answer.isRedirect:
                guard exchange.redirects < self.limits.redirectsMax else {
                    let most = self.limits.redirectsMax
                    throw Ending(fault: .unavailable("\(url.shown) leads over more than \(most) redirects."))
                }
                let location = answer.header("Location") ?? ""
                guard !location.isEmpty, let target = URL(string: location, relativeTo: url)?.absoluteURL,
                    HTTPFetcher.mayFollow(target, from: url)
                else {
                    throw Ending(fault: .refused("\(url.shown) leads to an address that may not be followed."))
                }
                exchange.redirects += 1
                url = target
            case 502, 503, 504:
                let fault = VASTDocumentFault.unavailable("\(url.shown) answers with status \(answer.status).")
                throw Ending(fault: fault, mayRetry: true)
            default: throw Ending(fault: .unavailable("\(url.shown) answers with status \(answer.status)."))
            }
        }
    }

    private func answer(
        at url: URL,
        until deadline: ContinuousClock.Instant,
        wantsBody: Bool
    ) async throws(Ending) -> DirectConnection.Answer {
        guard let request = DirectConnection.Request(url, wantsBody: wantsBody) else {
            throw Ending(fault: .refused("\(url.shown) has a user name or a port that cannot be used."))
        }
        let addresses: [HostAddress]
        let (hosts, host) = (self.hosts, request.host)
        switch await Self.result(until: deadline, { await hosts.verdict(on: host) }) {
        case nil: throw Ending(fault: .timedOut("The addresses of the host \(host) were not found in time."))
        case .allowed(let found): addresses = found
        case .unknown: throw Ending(fault: .unavailable("The host \(host) has no address."))
        case .isPrivate(let sentence): throw Ending(fault: .refused(sentence))
        }
        do throws(DirectConnection.Failure) {
            return try await self.connection.get(request, at: addresses, until: deadline)
        } catch {
            switch error {
            case .timedOut(let end): throw Ending(fault: .timedOut("\(url.shown) \(end)."))
            case .broken(let end, let mayRetry):
                throw Ending(fault: .unavailable("\(url.shown) \(end)."), mayRetry: mayRetry)
            case .tooLarge: throw Ending(fault: self.tooLarge)
            }
        }
    }

    /// The result of some work; nil: it did not end in time.
    ///
    /// The system's resolver cannot be stopped: its task goes on alone until it has answered.
    private static func result<Value: Sendable>(
        until deadline: ContinuousClock.Instant,
        _ work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let (results, sink) = AsyncStream.makeStream(of: Value?.self, bufferingPolicy: .bufferingOldest(1))
        Task(name: "Lookup of a host") { sink.yield(await work()) }
        let timer = Task(name: "Deadline of a lookup") {
            if (try? await Task.sleep(until: deadline, clock: .continuous)) != nil { sink.yield(nil) }
        }
        defer { timer.cancel() }
        for await result in results { return result }
        return nil
    }

    private func read(
        _ answer: DirectConnection.Answer,
        of url: URL,
        into exchange: inout AdServerExchange
    ) throws(Ending) {
        var body = answer.body
        switch answer.header("Content-Encoding")?.lowercased() ?? "identity" {
        case "identity", "": break
        case "gzip", "x-gzip":
            do throws(Gzip.Fault) {
                body = try Gzip.inflated(body, bytesMax: self.limits.answerBytesMax)
            } catch .tooLarge {
                throw Ending(fault: self.tooLarge)
            } catch {
                throw Ending(fault: .unavailable("\(url.shown) answers with gzip that cannot be read."))
            }
        case let other:
            let shown = other.prefix(40).filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
            throw Ending(fault: .unavailable("\(url.shown) answers in the encoding \(shown), which was not asked for."))
        }
        exchange.bytes = body.count
        exchange.answer = .document(body, charset: Self.charset(answer.header("Content-Type")))
    }

    /// The `charset` of a `Content-Type` (RFC 9110 section 8.3); nil: there is none.
    private static func charset(_ contentType: String?) -> String? {
        for parameter in (contentType ?? "").split(separator: ";").dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces).lowercased() == "charset" else {
                continue
            }
            let value = parts[1].trimmingCharacters(in: CharacterSet(charactersIn: " \t\""))
            return value.isEmpty ? nil : value
        }
        return nil
    }

    private var tooLarge: VASTDocumentFault {
        let name = AdFormatLimits.Name.documentBytesMax.rawValue
        return .unreadable(.tooLarge(limit: name, maximum: self.limits.answerBytesMax))
    }
}
