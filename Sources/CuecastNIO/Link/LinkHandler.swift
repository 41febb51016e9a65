// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Cuecast
internal import NIOCore
internal import NIOTLS

/// An object that is told what becomes of a channel, on its loop.
protocol LinkOwner: AnyObject {
    func happened(_ event: WireLink.Event, on channel: WireLink.Channel)
    /// So many messages of what was read were neither a notice nor a reply.
    func dropped(_ count: Int)
    /// The channel is of no use any more.
    func failed(_ reason: String, on channel: WireLink.Channel)
}

/// Speaks ZMTP on one channel, also over WebSocket: drives `WireLink` and `Heartbeat` with what happens there.
final class LinkHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let timings: LinkTimings
    /// Says why the peer is not to be talked to, once the channel is encrypted; `nil`: it is plain, or was looked at before.
    private let inspect: ((any Channel) -> String?)?
    private weak var owner: (any LinkOwner)?
    private var link: WireLink
    private var heartbeat: Heartbeat?
    private var timer: Scheduled<Void>?
    private var timerAt: NIODeadline?
    private var context: ChannelHandlerContext?
    /// Whether events are being handed out: what they lead to is sent together.
    private var isReading = false
    private var isOver = false

    init(
        _ channel: WireLink.Channel,
        timings: LinkTimings,
        over webSocket: WebSocketAddress? = nil,
        owner: any LinkOwner,
        inspect: ((any Channel) -> String?)? = nil
    ) {
        self.link = WireLink(channel, over: webSocket)
        self.timings = timings
        self.owner = owner
        self.inspect = inspect
    }

    // MARK: What the client wants

    /// Sends a request; where it cannot go it is dropped.
    func send(_ request: [UInt8]) {
        guard let context, context.channel.isWritable else { return }
        self.link.send(request)
        self.flush()
    }

    /// - Returns: `false` where too much waits for the handshake.
    func subscribe(_ topic: [UInt8], cancel: Bool) -> Bool {
        guard self.link.subscribe(topic, cancel: cancel) else { return false }
        self.flush()
        return true
    }

    /// Nothing is told any more.
    func end() {
        self.link.close()
        // Also in the middle of reading: the peer's close is answered.
        self.isReading = false
        self.flush()
        self.isOver = true
        self.owner = nil
        self.timer?.cancel()
        self.timer = nil
    }

    // MARK: What the channel says

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let now = context.eventLoop.now
        // Counts from here on, so that a peer that never ends a TLS handshake is found too.
        self.heartbeat = Heartbeat(interval: self.timings.heartbeat, handshakeMax: self.timings.handshakeMax, now: now)
        self.setTimer()
        if context.channel.isActive, self.inspect == nil { self.flush() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.timer = nil
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        if self.inspect == nil { self.flush() }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let inspect, case .handshakeCompleted = event as? TLSUserEvent {
            if let reason = inspect(context.channel) {
                self.fail(reason)
            } else {
                self.flush()
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.isOver else { return }
        let bytes = self.unwrapInboundIn(data)
        self.link.received(bytes.readableBytesUInt8Span)
        self.heartbeat?.heard()
        self.link.answersPings = context.channel.isWritable
        var droppedCount = 0
        self.isReading = true
        // Handling an event may end the connection.
        while !self.isOver, let event = self.link.next() {
            switch event {
            case .dropped: droppedCount += 1
            case .opened:
                self.heartbeat?.opened(canPing: self.link.canPing, now: context.eventLoop.now)
                self.owner?.happened(event, on: self.link.channel)
            case .notice, .reply: self.owner?.happened(event, on: self.link.channel)
            case .closed(let code):
                self.fail("the gateway closed the connection" + (code.map { " (WebSocket code \($0))" } ?? ""))
            case .failed(let reason): self.fail("the gateway does not speak as it must: \(reason)")
            }
        }
        self.isReading = false
        if droppedCount > 0 { self.owner?.dropped(droppedCount) }
        self.flush()
        self.setTimer()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.fail("the gateway closed the connection")
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.fail(PlatformConnector.sentence(of: error, on: context.channel))
    }

    private func fail(_ reason: String) {
        guard !self.isOver else { return }
        self.owner?.failed(reason, on: self.link.channel)
    }

    /// Sends what there is to send.
    private func flush() {
        guard !self.isReading, !self.isOver, let context, context.channel.isActive else { return }
        let bytes = self.link.takeOutput()
        guard !bytes.isEmpty else { return }
        context.writeAndFlush(self.wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
    }

    // MARK: Time

    private func setTimer() {
        guard !self.isOver, let context, let due = self.heartbeat?.due else { return }
        if self.timer != nil, self.timerAt == due { return }
        self.timer?.cancel()
        self.timerAt = due
        self.timer = context.eventLoop.assumeIsolated()
            .scheduleTask(deadline: due) { [weak self] in self?.timerFired() }
    }

    private func timerFired() {
        self.timer = nil
        guard !self.isOver, let context else { return }
        switch self.heartbeat?.look(now: context.eventLoop.now) {
        case .ping:
            self.link.ping(timeToLiveTenths: self.timings.timeToLiveTenths)
            self.flush()
        case .lost:
            self.fail(
                self.link.isOpen
                    ? "the gateway does not answer any more" : "the gateway accepted the connection and said nothing"
            )
        case .wait, nil: break
        }
        self.setTimer()
    }
}

/// How long a channel waits for what.
struct LinkTimings: Hashable, Sendable {
    /// After what silence the peer is asked for a sign of life, and how long that may take.
    var heartbeat = TimeAmount.seconds(20)
    /// How long the handshakes may take, from the moment that the peer accepted the connection.
    var handshakeMax = TimeAmount.seconds(10)
    /// How long it may take until the peer accepts the connection.
    var connectMax = TimeAmount.seconds(10)

    /// The time to live in a PING, after which this side may be taken for gone: three intervals, in tenths of a second.
    var timeToLiveTenths: UInt16 {
        UInt16(clamping: self.heartbeat.nanoseconds / 100_000_000 * 3)
    }
}
