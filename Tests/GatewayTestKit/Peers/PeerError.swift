// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Why a test did not get what it waited for.
package enum PeerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It did not happen in time.
    case timedOut(String)
    /// The gateway refused.
    case refused(String)
    /// The gateway sent something else.
    case unexpected(String)
    /// The peer was closed meanwhile.
    case closed

    package var description: String {
        switch self {
        case .timedOut(let what): "This did not happen in time: \(what)."
        case .refused(let refusal): "The gateway refused: \(refusal)"
        case .unexpected(let what): "The gateway sent something else: \(what)."
        case .closed: "The peer was closed."
        }
    }
}

/// How long a gateway and a peer of a test wait for each other: longer than any test takes.
///
/// Never shorter for something that is quick: how long it takes says only how busy the machine is. What a test itself waits
/// for has a limit of its own (`TestPatience`).
package let waitMax: Duration = .seconds(1_800)
