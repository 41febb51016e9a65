// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The address of a radio stream.
package struct RadioAddress: Hashable, Sendable {
    /// The address as a whole.
    package let url: URL
    /// Whether the server is asked by TLS.
    let isEncrypted: Bool
    /// The name or the address of the server, without brackets.
    let host: String
    let port: Int

    /// Reads an address: `http://HOST[:PORT]/MOUNT` or `https://…`.
    ///
    /// - Parameters:
    ///   - text: The address, also a relative one.
    ///   - base: What it is relative to.
    /// - Throws: ``CueRefusal`` where it cannot be watched.
    package init(_ text: String, relativeTo base: RadioAddress? = nil) throws(CueRefusal) {
        guard let url = URL(string: text, relativeTo: base?.url)?.absoluteURL, let scheme = url.scheme?.lowercased(),
            scheme == "http" || scheme == "https", var host = url.host(percentEncoded: true), !host.isEmpty
        else { throw CueRefusal(.unreachable, "The address must be http://HOST/MOUNT or https://HOST/MOUNT.") }
        guard url.user() == nil, url.password() == nil else {
            throw CueRefusal(.unreachable, "The address must not have a user or a password in it.")
        }
        guard scheme == "https" || base?.isEncrypted != true else {
            throw CueRefusal(.unreachable, "The server leads from https to http, which is not followed.")
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        self.url = url
        self.isEncrypted = scheme == "https"
        self.host = host
        self.port = url.port ?? (scheme == "https" ? 443 : 80)
        guard (1...65_535).contains(self.port) else {
            throw CueRefusal(.unreachable, "The port \(self.port) of the address is no port.")
        }
    }

    /// The request: it asks for metadata between the audio.
    var request: String {
        var target = self.url.path(percentEncoded: true)
        if target.isEmpty { target = "/" }
        if let query = self.url.query(percentEncoded: true) { target += "?\(query)" }
        let name = self.host.contains(":") ? "[\(self.host)]" : self.host
        let lines = [
            "GET \(target) HTTP/1.1", "Host: \(name):\(self.port)", "User-Agent: cuecast", "Accept: */*",
            "Icy-MetaData: 1", "Connection: close", "", "",
        ]
        return lines.joined(separator: "\r\n")
    }
}
