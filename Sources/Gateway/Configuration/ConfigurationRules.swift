// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import SystemSupport

/// The rules that values of the configuration must keep.
extension ConfigurationTable {
    /// A part of everything, as one writes it in a configuration.
    static func ratio(_ value: String) -> Double? {
        // No sign, no exponent, no name of a number.
        guard (1...20).contains(value.utf8.count),
            value.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let ratio = Double(value), ratio <= 1
        else { return nil }
        return ratio
    }

    /// Why a text is none of a key's values; `nil`: it is one of them.
    static func reasonAgainst(_ value: String, unlessOneOf values: [String]) -> String? {
        values.contains(value) ? nil : "it must be one of \(values.joined(separator: ", ")), and is \(value)"
    }

    /// Why a text cannot be the name of a file; `nil`: it can, or there is none.
    static func reasonAgainstFile(_ name: String) -> String? {
        name.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }
            ? "it must be the name of a file, without control characters" : nil
    }

    /// Why a text cannot be an issuer or an audience; `nil`: it can.
    static func reasonAgainstName(_ name: String) -> String? {
        (1...256).contains(name.utf8.count) && !name.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }
            ? nil : "it must be 1 to 256 bytes without control characters"
    }

    /// Why a list of origins is refused: each must be one that a page can have.
    static func reasonAgainstOrigins(_ value: String) -> String? {
        guard value.utf8.count <= 4_096 else { return "it must be 4096 bytes at most" }
        for part in GatewayConfiguration.list(value) {
            do throws(WebOrigin.Fault) {
                _ = try OriginPattern(part)
            } catch {
                return "it must be origins that pages can have, and \(part) is none: \(error.reason)"
            }
        }
        return nil
    }

    /// Why a list of addresses for players is refused: each must be one that a client can use.
    static func reasonAgainstAdvertised(_ value: String) -> String? {
        let parts = GatewayConfiguration.list(value)
        guard parts.count <= WireLimits.advertisedAddressesMax else {
            return "it must be at most \(WireLimits.advertisedAddressesMax) addresses, and these are \(parts.count)"
        }
        for part in parts where PlayerAddress(part) == nil {
            return
                "it must be addresses \(PlayerAddress.form) with commas between them, each of at most \(WireLimits.addressBytesMax) bytes, and \(part) is none"
        }
        return nil
    }

    /// Why a path of requests is refused.
    static func reasonAgainstPath(_ value: String) -> String? {
        let isPath =
            value.hasPrefix("/") && value.utf8.count <= 256
            && value.utf8.allSatisfy {
                (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
            }
        return value.isEmpty || isPath
            ? nil : "it must be a path of at most 256 bytes without a query, such as /listen, and is \(value)"
    }

    /// Why a list of host names is refused: each must be one that a request can ask for.
    static func reasonAgainstHosts(_ value: String) -> String? {
        guard value.utf8.count <= 4_096 else { return "it must be 4096 bytes at most" }
        for part in GatewayConfiguration.list(value) {
            guard let origin = WebOrigin(scheme: "https", authority: part), !origin.host.contains("*") else {
                return "it must be host names, such as ads.radio.example, and \(part) is none"
            }
            guard origin.port == nil, !part.contains(":") || part.hasPrefix("[") else {
                return "it must be host names without ports, and \(part) has one"
            }
        }
        return nil
    }

    /// Why this is not an endpoint to bind to.
    static func endpoint(_ value: String) -> String? {
        guard value.hasPrefix("tcp://"), let colon = value.lastIndex(of: ":"), colon > value.startIndex,
            value.dropFirst("tcp://".count).firstIndex(of: ":") != nil
        else { return "it must be tcp://HOST:PORT, and is \(value)" }
        let host = value[value.index(value.startIndex, offsetBy: "tcp://".count)..<colon]
        let port = value[value.index(after: colon)...]
        guard !host.isEmpty, port == "*" || UInt16(port) != nil else {
            return "it must be tcp://HOST:PORT with a port from 0 to 65535 or *, and is \(value)"
        }
        do throws(NetworkAddress.Fault) {
            _ = try NetworkAddress(endpoint: value, for: .bind)
            return nil
        } catch {
            return "\(error); it is \(value)"
        }
    }
}
