// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Where a value is absent, the wire's values have an empty text or 0. Models that people use have `nil`.

extension String {
    /// The text; `nil` where it is empty.
    package var orNil: String? { self.isEmpty ? nil : self }
}

extension UInt32 {
    /// The number; `nil` where it is 0.
    package var orNil: Int? { self == 0 ? nil : Int(self) }
}
