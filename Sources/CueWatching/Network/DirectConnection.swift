// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// One GET at one address of a host, that is given up in time whatever the server does.
///
/// It follows no redirects, keeps no connection, and uses no proxies.
package struct DirectConnection: Sendable {
    /// The bounds of a request.
    package struct Bounds: Hashable, Sendable {
        /// The most addresses of a host that are tried.
        package var addressesMax: Int
        /// How long one address is tried.
        package var connectTimeMax: Duration
        /// The largest body, in bytes.
        package var bodyBytesMax: Int

        package init(addressesMax: Int, connectTimeMax: Duration, bodyBytesMax: Int) {
            self.addressesMax = addressesMax
            self.connectTimeMax = connectTimeMax
            self.bodyBytesMax = bodyBytesMax
        }
    }

    /// A request.
    package struct Request: Sendable {
        /// The host as the header `Host` has it, with a port that is not the usual one.
        let authority: String
        /// The host without brackets; a certificate must be for it.
        package let host: String
        let port: Int
        /// Path and query, from the slash on.
        let target: String
        let isEncrypted: Bool
        /// Whether the body of an answer with status 200 is wanted.
        let wantsBody: Bool

        /// Whether the host is an address and no name.
        var isAddress: Bool { (try? SocketAddress(ipAddress: self.host, port: 0)) != nil }
    }

    /// The answer of a server.
    package struct Answer: Sendable {
        package let status: Int
        let headers: HTTPHeaders
        /// Empty unless the status is 200.
        package let body: [UInt8]

        /// The address that a redirect leads to, as the head has it; `nil`: it is no redirect, or names none.
        var location: String? { self.isRedirect ? self.header("Location") : nil }

        /// Whether it leads to another address (RFC 9110 section 15.4).
        package var isRedirect: Bool { [301, 302, 303, 307, 308].contains(self.status) }

        /// The first header of a name, in any case.
        package func header(_ name: String) -> String? { self.headers.first(name: name) }
    }

    /// Why there is no answer: the end of a sentence that begins with the address.
    package enum Failure: Error, Hashable, Sendable {
        /// The time was over.
        case timedOut(String)
        /// There is no connection, or it broke; whether another attempt may have more luck.
        case broken(String, mayRetry: Bool)
        /// There are more bytes than may be.
        case tooLarge
    }

    private let bounds: Bounds
    /// The headers beside `Host` and `Connection`.
    private let headers: [String: String]
    /// The rules of TLS, for https.
    private let encryption: NIOSSLContext

    /// A way to ask.
    ///
    /// - Parameters:
    ///   - bounds: the bounds of each request.
    ///   - headers: the headers beside `Host` and `Connection`.
    ///   - roots: certificates (PEM) that those of servers are checked against; `nil`: the system's.
    /// - Throws: why the certificates cannot be used.
    package init(bounds: Bounds, headers: [String: String], roots: [UInt8]?) throws {
        self.bounds = bounds
        self.headers = headers
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        configuration.shutdownTimeout = .milliseconds(100)
        if let roots { configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(roots)) }
        self.encryption = try NIOSSLContext(configuration: configuration)
    }

    /// Asks at the first of some addresses that takes the connection.
    ///
    /// - Parameters:
    ///   - request: What is asked.
    ///   - addresses: The addresses of the host that may be asked; only these are.
    ///   - deadline: When it is over at the latest.
    /// - Returns: The answer.
    /// - Throws: Why there is none.
    package func get(
        _ request: Request,
        at addresses: [HostAddress],
        until deadline: ContinuousClock.Instant
    ) async throws(Failure) -> Answer {
        var failure = Failure.broken("has no address", mayRetry: false)
        for address in addresses.prefix(max(self.bounds.addressesMax, 1)) {
            let left = deadline - .now
            guard left > .zero else { throw .timedOut("did not answer in time") }
            let exchange = RunningExchange(bodyBytesMax: max(self.bounds.bodyBytesMax, 0), request: request)
            let connectTime = min(left, max(self.bounds.connectTimeMax, .milliseconds(1)))
            let timer = exchange.loop.scheduleTask(in: TimeAmount(left)) {
                exchange.end(.failure(.timedOut("did not answer in time")))
            }
            defer { timer.cancel() }
            do {
                let place = try SocketAddress(packedIPAddress: ByteBuffer(bytes: address.bytes), port: request.port)
                let channel = try await ClientBootstrap(group: exchange.loop)
                    .connectTimeout(TimeAmount(connectTime))
                    .channelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture { try self.prepare(channel, exchange) }
                    }
                    .connect(to: place)
                    .get()
                let outcome = await withTaskCancellationHandler {
                    await exchange.outcome()
                } onCancel: {
                    exchange.end(.failure(.broken("was given up", mayRetry: false)))
                }
                channel.close(promise: nil)
                return try outcome.get()
            } catch let error as Failure {
                throw error
            } catch ChannelError.connectTimeout {
                failure = .timedOut("did not take the connection within \(self.bounds.connectTimeMax)")
            } catch {
                failure = Self.failure(error, nil)
            }
            exchange.end(.failure(failure))
        }
        throw failure
    }

    private func prepare(_ channel: any Channel, _ exchange: RunningExchange) throws {
        let pipeline = channel.pipeline.syncOperations
        if exchange.request.isEncrypted {
            // An address is no server name; the certificate is compared with the address then.
            let name = exchange.request.isAddress ? nil : exchange.request.host
            try pipeline.addHandler(try NIOSSLClientHandler(context: self.encryption, serverHostname: name))
        }
        try pipeline.addHTTPClientHandlers(leftOverBytesStrategy: .dropBytes)
        var headers: HTTPHeaders = ["Host": exchange.request.authority, "Connection": "close"]
        for (name, value) in self.headers { headers.add(name: name, value: value) }
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: exchange.request.target, headers: headers)
        try pipeline.addHandler(AnswerCollector(head, exchange))
    }

    /// The sentence of an error of a connection.
    static func failure(_ error: any Error, _ channel: (any Channel)?) -> Failure {
        switch error {
        case let error as IOError:
            switch error.errnoCode {
            case ECONNREFUSED: return .broken("refuses the connection", mayRetry: true)
            case ECONNRESET, EPIPE: return .broken("closed the connection without an answer", mayRetry: true)
            case ENETUNREACH, EHOSTUNREACH, ENETDOWN: return .broken("cannot be reached", mayRetry: false)
            case let code: return .broken("cannot be reached: error \(code) of the system", mayRetry: false)
            }
        case HTTPParserError.invalidEOFState:
            return .broken("closed the connection before its answer was whole", mayRetry: true)
        case HTTPParserError.headerOverflow: return .broken("sends more headers than are read", mayRetry: false)
        case is HTTPParserError: return .broken("does not speak HTTP", mayRetry: false)
        case NIOSSLError.uncleanShutdown, is NIOSSLCloseTimedOutError:
            return .broken("closed the connection before its answer was whole", mayRetry: true)
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            return .broken("is not trusted: its certificate is for another host", mayRetry: false)
        case NIOSSLError.handshakeFailed(let failure):
            return .broken(Self.sentence(ofHandshake: failure, channel), mayRetry: false)
        default: return .broken("cannot be asked: \(error)", mayRetry: false)
        }
    }

    /// The library only says that a certificate is invalid; the certificate itself shows why.
    private static func sentence(ofHandshake failure: BoringSSLError, _ channel: (any Channel)?) -> String {
        let text = "\(failure)"
        guard text.contains("CERTIFICATE_VERIFY_FAILED") else {
            return "could not agree on TLS: \(text.prefix(200))"
        }
        guard let handler = try? channel?.pipeline.syncOperations.handler(type: NIOSSLHandler.self),
            let certificate = handler.peerCertificate
        else { return "is not trusted: its certificate has no trusted issuer" }
        let now = time(nil)
        if certificate.notValidAfter < now { return "is not trusted: its certificate has expired" }
        if certificate.notValidBefore > now { return "is not trusted: its certificate is not valid yet" }
        return "is not trusted: its certificate has no trusted issuer"
    }
}

