// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import GatewayDocuments
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import NIOTLS

/// HTTP inside TLS, with the certificate that holds when a connection is accepted.
///
/// What bounds a connection stands inside, and counts from when it is accepted: a handshake that is half is an idle connection.
struct EncryptedHTTPChannel<Inner: HTTPChannelHandler>: HTTPChannelHandler {
    let inner: Inner
    let identity: HTTPIdentityHolder
    let metrics: MetricRegistry

    var responder: Responder { self.inner.responder }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Inner.Value> {
        channel.eventLoop
            .makeCompletedFuture {
                let outcome = HandshakeOutcome(self.metrics)
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(TLSDetectionHandler(outcome))
                try pipeline.addHandler(NIOSSLServerHandler(context: self.identity.identity.context))
                try pipeline.addHandler(HandshakeWatch(outcome))
            }
            .flatMap { self.inner.setup(channel: channel, logger: logger) }
    }

    func handle(value: Inner.Value, logger: Logger) async {
        await withTaskCancellationHandler {
            await self.inner.handle(value: value, logger: logger)
        } onCancel: {
            // TLS has no half of a connection that could be closed alone.
            value.channel.close(promise: nil)
        }
    }
}

/// The outcome of a handshake: counted once, by the first finding.
private final class HandshakeOutcome {
    private let metrics: MetricRegistry
    private var isCounted = false

    init(_ metrics: MetricRegistry) {
        self.metrics = metrics
    }

    func count(_ result: MetricLabel) {
        guard !self.isCounted else { return }
        self.isCounted = true
        self.metrics.count(.httpHandshakes, result)
    }
}

/// Detects clients that speak without TLS and tells them to use https; also lets the gateway end a connection at once.
///
/// Its place in the pipeline is between the socket and TLS.
final class TLSDetectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The first byte of each record of a handshake (RFC 8446 section 5.1).
    private static let handshakeRecord: UInt8 = 22
    private static let sentence = "This port speaks TLS and nothing else: ask by https."

    private let outcome: HandshakeOutcome
    private var isPlain: Bool?

    fileprivate init(_ outcome: HandshakeOutcome) {
        self.outcome = outcome
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if self.isPlain == nil, let first = self.unwrapInboundIn(data).readableBytesView.first {
            self.isPlain = first != Self.handshakeRecord
            if self.isPlain == true { self.refuse(context) }
        }
        guard self.isPlain != true else { return }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Before TLS takes it for a fault of the handshake.
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { self.outcome.count(.gone) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.outcome.count(.gone)
        context.fireChannelInactive()
    }

    /// Says in plain what is wrong, and ends the connection.
    private func refuse(_ context: ChannelHandlerContext) {
        self.outcome.count(.plaintext)
        let body = HTTPAnswer.encoded(ProblemDocument(.encrypted, Self.sentence))
        let head = [
            "HTTP/1.1 400 Bad Request", "Content-Type: \(MediaType.problem)", "Content-Length: \(body.count)",
            "Cache-Control: no-store", "Connection: close",
        ]
        var answer = context.channel.allocator.buffer(string: head.joined(separator: "\r\n") + "\r\n\r\n")
        answer.writeBytes(body)
        context.writeAndFlush(self.wrapOutboundOut(answer), promise: nil)
        // Further input is not read: the answer must reach the peer before the connection is reset.
        context.close(mode: .output, promise: nil)
    }
}

/// Stands inside TLS, and sees that it speaks.
private final class HandshakeWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let outcome: HandshakeOutcome

    init(_ outcome: HandshakeOutcome) {
        self.outcome = outcome
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent { self.outcome.count(.done) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case NIOSSLError.handshakeFailed? = error as? NIOSSLError { self.outcome.count(.failed) }
        context.fireErrorCaught(error)
    }
}

@available(*, unavailable)
extension HandshakeOutcome: Sendable {}
@available(*, unavailable)
extension TLSDetectionHandler: Sendable {}
@available(*, unavailable)
extension HandshakeWatch: Sendable {}
