// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Why a ``ScriptedGateway`` did not do what it was told.
@nonexhaustive
public enum ScriptedGatewayError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A value breaks the rule that the sentence names.
    case invalid(String)
    /// A gateway would refuse it as things stand, for the reason in the sentence.
    case wrongState(String)
    /// The awaited event did not happen in time.
    case timedOut(String)
    /// The task that waited was cancelled.
    case cancelled

    /// One sentence for people.
    public var description: String {
        switch self {
        case .invalid(let sentence): "It is not valid: \(sentence)"
        case .wrongState(let sentence): sentence
        case .timedOut(let sentence): sentence
        case .cancelled: "The task that waited was cancelled."
        }
    }
}

extension ScriptedGatewayError {
    init(_ refused: CoreGateway.Refused) {
        switch refused {
        case .invalid(let error): self = .invalid(error.description)
        case .byRule(let refusal): self = .wrongState(refusal.sentence)
        }
    }
}
