// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Dispatch

/// Which hosts a watcher, or a command that asks ad servers, may ask.
///
/// An address that a playlist, a wrapper or a redirect names comes from outside, and must not lead to the machines beside us.
package struct HostRule: Sendable {
    /// Whether private, loopback and link-local addresses are allowed.
    package var allowsPrivate: Bool
    /// The hosts that are allowed whatever their addresses are, in lower case.
    package var allowedHosts: Set<String>
    /// The addresses of a host.
    private let lookUp: @Sendable (String) async -> [HostAddress]

    /// A rule.
    ///
    /// - Parameters:
    ///   - allowsPrivate: whether private, loopback and link-local addresses are allowed.
    ///   - allowedHosts: the hosts that are allowed whatever their addresses are.
    ///   - lookUp: finds the addresses of a host.
    package init(
        allowsPrivate: Bool = false,
        allowedHosts: some Sequence<String> = [],
        lookUp: @escaping @Sendable (String) async -> [HostAddress] = HostRule.system
    ) {
        self.allowsPrivate = allowsPrivate
        self.allowedHosts = Set(allowedHosts.map { $0.lowercased() })
        self.lookUp = lookUp
    }

    /// Whether a host may be asked.
    package enum Verdict: Hashable, Sendable {
        /// It may, at these addresses.
        case allowed([HostAddress])
        /// It has no address.
        case unknown
        /// It has an address that is not public; the sentence for people.
        case isPrivate(String)
    }

    /// Looks a host up, and decides whether it may be asked.
    ///
    /// Only the addresses that it gives may be connected to: a name that is looked up once more may have other addresses by then.
    ///
    /// - Parameter host: a name, or an address as text, also in the brackets of a URL.
    /// - Returns: the decision.
    package func verdict(on host: String) async -> Verdict {
        var name = host
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        let addresses = await self.lookUp(name)
        guard !addresses.isEmpty else { return .unknown }
        // One of several is enough to be led astray.
        guard self.isAllowed(host) || addresses.allSatisfy(\.isPublic) else {
            return .isPrivate(
                "The host \(host) has a private, loopback or link-local address; --allow-private or --allow-host \(host) allows it."
            )
        }
        return .allowed(addresses)
    }

    /// Why a host may not be asked.
    ///
    /// - Parameter host: a name, or an address as text, also in the brackets of a URL.
    /// - Returns: the reason; `nil`: it may.
    func refusal(of host: String) async -> CueRefusal? {
        guard !self.isAllowed(host) else { return nil }
        do throws(CueRefusal) {
            _ = try await self.addresses(of: host)
            return nil
        } catch {
            return error
        }
    }

    /// The addresses of a host that may be connected to.
    ///
    /// - Parameter host: a name, or an address as text.
    /// - Returns: the addresses, at least one.
    /// - Throws: why the host may not be asked.
    func addresses(of host: String) async throws(CueRefusal) -> [HostAddress] {
        switch await self.verdict(on: host) {
        case .allowed(let addresses): return addresses
        case .unknown: throw CueRefusal(.unreachable, "The host \(host) has no address.")
        case .isPrivate(let sentence): throw CueRefusal(.unreachable, sentence)
        }
    }

    private func isAllowed(_ host: String) -> Bool {
        self.allowsPrivate || self.allowedHosts.contains(host.lowercased())
    }

    /// Asks the system's resolver, on threads of its own, since it blocks.
    package static let system: @Sendable (String) async -> [HostAddress] = { host in
        let numeric = HostAddress.resolved(host, isNumeric: true)
        guard numeric.isEmpty else { return numeric }
        return await withCheckedContinuation { continuation in
            Self.resolver.async { continuation.resume(returning: HostAddress.resolved(host)) }
        }
    }

    private static let resolver = DispatchQueue(label: "cuecast.watch.resolver", attributes: .concurrent)
}
