// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One exchange from connecting to its end, whichever comes first.
final class RunningExchange: Sendable {
    typealias Outcome = Result<HTTPExchange.Answer, HTTPExchange.Failure>

    /// How long a server may take to say goodbye, once the answer is here.
    private static let goodbyeMax = TimeAmount.milliseconds(100)

    private let target: String
    private let endpoint: HTTPEndpoint
    private let headers: [String: String]
    private let limits: HTTPExchange.Limits
    private let loop: any EventLoop
    private let promise: EventLoopPromise<Outcome>
    /// Gets events as they come; `nil`: the answer is put together.
    private let receive: (@Sendable (ServerEvent) -> Bool)?

    init(
        _ target: String,
        at endpoint: HTTPEndpoint,
        headers: [String: String],
        limits: HTTPExchange.Limits,
        on loop: any EventLoop,
        receive: (@Sendable (ServerEvent) -> Bool)? = nil
    ) {
        self.receive = receive
        self.target = target
        self.endpoint = endpoint
        self.headers = headers
        self.limits = limits
        self.loop = loop
        self.promise = loop.makePromise(of: Outcome.self)
    }

    /// The first end counts.
    func end(_ outcome: Outcome) { self.promise.succeed(outcome) }

    /// Asks, and waits for the end.
    func result() async -> Outcome {
        let deadline = self.limits.exchangeMax.map { exchangeMax in
            self.loop.scheduleTask(in: TimeAmount(exchangeMax)) { self.end(.failure(.tooSlow(exchangeMax))) }
        }
        self.connect()
        let outcome = try? await self.promise.futureResult.get()
        deadline?.cancel()
        return outcome ?? .failure(.unreachable("it was not asked"))
    }

    private func connect() {
        let encryption: NIOSSLContext?
        do {
            // Here, because the system's certificates are a file, which is not read on the loop.
            encryption = try self.endpoint.trust.map { try Self.context(for: $0) }
        } catch {
            return self.end(.failure(.unreachable("this machine's certificates cannot be read: \(error)")))
        }
        let bootstrap = ClientBootstrap(group: self.loop)
            .connectTimeout(TimeAmount(self.limits.silenceMax))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.prepare(channel, encryption) }
            }
        let address = self.endpoint.address
        let connected: EventLoopFuture<any Channel>
        // A name is looked up on a thread of its own, which an address does not need.
        if let socketAddress = try? SocketAddress(ipAddress: address.host, port: Int(address.port)) {
            connected = bootstrap.connect(to: socketAddress)
        } else {
            connected = bootstrap.connect(host: address.host, port: Int(address.port))
        }
        connected.whenComplete { result in
            switch result {
            case .success(let channel): self.promise.futureResult.whenComplete { _ in channel.close(promise: nil) }
            case .failure(let error):
                self.end(.failure(ExchangeFaults.failure(error, nil, self.endpoint.trust, self.limits)))
            }
        }
    }

    private func prepare(_ channel: any Channel, _ encryption: NIOSSLContext?) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(SpokenCheck(isEncrypted: encryption != nil, exchange: self))
        if let encryption { try pipeline.addHandler(try self.client(encryption)) }
        try pipeline.addHTTPClientHandlers()
        var fields = HTTPHeaders(self.headers.map { ($0, $1) })
        fields.replaceOrAdd(name: "Host", value: self.endpoint.address.hostAndPort)
        fields.replaceOrAdd(name: "Connection", value: "close")
        try pipeline.addHandler(
            AnswerCollector(
                HTTPRequestHead(version: .http1_1, method: .GET, uri: self.target, headers: fields),
                self.limits,
                self.endpoint.trust,
                exchange: self,
                receive: self.receive
            )
        )
    }

    // MARK: - TLS

    private static func context(for trust: HTTPTrust) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        configuration.shutdownTimeout = Self.goodbyeMax
        switch trust {
        case .system: break
        case .roots(let pem): configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(pem))
        case .certificate:
            // It is compared as a whole, so what it says of itself does not matter.
            configuration.trustRoots = .certificates([])
            configuration.certificateVerification = .noHostnameVerification
        }
        return try NIOSSLContext(configuration: configuration)
    }

    private func client(_ context: NIOSSLContext) throws -> NIOSSLClientHandler {
        let host = self.endpoint.address.host
        // An address is no server name; the certificate is compared with the address then.
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        let name = isAddress ? nil : host
        guard case .certificate(let pem)? = self.endpoint.trust else {
            return try NIOSSLClientHandler(context: context, serverHostname: name)
        }
        let expected = try NIOSSLCertificate.fromPEMBytes(pem).first.map { try $0.toDERBytes() }
        return try NIOSSLClientHandler(
            context: context,
            serverHostname: name,
            customVerificationCallback: { shown, promise in
                let isExpected = (try? shown.first?.toDERBytes()).map { $0 == expected } ?? false
                promise.succeed(isExpected ? .certificateVerified : .failed)
            }
        )
    }
}

