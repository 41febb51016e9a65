// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Where a transport stream comes from, as people write it.
package enum TransportStreamInput: Hashable, Sendable, CustomStringConvertible {
    /// Why a text is no input: a sentence.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// Standard input: `-`.
    case standardInput
    /// A file or a named pipe.
    case file(String)
    /// Datagrams that come to an address of this machine, or to a multicast group: `udp://` and `rtp://`.
    case datagrams(NetworkAddress)

    /// Reads `-`, a path, `udp://[@]ADDRESS:PORT` or `rtp://[@]ADDRESS:PORT`.
    ///
    /// - Parameter text: What a person wrote; an empty address means all addresses of this machine.
    /// - Throws: ``Fault`` where it is none of them.
    package init(_ text: String) throws(Fault) {
        guard text != "-" else {
            self = .standardInput
            return
        }
        guard let colon = text.firstRange(of: "://") else {
            guard !text.isEmpty else { throw Fault(description: "the input is empty") }
            self = .file(text)
            return
        }
        let scheme = text[..<colon.lowerBound].lowercased()
        guard scheme == "udp" || scheme == "rtp" else {
            throw Fault(description: "‘\(scheme)’ is not a scheme that is known here: udp and rtp are")
        }
        var rest = text[colon.upperBound...]
        // Players write an @ before the address at which one listens.
        if rest.first == "@" { rest = rest.dropFirst() }
        if let extra = rest.firstIndex(where: { "/?#".contains($0) }) {
            throw Fault(description: "nothing may follow the port, and ‘\(rest[extra...])’ does")
        }
        if rest.first == ":" { rest = "*" + rest }
        do throws(NetworkAddress.Fault) {
            self = .datagrams(try NetworkAddress(hostAndPort: String(rest), for: .bind))
        } catch {
            throw Fault(description: "the address \(text): \(error)")
        }
    }

    /// The input, for people.
    package var description: String {
        switch self {
        case .standardInput: "standard input"
        case .file(let path): path
        case .datagrams(let address): "udp://\(address.hostAndPort)"
        }
    }
}
