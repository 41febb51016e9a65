// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import NIOCore

/// An event of a socket or a pipe.
enum Arrival: Hashable, Sendable {
    /// Bytes, with the time at which they came, in milliseconds since 1970.
    case bytes([UInt8], atMilliseconds: Int)
    /// Nothing came for as long as is waited.
    case silence
}

/// Notes when bytes come: where they wait before they are read, they have the right time.
final class ArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = Arrival

    private let now: @Sendable () -> Int

    init(now: @escaping @Sendable () -> Int) { self.now = now }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Array(self.unwrapInboundIn(data).readableBytesView)
        context.fireChannelRead(self.wrapInboundOut(.bytes(bytes, atMilliseconds: self.now())))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let idle = event as? IdleStateHandler.IdleStateEvent, case .read = idle else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        context.fireChannelRead(self.wrapInboundOut(.silence))
        context.fireChannelReadComplete()
    }
}

/// Takes datagrams out of what they come with.
final class DatagramOpener: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias InboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(self.wrapInboundOut(self.unwrapInboundIn(data).data))
    }
}

@available(*, unavailable)
extension ArrivalHandler: Sendable {}
@available(*, unavailable)
extension DatagramOpener: Sendable {}
