// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if os(Linux)
import NIOCore
import NIOPosix
import NIOSSL

/// The treatment of each connection that a server accepts.
struct ServerPlan: Sendable {
    /// The port of 127.0.0.1 that its bytes go to; `nil`: nowhere.
    var target: Int?
    /// The bytes that are sent at once.
    var says: [UInt8] = []
    /// Said again and again, as fast as it is taken.
    var repeats = false
    var identity: TestAuthority.Identity?
    var tls: (@Sendable (inout TLSConfiguration) -> Void)?
}

/// A server of a test's own on 127.0.0.1, plain or with TLS: it passes all on to a port there, or says what a test wants said.
final class TestServer: Sendable {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let listener: any Channel
    let port: Int

    init(_ plan: ServerPlan) async throws {
        let context = try plan.identity.map { identity in
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(identity.certificate.utf8))
                    .map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.key.utf8), format: .pem))
            )
            plan.tls?(&configuration)
            return try NIOSSLContext(configuration: configuration)
        }
        self.listener = try await ServerBootstrap(group: self.group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let context {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    }
                    if let target = plan.target {
                        try channel.pipeline.syncOperations.addHandler(Relay(to: target))
                    } else {
                        try channel.pipeline.syncOperations.addHandler(Speaker(plan))
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        self.port = self.listener.localAddress?.port ?? 0
    }

    func stop() async {
        try? await self.listener.close()
        try? await self.group.shutdownGracefully()
    }
}

/// Says what its plan says, and takes what comes without a word.
private final class Speaker: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let plan: ServerPlan

    init(_ plan: ServerPlan) { self.plan = plan }

    func channelActive(context: ChannelHandlerContext) { self.speak(context) }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if self.plan.repeats { self.speak(context) }
    }

    private func speak(_ context: ChannelHandlerContext) {
        guard !self.plan.says.isEmpty else { return }
        repeat {
            let bytes = context.channel.allocator.buffer(bytes: self.plan.says)
            context.writeAndFlush(self.wrapOutboundOut(bytes), promise: nil)
        } while self.plan.repeats && context.channel.isActive && context.channel.isWritable
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// One end of a connection whose other end is another server.
private final class Relay: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let target: Int?
    private var other: (any Channel)?
    /// The bytes that come before the other end is there.
    private var waiting: [ByteBuffer] = []

    init(to target: Int) { self.target = target }

    private init(back other: any Channel) {
        self.target = nil
        self.other = other
    }

    func channelActive(context: ChannelHandlerContext) {
        guard let target else { return }
        let (loop, channel) = (context.eventLoop, context.channel)
        let relay = NIOLoopBound(self, eventLoop: loop)
        ClientBootstrap(group: loop)
            .channelInitializer { made in
                made.eventLoop.makeCompletedFuture {
                    try made.pipeline.syncOperations.addHandler(Relay(back: channel))
                }
            }
            .connect(host: "127.0.0.1", port: target)
            .whenComplete { result in
                switch result {
                case .success(let made): relay.value.connected(made)
                case .failure: channel.close(promise: nil)
                }
            }
    }

    private func connected(_ channel: any Channel) {
        self.other = channel
        for buffer in self.waiting { channel.writeAndFlush(buffer, promise: nil) }
        self.waiting = []
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = self.unwrapInboundIn(data)
        if let other {
            other.writeAndFlush(buffer, promise: nil)
        } else {
            self.waiting.append(buffer)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { self.other?.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
#endif
