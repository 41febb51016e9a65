// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Why bytes from outside are not a value of ours.
package enum WireError: Error, Hashable, Sendable {
    /// The bytes are not the encoding that they should be.
    case malformed(what: String)
    /// A field holds something that its rule does not allow.
    case invalid(field: String, rule: String)
    /// A named limit was passed.
    case tooLarge(limit: String, maximum: Int, found: Int)
    /// The request is of a kind that this version does not know.
    case unsupported

    /// The status that tells the sender.
    package var status: StatusCode {
        switch self {
        case .malformed, .invalid: .invalid
        case .tooLarge: .tooLarge
        case .unsupported: .unsupported
        }
    }
}

extension WireError: CustomStringConvertible {
    /// One sentence for people.
    package var description: String {
        switch self {
        case .malformed(let what): "This is not \(what)."
        case .invalid(let field, let rule): "The field \(field) is not valid: \(rule)."
        case .tooLarge(let limit, let maximum, let found):
            "The limit \(limit) is \(maximum), and this has \(found)."
        case .unsupported: "This gateway does not know this kind of request."
        }
    }
}

/// Throws where a count or size passes its named limit; the name is only made then.
@inline(__always)
func requireAtMost(_ maximum: Int, _ found: Int, limit: @autoclosure () -> String) throws(WireError) {
    guard found <= maximum else { throw .tooLarge(limit: limit(), maximum: maximum, found: found) }
}
