// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Edge
import GatewayCore
import Logging
import ServiceLifecycle
import Synchronization
import SystemSupport

/// The listeners' side of a gateway: their connections and what is answered on them, on threads of its own.
final class ListenerService: Service {
    private let edge: EdgeShared
    /// One for each loop of the edge.
    let mailboxes: [ListenerMailbox]
    private let pollers: [EdgeLoop.Pollers]
    private let settings: ListenerRequestHandler.Settings
    /// The first board of each loop, until the loop begins: a board that is held for longer keeps old parts alive.
    private let firstBoards: Mutex<[Board?]>
    private let leases: SharedLeases
    private let waiting = SharedWaitingCount()
    private let tools: ListenerDesk.Tools
    private let counting: ConnectionLimit
    /// Notices for those who hear them by other ways; ends with the loops.
    private let hub: NoticeHub

    /// - Parameters:
    ///   - edge: the state that the loops share; there is a thread for each of its inboxes.
    ///   - settings: limits and times of requests.
    ///   - leases: the listening sessions.
    ///   - counting: counts connections of all sockets.
    ///   - hub: notices for those who hear them by other ways.
    ///   - tools: the parts that decisions need.
    /// - Throws: where there are too many descriptors.
    init(
        edge: EdgeShared,
        settings: ListenerRequestHandler.Settings,
        leases: SharedLeases,
        counting: ConnectionLimit,
        hub: NoticeHub,
        tools: ListenerDesk.Tools
    ) throws {
        self.edge = edge
        self.mailboxes = edge.inboxes.map { ListenerMailbox(inbox: $0, metrics: tools.metrics) }
        self.pollers = try edge.inboxes.map { _ in try EdgeLoop.Pollers.make() }
        var settings = settings
        // All of them together remember as much as is configured.
        settings.rememberedOutcomesMax /= edge.inboxes.count
        self.settings = settings
        self.firstBoards = Mutex(edge.inboxes.map { _ in tools.holder.board })
        self.leases = leases
        self.counting = counting
        self.hub = hub
        self.tools = tools
    }

    func run() async throws {
        var threads: [OSThread.Handle] = []
        do {
            for number in self.edge.inboxes.indices {
                threads.append(
                    try OSThread.start(name: "cuecast-edge-\(number + 1)") { self.serve(number) }
                )
            }
        } catch {
            for number in threads.count..<self.edge.inboxes.count {
                self.edge.end(number)
                for call in self.mailboxes[number].close() { call.refuse(.draining, at: self.tools.clock.now()) }
            }
            await self.end(threads)
            throw error
        }
        for endpoint in self.edge.endpoints { self.counting.opened(endpoint.label) { [edge] in edge.setAccepting($0) } }
        try? await gracefulShutdown()
        for endpoint in self.edge.endpoints { self.counting.stopped(socket: endpoint.label) }
        await self.end(threads)
    }

    /// One loop, on its thread, to its end.
    private func serve(_ number: Int) {
        let (desk, loop) = self.makeLoop(number)
        loop.run()
        desk.endCalls()
    }

    /// Makes a loop and its desk; when it returns, only the desk has the board that it begins with.
    private func makeLoop(_ number: Int) -> (ListenerDesk, EdgeLoop) {
        let board = self.firstBoards.withLock { $0[number].take() } ?? self.tools.holder.board
        let desk = ListenerDesk(
            handler: ListenerRequestHandler(
                settings: self.settings,
                board: board,
                keys: self.tools.keys.keys,
                metrics: self.tools.metrics,
                leases: self.leases,
                waiting: self.waiting
            ),
            mailbox: self.mailboxes[number],
            endsLeases: number == 0,
            tools: self.tools
        )
        let loop = EdgeLoop(
            number: number,
            shared: self.edge,
            pollers: self.pollers[number],
            sequences: board.sequences,
            delegate: desk
        )
        return (desk, loop)
    }