extension DirectConnection.Request {
    /// A request for an address; `nil`: it has a user, or no port that there is.
    ///
    /// - Parameters:
    ///   - url: the address, of http or https.
    ///   - wantsBody: whether the body of an answer with status 200 is wanted.
    package init?(_ url: URL, wantsBody: Bool) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), parts.user == nil,
            parts.password == nil, var host = url.host(percentEncoded: false), !host.isEmpty
        else { return nil }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        // It stands in a header; nothing may end its line there.
        guard host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let isEncrypted = url.scheme?.lowercased() == "https"
        let usual = isEncrypted ? 443 : 80
        let port = url.port ?? usual
        guard (1...65_535).contains(port) else { return nil }
        let shown = host.contains(":") ? "[\(host)]" : host
        let path = parts.percentEncodedPath
        self.init(
            authority: port == usual ? shown : "\(shown):\(port)",
            host: host,
            port: port,
            target: (path.isEmpty ? "/" : path) + (parts.percentEncodedQuery.map { "?\($0)" } ?? ""),
            isEncrypted: isEncrypted,
            wantsBody: wantsBody
        )
    }
}

/// A request on its way, and its end, whichever comes first.
private final class RunningExchange: Sendable {
    typealias Outcome = Result<DirectConnection.Answer, DirectConnection.Failure>

