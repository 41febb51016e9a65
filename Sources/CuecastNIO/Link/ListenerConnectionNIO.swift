// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Transports) internal import Cuecast
internal import NIOCore
internal import Synchronization

/// Passes the client's commands to the channels, in order, on their loop.
///
/// Called on that loop, as it is while an event is handled, a command is carried out at once.
final class ListenerConnectionNIO: ListenerConnection {
    /// How many commands wait for the loop at most; of more, requests are dropped.
    ///
    /// The client has 32 requests open.
    static let commandsMax = 1_024

    private struct Mailbox {
        var commands: [ListenerChannels.Command] = []
        var isScheduled = false
    }

    private let loop: any EventLoop
    private let channels: NIOLoopBoundBox<ListenerChannels?>
    private let mailbox = Mutex(Mailbox())
    /// Whether the channels have said their last word: the loop need not be there any more.
    private let isOver: EndFlag

    /// Begins to make the connection.
    init(
        on loop: any EventLoop,
        connector: PlatformConnector,
        timings: LinkTimings,
        requests: GatewayEndpoint,
        notices: GatewayEndpoint,
        receive: @escaping @Sendable (ListenerConnectionEvent) -> Void
    ) {
        let isOver = EndFlag()
        let channels = NIOLoopBoundBox<ListenerChannels?>.makeEmptyBox(eventLoop: loop)
        self.loop = loop
        self.channels = channels
        self.isOver = isOver
        loop.execute {
            channels.value = ListenerChannels(on: loop, connector: connector, timings: timings) { event in
                if case .closed = event { isOver.set() }
                receive(event)
            }
        }
        self.submit(.open(requests: requests, notices: notices))
    }

    deinit {
        guard !self.isOver.isSet else { return }
        self.loop.execute { [channels] in channels.value?.perform(.dropped) }
    }

    func subscribe(to topic: [UInt8]) { self.submit(.subscribe(topic)) }

    func unsubscribe(from topic: [UInt8]) { self.submit(.unsubscribe(topic)) }

    func send(_ request: [UInt8]) { self.submit(.send(request)) }

    func close() { self.submit(.close) }

    private func submit(_ command: ListenerChannels.Command) {
        guard !self.isOver.isSet else { return }
        let isOnLoop = self.loop.inEventLoop
        let mustSchedule = self.mailbox.withLock { mailbox in
            if case .send = command, mailbox.commands.count >= Self.commandsMax { return false }
            mailbox.commands.append(command)
            guard !mailbox.isScheduled, !isOnLoop else { return false }
            mailbox.isScheduled = true
            return true
        }
        // Before the channels are there, a command waits for them on the loop too.
        if isOnLoop, self.channels.value != nil {
            self.carryOut()
        } else if mustSchedule || isOnLoop {
            self.loop.execute { self.carryOut() }
        }
    }

    private func carryOut() {
        while let command = self.nextCommand() { self.channels.value?.perform(command) }
    }

    private func nextCommand() -> ListenerChannels.Command? {
        self.mailbox.withLock { mailbox in
            guard !mailbox.commands.isEmpty else {
                mailbox.isScheduled = false
                return nil
            }
            return mailbox.commands.removeFirst()
        }
    }
}

/// Whether something is over, for any thread.
final class EndFlag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { self.value.load(ordering: .acquiring) }

    func set() { self.value.store(true, ordering: .releasing) }
}
