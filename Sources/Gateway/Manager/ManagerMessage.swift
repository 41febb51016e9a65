// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// One thing that a service tells the service manager that started it (`man 3 sd_notify`).
package enum ManagerMessage: Hashable, Sendable {
    /// The service takes requests, for the first time or after a reload.
    case ready
    /// The configuration is read again, since this time of the monotonic clock, in microseconds.
    case reloading(since: UInt64)
    /// The service ends.
    case stopping
    /// One sentence for people, which `systemctl status` shows.
    case status(String)
    /// The service lives.
    case watchdog
    /// The start or the stop that is under way is not given up before this time has passed.
    case extendTimeout(Duration)
    /// Why the start failed, as the system numbers errors.
    case errorNumber(Int32)

    /// The assignment that is sent, without an end of line.
    package var assignment: String {
        switch self {
        case .ready: "READY=1"
        case .reloading(let since): "RELOADING=1\nMONOTONIC_USEC=\(since)"
        case .stopping: "STOPPING=1"
        case .status(let sentence): "STATUS=\(Self.oneLine(sentence))"
        case .watchdog: "WATCHDOG=1"
        case .extendTimeout(let duration): "EXTEND_TIMEOUT_USEC=\(max(0, duration.inMicroseconds))"
        case .errorNumber(let number): "ERRNO=\(number)"
        }
    }

    /// The bytes of one datagram that says all of these.
    package static func datagram(_ messages: [ManagerMessage]) -> [UInt8] {
        Array(messages.map(\.assignment).joined(separator: "\n").utf8)
    }

    /// Without ends of lines, which would begin another assignment, and not longer than a line of a status may be.
    private static func oneLine(_ sentence: String) -> String {
        var text = ""
        var bytes = 0
        for scalar in sentence.unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            bytes += isControl ? 1 : UTF8.width(scalar)
            guard bytes <= ManagerLimits.statusBytesMax else { return text + "…" }
            text.unicodeScalars.append(isControl ? " " : scalar)
        }
        return text
    }
}

/// The bounds of messages to a service manager.
package enum ManagerLimits {
    /// The longest status, in bytes; a longer one is cut.
    package static let statusBytesMax = 512
    /// How often another status is sent at most.
    package static let statusInterval: Duration = .seconds(1)
    /// How often another status is sent at most where only numbers differ.
    package static let numbersInterval: Duration = .seconds(5)
    /// How often a start or a stop that takes long asks for more time.
    package static let extensionInterval: Duration = .seconds(5)
    /// How much time it asks for each time.
    package static let extensionLength: Duration = .seconds(30)
    /// How long a start asks for more time in all: a start that takes longer hangs.
    package static let startMax: Duration = .seconds(4 * 3_600)
    /// How long a stop asks for more time beyond `GatewayConfiguration.stopMax`: for the ledger to catch up and the files to close.
    package static let closeMax: Duration = .seconds(60)
}
