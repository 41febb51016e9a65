// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Comparisons of what gateways of one log must have in common, each with the sentence of its alarm.
package enum GatewayFindings {
    /// Compares signing keys.
    ///
    /// - Parameters:
    ///   - own: of this gateway.
    ///   - others: the newest beats of the others.
    /// - Returns: the sentence; `nil`: all accept the same keys, and sign with the same one.
    package static func signingKeys(_ own: [GatewayBeat.Key], _ others: [GatewayBeat]) -> String? {
        let mine = Set(own)
        guard let other = others.first(where: { Set($0.keys) != mine }) else { return nil }
        let theirs = Set(other.keys)
        let ids = mine.symmetricDifference(theirs).map(\.id.description)
        let differing = Array(Set(ids)).sorted().joined(separator: ", ")
        return
            "The signing keys of \(other.name) are other ones than here (\(differing)): players that move between the"
            + " gateways may be refused. Give all gateways the same file of keys, and reload them."
    }

    /// Tells of a gateway that is late.
    ///
    /// - Parameters:
    ///   - name: of the gateway; `nil`: this one.
    ///   - late: how late it is.
    /// - Returns: the sentence.
    static func late(_ name: String?, _ late: LogLateness.Late) -> String {
        let who = name.map { $0.prefix(1).uppercased() + $0.dropFirst() } ?? "This gateway"
        let records = late.records == 1 ? "1 record" : "\(late.records) records"
        return
            "\(who) lacks \(records) of breaks that another gateway has, for \(late.time.components.seconds) s: its"
            + " listeners hear of breaks later. Look at its machine, and at its connection to the servers of the log."
    }

    /// Compares clocks.
    ///
    /// - Parameters:
    ///   - offsets: how far the clock of each of the others is from this gateway's.
    ///   - others: their newest beats.
    /// - Returns: the sentence, about the one that differs most; `nil`: none differs too much.
    package static func clocks(_ offsets: [UInt64: ClockOffset], _ others: [GatewayBeat]) -> String? {
        let apart = others.compactMap { other in
            offsets[other.gateway].flatMap { $0.isTooLarge ? $0.best : nil }.map { (other, $0) }
        }
        guard let (other, measure) = apart.max(by: { $0.1.certain < $1.1.certain }) else { return nil }
        let direction = measure.ahead > 0 ? "ahead of" : "behind"
        return
            "The clock of \(other.name) is \(abs(measure.ahead) / 1_000) ms \(direction) the clock of this gateway, and"
            + " may be \(ClockOffset.differenceMax.inMicroseconds / 1_000) ms: look at the time service of both machines."
    }

    /// Tells of boards that differ.
    ///
    /// - Parameters:
    ///   - differences: as the comparison found them.
    ///   - others: the newest beats of the others.
    /// - Returns: the sentence; `nil`: all boards are the same.
    package static func boards(_ differences: [BoardComparison.Difference], _ others: [GatewayBeat]) -> String? {
        guard let difference = differences.first(where: { $0.stream != nil }) ?? differences.first else { return nil }
        let name = others.first { $0.gateway == difference.gateway }?.name ?? GatewayBeat.name(of: difference.gateway)
        let stream = difference.stream.map { ", first in the stream \($0)" } ?? ""
        return
            "The board of \(name) differs from the board of this gateway as of the record \(difference.offset)\(stream):"
            + " one of the two read the event log otherwise. Compare both with `cuecast verify`."
    }

    /// The board that a gateway took from a snapshot of the log differs from the board of the gateway that left it.
    static func wrongBeginning(at offset: UInt64) -> String {
        "The snapshot of the log as of the record \(offset), from which this gateway began, comes to another board than at the gateway that"
            + " left it. Stop this gateway, compare both with `cuecast verify`, and start the one that is wrong without its board.sqlite."
    }
}

extension GatewayBeat {
    /// The gateway's name for people: its run, and its address.
    package var name: String {
        let run = Self.name(of: self.gateway)
        return self.addresses.first.map { "\(run) at \($0)" } ?? run
    }

    /// The name for people of a gateway of which only the run is known.
    package static func name(of gateway: UInt64) -> String {
        let digits = String(gateway, radix: 16)
        return "the gateway \(String(repeating: "0", count: 16 - digits.count))\(digits)"
    }
}

extension KeyRing {
    /// The keys as other gateways are told of them, without their secrets.
    package var facts: [GatewayBeat.Key] {
        self.keys.map { GatewayBeat.Key(id: $0.id, signs: $0.state == .signing, isRevoked: $0.state == .revoked) }
    }
}
