// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

extension [UInt8] {
    /// As SQLite binds it.
    var asData: Data { Data(self) }
}
