// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The kind of text in an element that should hold a URL.
enum WebAddress: Equatable {
    /// An absolute `http` or `https` address, cleaned of white space.
    case usable(String)
    /// Nothing.
    case empty
    /// `about:blank`, which stands for no address on purpose (VAST 4.3 section 3.4.4).
    case placeholder
    /// Something else.
    case unusable(String)
    /// More than the most bytes.
    case tooLong

    /// Reads an address.
    ///
    /// White space around it is dropped, and so is white space with a line break inside it: VAST 4.3 section 2.3.3 splits
    /// an address over several CDATA sections on lines of their own. A space that is left becomes `%20`. Nothing else is
    /// touched, since macros such as `[CACHEBUSTING]` are not yet what they will be.
    init(_ text: String, bytesMax: Int) {
        var url: [UInt8] = []
        var space: [UInt8] = []
        for byte in text.trimmed.utf8 {
            if MarkupReader.isSpace(byte) {
                space.append(byte)
                continue
            }
            if space.allSatisfy({ $0 == 0x20 }) { for _ in space { url += Array("%20".utf8) } }
            space = []
            url.append(byte)
        }
        let address = String(decoding: url, as: UTF8.self)
        if url.isEmpty {
            self = .empty
        } else if address.lowercased() == "about:blank" {
            self = .placeholder
        } else if url.count > bytesMax {
            self = .tooLong
        } else {
            self = Self.isAbsolute(address) ? .usable(address) : .unusable(address)
        }
    }

    /// Whether an address begins with `http://` or `https://` and a host (RFC 3986 section 3).
    private static func isAbsolute(_ address: String) -> Bool {
        let scheme = address.prefix(8).lowercased()
        guard scheme.hasPrefix("http://") || scheme == "https://", !address.unicodeScalars.contains(where: \.isControl)
        else { return false }
        let afterScheme = address.dropFirst(scheme == "https://" ? 8 : 7)
        let authority = afterScheme.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority[(authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex)...]
        return !host.isEmpty && !host.hasPrefix(":")
    }
}