/// Stands at the socket, and sees by the first byte whether the server speaks TLS where it should, and only there.
private final class SpokenCheck: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The first bytes of TLS records (RFC 8446 section 5.1).
    private static let recordTypes: ClosedRange<UInt8> = 20...23

    private let isEncrypted: Bool
    private let exchange: RunningExchange
    private var hasLooked = false

    init(isEncrypted: Bool, exchange: RunningExchange) {
        self.isEncrypted = isEncrypted
        self.exchange = exchange
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !self.hasLooked, let first = self.unwrapInboundIn(data).readableBytesView.first {
            self.hasLooked = true
            if Self.recordTypes.contains(first) != self.isEncrypted {
                return self.exchange.end(.failure(self.isEncrypted ? .plain : .encrypted))
            }
        }
        context.fireChannelRead(data)
    }
}

/// Asks, and puts the answer together.
private final class AnswerCollector: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let request: HTTPRequestHead
    private let limits: HTTPExchange.Limits
    private let trust: HTTPTrust?
    private let exchange: RunningExchange
    private let receive: (@Sendable (ServerEvent) -> Bool)?
    private var silence: Scheduled<Void>?
    private var status = 0
    private var body: [UInt8] = []
    /// Reads the body where it has events.
    private var events: EventReader?
    /// Whether no more events are wanted.
    private var isOver = false

    init(
        _ request: HTTPRequestHead,
        _ limits: HTTPExchange.Limits,
        _ trust: HTTPTrust?,
        exchange: RunningExchange,
        receive: (@Sendable (ServerEvent) -> Bool)?
    ) {
        self.receive = receive
        self.request = request
        self.limits = limits
        self.trust = trust
        self.exchange = exchange
    }

    func channelActive(context: ChannelHandlerContext) {
        self.listen(context)
        // With TLS it waits until the handshake is done.
        context.write(self.wrapOutboundOut(.head(self.request)), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.listen(context)
        switch self.unwrapInboundIn(data) {
        case .head(let head):
            self.status = Int(head.status.code)
            let type = head.headers.first(name: "Content-Type") ?? ""
            if self.receive != nil, self.status == 200, type.lowercased().hasPrefix("text/event-stream") {
                self.events = EventReader(eventBytesMax: self.limits.answerBytesMax)
                return
            }
            if let length = head.headers.first(name: "Content-Length").flatMap({ Int($0) }) { self.check(length) }
        case .body(let part) where self.events != nil: self.read(part)
        case .body(let part):
            guard self.check(self.body.count + part.readableBytes) else { return }
            self.body += part.readableBytesView
        case .end:
            guard self.trust != nil || !ExchangeFaults.isCallForTLS(self.status, self.body) else {
                return self.exchange.end(.failure(.encrypted))
            }
            self.exchange.end(.success(HTTPExchange.Answer(status: self.status, body: Data(self.body))))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.silence?.cancel()
        let what = self.status == 0 ? "without an answer" : "before its answer was whole"
        self.exchange.end(.failure(.unreachable("it closed the connection \(what)")))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.exchange.end(.failure(ExchangeFaults.failure(error, context.channel, self.trust, self.limits)))
    }

    /// Passes events on, until one is not wanted.
    private func read(_ part: ByteBuffer) {
        guard let receive = self.receive else { return }
        do throws(EventReader.TooLarge) {
            for event in try self.events?.take(part.readableBytesView) ?? [] where !self.isOver {
                guard !receive(event) else { continue }
                self.isOver = true
                self.exchange.end(.success(HTTPExchange.Answer(status: self.status, body: Data())))
            }
        } catch {
            self.exchange.end(.failure(.tooLarge(bytes: self.limits.answerBytesMax)))
        }
    }

    /// Waits for the next word.
    private func listen(_ context: ChannelHandlerContext) {
        self.silence?.cancel()
        let (exchange, silenceMax) = (self.exchange, self.limits.silenceMax)
        self.silence = context.eventLoop.scheduleTask(in: TimeAmount(silenceMax)) {
            exchange.end(.failure(.silent(silenceMax)))
        }
    }

    @discardableResult
    private func check(_ bytes: Int) -> Bool {
        guard bytes > self.limits.answerBytesMax else { return true }
        self.exchange.end(.failure(.tooLarge(bytes: self.limits.answerBytesMax)))
        return false
    }
}

@available(*, unavailable)
extension SpokenCheck: Sendable {}
@available(*, unavailable)
extension AnswerCollector: Sendable {}
