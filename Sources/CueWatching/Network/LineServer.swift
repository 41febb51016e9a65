// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
internal import NIOCore
internal import NIOPosix

/// A TCP port on which lines come.
package struct LineServer: Sendable {
    /// How many connections the system keeps until they are taken.
    private static let backlog: Int32 = 16

    /// The address with the port that the system chose.
    package let address: NetworkAddress
    let channel: NIOAsyncChannel<NIOAsyncChannel<Arrival, Never>, Never>

    /// Listens.
    ///
    /// - Parameters:
    ///   - address: The address; port 0: the system chooses.
    ///   - clock: The time.
    ///   - limits: The bounds.
    /// - Throws: ``CueRefusal`` where that is not possible.
    package init(
        _ address: NetworkAddress,
        clock: WatchClock = .system,
        limits: LineWatcherLimits = LineWatcherLimits()
    ) async throws(CueRefusal) {
        let host = address.host == "*" ? "0.0.0.0" : address.host
        let now = clock.now
        do {
            self.channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.backlog, value: Self.backlog)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                // A peer that is gone without a word gives its place back.
                .childChannelOption(.socketOption(.so_keepalive), value: 1)
                .bind(host: host, port: Int(address.port)) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers([
                            IdleStateHandler(readTimeout: TimeAmount(limits.connectionIdleMax)),
                            ArrivalHandler(now: now),
                        ])
                        return try NIOAsyncChannel<Arrival, Never>(wrappingChannelSynchronously: channel)
                    }
                }
        } catch {
            throw CueRefusal(.unreachable, "\(address.hostAndPort) cannot be listened at: \(error).")
        }
        let port = self.channel.channel.localAddress?.port ?? Int(address.port)
        self.address = NetworkAddress(host: address.host, port: UInt16(clamping: port))
    }
}
