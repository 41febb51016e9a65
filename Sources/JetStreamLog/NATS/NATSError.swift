// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Why NATS did not do what it was asked.
package enum NATSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no server, or it did not answer in time: whether it did what it was asked is not known.
    case noAnswer(String)
    /// The server refused, with JetStream's number of the reason; 0 where there is none.
    case refused(String, code: Int)
    /// There is no such stream.
    case noStream(String)
    /// The streams, servers or files are not as this program needs them.
    case unusable(String)

    package var description: String {
        switch self {
        case .noAnswer(let reason): "NATS did not answer: \(reason)"
        case .refused(let reason, let code): "NATS refused: \(reason)\(code == 0 ? "" : " (\(code))")"
        case .noStream(let stream): "there is no stream \(stream)"
        case .unusable(let reason): reason
        }
    }
}
