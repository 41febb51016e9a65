// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// HTTP/1.1 on a connection, and HTTP/1.0, whose connections end with their first answer.
struct FirstHTTPChannel: HTTPChannelHandler {
    private let inner: HTTP1Channel
    private let isPlain: Bool

    /// - Parameters:
    ///   - responder: answers requests.
    ///   - configuration: the bounds.
    ///   - isPlain: whether nothing stands between the socket and HTTP.
    init(responder: @escaping Responder, configuration: HTTP1Channel.Configuration, isPlain: Bool) {
        self.inner = HTTP1Channel(responder: responder, configuration: configuration)
        self.isPlain = isPlain
    }

    var responder: Responder { self.inner.responder }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        let isPlain = self.isPlain
        return self.inner.setup(channel: channel, logger: logger)
            .flatMapThrowing { value in
                let pipeline = channel.pipeline.syncOperations
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                try pipeline.addHandler(FirstVersions(isPlain: isPlain), position: .after(decoder))
                return value
            }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await self.inner.handle(value: value, logger: logger)
    }
}

/// Hides the differences between the two versions of HTTP/1 from the handlers behind it.
///
/// Marks the request whose answer is the last on its connection (RFC 9112 section 9.3), in the one way that is looked for behind it.
/// That is one of HTTP/1.0: its peer may take the end of the connection for that of the answer. That it asks to go on (`keep-alive`) is
/// not taken up, as a server need not. And it is one that says `close`, however that is written.
///
/// Answers HTTP/1.0 in HTTP/1.0, which knows no chunks (RFC 9112 section 6.1): an answer whose length is not known ends with the
/// connection.
///
/// Knows whether the answer at hand can go on without the server (``TakenSocket``).
final class FirstVersions: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Of the requests that are not answered, in their order.
    private var versions = CircularBuffer<HTTPVersion>()
    /// Whether the last of them has come in full.
    private var hasWholeRequest = false
    private let isPlain: Bool

    /// - Parameter isPlain: whether nothing stands between the socket and HTTP.
    init(isPlain: Bool) {
        self.isPlain = isPlain
    }

    /// Whether the socket has nothing for the server but the one answer at hand.
    var letsSocketGo: Bool { self.isPlain && self.versions.count == 1 && self.hasWholeRequest }

    /// Whether the body of the answer at hand is in chunks.
    var isChunked: Bool { self.versions.first != .http1_0 }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = self.unwrapInboundIn(data)
        if case .end = part { self.hasWholeRequest = true }
        guard case .head(var head) = part else { return context.fireChannelRead(data) }
        self.hasWholeRequest = false
        self.versions.append(head.version)
        guard head.version == .http1_0 || !head.isKeepAlive else { return context.fireChannelRead(data) }
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        context.fireChannelRead(self.wrapInboundOut(.head(head)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch self.unwrapOutboundIn(data) {
        case .head(var head):
            guard self.versions.first == .http1_0 else { break }
            head.version = .http1_0
            return context.write(self.wrapOutboundOut(.head(head)), promise: promise)
        case .body: break
        case .end: _ = self.versions.popFirst()
        }
        context.write(data, promise: promise)
    }
}

@available(*, unavailable)
extension FirstVersions: Sendable {}
