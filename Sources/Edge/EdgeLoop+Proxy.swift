// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import GatewayCore
package import SystemSupport
internal import TLS

/// The load balancers before an endpoint, which pass connections on.
///
/// Each connection begins with a header of the PROXY protocol; any other connection is refused.
package struct Balancers: Hashable, Sendable {
    /// From where they come.
    package let trusted: AddressNetworks
    /// Whether connections of clients on other machines must be encrypted, by the balancer or by the gateway.
    package let mustEncrypt: Bool

    package init(trusted: AddressNetworks, mustEncrypt: Bool) {
        self.trusted = trusted
        self.mustEncrypt = mustEncrypt
    }
}

/// Why a connection that was passed on is refused.
package enum ProxyRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// It does not come from a balancer.
    case untrusted
    case header(ProxyFailure)
    /// Neither the balancer nor the gateway encrypts it, and its client is on another machine.
    case unencrypted

    /// The metric label that counts it.
    var metricLabel: MetricLabel {
        switch self {
        case .untrusted: .untrusted
        case .unencrypted: .unencrypted
        case .header(.noSignature): .noSignature
        case .header(.version): .version
        case .header(.tooLong): .tooLong
        case .header(.family): .family
        case .header(.malformed): .malformed
        case .header(.checksum): .checksum
        }
    }

    package var description: String {
        switch self {
        case .untrusted: "it does not come from a balancer"
        case .header(let failure): "\(failure)"
        case .unencrypted: "its client is on another machine, and nothing says that the connection is encrypted"
        }
    }
}

extension EdgeLoop {
    /// Reads what a balancer says about a connection, and goes on with what follows it.
    ///
    /// - Parameters:
    ///   - index: a connection that a balancer passed on.
    ///   - kept: so many bytes of its header are in the buffer already.
    func readHeader(_ index: Int, _ kept: Int) {
        // What follows the header goes to the pipe where it is encrypted: there is room for all of it.
        let count = System.read(
            self.connections.slots[index].descriptor,
            into: &self.buffers.plain,
            at: kept,
            bytesMax: TLSPipe.inputBytesMax
        )
        guard count > 0 else {
            if count < 0, System.wouldBlock(count) {
                self.keepInput(index, kept, from: 0)
            } else {
                self.close(index)
            }
            return
        }
        let end = kept + count
        do throws(ProxyFailure) {
            // One more reference to the bytes, given back at once: nothing is copied.
            let buffer = self.buffers.plain
            guard let header = try ProxyHeader.read(buffer.span.extracting(0..<end)) else {
                return self.keepInput(index, end, from: 0)
            }
            self.take(header, index, end)
        } catch {
            self.close(index, .proxy(.header(error)))
        }
    }

    /// Takes a connection for its client's, and handles what follows the header.
    private func take(_ header: ProxyHeader, _ index: Int, _ end: Int) {
        if let refusal = self.admit(header, index) { return self.close(index, refusal) }
        self.connections.slots[index].awaitsHeader = false
        switch header.source {
        case .balancer: self.metrics.count(.proxyHeaders, .balancer)
        case .client: self.metrics.count(.proxyHeaders, .client)
        }
        if self.connections.slots[index].isByTLS {
            let rest = self.buffers.plain[header.byteCount..<end]
            guard !rest.isEmpty else { return }
            self.buffers.pipe.input.replaceSubrange(0..<rest.count, with: rest)
            return self.handleEncrypted(index, rest.count, 0)
        }
        if self.connections.slots[index].webSocket != nil {
            let rest = self.buffers.plain[header.byteCount..<end]
            guard !rest.isEmpty else { return }
            self.buffers.frames.replaceSubrange(0..<rest.count, with: rest)
            return self.handleFrames(index, rest.count, 0)
        }
        let generation = self.connections.slots[index].generation
        self.greet(index)
        guard self.connections.slots[index].generation == generation, header.byteCount < end else { return }
        self.handleInput(index, end, from: header.byteCount)
    }

    /// From here on the client's address has the limits of an address.
    ///
    /// - Returns: why the connection is not taken; `nil`: it is.
    private func admit(_ header: ProxyHeader, _ index: Int) -> EdgeClosing? {
        // The balancer's own connections belong to no client.
        guard case .client(let client) = header.source else { return nil }
        let address = PeerAddress(client)
        self.connections.slots[index].address = address
        let balancers = self.shared.endpoints[Int(self.connections.slots[index].endpoint)].balancers
        if balancers?.mustEncrypt == true, !header.isEncrypted, !self.connections.slots[index].isByTLS,
            !address.isLoopback
        {
            return .proxy(.unencrypted)
        }
        guard self.shared.limits(address) else { return nil }
        guard let shared = self.shared.admit(address) else { return .address }
        self.connections.slots[index].shared = shared
        return nil
    }

    /// Counts a connection that ends before it is known whose it is, once.
    ///
    /// - Parameters:
    ///   - index: a connection that is about to end.
    ///   - reason: why; `nil`: the balancer is gone, or the gateway stops.
    func noteHeaderEnd(_ index: Int, _ reason: EdgeClosing?) {
        guard self.connections.slots[index].awaitsHeader else { return }
        switch reason {
        case .proxy(let refusal): self.metrics.count(.proxyHeaders, refusal.metricLabel)
        case .handshake: self.metrics.count(.proxyHeaders, .late)
        case nil: self.metrics.count(.proxyHeaders, .gone)
        default: self.metrics.count(.proxyHeaders, .refused)
        }
        // Nothing after it has begun.
        self.connections.slots[index].isByTLS = false
        self.connections.slots[index].awaitsHeader = false
    }
}
