// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Transports) internal import Cuecast
internal import CuecastWire
internal import ZeroMQ

/// The sockets of one listener's connection, on the thread that polls them: a DEALER for requests, replies and notices, and
/// a SUB beside it from the first subscription on. Both end together.
actor ListenerLink {
    enum Command: Sendable {
        case open(GatewayAddress)
        case subscribe([UInt8])
        case unsubscribe([UInt8])
        case send([UInt8])
        case close
    }

    /// How many messages are read before other sockets get their turn; what is left makes the socket readable again.
    private static let messagesPerPass = 256
    /// How many notices wait to be read.
    ///
    /// Of more, libzmq drops the newest of a SUB; those for a DEALER wait at the gateway, which skips ahead when it has kept
    /// enough of them. The stream's positions show both.
    private static let noticesWaitingMax: Int32 = 1_000
    /// How many requests and replies wait, each way.
    private static let requestsWaitingMax: Int32 = 64

    private enum Channel: Hashable {
        case notices
        case requests
    }

    /// Dropping it closes the socket, which also detaches it and ends its monitor.
    private final class OpenSocket {
        let socket: Socket

        init(_ socket: consuming Socket) { self.socket = socket }
    }

    private let context: Context
    private let thread: PollingThread
    private let receive: @Sendable (ListenerConnectionEvent) -> Void
    private var gateway: GatewayAddress?
    private var requests: OpenSocket?
    /// `nil` before the first subscription.
    private var notices: OpenSocket?
    private var isOver = false
    private var frames = FrameBuffer(framesMax: 2)

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe self.thread.asUnownedSerialExecutor() }

    init(on resources: ZeroMQRuntime.Resources, receive: @escaping @Sendable (ListenerConnectionEvent) -> Void) {
        self.context = resources.context
        self.thread = resources.thread
        self.receive = receive
    }

    // On the thread, because that is where the sockets must be closed.
    isolated deinit {
        self.end(reason: "dropped by the client")
    }

    func perform(_ command: Command) {
        guard !self.isOver else { return }
        do throws(ZeroMQError) {
            switch command {
            case .open(let gateway): try self.open(gateway)
            case .subscribe(let topic): try self.openNotices()?.socket.subscribe(topic)
            case .unsubscribe(let topic): try self.notices?.socket.unsubscribe(topic)
            case .send(let request): try self.send(request)
            case .close: self.end(reason: "closed by the client")
            }
        } catch {
            self.end(reason: error.description)
        }
    }

    private func open(_ gateway: GatewayAddress) throws(ZeroMQError) {
        self.gateway = gateway
        let requests = OpenSocket(try Socket(.dealer, in: self.context))
        try requests.socket.configureClient(
            frameBytesMax: WireLimits.replyFrameBytesMax,
            receivedMax: Self.requestsWaitingMax + Self.noticesWaitingMax
        )
        try requests.socket.set(.sendHighWaterMark, to: Self.requestsWaitingMax)
        // Nothing is queued for a connection that may never be made.
        try requests.socket.set(.immediate, to: true)
        self.requests = requests
        try requests.socket.startMonitor(.connection, on: self.thread, for: self) { $0.happened($1, on: .requests) }
        self.thread.attach(requests.socket, for: self) { $0.read(.requests) }
        try requests.socket.connect(gateway.requests)
    }

    /// The socket for subscriptions, which is made for the first of them.
    private func openNotices() throws(ZeroMQError) -> OpenSocket? {
        if let notices { return notices }
        guard let gateway else { return nil }
        let notices = OpenSocket(try Socket(.sub, in: self.context))
        try notices.socket.configureClient(
            frameBytesMax: WireLimits.noticeFrameBytesMax,
            receivedMax: Self.noticesWaitingMax
        )
        self.notices = notices
        try notices.socket.startMonitor(.connection, on: self.thread, for: self) { $0.happened($1, on: .notices) }
        self.thread.attach(notices.socket, for: self) { $0.read(.notices) }
        try notices.socket.connect(gateway.notices)
        return notices
    }

    private func happened(_ event: SocketEvent, on channel: Channel) {
        guard !self.isOver else { return }
        if event.change == .handshakeSucceeded {
            if channel == .requests { self.receive(.connected) }
        } else if let reason = event.change.lossReason {
            self.end(reason: "\(reason) (\(event.address))")
        }
    }

    private func send(_ request: [UInt8]) throws(ZeroMQError) {
        guard let requests else { return }
        // The empty frame makes it what a REQ socket would send. A full queue drops it whole: the client asks again.
        guard try requests.socket.send([], more: true) == .sent else { return }
        _ = try requests.socket.send(request)
    }

    /// Reads what has come and tells it; messages of another shape are dropped, and how many they were is told.
    private func read(_ channel: Channel) {
        var droppedCount = 0
        defer { if droppedCount > 0, !self.isOver { self.receive(.messagesDropped(droppedCount)) } }
        for _ in 0..<Self.messagesPerPass {
            // Handling an event may end the connection.
            guard let open = channel == .notices ? self.notices : self.requests else { return }
            do throws(ZeroMQError) {
                let outcome = try open.socket.receive(into: &self.frames)
                guard outcome != .nothing else { return }
                if outcome == .message, let event = Self.event(self.frames, on: channel) {
                    self.receive(event)
                } else {
                    droppedCount += 1
                }
            } catch {
                self.end(reason: error.description)
                return
            }
        }
    }

    /// The event of a message: one frame is a notice; an empty frame and another one, on the requests' channel, are a reply.
    private static func event(_ frames: borrowing FrameBuffer, on channel: Channel) -> ListenerConnectionEvent? {
        switch frames.count {
        case 1 where frames.byteCount(at: 0) <= WireLimits.noticeFrameBytesMax: .notice(frames.bytes(at: 0))
        case 2 where channel == .requests && frames.byteCount(at: 0) == 0: .reply(frames.bytes(at: 1))
        default: nil
        }
    }

    private func end(reason: String) {
        guard !self.isOver else { return }
        self.isOver = true
        self.requests = nil
        self.notices = nil
        self.receive(.closed(reason: reason))
    }
}
