// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// A fault in a document, and its place.
package struct DocumentFault: Error, Hashable, Sendable {
    /// The line, counted from 1.
    package var line: Int
    /// The field, such as `ads[1].media[0].url`, counted from 0; empty where the document as a whole is meant.
    package var field: String
    /// The fault.
    package var reason: String
    /// Whether a limit is passed.
    package var isTooLarge: Bool

    package init(line: Int, field: String, reason: String, isTooLarge: Bool = false) {
        self.line = line
        self.field = field
        self.reason = reason
        self.isTooLarge = isTooLarge
    }
}

extension DocumentFault: CustomStringConvertible {
    /// One sentence for people, as in `Line 4, ads[0].duration: it is missing.`.
    package var description: String {
        let place = self.field.isEmpty ? "Line \(self.line)" : "Line \(self.line), \(self.field)"
        return "\(place): \(self.reason)\(self.reason.hasSuffix(".") ? "" : ".")"
    }
}

extension DocumentFault {
    /// A limit is passed.
    static func tooLarge(line: Int, field: String, reason: String) -> DocumentFault {
        DocumentFault(line: line, field: field, reason: reason, isTooLarge: true)
    }

    /// A rule of the wire is broken.
    ///
    /// - Parameters:
    ///   - error: which.
    ///   - line: where.
    ///   - path: of what, in the document; empty: of the document as a whole, which has the wire's fields.
    init(_ error: WireError, line: Int, path: String = "") {
        switch error {
        case .invalid(let field, let rule):
            self.init(line: line, field: path.isEmpty ? field : path, reason: path.isEmpty ? rule : "\(field): \(rule)")
        case .tooLarge(let limit, let maximum, let found):
            self = .tooLarge(
                line: line,
                field: path,
                reason: "the limit \(limit) is \(maximum), and this has \(found)"
            )
        case .malformed, .unsupported: self.init(line: line, field: path, reason: error.description)
        }
    }
}
