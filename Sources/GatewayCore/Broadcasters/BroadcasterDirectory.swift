// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The bounds of who may publish.
package enum BroadcasterLimits {
    /// The most bytes of the file of broadcasters.
    package static let broadcastersFileBytesMax = 1_048_576
    /// The most broadcasters of a gateway.
    package static let broadcastersMax = 1_000
    /// The most keys of one broadcaster: the one in use, the next one, and those of its machines.
    package static let keysPerBroadcasterMax = 16
    /// The most stream patterns of one broadcaster.
    package static let streamsPerBroadcasterMax = 64
    /// The most bytes of a broadcaster's name.
    package static let broadcasterNameBytesMax = 64
}

/// The broadcasters that a gateway knows, by their public keys.
///
/// Immutable: a reload makes another one. A key is known by its text of 40 characters (Z85); what it proves is
/// decided elsewhere, by the handshake of its connection.
package struct BroadcasterDirectory: Hashable, Sendable {
    /// A public key, and until when it is taken.
    package struct Key: Hashable, Sendable {
        /// 40 characters of Z85.
        package let text: String
        /// The last instant at which it is taken; `nil`: for good.
        package let notAfter: Timestamp?

        package init(_ text: String, notAfter: Timestamp? = nil) {
            self.text = text
            self.notAfter = notAfter
        }
    }

    /// One entry of the file.
    package struct Broadcaster: Hashable, Sendable {
        package var name: String
        package var keys: [Key]
        package var streams: [StreamPattern]

        package init(name: String, keys: [Key], streams: [StreamPattern]) {
            self.name = name
            self.keys = keys
            self.streams = streams
        }
    }

    /// The state of a key at some instant.
    package enum Standing: Hashable, Sendable {
        case known(BroadcastPrincipal)
        case expired(name: String, notAfter: Timestamp)
        /// Never listed, or withdrawn.
        case unknown
    }

    private struct Entry: Hashable, Sendable {
        let principal: BroadcastPrincipal
        let notAfter: Timestamp?
    }

    private let entries: [String: Entry]
    /// Of all broadcasters, sorted.
    package let names: [String]

    /// How many keys are listed, whether they are still taken or not.
    package var keyCount: Int { self.entries.count }

    /// Checks limits and that nothing is said twice.
    ///
    /// - Throws: `BroadcasterFaults` with a sentence for each fault.
    package init(_ broadcasters: [Broadcaster]) throws(BroadcasterFaults) {
        var faults: [String] = []
        var entries: [String: Entry] = [:]
        var names: Set<String> = []
        func check(_ limit: String, _ maximum: Int, _ found: Int, _ what: String) {
            guard found > maximum else { return }
            faults.append("\(what) \(found); the limit \(limit) is \(maximum)")
        }
        check("broadcastersMax", BroadcasterLimits.broadcastersMax, broadcasters.count, "the number of broadcasters is")
        for each in broadcasters.prefix(BroadcasterLimits.broadcastersMax) {
            guard Self.isName(each.name) else {
                // Said without it: it may be anything.
                faults.append("a name has 1 to 64 characters A–Z, a–z, 0–9, '.', '_' or '-', and one has not")
                continue
            }
            if !names.insert(each.name).inserted { faults.append("the broadcaster \(each.name) is listed twice") }
            if each.keys.isEmpty { faults.append("the broadcaster \(each.name) has no key") }
            if each.streams.isEmpty { faults.append("the broadcaster \(each.name) has no stream") }
            check(
                "keysPerBroadcasterMax",
                BroadcasterLimits.keysPerBroadcasterMax,
                each.keys.count,
                "the number of keys of \(each.name) is"
            )
            check(
                "streamsPerBroadcasterMax",
                BroadcasterLimits.streamsPerBroadcasterMax,
                each.streams.count,
                "the number of streams of \(each.name) is"
            )
            let principal = BroadcastPrincipal(name: each.name, streams: each.streams)
            for key in each.keys {
                if let other = entries[key.text] {
                    let whose =
                        other.principal.name == each.name ? each.name : "\(other.principal.name) and of \(each.name)"
                    // Not the key itself: the list may contain a secret key by mistake.
                    faults.append("a key is listed twice, of \(whose)")
                }
                entries[key.text] = Entry(principal: principal, notAfter: key.notAfter)
            }
        }
        guard faults.isEmpty else { throw BroadcasterFaults(sentences: faults) }
        self.entries = entries
        self.names = names.sorted()
    }

    /// The same rule as for streams' ids, so that a name can stand in logs, tables and addresses as it is.
    private static func isName(_ text: String) -> Bool {
        text.utf8.count <= BroadcasterLimits.broadcasterNameBytesMax && (try? StreamID(text)) != nil
    }

    /// The state of a key at some instant.
    package func standing(of key: String, at now: Timestamp) -> Standing {
        guard let entry = self.entries[key] else { return .unknown }
        if let notAfter = entry.notAfter, now > notAfter {
            return .expired(name: entry.principal.name, notAfter: notAfter)
        }
        return .known(entry.principal)
    }

    /// The broadcaster on a connection.
    ///
    /// Looked up for each request, so that what a reload took away is gone on open connections too.
    ///
    /// - Parameters:
    ///   - key: the key that the connection proved when it was made; `nil`: none.
    ///   - now: the gateway's clock.
    /// - Returns: the principal.
    /// - Throws: `NOT_ALLOWED`.
    package func principal(of key: String?, at now: Timestamp) throws(Refusal) -> BroadcastPrincipal {
        switch key.map({ self.standing(of: $0, at: now) }) {
        case .known(let principal): return principal
        case .expired(let name, let notAfter):
            throw Refusal(.notAllowed, "This key of the broadcaster \(name) was taken until \(notAfter).")
        case .unknown: throw Refusal(.notAllowed, "The key of this connection is no longer a broadcaster's.")
        case nil: throw Refusal(.notAllowed, "This connection has shown no key.")
        }
    }
}

/// All that is wrong with a list of broadcasters.
package struct BroadcasterFaults: Error, Hashable, Sendable, CustomStringConvertible {
    package let sentences: [String]

    package init(sentences: [String]) {
        self.sentences = sentences
    }

    package var description: String { self.sentences.joined(separator: "; ") }
}