    let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
    let request: DirectConnection.Request
    let bodyBytesMax: Int
    private let promise: EventLoopPromise<Outcome>

    init(bodyBytesMax: Int, request: DirectConnection.Request) {
        self.bodyBytesMax = bodyBytesMax
        self.request = request
        self.promise = self.loop.makePromise(of: Outcome.self)
    }

    /// The first end counts.
    func end(_ outcome: Outcome) { self.promise.succeed(outcome) }

    func outcome() async -> Outcome {
        let outcome = try? await self.promise.futureResult.get()
        return outcome ?? .failure(.broken("was not asked", mayRetry: false))
    }
}

/// Asks, and puts the answer together.
private final class AnswerCollector: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let request: HTTPRequestHead
    private let exchange: RunningExchange
    private var head: HTTPResponseHead?
    private var body: [UInt8] = []

    init(_ request: HTTPRequestHead, _ exchange: RunningExchange) {
        self.request = request
        self.exchange = exchange
    }

    func channelActive(context: ChannelHandlerContext) {
        // With TLS it waits until the handshake is done.
        context.write(self.wrapOutboundOut(.head(self.request)), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head):
            guard self.isFromTheHost(context) else {
                let reason = "is not trusted: its certificate is for another host"
                return self.exchange.end(.failure(.broken(reason, mayRetry: false)))
            }
            self.head = head
            guard head.status == .ok, self.exchange.request.wantsBody else { return self.end(with: head) }
            self.check(head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0)
        case .body(let part):
            guard self.check(self.body.count + part.readableBytes) else { return }
            self.body += part.readableBytesView
        case .end: if let head = self.head { self.end(with: head) }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let when = self.head == nil ? "without an answer" : "before its answer was whole"
        self.exchange.end(.failure(.broken("closed the connection \(when)", mayRetry: true)))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.exchange.end(.failure(DirectConnection.failure(error, context.channel)))
        context.close(promise: nil)
    }

    /// Whether the certificate has the name of the host.
    ///
    /// The library also takes a certificate for the address of the connection, which a name that leads astray has too.
    private func isFromTheHost(_ context: ChannelHandlerContext) -> Bool {
        guard self.exchange.request.isEncrypted, !self.exchange.request.isAddress else { return true }
        let handler = try? context.pipeline.syncOperations.handler(type: NIOSSLHandler.self)
        guard let certificate = handler?.peerCertificate else { return false }
        var host = self.exchange.request.host.lowercased()
        if host.hasSuffix(".") { host.removeLast() }
        let parent = host.firstIndex(of: ".").map { host[$0...] }
        for name in certificate._subjectAlternativeNames() where name.nameType == .dnsName {
            let pattern = String(decoding: Array(name.contents), as: UTF8.self).lowercased()
            if pattern == host || (pattern.hasPrefix("*.") && pattern.dropFirst() == parent) { return true }
        }
        return false
    }

    private func end(with head: HTTPResponseHead) {
        let status = Int(head.status.code)
        self.exchange.end(
            .success(DirectConnection.Answer(status: status, headers: head.headers, body: self.body))
        )
    }

    @discardableResult
    private func check(_ bytes: Int) -> Bool {
        guard bytes > self.exchange.bodyBytesMax else { return true }
        self.body = []
        self.exchange.end(.failure(.tooLarge))
        return false
    }
}

@available(*, unavailable)
extension AnswerCollector: Sendable {}
