// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastBroadcast
internal import CuecastWire
internal import ZeroMQ

/// One DEALER socket with one connection, on the polling thread.
///
/// libzmq's own reconnecting is off: when the connection is lost, that is told and the socket closed.
actor BroadcastZeroMQConnection: BroadcastConnection {
    /// The most requests that wait to be handed to libzmq; further ones are dropped.
    static let requestsWaitingMax = 64
    /// How long a connection may take until messages can flow.
    ///
    /// libzmq does not tell of everything that can go wrong, for instance of a host name that has no address.
    static let connectTimeout: Duration = .seconds(3)
    /// How soon libzmq is offered again what it did not take.
    private static let retryInterval: Duration = .milliseconds(2)
    /// The most replies taken in one pass.
    private static let repliesPerPassMax = 64

    private let endpoint: String
    private let keys: BroadcastKeys?
    private let resources: ZeroMQRuntime.Resources
    private let receive: @Sendable (BroadcastConnectionEvent) -> Void
    private let requests: AsyncStream<[UInt8]>.Continuation
    private var socket: Socket?
    private var frames = FrameBuffer(framesMax: 2)
    /// The messages that libzmq has not accepted yet.
    private var backlog: [[UInt8]] = []
    private var retry: PollingThread.Timer?
    private var deadline: PollingThread.Timer?
    private var isConnected = false
    /// The probe that finds out why the handshake failed.
    private var probe: MechanismProbe?
    /// Why it is over, where this side did not close it.
    private var reason: String?

    private nonisolated var thread: PollingThread { self.resources.thread }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe self.thread.asUnownedSerialExecutor()
    }

    private init(
        endpoint: String,
        keys: BroadcastKeys?,
        resources: ZeroMQRuntime.Resources,
        requests: AsyncStream<[UInt8]>.Continuation,
        receive: @escaping @Sendable (BroadcastConnectionEvent) -> Void
    ) {
        self.endpoint = endpoint
        self.keys = keys
        self.resources = resources
        self.requests = requests
        self.receive = receive
    }

    isolated deinit {}  // The socket is closed on its thread.

    static func start(
        endpoint: String,
        keys: BroadcastKeys?,
        runtime: ZeroMQRuntime,
        receive: @escaping @Sendable (BroadcastConnectionEvent) -> Void
    ) -> any BroadcastConnection {
        let resources: ZeroMQRuntime.Resources
        do throws(ZeroMQError) {
            resources = try runtime.resources()
        } catch {
            return UnmadeConnection(reason: error.description, receive: receive)
        }
        let (stream, requests) = AsyncStream.makeStream(
            of: [UInt8].self,
            bufferingPolicy: .bufferingOldest(Self.requestsWaitingMax)
        )
        let connection = BroadcastZeroMQConnection(
            endpoint: endpoint,
            keys: keys,
            resources: resources,
            requests: requests,
            receive: receive
        )
        // The connection's whole life. `closed` tells its end, and `close()` brings it about.
        Task { await connection.run(stream) }
        return connection
    }

    nonisolated func send(_ request: [UInt8]) {
        self.requests.yield(request)
    }

    nonisolated func close() {
        self.requests.finish()
    }

    private func run(_ requests: AsyncStream<[UInt8]>) async {
        do throws(ZeroMQError) {
            try self.open()
        } catch {
            self.fail(error.description)
        }
        for await request in requests {
            guard self.backlog.count < Self.requestsWaitingMax else { continue }
            self.backlog.append(request)
            self.flush()
        }
        self.deadline?.cancel()
        self.retry?.cancel()
        self.socket = nil
        self.probe = nil
        // It stands against what the socket's monitor still has to tell.
        let reason = self.reason ?? "it was closed"
        self.reason = reason
        self.receive(.closed(reason: reason))
    }

    private func open() throws(ZeroMQError) {
        let socket = try Socket(.dealer, in: self.resources.context)
        try socket.set(.linger, to: .zero)
        try socket.set(.immediate, to: true)
        try socket.set(.messageBytesMax, to: Int64(WireLimits.replyFrameBytesMax))
        try socket.set(.reconnectInterval, to: nil)
        try socket.set(.connectTimeout, to: Self.connectTimeout)
        try socket.set(.handshakeInterval, to: Self.connectTimeout)
        try socket.set(.heartbeatInterval, to: .seconds(20))
        try socket.set(.heartbeatTimeToLive, to: .seconds(60))
        try socket.set(.tcpKeepalive, to: true)
        try socket.set(.tcpKeepaliveIdle, to: .seconds(60))
        try socket.set(.tcpKeepaliveInterval, to: .seconds(15))
        try socket.set(.tcpKeepaliveCount, to: 4)
        if let keys = self.keys { try socket.secureAsClient(keys.own, serverKey: keys.gateway) }
        try socket.startMonitor(.connection, on: self.thread, for: self) { $0.changed($1) }
        self.thread.attach(socket, for: self) { $0.drain() }
        self.deadline = self.thread.schedule(at: .now + Self.connectTimeout, for: self) {
            $0.fail(
                "no connection to \($0.endpoint) within \(Self.connectTimeout)"
                    + ($0.keys == nil ? "" : "; if a gateway listens there, \($0.gatewayKeyHint)")
            )
        }
        try socket.connect(self.endpoint)
        self.socket = consume socket
    }

    /// Sends what waits, in order.
    ///
    /// "Would block" need not mean that the gateway does not read: right after the handshake it is also said when libzmq
    /// has not yet looked at its own news, which the next poll makes it do.
    private func flush() {
        self.retry?.cancel()
        do throws(ZeroMQError) {
            while let request = self.backlog.first {
                guard unsafe try self.socket?.sendRequest(request.span.bytes) == .sent else {
                    self.retry = self.thread.schedule(at: .now + Self.retryInterval, for: self) { $0.flush() }
                    return
                }
                self.backlog.removeFirst()
            }
        } catch {
            self.fail(error.description)
        }
    }

    private func changed(_ event: SocketEvent) {
        guard self.reason == nil, self.probe == nil else { return }
        switch event.change {
        case .handshakeSucceeded:
            guard !self.isConnected else { return }
            self.isConnected = true
            self.deadline?.cancel()
            self.receive(.connected)
        case .disconnected where self.isConnected, .handshakeFailedNoDetail where self.isConnected:
            self.fail("the connection to \(self.endpoint) was lost")
        case .disconnected, .handshakeFailedNoDetail: self.askMechanism()
        case .closed, .connectRetried: self.fail("the gateway at \(self.endpoint) does not answer")
        case .handshakeFailedAuthentication(let status):
            self.refuse("\(self.endpoint) does not let in the key \(self.keys?.publicKey ?? "") (status \(status))")
        case .handshakeFailedProtocol(.mechanismMismatch): self.refuse(self.otherMechanism)
        case .handshakeFailedProtocol: self.fail(self.otherLanguage)
        default: break
        }
    }

    /// Finds out whether the other side hung up because its mechanism is another one: then it would do so each time.
    private func askMechanism() {
        guard self.endpoint.hasPrefix("tcp://") else {
            return self.fail("\(self.otherLanguage); or \(self.otherMechanism)")
        }
        do throws(ZeroMQError) {
            self.probe = try MechanismProbe(of: self.endpoint, on: self.resources) { [weak self] mechanism in
                self?.assumeIsolated { $0.judge(mechanism) }
            }
        } catch {
            return self.fail(self.otherLanguage)
        }
        self.deadline?.cancel()
        self.deadline = self.thread.schedule(at: .now + Self.connectTimeout, for: self) { $0.judge(nil) }
    }

    /// Says why the handshake failed, by the other side's mechanism, where it has told one.
    private func judge(_ mechanism: String?) {
        switch mechanism {
        case "CURVE" where self.keys == nil, "NULL" where self.keys != nil: self.refuse(self.otherMechanism)
        default: self.fail(self.otherLanguage)
        }
    }

    private func drain() {
        for _ in 0..<Self.repliesPerPassMax {
            do throws(ZeroMQError) {
                guard let outcome = try self.socket?.receive(into: &self.frames), outcome != .nothing else { return }
                // Anything but a delimiter and a body is not a reply; a waiting caller asks again.
                guard outcome == .message, self.frames.count == 2, self.frames.byteCount(at: 0) == 0 else { continue }
                self.receive(.reply(self.frames.bytes(at: 1)))
            } catch {
                return self.fail(error.description)
            }
        }
    }

    /// The handshake fails because one side encrypts and the other does not.
    private var otherMechanism: String {
        self.keys == nil
            ? "\(self.endpoint) asks for a key (CURVE), and this client has none"
            : "\(self.endpoint) does not encrypt, and this client has keys and says nothing in the open"
    }

    /// The handshake fails, and not because of that.
    ///
    /// A gateway that has another key than this client thinks says nothing and hangs up.
    private var otherLanguage: String {
        self.keys == nil
            ? "\(self.endpoint) does not speak ZeroMQ as this client does"
            : "\(self.endpoint) hung up while keys were exchanged; \(self.gatewayKeyHint)"
    }

    /// A hint without the key that was given, because a user may have passed a secret key by mistake.
    private var gatewayKeyHint: String { "its public key may be another than the one that this client was given" }

    /// Ends the connection because it would end each time.
    private func refuse(_ reason: String) {
        guard self.reason == nil else { return }
        self.receive(.refused(reason: reason))
        self.fail(reason)
    }

    /// Ends the connection for a reason; the first one stands.
    private func fail(_ reason: String) {
        if self.reason == nil { self.reason = reason }
        self.requests.finish()
    }
}

/// A connection that could not be made at all: the runtime is shut down, or the system has no threads or descriptors left.
private final class UnmadeConnection: BroadcastConnection {
    init(reason: String, receive: @escaping @Sendable (BroadcastConnectionEvent) -> Void) {
        // Not within the call: the caller does not have the connection yet.
        Task { receive(.closed(reason: reason)) }
    }

    func send(_ request: [UInt8]) {}

    func close() {}
}