    private func end(_ threads: [OSThread.Handle]) async {
        // Readers of notices first: each is informed, and joins another gateway that answers.
        self.hub.stop()
        await self.edge.stop()
        for thread in threads { thread.join() }
    }

    /// The number of iterations of each loop.
    var iterationCounts: [Int] { self.edge.iterationCounts }

    /// The most sessions.
    var listenersMax: Int { self.leases.listenersMax }

    /// How many acknowledgements wait for the log.
    var waitingCount: Int { self.mailboxes.reduce(0) { $0 + $1.waitingCount } }

    /// Takes over limits that may change while the gateway runs.
    func reload(_ configuration: GatewayConfiguration) {
        self.leases.setLimits(
            listenersMax: self.counting.listenersMax(configuration.limits[.listenersMax]),
            requestsPerSecondMax: Double(configuration.limits[.requestsPerSessionPerSecondMax])
        )
        // A listener of a stream that asks for a token from now on is closed within a second if it showed none.
        self.tools.rules.change {
            $0.protectedStreams = configuration.protectedStreams
            $0.audiences = configuration.audiencePolicy
        }
    }

    /// The stream of a session, and the subject of its token if that is counted; `nil`: it does not listen.
    func lease(of session: SessionID) -> (stream: StreamID, subject: String?)? { self.leases.lease(of: session) }

    /// Refuses a session from now on; see ``Gateway/refuse(_:atMost:_:)``.
    func refuse(
        _ session: SessionID,
        atMost limit: Duration,
        _ forgotten: (inout ForgottenSessions) throws -> Void
    ) async throws -> Bool {
        let isSettled = try await self.refuse(atMost: limit, forgotten)
        // After that: a request that was being decided may have renewed it.
        self.leases.end(session)
        return isSettled
    }

    /// Refuses more sessions from now on, of which only hashes are known; see ``Gateway/refuse(atMost:_:)``.
    func refuseByHash(
        atMost limit: Duration,
        _ forgotten: (inout ForgottenSessions) throws -> Void
    ) async throws -> Bool {
        let isSettled = try await self.refuse(atMost: limit, forgotten)
        self.leases.endAll(self.tools.rules.rules.forgotten)
        return isSettled
    }

    private func refuse(
        atMost limit: Duration,
        _ forgotten: (inout ForgottenSessions) throws -> Void
    ) async throws -> Bool {
        try self.tools.rules.change { try forgotten(&$0.forgotten) }
        let settled = self.mailboxes.map { mailbox in
            let settled = Occurrence()
            mailbox.post(.settle(settled))
            return settled
        }
        return await withTaskGroup(of: Bool.self) { tasks in
            for each in settled { tasks.addTask { await each.wait(atMost: limit) } }
            return await tasks.reduce(true) { $0 && $1 }
        }
    }

    /// Another lane of the log failed.
    func noteLogFailure() {
        for mailbox in self.mailboxes { mailbox.post(.logFailed) }
    }

    /// The labels of the sockets that listeners connect to.
    var sockets: [MetricLabel] { self.edge.endpoints.map(\.label) }

    /// Refuses joins from now on, and asks the listeners to go on at other gateways.
    func moveListeners(to others: Alternatives, within: Duration) {
        for mailbox in self.mailboxes { mailbox.beginMoving(to: others, within: within) }
    }

    /// Refuses every request from now on.
    func refuseNewRequests() {
        for mailbox in self.mailboxes { mailbox.beginDraining() }
    }

    /// Refuses what is new, answers what was accepted, and returns when that is done, or after a while.
    ///
    /// - Parameter limit: how long to wait.
    /// - Returns: whether no request waits any more.
    func drain(atMost limit: Duration) async -> Bool {
        self.refuseNewRequests()
        return await withTaskGroup(of: Bool.self) { tasks in
            for mailbox in self.mailboxes { tasks.addTask { await mailbox.drained.wait(atMost: limit) } }
            return await tasks.reduce(true) { $0 && $1 }
        }
    }
}
