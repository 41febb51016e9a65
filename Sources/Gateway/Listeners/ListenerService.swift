// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Edge
import GatewayCore
import Logging
import NetworkIO
import ServiceLifecycle
import ZeroMQ

/// The listeners' side of a gateway: their connections and what is answered on them, on a thread of its own.
final class ListenerService: Service {
    private let inbox: EdgeInbox
    private let mailbox: ListenerMailbox
    private let doors: [EdgeDoor]
    private let poller: Int32
    private let settings: EdgeSettings
    private let handler: ListenerRequestHandler
    private let tools: ListenerDesk.Tools
    private let counting: ConnectionLimit

    /// - Parameters:
    ///   - doors: where listeners come in; closed when the service ends.
    ///   - inbox: of the loop, for others.
    ///   - settings: limits and times of connections.
    ///   - handler: decides.
    ///   - counting: counts connections of all sockets.
    ///   - tools: what decisions need.
    /// - Throws: where there are too many descriptors.
    init(
        doors: [EdgeDoor],
        inbox: EdgeInbox,
        settings: EdgeSettings,
        handler: ListenerRequestHandler,
        counting: ConnectionLimit,
        tools: ListenerDesk.Tools
    ) throws {
        self.doors = doors
        self.inbox = inbox
        self.mailbox = tools.mailbox
        self.poller = try Poller.makeDescriptor()
        self.settings = settings
        self.handler = handler
        self.counting = counting
        self.tools = tools
    }

    func run() async throws {
        let thread = try OSThread.start(name: "cuecast-edge") {
            let desk = ListenerDesk(handler: self.handler, tools: self.tools)
            let loop = EdgeLoop(
                doors: self.doors,
                inbox: self.inbox,
                poller: self.poller,
                settings: self.settings,
                sequences: self.handler.board.sequences,
                metrics: self.tools.metrics,
                counting: self.counting,
                delegate: desk
            )
            loop.run()
        }
        for door in self.doors { self.counting.opened(door.label) { [inbox] in inbox.setAccepting($0) } }
        try? await gracefulShutdown()
        for door in self.doors { self.counting.stopped(socket: door.label) }
        await self.inbox.stop()
        thread.join()
    }

    /// How often the loop has gone round.
    var roundCount: Int { self.inbox.roundCount }

    /// How many acknowledgements wait for the log.
    var waitingCount: Int { self.mailbox.waitingCount }

    /// Takes over limits that may change while the gateway runs.
    func reload(_ configuration: GatewayConfiguration) {
        self.mailbox.post(
            .reload(
                listenersMax: configuration.listenersMax,
                requestsPerSessionPerSecondMax: Double(configuration.requestsPerSessionPerSecondMax)
            )
        )
    }

    /// Another lane of the log failed.
    func noteLogFailure() { self.mailbox.post(.logFailed) }

    /// Refuses every request from now on.
    func refuseNewRequests() { self.mailbox.beginDraining() }

    /// Refuses what is new, answers what was accepted, and returns when that is done, or after a while.
    ///
    /// - Parameter limit: how long to wait.
    /// - Returns: whether nobody waits any more.
    func drain(atMost limit: Duration) async -> Bool {
        self.mailbox.beginDraining()
        return await self.mailbox.drained.wait(atMost: limit)
    }
}
