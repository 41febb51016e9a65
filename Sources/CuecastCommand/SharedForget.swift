// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Gateway
import GatewayCore
import JetStreamLog

/// The options of `forget` that are for several gateways on one log.
struct SharedForgetOptions: ParsableArguments {
    @Flag(help: "Several gateways: show which gateways have forgotten, and change nothing.")
    var status = false

    @Flag(help: "Several gateways: go on with all sessions that are not forgotten everywhere yet.")
    var `continue` = false

    @Option(
        help: "Several gateways: wait for a gateway no longer, because its directory is gone; --status shows the names."
    )
    var without: [String] = []

    @Option(help: "Several gateways: how many seconds to wait for all of them.")
    var wait = 120
}

/// Forgets a session in a log that several gateways share.
struct SharedForget {
    let settings: SharedLogSettings
    let session: SessionID?
    let isDry: Bool
    let options: SharedForgetOptions
    let output: OutputOptions

    /// The result, for programs.
    struct Document: Encodable {
        struct Books: Encodable {
            let gateway: String
            let version: String
            /// Whether it refuses all the sessions.
            let refused: Bool
            /// Whether its files name none of them any more.
            let done: Bool
        }

        var done = false
        var dryRun = false
        /// How many sessions the command worked on.
        var sessions = 0
        /// How many sessions are not forgotten everywhere.
        var pending = 0
        /// How many records have another one in their place now; of a dry run: how many name the session.
        var records = 0
        var gateways: [Books] = []
        /// The servers whose disks may keep what was erased.
        var serversAway: [String] = []
        /// Why nothing more was done; absent: all was.
        var reason: String?
    }

    func run() async throws {
        let document = try await self.document()
        if self.output.isJSON {
            try CommandOutput.say(json: document, isPretty: true)
        } else {
            for line in Self.lines(of: document) { CommandOutput.say(line) }
        }
        if !document.done, !self.isDry { throw CommandExit.checkFailed }
    }

    private static func lines(of document: Document) -> [String] {
        var lines = document.gateways.map { each in
            "gateway \(each.gateway) version=\(each.version) \(each.refused ? "refuses" : "has not heard of it")"
                + " \(each.done ? "has forgotten" : "has not forgotten yet")"
        }
        lines += document.serversAway.map { "server \($0) is away or behind" }
        if document.dryRun {
            lines.append("\(document.records) records name it; nothing was changed")
        } else {
            lines.append("\(document.records) records have other names now")
            if let reason = document.reason { lines.append("not done: \(reason)") }
            if document.done {
                lines.append(
                    "forgotten at all gateways; the servers' own journals keep what was erased for up to 3 minutes"
                )
            } else if document.pending > 0 {
                lines.append("\(document.pending) sessions are not forgotten everywhere")
            }
        }
        return lines
    }
}

#if JetStream
extension SharedForget {
    private static let lookInterval: Duration = .milliseconds(500)
    private static let notOrdered =
        "the order to forget the session is not in the log for certain: run the command again with --session"
    private static let ordered = "the order to forget the session is in the log: go on with --continue"

    private func document() async throws -> Document {
        try await ClusterAccess.telling {
            var document = Document()
            document.dryRun = self.isDry
            let log: LogForgetting
            var order: ForgettingOrder?
            do throws(NATSError) {
                log = try await LogForgetting.open(
                    self.settings.access(as: "cuecast-forget"),
                    names: self.settings.names
                )
                if let session, !self.isDry { order = try await log.begin(session, at: SigningKeys.now) }
            } catch {
                // --continue would not know of it.
                if self.session != nil, !self.isDry { complain(Self.notOrdered) }
                throw error
            }
            if self.isDry, let session {
                document.records = try await log.count(session)
                return document
            }
            if self.options.status {
                let pending = try await log.orders.read().pending
                document.serversAway = try await log.serversAway()
                try await self.note(pending, log, &document)
                (document.sessions, document.pending) = (pending.count, pending.count)
                document.done = pending.isEmpty
                return document
            }
            do {
                for each in self.options.without { try await log.drop(each) }
                try await self.forget(log, order, &document)
            } catch let error as NATSError {
                if order != nil { complain(Self.ordered) }
                throw error
            }
            return document
        }
    }

