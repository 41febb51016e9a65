// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import NIOCore
import NIOHTTPTypes

/// Bounds what one exchange of a connection can cost.
///
/// Nothing here takes a body: bodies are dropped before anybody waits for them, so that the idle time-out behind this
/// handler ends a request whose body does not end. An exchange whose answer cannot be sent in time ends with its
/// connection.
final class ExchangeGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let timeout: TimeAmount
    private var deadline: Scheduled<Void>?

    init(timeout: Duration) {
        self.timeout = TimeAmount(timeout)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head:
            self.deadline?.cancel()
            let channel = context.channel
            self.deadline = context.eventLoop.scheduleTask(in: self.timeout) {
                channel.close(promise: nil)
            }
            context.fireChannelRead(data)
        case .body: break
        case .end: context.fireChannelRead(data)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = self.unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
        let deadline = self.deadline
        sent.futureResult.whenComplete { _ in deadline?.cancel() }
        context.write(data, promise: sent)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.deadline?.cancel()
    }
}

@available(*, unavailable)
extension ExchangeGuard: Sendable {}
