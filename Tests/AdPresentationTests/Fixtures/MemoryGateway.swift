// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Cuecast
import CuecastWire
import Synchronization

/// A gateway of the stream `radio1` in the same process, that delivers at once and without loss.
final class MemoryGateway: ListenerTransport {
    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var notices: [Notice] = []
        var batches: [BreakID: [AdvertisementContent]] = [:]
        var outcomes: [String: [Outcome]] = [:]
    }

    private static let zero = Timestamp(microseconds: 1_750_000_000_000_000)
    private static let started = ContinuousClock.now
    private let state = Mutex(State())

    private static var now: Timestamp { zero + started.duration(to: .now) }

    /// What listeners told about the advertisement with this key.
    func outcomes(of adID: String) -> [Outcome] { self.state.withLock { $0.outcomes[adID] ?? [] } }

    func connect(
        to gateway: GatewayAddress,
        receive: @escaping @Sendable (ListenerConnectionEvent) -> Void
    ) -> any ListenerConnection {
        let connection = Connection(self, receive)
        self.state.withLock { $0.connections[ObjectIdentifier(connection)] = connection }
        connection.tell(.connected)
        return connection
    }

    /// Publishes a break that starts now.
    func publish(_ name: String, _ advertisements: [AdvertisementContent]) throws {
        let id = try BreakID(name)
        let stream = try StreamID("radio1")
        let (notice, connections) = self.state.withLock { state in
            let notice = Notice(
                position: Position(epoch: 7, sequence: UInt64(state.notices.count + 1)),
                kind: .available,
                breakID: id,
                start: Self.now,
                duration: advertisements.reduce(Duration.zero) { $0 + $1.duration },
                window: nil,
                expires: Self.now + .seconds(600),
                advertisementCount: advertisements.count,
                sent: Self.now,
                preStream: false,
                exact: false,
                endMode: .cut
            )
            state.notices.append(notice)
            state.batches[id] = advertisements
            return (notice, Array(state.connections.values))
        }
        let frame = NoticeFrame.notice(notice, stream: stream).encoded()
        for connection in connections { connection.tell(.notice(frame)) }
    }

    /// Cancels a break.
    func cancel(_ name: String) throws {
        let id = try BreakID(name)
        let stream = try StreamID("radio1")
        let (notice, connections) = self.state.withLock { state in
            var notice = state.notices.first { $0.breakID == id }
            notice?.kind = .cancelled
            notice?.position = Position(epoch: 7, sequence: UInt64(state.notices.count + 1))
            if let notice { state.notices.append(notice) }
            return (notice, Array(state.connections.values))
        }
        guard let notice else { return }
        let frame = NoticeFrame.notice(notice, stream: stream).encoded()
        for connection in connections { connection.tell(.notice(frame)) }
    }

    private func answer(_ frame: [UInt8]) -> [UInt8] {
        do throws(WireError) {
            let request = try ListenerRequest(decoding: frame)
            let body = self.state.withLock { Self.answer(request, &$0) }
            return ListenerReply(requestID: request.id, gatewayTime: Self.now, body: body).encoded()
        } catch {
            let id = ListenerRequest.requestID(of: frame)
            return ListenerReply(requestID: id, gatewayTime: Self.now, body: .refused(Refusal(error))).encoded()
        }
    }

    private static func answer(_ request: ListenerRequest, _ state: inout State) -> ListenerReply.Body {
        switch request.kind {
        case .join:
            return .joined(
                ListenerReply.Joined(
                    kind: .snapshot,
                    head: Position(epoch: 7, sequence: UInt64(state.notices.count)),
                    notices: state.notices,
                    instance: 100,
                    headInterval: .seconds(600),
                    lease: .seconds(300),
                    ticket: [0xAA]
                )
            )
        case .getBatch(let get):
            guard let batch = state.batches[get.key.id],
                let notice = state.notices.first(where: { $0.breakID == get.key.id })
            else { return .refused(Refusal(.notFound, "No such break.")) }
            return .batch(
                ListenerReply.Batch(
                    delivery: Array("delivery of the batch".utf8),
                    start: notice.start,
                    duration: notice.duration,
                    skipped: 0,
                    endMode: notice.endMode,
                    exact: notice.exact,
                    advertisements: batch
                )
            )
        case .acknowledge(let acknowledge):
            for outcome in acknowledge.outcomes {
                state.outcomes[outcome.advertisementID.description, default: []].append(outcome)
            }
            return .acknowledged(recorded: acknowledge.outcomes.count)
        case .getTime, .leave:
            return .done
        }
    }

    private final class Connection: ListenerConnection {
        private let gateway: MemoryGateway
        private let events: AsyncStream<ListenerConnectionEvent>.Continuation
        private let delivery: Task<Void, Never>

        init(_ gateway: MemoryGateway, _ receive: @escaping @Sendable (ListenerConnectionEvent) -> Void) {
            self.gateway = gateway
            let (stream, continuation) = AsyncStream.makeStream(
                of: ListenerConnectionEvent.self,
                bufferingPolicy: .bufferingOldest(10_000)
            )
            self.events = continuation
            self.delivery = Task {
                for await event in stream { receive(event) }
            }
        }

        func tell(_ event: ListenerConnectionEvent) { self.events.yield(event) }

        func subscribe(to topic: [UInt8]) {
            guard topic == NoticeFrame.syncTopic else { return }
            self.tell(.notice(NoticeFrame.tick(SyncTick(instance: 100, counter: 1)).encoded()))
        }

        func unsubscribe(from topic: [UInt8]) {}

        func send(_ request: [UInt8]) { self.tell(.reply(self.gateway.answer(request))) }

        func close() {
            self.gateway.state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(self)) }
            self.events.yield(.closed(reason: "closed by the client"))
            self.events.finish()
        }
    }
}
