// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import NIOCore
import NIOHTTPTypes

/// Bounds what one connection can cost.
///
/// A head that is not here in time ends the connection, however its bytes trickle in; so does an answer that cannot be sent in
/// time, and with it a body that is not here by then. An answer that goes on (`streamBegan`) has no end in time: there the peer
/// must take something of what waits for it within the same time.
final class ExchangeGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The step that must happen in time.
    private enum Wait {
        /// A head, where no answer is asked for.
        case head
        /// The rest of an exchange.
        case exchange
        /// That the peer reads a part of a streamed answer.
        case taking

        /// The metric label if it does not happen in time; `nil`: closing an unused connection is not counted.
        var cut: MetricLabel? {
            switch self {
            case .head: nil
            case .exchange: .late
            case .taking: .stalled
            }
        }
    }

    /// The events that the maker of an answer reports.
    enum Event: Sendable {
        /// The answer goes on for as long as it likes.
        case streamBegan
    }

    private let idleTimeout: TimeAmount
    private let exchangeTimeout: TimeAmount
    private let connections: Connections
    private var deadline: Scheduled<Void>?
    /// Requests whose answers are not sent.
    private var pending = 0
    /// Bytes of the answer that is being written, and are not accounted for yet.
    private var answerBytes = 0
    /// Whether the answer that is being written goes on.
    private var isStream = false
    /// Pieces of it that wait for its peer.
    private var piecesWaiting = 0

    init(idleTimeout: Duration, exchangeTimeout: Duration, connections: Connections) {
        self.idleTimeout = TimeAmount(idleTimeout)
        self.exchangeTimeout = TimeAmount(exchangeTimeout)
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.connections.opened(context.channel)
        self.setDeadline(for: .head, context)
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
            if self.pending == 1 { self.setDeadline(for: .exchange, context) }
            context.fireChannelRead(data)
        case .body, .end: context.fireChannelRead(data)
        }
    }

    func triggerUserOutboundEvent(
        context: ChannelHandlerContext,
        event: Any,
        promise: EventLoopPromise<Void>?
    ) {
        guard case Event.streamBegan? = event as? Event else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        self.isStream = true
        self.deadline?.cancel()
        promise?.succeed()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A peer that closes its side does not read a streamed answer any more, and the answer would not notice for long.
        if self.isStream, case ChannelEvent.inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch self.unwrapOutboundIn(data) {
        case .head: break
        case .body(let part):
            let bytes = part.readableBytes
            self.connections.answering(context.channel, bytes: bytes)
            guard self.isStream else {
                self.answerBytes += bytes
                break
            }
            if self.piecesWaiting == 0 { self.setDeadline(for: .taking, context) }
            self.piecesWaiting += 1
            let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
            let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
            sent.futureResult.whenSuccess { bound.value.handler.sent(bytes: bytes, bound.value.context) }
            return context.write(data, promise: sent)
        case .end:
            let bytes = self.answerBytes
            self.answerBytes = 0
            self.isStream = false
            let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
            let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
            sent.futureResult.whenSuccess { bound.value.handler.answered(bytes: bytes, bound.value.context) }
            return context.write(data, promise: sent)
        }
        context.write(data, promise: promise)
    }

    /// A piece of an answer that goes on was taken.
    private func sent(bytes: Int, _ context: ChannelHandlerContext) {
        self.piecesWaiting -= 1
        self.connections.sent(context.channel, bytes: bytes)
        guard self.isStream else { return }
        self.deadline?.cancel()
        if self.piecesWaiting > 0 { self.setDeadline(for: .taking, context) }
    }

    private func answered(bytes: Int, _ context: ChannelHandlerContext) {
        // A request that cannot be understood is answered although its head never came.
        self.pending = max(0, self.pending - 1)
        self.setDeadline(for: self.pending > 0 ? .exchange : .head, context)
        self.connections.answered(context.channel, bytes: bytes)
    }

    /// Ends the connection, and counts that, unless this happens in time.
    private func setDeadline(for wait: Wait, _ context: ChannelHandlerContext) {
        self.deadline?.cancel()
        let (channel, connections) = (context.channel, self.connections)
        let time = if case .head = wait { self.idleTimeout } else { self.exchangeTimeout }
        self.deadline = context.eventLoop.scheduleTask(in: time) {
            if let reason = wait.cut { connections.cut(reason) }
            channel.close(promise: nil)
        }
    }
}

@available(*, unavailable)
extension ExchangeGuard: Sendable {}
