// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ

/// The capabilities of the linked libzmq.
package enum ZeroMQCapabilities {
    /// Whether libzmq has a capability, such as `curve`, `ipc` or `draft`.
    ///
    /// An unknown name is one it does not have.
    package static func has(_ capability: String) -> Bool {
        unsafe zmq_has(capability) == 1
    }

    /// The version of the library in use, which need not be the one that was compiled against.
    package static var version: ZeroMQVersion {
        var major: CInt = 0
        var minor: CInt = 0
        var patch: CInt = 0
        unsafe zmq_version(&major, &minor, &patch)
        return ZeroMQVersion(major: Int(major), minor: Int(minor), patch: Int(patch))
    }
}

/// A libzmq version.
package struct ZeroMQVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let major: Int
    package let minor: Int
    package let patch: Int

    package init(major: Int, minor: Int, patch: Int) {
        self.major = major
        self.minor = minor
        self.patch = patch
    }

    package static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.major, lhs.minor, lhs.patch) < (rhs.major, rhs.minor, rhs.patch)
    }

    package var description: String { "\(self.major).\(self.minor).\(self.patch)" }
}