    private func forget(
        _ log: LogForgetting,
        _ ordered: ForgettingOrder?,
        _ document: inout Document
    ) async throws {
        let begun = ContinuousClock.now
        let deadline = begun + .seconds(self.options.wait)
        // Refused first: what a gateway has under way comes into the log before it says so. Those that are away are waited for by half.
        var orders = try await log.pending(at: SigningKeys.now)
        document.sessions = orders.count
        if let ordered, !orders.contains(where: { $0.number == ordered.number }) {
            document.reason = "another command goes on with it: see --status"
            return
        }
        guard !orders.isEmpty else {
            document.reason =
                "no session is being forgotten. Was an earlier command cut off before the order was in the log? Run it again with --session"
            return
        }
        let haveRefused = try await self.wait(until: begun + .seconds(self.options.wait) / 2) {
            try await self.note(orders, log, &document)
            return document.gateways.allSatisfy(\.refused)
        }
        document.serversAway = try await log.serversAway()
        guard document.serversAway.isEmpty else {
            document.reason =
                "a server that is away keeps what is erased meanwhile: start it, and go on with --continue"
            document.pending = orders.count
            return
        }
        try await self.erase(&orders, log, &document)
        let areDone = try await self.wait(until: deadline) {
            try await self.note(orders, log, &document)
            return document.gateways.allSatisfy { $0.refused && $0.done }
        }
        document.pending = orders.count
        guard areDone else {
            document.reason = "gateways are away: start them, and go on with --continue"
            return
        }
        if !haveRefused {
            // A record of a gateway that had not refused it yet may have come since.
            let before = document.records
            try await self.erase(&orders, log, &document)
            guard document.records == before else {
                document.reason = "records came meanwhile: go on with --continue"
                return
            }
        }
        document.serversAway = try await log.serversAway()
        guard document.serversAway.isEmpty else {
            document.reason =
                "a server went away meanwhile, and may keep what was erased: start it on an empty folder, and go on with --continue"
            return
        }
        guard try await log.gatewaysAreTold(at: SigningKeys.now) else {
            document.reason =
                "gateways of this log tell from now on that they are there: go on with --continue in a minute"
            return
        }
        for order in orders { try await log.finish(order) }
        (document.pending, document.done) = (0, true)
    }

    /// Erases the records, and tells the gateways.
    private func erase(
        _ orders: inout [ForgettingOrder],
        _ log: LogForgetting,
        _ document: inout Document
    ) async throws {
        let swept = try await log.sweep(orders)
        document.records += swept.records
        for place in orders.indices where swept.hasToBeTold(of: orders[place]) {
            orders[place].erased = try await log.markErased(orders[place], through: swept.heads)
        }
    }

    private func note(_ orders: [ForgettingOrder], _ log: LogForgetting, _ document: inout Document) async throws {
        let (number, erased) = (orders.map(\.number).max() ?? 0, orders.compactMap(\.erased).max() ?? 0)
        let areErased = orders.allSatisfy { $0.erased != nil }
        document.gateways = try await log.orders.books()
            .map {
                Document.Books(
                    gateway: $0.id,
                    version: $0.version,
                    refused: $0.refused >= number,
                    done: areErased && $0.refused >= number && $0.done >= erased
                )
            }
    }

    private func wait(until deadline: ContinuousClock.Instant, _ isThere: () async throws -> Bool) async throws -> Bool
    {
        while true {
            if try await isThere() { return true }
            guard ContinuousClock.now < deadline else { return false }
            try await Task.sleep(for: Self.lookInterval)
        }
    }
}
#else
extension SharedForget {
    private func document() async throws -> Document {
        complain("this program was built without NATS (the package's trait JetStream)")
        throw CommandExit.unavailable
    }
}
#endif
