// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Foundation

/// An address that may be opened when a user acts on an advertisement.
///
/// Advertisements are written by others. Only http and https are opened, so that none of them can start another app, call a
/// number or run a script.
@_spi(Rendering) public struct ClickThrough: Hashable, Sendable {
    /// How many bytes an address has at most.
    public static let addressBytesMax = 8_192

    /// The address: http or https, with a host.
    public let url: URL

    /// Reads an address.
    ///
    /// - Parameter address: the advertisement's address; `nil` or empty: it has none.
    /// - Throws: why it is not opened.
    public init(_ address: String?) throws(ClickThroughRefusal) {
        guard let address, !address.isEmpty else { throw .nothingToOpen }
        guard address.utf8.count <= Self.addressBytesMax else { throw .tooLong(bytesMax: Self.addressBytesMax) }
        // `URL` would encode spaces and control characters, and open what the advertisement does not say.
        guard address.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }), let url = URL(string: address) else {
            throw .unreadable(address)
        }
        guard let scheme = url.scheme?.lowercased() else { throw .unreadable(address) }
        guard scheme == "http" || scheme == "https" else { throw .scheme(scheme) }
        guard let host = url.host(), !host.isEmpty else { throw .noHost(address) }
        self.url = url
    }
}

/// Why an address of an advertisement is not opened.
///
/// New cases may appear in a minor release.
@nonexhaustive
public enum ClickThroughRefusal: Error, Hashable, Sendable {
    /// The advertisement leads nowhere.
    case nothingToOpen
    /// The address has more bytes than ``ClickThrough/addressBytesMax``.
    case tooLong(bytesMax: Int)
    /// The text is not an address, or one without a scheme.
    case unreadable(String)
    /// The address is of this scheme, in lower case, and neither http nor https.
    case scheme(String)
    /// The address has no host.
    case noHost(String)
}

extension ClickThroughRefusal: LocalizedError, CustomStringConvertible {
    /// One sentence for people.
    public var description: String {
        switch self {
        case .nothingToOpen: "The advertisement leads nowhere."
        case .tooLong(let bytesMax): "The address has more than \(bytesMax) bytes."
        case .unreadable(let text): "This is not an address of http or https: \(text.prefix(200))"
        case .scheme(let scheme): "Addresses of \(scheme.prefix(100)) are not opened, only those of http and https."
        case .noHost(let address): "The address has no host: \(address.prefix(200))"
        }
    }

    /// The same sentence.
    public var errorDescription: String? { self.description }
}
