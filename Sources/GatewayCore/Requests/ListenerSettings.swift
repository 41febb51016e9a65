// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

extension ListenerRequestHandler {
    /// The limits and times that the configuration sets.
    package struct Settings: Hashable, Sendable {
        /// Which run of the gateway this is; random.
        package var instance: UInt64
        /// How often a stream's position is repeated to subscribers when nothing else happens.
        package var headInterval: Duration = .seconds(5)
        package var lease: Duration = .seconds(300)
        package var listenersMax = 100_000
        /// 0: no limit.
        package var requestsPerSessionPerSecondMax: Double = 1_000
        /// The most acknowledgements that wait for the log; more are refused until it has caught up.
        package var acknowledgementsWaitingMax = 20_000
        /// The most bytes of such acknowledgements.
        package var acknowledgementBytesWaitingMax = 64 * 1_048_576
        /// The most deliveries that wait for the log; batches are refused until it has caught up.
        package var deliveriesWaitingMax = 100_000
        /// The largest record that a group becomes, in bytes; what gathers beyond it becomes another.
        package var recordBytesMax = EventLogLimits.recordBytesMax
        /// The most outcomes and deliveries that are remembered so that repeats of them are not logged again; a power of two.
        package var rememberedOutcomesMax = 524_288
        /// The tickets and tokens that listeners need.
        package var tickets = TicketRule()
        /// For measurements, whose counts are not to depend on chance: what the hashes of remembered outcomes are made with;
        /// `nil`: secrets that are new with every start.
        package var fixedHashSecret: UInt64?

        package init(instance: UInt64) {
            self.instance = instance
        }
    }
}
