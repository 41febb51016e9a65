// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats

/// Sentences for people about the bytes that sources wrote.
enum SignalWords {
    /// The most characters of a text that are shown.
    private static let charactersMax = 120

    /// Puts the bytes of a source into a sentence.
    ///
    /// - Parameter raw: an SCTE-35 section, or text such as a playlist's tag or a title.
    /// - Returns: the sentence; `nil`: it is neither.
    static func sentence(_ raw: [UInt8]) -> String? {
        if raw.first == SpliceInfoSection.tableID {
            guard let section = try? SpliceInfoSection(bytes: raw) else { return nil }
            let signals = section.signals.map(\.description)
            return "SCTE-35 \(section.command.name)" + (signals.isEmpty ? "" : ": \(signals.joined(separator: "; "))")
        }
        guard !raw.isEmpty, let text = String(validating: raw, as: UTF8.self),
            text.unicodeScalars.allSatisfy({ !$0.properties.generalCategory.isUnseen })
        else { return nil }
        return text.count > Self.charactersMax ? "\(text.prefix(Self.charactersMax))…" : text
    }
}

extension Unicode.GeneralCategory {
    /// Whether characters of it are not seen, or turn the direction of writing.
    fileprivate var isUnseen: Bool {
        switch self {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
