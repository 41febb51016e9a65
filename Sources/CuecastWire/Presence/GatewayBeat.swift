// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// The message by which a gateway tells the others of its log, about once a second, that it is there and what it knows.
package struct GatewayBeat: Hashable, Sendable {
    /// A signing key: its id, never its secret.
    package struct Key: Hashable, Sendable {
        package let id: KeyID
        package let signs: Bool
        /// Whether what it signed is not accepted any more.
        package let isRevoked: Bool

        package init(id: KeyID, signs: Bool, isRevoked: Bool) {
            self.id = id
            self.signs = signs
            self.isRevoked = isRevoked
        }
    }

    /// The digest of a board as of a record of the lane `breaks`.
    package struct Board: Hashable, Sendable {
        package let offset: UInt64
        package let digest: UInt64

        package init(offset: UInt64, digest: UInt64) {
            self.offset = offset
            self.digest = digest
        }
    }

    /// The newest beat that was heard of another gateway: by it that one tells how far apart the clocks are.
    package struct Echo: Hashable, Sendable {
        package let gateway: UInt64
        /// The other one's clock when it sent the beat.
        package let sent: Timestamp
        /// The clock of this gateway when it heard it.
        package let heard: Timestamp

        package init(gateway: UInt64, sent: Timestamp, heard: Timestamp) {
            self.gateway = gateway
            self.sent = sent
            self.heard = heard
        }
    }

    /// The largest beat, in bytes.
    package static let beatBytesMax = 32_768
    /// The most bytes of the values of streams in one beat, of each of the two kinds.
    package static let portionBytesMax = 12_288
    /// The most echoes in one beat; with more gateways they take turns.
    package static let echoesMax = 32
    package static let addressesMax = 8
    package static let boardsMax = 8
    package static let keysMax = 16
    package static let lanesMax = 32
    /// The longest version, address or name of a lane, in bytes.
    package static let textBytesMax = 128

    /// The run of the gateway.
    package var gateway: UInt64
    /// The run as the log knows it.
    package var writer: UInt64
    /// 1, 2, 3 … in each run: an older beat that comes later is passed over.
    package var number: UInt64
    /// Its clock when the beat was sent.
    package var clock: Timestamp
    /// Of the program.
    package var version = ""
    /// The newest version of the fold's rules that it knows.
    package var rules: UInt32 = FoldRules.first
    /// Up to where it has applied the lanes, by their names.
    package var applied: [String: UInt64] = [:]
    /// How many listen there in all.
    package var listeners = 0
    /// Whether it takes no new requests.
    package var isDraining = false
    /// Whether it is its last beat.
    package var isLeaving = false
    /// Where listeners reach it.
    package var addresses: [String] = []
    /// Where players reach it from outside, as its operator says.
    package var advertised: [PlayerAddress] = []
    package var keys: [Key] = []
    /// The digests of its board as of its newest records of housekeeping.
    package var boards: [Board] = []
    package var echoes: [Echo] = []
    /// How many listen to its streams.
    package var counts: StreamPortion?
    /// The digests of its streams as of a record, where its board differs from another one.
    package var digests: StreamPortion?

    package init(gateway: UInt64, writer: UInt64, number: UInt64, clock: Timestamp) {
        self.gateway = gateway
        self.writer = writer
        self.number = number
        self.clock = clock
    }

    /// Reads a beat.
    ///
    /// - Parameter bytes: as the bus brought them.
    /// - Throws: the fault of the bytes; never traps.
    package init(decoding bytes: [UInt8]) throws(WireError) {
        let wire = try decode(
            Cuecast_V1_GatewayBeat.self,
            from: bytes,
            atMost: Self.beatBytesMax,
            limit: "beatBytesMax",
            what: "a beat of a gateway"
        )
        guard wire.gateway != 0, wire.number != 0 else {
            throw .invalid(field: "gateway", rule: "a beat has a gateway and a number, neither of them 0")
        }
        try Self.requireCounts(wire)
        self.init(
            gateway: wire.gateway,
            writer: wire.writer,
            number: wire.number,
            clock: Timestamp(microseconds: wire.clockUs)
        )
        self.version = wire.version
        self.rules = wire.rules
        self.applied = Dictionary(wire.applied.map { ($0.lane, $0.offset) }) { max($0, $1) }
        self.listeners = Int(clamping: wire.listeners)
        self.isDraining = wire.draining
        self.isLeaving = wire.leaving
        self.addresses = wire.addresses
        self.advertised = PlayerAddress.readable(wire.advertised, atMost: WireLimits.advertisedAddressesMax)
        self.keys = wire.keys.map { Key(id: KeyID(rawValue: $0.id), signs: $0.signs, isRevoked: $0.revoked) }
        self.boards = wire.boards.map { Board(offset: $0.offset, digest: $0.digest) }
        self.echoes = wire.echoes.map {
            Echo(
                gateway: $0.gateway,
                sent: Timestamp(microseconds: $0.sentUs),
                heard: Timestamp(microseconds: $0.heardUs)
            )
        }
        self.counts = wire.hasCounts ? try StreamPortion(wire: wire.counts) : nil
        self.digests = wire.hasDigests ? try StreamPortion(wire: wire.digests) : nil
    }

    private static func requireCounts(_ wire: Cuecast_V1_GatewayBeat) throws(WireError) {
        try requireAtMost(Self.lanesMax, wire.applied.count, limit: "lanesMax")
        try requireAtMost(Self.addressesMax, wire.addresses.count, limit: "addressesMax")
        try requireAtMost(Self.keysMax, wire.keys.count, limit: "keysMax")
        try requireAtMost(Self.boardsMax, wire.boards.count, limit: "boardsMax")
        try requireAtMost(Self.echoesMax, wire.echoes.count, limit: "echoesMax")
        for text in [wire.version] + wire.addresses + wire.applied.map(\.lane) {
            try requireAtMost(Self.textBytesMax, text.utf8.count, limit: "textBytesMax")
        }
    }

    /// The beat's bytes.
    package func encoded() -> [UInt8] {
        encode(
            Cuecast_V1_GatewayBeat.with {
                $0.gateway = self.gateway
                $0.writer = self.writer
                $0.number = self.number
                $0.version = self.version
                $0.rules = self.rules
                $0.applied = self.applied.sorted { $0.key < $1.key }
                    .map { lane, offset in
                        .with {
                            $0.lane = lane
                            $0.offset = offset
                        }
                    }
                $0.listeners = UInt64(clamping: self.listeners)
                $0.clockUs = self.clock.microseconds
                $0.draining = self.isDraining
                $0.leaving = self.isLeaving
                $0.addresses = self.addresses
                $0.advertised = self.advertised.map(\.description)
                $0.keys = self.keys.map { key in
                    .with {
                        $0.id = key.id.rawValue
                        $0.signs = key.signs
                        $0.revoked = key.isRevoked
                    }
                }
                $0.boards = self.boards.map { board in
                    .with {
                        $0.offset = board.offset
                        $0.digest = board.digest
                    }
                }
                $0.echoes = self.echoes.map { echo in
                    .with {
                        $0.gateway = echo.gateway
                        $0.sentUs = echo.sent.microseconds
                        $0.heardUs = echo.heard.microseconds
                    }
                }
                if let counts { $0.counts = counts.wire }
                if let digests { $0.digests = digests.wire }
            }
        )
    }
}
