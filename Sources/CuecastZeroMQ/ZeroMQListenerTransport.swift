// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Transports) public import Cuecast
internal import Synchronization
internal import ZeroMQ

/// Connects listeners to a gateway over ZeroMQ: one DEALER connection, and one SUB connection for notices where the client
/// wants two (``ListenerConfiguration/connections``) or the gateway cannot send notices on the first.
///
/// ```swift
/// let client = try CuecastClient(configuration: configuration, transport: ZeroMQListenerTransport())
/// ```
///
/// Addresses are libzmq endpoints, for instance `tcp://ads.example.org:7400`. One transport serves any number of clients.
public final class ZeroMQListenerTransport: ListenerTransport {
    private let runtime: ZeroMQRuntime

    /// A DEALER socket takes notices too.
    @_spi(Transports) public var takesPush: Bool { true }

    /// A transport on the threads of `runtime`.
    public init(runtime: ZeroMQRuntime = .shared) {
        self.runtime = runtime
    }

    /// Begins to make one connection, and returns at once.
    ///
    /// - Parameters:
    ///   - gateway: two libzmq endpoints.
    ///   - receive: is told everything about this connection, on the runtime's thread.
    /// - Returns: The connection, which need not be made yet.
    @_spi(Transports) public func connect(
        to gateway: GatewayAddress,
        receive: @escaping @Sendable (ListenerConnectionEvent) -> Void
    ) -> any ListenerConnection {
        do throws(ZeroMQError) {
            let connection = ZeroMQConnection(on: try self.runtime.resources(), receive: receive)
            connection.open(gateway)
            return connection
        } catch {
            receive(.closed(reason: error.description))
            return ClosedConnection()
        }
    }
}

/// Passes the client's commands to the sockets, in order, on the thread that owns them.
///
/// Called on that thread, as it is while an event is handled, a command is carried out at once.
private final class ZeroMQConnection: ListenerConnection {
    /// How many commands wait for the thread at most; of more, requests are dropped.
    ///
    /// The client has 32 requests open.
    static let commandsMax = 1_024

    private struct Mailbox {
        var commands: [ListenerLink.Command] = []
        var isScheduled = false
    }

    private let thread: PollingThread
    private let link: ListenerLink
    private let mailbox = Mutex(Mailbox())

    init(on resources: ZeroMQRuntime.Resources, receive: @escaping @Sendable (ListenerConnectionEvent) -> Void) {
        self.thread = resources.thread
        self.link = ListenerLink(on: resources, receive: receive)
    }

    func open(_ gateway: GatewayAddress) { self.submit(.open(gateway)) }

    func subscribe(to topic: [UInt8]) { self.submit(.subscribe(topic)) }

    func unsubscribe(from topic: [UInt8]) { self.submit(.unsubscribe(topic)) }

    func send(_ request: [UInt8]) { self.submit(.send(request)) }

    func close() { self.submit(.close) }

    private func submit(_ command: ListenerLink.Command) {
        let mustSchedule = self.mailbox.withLock { mailbox in
            if case .send = command, mailbox.commands.count >= Self.commandsMax { return false }
            mailbox.commands.append(command)
            guard !mailbox.isScheduled, !self.thread.isCurrent else { return false }
            mailbox.isScheduled = true
            return true
        }
        if self.thread.isCurrent {
            self.link.assumeIsolated { self.carryOut(on: $0) }
        } else if mustSchedule {
            // Over as soon as the thread has taken the commands: there is nothing to wait for.
            Task(name: "Cuecast commands") { await self.carryOut(on: self.link) }
        }
    }

    private func carryOut(on link: isolated ListenerLink) {
        while let command = self.nextCommand() { link.perform(command) }
    }

    private func nextCommand() -> ListenerLink.Command? {
        self.mailbox.withLock { mailbox in
            guard !mailbox.commands.isEmpty else {
                mailbox.isScheduled = false
                return nil
            }
            return mailbox.commands.removeFirst()
        }
    }
}
