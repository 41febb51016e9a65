// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Calls of the operating system.
///
/// The folder `Linux` has the calls of event loops and servers. The package compiles that folder on Linux only.
package enum System {
    /// An errno as a text for people.
    package static func describe(_ code: Int32) -> String {
        // Safety: the C library answers with a text that ends with zero, whatever the number.
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }
}
