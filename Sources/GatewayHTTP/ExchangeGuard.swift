// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import NIOCore
import NIOHTTPTypes

/// Bounds what one connection can cost.
///
/// Nothing here takes a body: bodies are dropped before anybody waits for them. A head that is not here in time ends the
/// connection, however its bytes trickle in; so does an answer that cannot be sent in time.
final class ExchangeGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let idleTimeout: TimeAmount
    private let exchangeTimeout: TimeAmount
    private let connections: Connections
    private var deadline: Scheduled<Void>?
    /// Requests whose answers are not sent.
    private var pending = 0
    /// Bytes of the answer that is being written.
    private var answerBytes = 0

    init(idleTimeout: Duration, exchangeTimeout: Duration, connections: Connections) {
        self.idleTimeout = TimeAmount(idleTimeout)
        self.exchangeTimeout = TimeAmount(exchangeTimeout)
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.connections.opened(context.channel)
        self.setDeadline(self.idleTimeout, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.deadline?.cancel()
        self.connections.closed(context.channel)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head:
            self.connections.began(context.channel)
            self.pending += 1
            if self.pending == 1 { self.setDeadline(self.exchangeTimeout, context) }
            context.fireChannelRead(data)
        case .body: break
        case .end: context.fireChannelRead(data)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch self.unwrapOutboundIn(data) {
        case .head: break
        case .body(let part):
            self.answerBytes += part.readableBytes
            self.connections.answering(context.channel, bytes: part.readableBytes)
        case .end:
            let bytes = self.answerBytes
            self.answerBytes = 0
            let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
            let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
            sent.futureResult.whenSuccess { bound.value.handler.answered(bytes: bytes, bound.value.context) }
            return context.write(data, promise: sent)
        }
        context.write(data, promise: promise)
    }

    private func answered(bytes: Int, _ context: ChannelHandlerContext) {
        // A request that cannot be understood is answered although its head never came.
        self.pending = max(0, self.pending - 1)
        self.setDeadline(self.pending > 0 ? self.exchangeTimeout : self.idleTimeout, context)
        self.connections.answered(context.channel, bytes: bytes)
    }

    private func setDeadline(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        self.deadline?.cancel()
        let channel = context.channel
        self.deadline = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}

@available(*, unavailable)
extension ExchangeGuard: Sendable {}
