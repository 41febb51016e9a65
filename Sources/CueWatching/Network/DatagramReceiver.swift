// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import NIOCore
internal import NIOPosix

/// Receives datagrams at an address of this machine, or of a multicast group.
struct DatagramReceiver: Sendable {
    /// How much the system keeps of what is not read yet, in bytes, if it lets us: 1.6 s of 20 Mbit/s.
    static let systemBufferBytes: ChannelOptions.Types.SocketOption.Value = 4_194_304
    /// As long as a datagram can be.
    private static let datagramBytesMax = 65_536
    /// How long datagrams wait to be read together, if no more than can be read at a time.
    private static let readInterval = TimeAmount.milliseconds(10)
    /// How many are read at a time: 67 Mbit/s of those that transport streams have, even if none was read without waiting.
    private static let datagramsPerReadMax = 64
    /// How many that were read may wait at most before reading stops, and at how many it goes on.
    private static let backPressure = NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark(
        lowWatermark: 16,
        highWatermark: 128
    )

    /// The address at which it listens, with the port that the system chose.
    let address: String
    let channel: NIOAsyncChannel<Arrival, Never>

    /// Begins to receive.
    ///
    /// - Parameters:
    ///   - address: The address; port 0: the system chooses.
    ///   - interface: The name or an address of the interface for multicast; `nil`: the system chooses.
    ///   - silenceMax: How long nothing may come until this is said.
    ///   - now: The time, in milliseconds since 1970.
    /// - Throws: ``CueRefusal`` where nothing can be received there.
    init(
        _ address: NetworkAddress,
        interface: String?,
        silenceMax: Duration,
        now: @escaping @Sendable () -> Int
    ) async throws(CueRefusal) {
        let place = try Self.socketAddress(address)
        let device = try Self.device(interface, for: place)
        guard interface == nil || place.isMulticast else {
            throw CueRefusal(.unreachable, "An interface is for multicast, and \(address.hostAndPort) is no group.")
        }
        let bound: NIOAsyncChannel<Arrival, Never>
        do {
            bound = try await Self.bind(to: place, silenceMax: silenceMax, now: now)
        } catch {
            throw CueRefusal(.unreachable, "\(address.hostAndPort) cannot be listened to: \(error).")
        }
        if place.isMulticast, let group = bound.channel as? any MulticastChannel {
            do {
                try await group.joinGroup(place, device: device).get()
            } catch {
                try? await bound.channel.close().get()
                throw CueRefusal(.unreachable, "The group \(address.host) cannot be joined: \(error).")
            }
        }
        self.channel = bound
        let port = bound.channel.localAddress?.port ?? Int(address.port)
        self.address = "\(address.host):\(port)"
    }

    private static func bind(
        to place: SocketAddress,
        silenceMax: Duration,
        now: @escaping @Sendable () -> Int
    ) async throws -> NIOAsyncChannel<Arrival, Never> {
        var bootstrap = DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.datagramBytesMax))
            .channelOption(.maxMessagesPerRead, value: UInt(Self.datagramsPerReadMax))
            .channelOption(.socketOption(.so_rcvbuf), value: Self.systemBufferBytes)
        // Of a group each watcher on this machine gets every datagram; of another address only one would.
        if place.isMulticast { bootstrap = bootstrap.channelOption(.socketOption(.so_reuseaddr), value: 1) }
        return try await bootstrap.bind(to: place) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers([
                    ReadPacer(interval: Self.readInterval, messagesPerReadMax: Self.datagramsPerReadMax),
                    DatagramOpener(), IdleStateHandler(readTimeout: TimeAmount(silenceMax)), ArrivalHandler(now: now),
                ])
                return try NIOAsyncChannel<Arrival, Never>(
                    wrappingChannelSynchronously: channel,
                    configuration: .init(backPressureStrategy: Self.backPressure)
                )
            }
        }
    }

    private static func socketAddress(_ address: NetworkAddress) throws(CueRefusal) -> SocketAddress {
        let host = address.host == "*" ? "0.0.0.0" : address.host
        do {
            return try SocketAddress(ipAddress: host, port: Int(address.port))
        } catch {
            throw CueRefusal(.unreachable, "\(address.host) is no address: an IPv4 or IPv6 address must be there.")
        }
    }

    private static func device(_ name: String?, for place: SocketAddress) throws(CueRefusal) -> NIONetworkDevice? {
        guard let name else { return nil }
        let devices = (try? System.enumerateDevices()) ?? []
        let found = devices.first { device in
            guard let own = device.address, own.protocol == place.protocol else { return false }
            return device.name == name || own.ipAddress == name
        }
        guard let found else {
            let names = Set(devices.map(\.name)).sorted().joined(separator: ", ")
            throw CueRefusal(
                .unreachable,
                "There is no interface \(name) with an address of this kind; there are: \(names)."
            )
        }
        return found
    }
}
