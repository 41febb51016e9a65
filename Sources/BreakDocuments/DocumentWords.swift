// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

extension EndMode {
    /// The word for it in documents.
    package var documentWord: String {
        switch self {
        case .cut: "cut"
        case .finishAd: "finishAd"
        }
    }
}

extension SignalKind {
    /// The word for it in documents.
    package var documentWord: String { self.name.lowercased() }
}
