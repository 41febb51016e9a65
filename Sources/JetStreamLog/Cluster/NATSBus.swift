// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
package import GatewayCore
import Synchronization

/// The bus between gateways on the core of NATS, which keeps nothing: a message is for those who listen now.
package final class NATSBus: GatewayBus {
    private struct State {
        var streams: [(listening: NATSListening, sink: AsyncStream<BusMessage>.Continuation)] = []
        var isClosed = false
    }

    /// The most messages of a subject that wait for their reader; then the oldest are lost.
    package static let messagesWaitingMax = 1_024

    private let connection: NATSConnection
    private let names: LogNames
    private let state = Mutex(State())

    /// - Parameters:
    ///   - connection: to the servers; others may use it too.
    ///   - names: of the log.
    package init(_ connection: NATSConnection, names: LogNames) {
        self.connection = connection
        self.names = names
    }

    package func publish(_ bytes: [UInt8], on subject: String) async {
        guard !self.state.withLock(\.isClosed) else { return }
        self.connection.publish(bytes, on: self.names.bus(subject))
    }

    package func messages(on subject: String) async -> AsyncStream<BusMessage> {
        let (messages, sink) = AsyncStream.makeStream(
            of: BusMessage.self,
            bufferingPolicy: .bufferingNewest(Self.messagesWaitingMax)
        )
        let listening = try? NATSListening(self.connection, on: self.names.bus(subject)) { _, bytes in
            sink.yield(BusMessage(subject: subject, bytes: bytes))
        }
        guard let listening else {
            sink.finish()
            return messages
        }
        // So that nothing that is published from now on is missed.
        self.connection.flush()
        let isClosed = self.state.withLock { state in
            if !state.isClosed { state.streams.append((listening, sink)) }
            return state.isClosed
        }
        if isClosed {
            listening.close()
            sink.finish()
        }
        return messages
    }

    package func close() async {
        let streams = self.state.withLock { state in
            state.isClosed = true
            defer { state.streams = [] }
            return state.streams
        }
        if !streams.isEmpty { self.connection.flush() }
        for each in streams {
            each.listening.close()
            each.sink.finish()
        }
    }
}
#endif
