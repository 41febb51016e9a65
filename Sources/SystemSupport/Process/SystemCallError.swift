// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A call of the operating system that failed.
package struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the call.
    package let operation: String
    /// The errno.
    package let code: Int32

    package init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    package var description: String { "\(self.operation) failed: \(System.describe(self.code))" }
}
