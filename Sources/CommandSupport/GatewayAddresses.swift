// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Chooses a gateway's address from the options and environment variables.
///
/// The order is: the option of the socket, `--gateway`, the variable of the socket, `CUECAST_GATEWAY`. Options override environment
/// variables.
package struct GatewayAddresses: Sendable {
    /// One of a gateway's addresses.
    package enum Socket: String, CaseIterable, Sendable {
        case notices
        case requests
        case broadcast
        case http

        /// The usual port.
        package var port: UInt16 {
            switch self {
            case .notices: 7_400
            case .requests: 7_401
            case .broadcast: 7_402
            case .http: 7_480
            }
        }

        package var option: String { "--\(self.rawValue)" }
        package var variable: String { "CUECAST_\(self.rawValue.uppercased())" }
    }

    /// An address that cannot be used: a sentence that names where it was said.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The result of looking for an address.
    package enum Answer: Hashable, Sendable {
        /// An address; for HTTP with its scheme if one was given.
        case address(NetworkAddress, scheme: HTTPAddress.Scheme? = nil)
        /// The user said that there is none.
        case none
    }

    private static let gatewayVariable = "CUECAST_GATEWAY"

    /// The values of `--gateway` and of the sockets' own options.
    private let gateway: String?
    private let flags: [Socket: String]
    private let environment: [String: String]

    package init(gateway: String?, flags: [Socket: String], environment: [String: String]) {
        self.gateway = gateway
        self.flags = flags
        // Set and empty is not set, as everywhere.
        self.environment = environment.filter { !$0.value.isEmpty }
    }

    /// Whether the address was given, so that it is not the default.
    package func isNamed(_ socket: Socket) -> Bool {
        self.flags[socket] != nil || self.gateway != nil || self.environment[socket.variable] != nil
            || self.environment[Self.gatewayVariable] != nil
    }

    /// The address of a socket.
    package func address(of socket: Socket) throws(Fault) -> Answer {
        if let text = self.flags[socket] { return try Self.read(text, of: socket, from: socket.option) }
        if let text = self.gateway { return .address(try Self.read(host: text, of: socket, from: "--gateway")) }
        if let text = self.environment[socket.variable] {
            return try Self.read(text, of: socket, from: socket.variable)
        }
        let text = self.environment[Self.gatewayVariable] ?? "127.0.0.1"
        return .address(try Self.read(host: text, of: socket, from: Self.gatewayVariable))
    }

    /// The fault in a given option, whether it is used or not; `nil`: none.
    package var faultOfFlags: Fault? {
        do throws(Fault) {
            if let gateway { _ = try Self.read(host: gateway, of: .notices, from: "--gateway") }
            for socket in Socket.allCases {
                if let text = self.flags[socket] { _ = try Self.read(text, of: socket, from: socket.option) }
            }
            return nil
        } catch {
            return error
        }
    }

    private static func read(_ text: String, of socket: Socket, from source: String) throws(Fault) -> Answer {
        do throws(NetworkAddress.Fault) {
            guard socket == .http else { return .address(try NetworkAddress(endpoint: text, for: .connect)) }
            if text == "none" { return .none }
            let found = try HTTPAddress(text)
            return .address(found.address, scheme: found.scheme)
        } catch {
            throw Fault(description: "\(source) is '\(text)': \(error)")
        }
    }

    private static func read(host text: String, of socket: Socket, from source: String) throws(Fault) -> NetworkAddress
    {
        if ["tcp://", "http://", "https://"].contains(where: text.hasPrefix) || Self.isHostAndPort(text) {
            throw Fault(description: "\(source) is '\(text)': it must be a host alone, without scheme and port")
        }
        do throws(NetworkAddress.Fault) {
            return NetworkAddress(host: try NetworkAddress.host(text), port: socket.port)
        } catch {
            throw Fault(description: "\(source) is '\(text)': \(error)")
        }
    }

    private static func isHostAndPort(_ text: String) -> Bool {
        (try? NetworkAddress(hostAndPort: text, for: .connect)) != nil
    }
}
