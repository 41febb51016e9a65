// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SystemSupport

/// Why a load test cannot run, as a sentence for people.
package enum LoadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An endpoint that cannot be read or found.
    case endpoint(String, String)
    /// More connections than descriptors.
    case tooManyConnections(wanted: Int, possible: Int)
    /// A call of the operating system that failed and that nothing can go on without.
    case system(operation: String, code: Int32)
    /// The requested test makes no sense.
    case usage(String)
    /// The peer does not answer, or not in time.
    case unavailable(String)

    package var description: String {
        switch self {
        case .endpoint(let text, let reason): "the endpoint \(text) cannot be used: \(reason)"
        case .tooManyConnections(let wanted, let possible):
            "\(wanted) connections do not fit into one process, which may open \(possible) more descriptors:"
                + " raise the limit (ulimit -Hn), or share the connections out among several processes"
        case .system(let operation, let code): "\(operation) failed: \(System.describe(code))"
        case .usage(let sentence), .unavailable(let sentence): sentence
        }
    }
}

extension LoadError {
    init(_ error: SystemCallError) {
        self = .system(operation: error.operation, code: error.code)
    }
}
