// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The bounds of what a peer may send; a peer that passes one is refused.
package enum ZMTPLimits {
    /// The length of a greeting, in bytes (RFC 23, "Greeting").
    package static let greetingBytes = 64
    /// The longest command with its name, in bytes; RFC 23 sets no limit.
    package static let commandBytesMax = 65_536
    /// The longest identity, in bytes (RFC 23, "The Identity Property").
    package static let identityBytesMax = 255
    /// The most properties in one READY command; RFC 23 sets no limit.
    package static let propertiesMax = 64
    /// The longest context of a PING, in bytes (RFC 37, "Connection Heartbeating").
    package static let pingContextBytesMax = 16
    /// The longest body of a message frame where nothing else is said, in bytes.
    package static let frameBytesDefaultMax = 2 * 1_048_576
    /// The longest header of a frame, in bytes: flags and a length of eight bytes.
    package static let frameHeaderBytesMax = 9
}
