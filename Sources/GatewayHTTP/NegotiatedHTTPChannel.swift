// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOHTTPTypes
import NIOTLS

/// HTTP/2 or HTTP/1.1 on a connection, as its handshake agrees (ALPN, RFC 7301); HTTP/1.1 where nothing is agreed.
///
/// Each request of HTTP/2 has the bounds that a connection of HTTP/1.1 has (``ExchangeGuard``), and takes a place like one while it
/// lasts. The connection itself is bounded by ``NegotiationGuard``.
struct NegotiatedHTTPChannel: HTTPChannelHandler {
    enum Agreed: Sendable {
        case http1(HTTP1Channel.Value)
        case http2(HTTP2Channel.Value)
    }

    struct Value: ServerChildChannelValue {
        /// The negotiated protocol, once it is known; fails if the connection ends before.
        let agreed: EventLoopFuture<Agreed>
        let channel: any Channel
    }

    /// The offered protocols, the best first (RFC 9113 section 3.1).
    static let protocols = ["h2", "http/1.1"]

    private let http1: FirstHTTPChannel
    private let http2: HTTP2Channel
    private let idleTimeout: Duration
    private let connections: Connections

    /// - Parameters:
    ///   - responder: answers requests.
    ///   - configuration: the bounds.
    ///   - http1: how HTTP/1.1 is spoken; its handlers bound each request of HTTP/2, too.
    ///   - connections: the open ones.
    init(
        responder: @escaping Responder,
        configuration: GatewayHTTPConfiguration,
        http1: HTTP1Channel.Configuration,
        connections: Connections
    ) {
        self.http1 = FirstHTTPChannel(responder: responder, configuration: http1, isPlain: false)
        let handlers = http1.additionalChannelHandlers
        self.http2 = HTTP2Channel(
            responder: responder,
            configuration: HTTP2ChannelConfiguration(
                idleTimeout: configuration.idleTimeout,
                gracefulCloseTimeout: configuration.exchangeTimeout,
                streamConfiguration: HTTP1Channel.Configuration(
                    additionalChannelHandlers: [RequestPlace(connections)] + handlers()
                )
            )
        )
        self.idleTimeout = configuration.idleTimeout
        self.connections = connections
    }

    var responder: Responder { self.http1.responder }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let bounds = NegotiationGuard(idleTimeout: self.idleTimeout, connections: self.connections)
            try channel.pipeline.syncOperations.addHandler(bounds)
            let bound = NIOLoopBound(bounds, eventLoop: channel.eventLoop)
            let negotiation = NIOTypedApplicationProtocolNegotiationHandler<Agreed> { result in
                if case .negotiated("h2") = result {
                    return self.http2.setup(channel: channel, logger: logger).map { .http2($0) }
                }
                bound.value.handOver()
                return channel.pipeline.syncOperations.removeHandler(bound.value)
                    .flatMap { self.http1.setup(channel: channel, logger: logger) }
                    .map { .http1($0) }
            }
            try channel.pipeline.syncOperations.addHandler(negotiation)
            return Value(agreed: negotiation.protocolNegotiationResult, channel: channel)
        }
    }

    func handle(value: Value, logger: Logger) async {
        // It fails where the connection ended before, which is counted where that was seen.
        guard let agreed = try? await value.agreed.get() else { return }
        switch agreed {
        case .http1(let channel): await self.http1.handle(value: channel, logger: logger)
        case .http2(let channel): await self.http2.handle(value: channel, logger: logger)
        }
    }
}

/// Bounds a connection until it is known what is spoken on it, and one of HTTP/2 for as long as it lasts.
///
/// While no request of it is open the connection is idle: it ends when that lasts for too long, or when its place is wanted.
final class NegotiationGuard: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let idleTimeout: TimeAmount
    private let connections: Connections
    private var deadline: Scheduled<Void>?
    private var requests = 0
    private var isHandedOver = false

    init(idleTimeout: Duration, connections: Connections) {
        self.idleTimeout = TimeAmount(idleTimeout)
        self.connections = connections
    }

    /// Its place in the book goes to the handler that comes next.
    func handOver() {
        self.isHandedOver = true
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.connections.opened(context.channel)
        self.setDeadline(self.idleTimeout, context.channel)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.deadline?.cancel()
        if !self.isHandedOver { self.connections.closed(context.channel) }
    }

    /// A request of HTTP/2 has begun.
    func requestBegan(of channel: any Channel) {
        self.requests += 1
        guard self.requests == 1 else { return }
        self.deadline?.cancel()
        self.connections.began(channel)
    }

    /// A request of HTTP/2 has ended.
    func requestEnded(of channel: any Channel) {
        self.requests -= 1
        guard self.requests == 0 else { return }
        // After the idle time the peer is told to go; one that stays all the same is closed after as much again.
        self.setDeadline(self.idleTimeout * 2, channel)
        self.connections.answered(channel, bytes: 0)
    }

    private func setDeadline(_ time: TimeAmount, _ channel: any Channel) {
        self.deadline?.cancel()
        self.deadline = channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}

/// The place that a request of HTTP/2 takes; where there is none the request is refused, and may be sent again.
final class RequestPlace: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let connections: Connections
    private var bounds: NegotiationGuard?

    init(_ connections: Connections) {
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        guard let connection = context.channel.parent,
            let bounds = try? connection.pipeline.syncOperations.handler(type: NegotiationGuard.self)
        else { return }
        self.bounds = bounds
        bounds.requestBegan(of: connection)
        guard !self.connections.mayOpen() else { return }
        let request = context.channel
        // It cannot be closed while it is being made.
        context.eventLoop.execute { request.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        guard let bounds, let connection = context.channel.parent else { return }
        self.bounds = nil
        bounds.requestEnded(of: connection)
    }
}

@available(*, unavailable)
extension NegotiationGuard: Sendable {}
@available(*, unavailable)
extension RequestPlace: Sendable {}
