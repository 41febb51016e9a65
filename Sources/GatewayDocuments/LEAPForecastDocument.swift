// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The events to come of streams, in the shape of the Forecast API 1.0.0 of IAB Tech Lab's LEAP (Live Event Ad Playbook).
///
/// The tables of the specification and its examples differ in some names: this follows the tables (`events`, `inventoryconfig`).
package struct LEAPForecastDocument: Codable, Hashable, Sendable {
    /// The version of the specification.
    package static let version = "1.0.0"

    package struct StreamsData: Codable, Hashable, Sendable {
        package var expectedpeak: Int64
        package var lowerbound: Int64?

        package init(expectedpeak: Int64, lowerbound: Int64?) {
            self.expectedpeak = expectedpeak
            self.lowerbound = lowerbound
        }
    }

    package struct InventoryConfiguration: Codable, Hashable, Sendable {
        /// The length of all breaks together, in seconds.
        package var totaladdurationsec: Int
        /// How many breaks there are.
        package var expectedpodcount: Int
        /// 1: there may be breaks that are not known yet.
        package var unplanned: Int

        package init(totaladdurationsec: Int, expectedpodcount: Int, unplanned: Int) {
            self.totaladdurationsec = totaladdurationsec
            self.expectedpodcount = expectedpodcount
            self.unplanned = unplanned
        }
    }

    package struct UpcomingEvent: Codable, Hashable, Sendable {
        package var id: String
        /// In milliseconds since 1970.
        package var scheduledstart: Int64
        /// In milliseconds since 1970.
        package var scheduledend: Int64
        package var content: ConcurrentStreamsDocument.Content
        /// 1: it is scheduled.
        package var eventstatus: Int
        package var streamsdata: [StreamsData]
        package var inventoryconfig: InventoryConfiguration
        /// In milliseconds since 1970.
        package var lastmodifieddate: Int64

        package init(
            scheduledstart: Int64,
            scheduledend: Int64,
            content: ConcurrentStreamsDocument.Content,
            streamsdata: [StreamsData],
            inventoryconfig: InventoryConfiguration,
            lastmodifieddate: Int64
        ) {
            self.id = content.id
            self.scheduledstart = scheduledstart
            self.scheduledend = scheduledend
            self.content = content
            self.eventstatus = 1
            self.streamsdata = streamsdata
            self.inventoryconfig = inventoryconfig
            self.lastmodifieddate = lastmodifieddate
        }
    }

    package var version: String
    /// In milliseconds since 1970.
    package var timestamp: Int64
    package var events: [UpcomingEvent]

    package init(timestamp: Int64, events: [UpcomingEvent]) {
        self.version = Self.version
        self.timestamp = timestamp
        self.events = events
    }
}
