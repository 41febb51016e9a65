// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore
import Synchronization
import TestSupport

/// How a bus far away behaves.
package struct FarBusConditions: Sendable {
    /// Of a thousand messages to a gateway, how many are lost.
    package var lostPerMille = 0
    /// Of a thousand messages to a gateway, how many come twice.
    package var doubledPerMille = 0
    /// How long a message takes, in milliseconds; each takes its own time, so that one may pass another.
    package var wayMilliseconds = 0...0

    package init() {}

    /// Nothing is lost, and everything else goes wrong.
    package static var late: FarBusConditions {
        var conditions = FarBusConditions.stormy
        conditions.lostPerMille = 0
        return conditions
    }

    /// Everything that may go wrong does.
    package static var stormy: FarBusConditions {
        var conditions = FarBusConditions()
        conditions.lostPerMille = 200
        conditions.doubledPerMille = 200
        conditions.wayMilliseconds = 0...200
        return conditions
    }
}

/// A bus far away that several gateways share, in one process.
///
/// ```swift
/// let exchange = FarExchange(.stormy, seed: SeededGenerator.seed)
/// let one = exchange.connect()    // a GatewayBus for one gateway
/// let other = exchange.connect()  // and one for another
/// exchange.cut(other)             // which hears nothing any more, and is not heard
/// ```
package final class FarExchange: Sendable {
    private struct Subscriber {
        let bus: Int
        let subject: String
        let sink: AsyncStream<BusMessage>.Continuation
    }

    private struct State {
        var conditions: FarBusConditions
        var generator: SeededGenerator
        var subscribers: [Int: Subscriber] = [:]
        var cut: Set<Int> = []
        var busCount = 0
        var subscriberCount = 0
        /// Everything that was published.
        var published: [BusMessage] = []
    }

    /// The most messages that wait at a reader; the oldest are lost then.
    private static let waitingMax = 1_024

    private let state: Mutex<State>

    /// - Parameters:
    ///   - conditions: how it behaves.
    ///   - seed: of everything that is left to chance.
    package init(_ conditions: FarBusConditions = FarBusConditions(), seed: UInt64 = 0) {
        self.state = Mutex(State(conditions: conditions, generator: SeededGenerator(seed: seed)))
    }

    /// A bus for one gateway.
    package func connect() -> FarBus {
        FarBus(
            self,
            number: self.state.withLock { state in
                state.busCount += 1
                return state.busCount
            }
        )
    }

    /// Sets how it behaves from now on.
    package func set(_ conditions: FarBusConditions) { self.state.withLock { $0.conditions = conditions } }

    /// Keeps a gateway from being heard, and from hearing anything, until `mend`.
    package func cut(_ bus: FarBus) { self.state.withLock { _ = $0.cut.insert(bus.number) } }

    /// A gateway is heard again, and hears.
    package func mend(_ bus: FarBus) { self.state.withLock { _ = $0.cut.remove(bus.number) } }

    /// Everything that was published so far.
    package var published: [BusMessage] { self.state.withLock(\.published) }

    func publish(_ message: BusMessage, by bus: Int) {
        let ways = self.state.withLock { state -> [(AsyncStream<BusMessage>.Continuation, Duration)] in
            state.published.append(message)
            guard !state.cut.contains(bus) else { return [] }
            var ways: [(AsyncStream<BusMessage>.Continuation, Duration)] = []
            for each in state.subscribers.values.sorted(by: { $0.bus < $1.bus }) where each.subject == message.subject {
                guard !state.cut.contains(each.bus) else { continue }
                let fate = Int.random(in: 0..<1_000, using: &state.generator)
                guard fate >= state.conditions.lostPerMille else { continue }
                let isDoubled = fate < state.conditions.lostPerMille + state.conditions.doubledPerMille
                for _ in 0..<(isDoubled ? 2 : 1) {
                    let way = Int.random(in: state.conditions.wayMilliseconds, using: &state.generator)
                    ways.append((each.sink, .milliseconds(way)))
                }
            }
            return ways
        }
        for (sink, way) in ways {
            guard way > .zero else {
                sink.yield(message)
                continue
            }
            Task {
                try? await Task.sleep(for: way)
                sink.yield(message)
            }
        }
    }

    func messages(on subject: String, for bus: Int) -> AsyncStream<BusMessage> {
        let (stream, sink) = AsyncStream.makeStream(
            of: BusMessage.self,
            bufferingPolicy: .bufferingNewest(Self.waitingMax)
        )
        self.state.withLock { state in
            state.subscriberCount += 1
            state.subscribers[state.subscriberCount] = Subscriber(bus: bus, subject: subject, sink: sink)
        }
        return stream
    }

    func close(_ bus: Int) {
        let ended = self.state.withLock { state in
            let ended = state.subscribers.filter { $0.value.bus == bus }
            for key in ended.keys { state.subscribers[key] = nil }
            return ended.values.map(\.sink)
        }
        for sink in ended { sink.finish() }
    }
}

/// A bus far away as one gateway has it.
package final class FarBus: GatewayBus {
    private let exchange: FarExchange
    let number: Int

    init(_ exchange: FarExchange, number: Int) {
        self.exchange = exchange
        self.number = number
    }

    package func publish(_ bytes: [UInt8], on subject: String) async {
        self.exchange.publish(BusMessage(subject: subject, bytes: bytes), by: self.number)
    }

    package func messages(on subject: String) async -> AsyncStream<BusMessage> {
        self.exchange.messages(on: subject, for: self.number)
    }

    package func close() async { self.exchange.close(self.number) }
}
