// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Cuecast
internal import CuecastWire
internal import ZeroMQ

/// The two sockets of one listener's connection, on the thread that polls them.
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
    /// Of more, libzmq drops the newest; the stream's positions show it.
    private static let noticesWaitingMax: Int32 = 1_000
    /// How many requests and replies wait, each way.
    private static let requestsWaitingMax: Int32 = 64

    private enum Channel: Hashable {
        case notices
        case requests
    }

    /// Dropping it closes both sockets, which also detaches them and ends their monitors.
    private final class Sockets {
        let notices: Socket
        let requests: Socket

        init(notices: consuming Socket, requests: consuming Socket) {
            self.notices = notices
            self.requests = requests
        }
    }

    private let context: Context
    private let thread: PollingThread
    private let receive: @Sendable (ListenerConnectionEvent) -> Void
    private var sockets: Sockets?
    private var ready: Set<Channel> = []
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
            case .subscribe(let topic): try self.sockets?.notices.subscribe(topic)
            case .unsubscribe(let topic): try self.sockets?.notices.unsubscribe(topic)
            case .send(let request): try self.send(request)
            case .close: self.end(reason: "closed by the client")
            }
        } catch {
            self.end(reason: error.description)
        }
    }

    private func open(_ gateway: GatewayAddress) throws(ZeroMQError) {
        let notices = try Socket(.sub, in: self.context)
        try notices.configureClient(
            frameBytesMax: WireLimits.noticeFrameBytesMax,
            receivedMax: Self.noticesWaitingMax
        )
        let requests = try Socket(.dealer, in: self.context)
        try requests.configureClient(
            frameBytesMax: WireLimits.replyFrameBytesMax,
            receivedMax: Self.requestsWaitingMax
        )
        try requests.set(.sendHighWaterMark, to: Self.requestsWaitingMax)
        // Nothing is queued for a connection that may never be made.
        try requests.set(.immediate, to: true)
        let sockets = Sockets(notices: notices, requests: requests)
        self.sockets = sockets
        try sockets.notices.startMonitor(.connection, on: self.thread, for: self) { $0.happened($1, on: .notices) }
        try sockets.requests.startMonitor(.connection, on: self.thread, for: self) { $0.happened($1, on: .requests) }
        self.thread.attach(sockets.notices, for: self) { $0.readNotices() }
        self.thread.attach(sockets.requests, for: self) { $0.readReplies() }
        try sockets.notices.connect(gateway.notices)
        try sockets.requests.connect(gateway.requests)
    }

    private func happened(_ event: SocketEvent, on channel: Channel) {
        guard !self.isOver else { return }
        if event.change == .handshakeSucceeded {
            let wasReady = self.ready.count == 2
            self.ready.insert(channel)
            if !wasReady, self.ready.count == 2 { self.receive(.connected) }
        } else if let reason = event.change.lossReason {
            self.end(reason: "\(reason) (\(event.address))")
        }
    }

    private func send(_ request: [UInt8]) throws(ZeroMQError) {
        guard let sockets = self.sockets else { return }
        // The empty frame makes it what a REQ socket would send. A full queue drops it whole: the client asks again.
        guard try sockets.requests.send([], more: true) == .sent else { return }
        _ = try sockets.requests.send(request)
    }

    private func readNotices() {
        self.read(.notices) { frames in
            frames.count == 1 ? .notice(frames.bytes(at: 0)) : nil
        }
    }

    private func readReplies() {
        self.read(.requests) { frames in
            frames.count == 2 && frames.byteCount(at: 0) == 0 ? .reply(frames.bytes(at: 1)) : nil
        }
    }

    /// Reads what has come and tells it; messages of another shape are dropped.
    private func read(_ channel: Channel, _ event: (borrowing FrameBuffer) -> ListenerConnectionEvent?) {
        for _ in 0..<Self.messagesPerPass {
            // Handling an event may end the connection.
            guard let sockets = self.sockets else { return }
            do throws(ZeroMQError) {
                let outcome =
                    switch channel {
                    case .notices: try sockets.notices.receive(into: &self.frames)
                    case .requests: try sockets.requests.receive(into: &self.frames)
                    }
                guard outcome != .nothing else { return }
                if outcome == .message, let event = event(self.frames) { self.receive(event) }
            } catch {
                self.end(reason: error.description)
                return
            }
        }
    }

    private func end(reason: String) {
        guard !self.isOver else { return }
        self.isOver = true
        self.sockets = nil
        self.receive(.closed(reason: reason))
    }
}
