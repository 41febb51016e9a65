// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

extension ListenerRequestHandler {
    /// The limits and times that the configuration sets.
    package struct Settings: Hashable, Sendable {
        /// Which run of the gateway this is; random.
        package var instance: UInt64
        /// How often a stream's position is repeated to subscribers when nothing else happens.
        package var headInterval: Duration = SettingDefaults.headInterval
        package var lease: Duration = SettingDefaults.lease
        package var listenersMax = DescriptorReserve.listenersDefaultMax
        /// 0: no limit.
        package var requestsPerSessionPerSecondMax: Double
        /// The most acknowledgements that wait for the log; more are refused until it has caught up.
        package var acknowledgementsWaitingMax: Int
        /// The most bytes of such acknowledgements.
        package var acknowledgementBytesWaitingMax: Int
        /// The most deliveries that wait for the log; batches are refused until it has caught up.
        package var deliveriesWaitingMax: Int
        /// The largest record that a group becomes, in bytes; what gathers beyond it becomes another.
        package var recordBytesMax = EventLogLimits.recordBytesMax
        /// The most outcomes and deliveries that are remembered so that repeats of them are not logged again; a power of two.
        package var rememberedOutcomesMax: Int
        /// The tickets and tokens that listeners need.
        package var tickets = TicketRule()
        /// The attributes of listeners that count.
        package var audiences = AudiencePolicy()
        /// For measurements, whose counts are not to depend on chance: what the hashes of remembered outcomes are made with;
        /// `nil`: secrets that are new with every start.
        package var fixedHashSecret: UInt64?

        /// - Parameters:
        ///   - instance: which run of the gateway this is.
        ///   - limits: the values of its limits; the number of listeners follows from the connections, and is set apart.
        package init(instance: UInt64, limits: LimitValues = LimitValues()) {
            self.instance = instance
            self.requestsPerSessionPerSecondMax = Double(limits[.requestsPerSessionPerSecondMax])
            self.acknowledgementsWaitingMax = limits[.acknowledgementsWaitingMax]
            self.acknowledgementBytesWaitingMax = limits[.acknowledgementBytesWaitingMax]
            self.deliveriesWaitingMax = limits[.deliveriesWaitingMax]
            self.rememberedOutcomesMax = limits[.rememberedOutcomesMax]
        }
    }
}
