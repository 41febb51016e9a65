// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A report as a table of comma-separated values (RFC 4180): what `cuecast report --format csv` prints, and what HTTP answers.
extension ReportDocument {
    /// The names of the columns; a contract: more may come behind the last.
    package static let csvColumns = [
        "stream", "break", "advertisement", "title", "start", "end", "delivered", "played", "ignored", "failed",
        "unknown",
        "inferred", "repeats", "contradictions", "heard_ms", "settled", "clicked", "complete", "variant",
        "variant_name",
    ]

    /// The names, and a line for each ad of each break, without the ends of lines.
    package var csvLines: [String] {
        var lines = [Self.csvColumns.joined(separator: ",")]
        for each in self.breaks {
            for advertisement in each.ads {
                let counts = advertisement.counts
                let texts = [
                    each.stream, each.break, advertisement.id, advertisement.title, each.start ?? "", each.end ?? "",
                ]
                // Numbers and words of our own need no quotes; what is missing from books that do not balance is negative.
                let numbers: [Int64] = [
                    counts.delivered, counts.played, counts.ignored, counts.failed, counts.unknown,
                    counts.inferred, counts.repeats, counts.contradictions, counts.heardMilliseconds,
                ]
                // A break without variants has empty cells for them, unless one was asked for.
                let variant = advertisement.variant ?? self.variant
                let rest =
                    numbers.map { "\($0)" }
                    + [each.settled ? "true" : "false", "\(counts.clicked)", each.complete ? "true" : "false"]
                    + [variant.map { "\($0)" } ?? "", Self.csvCell(advertisement.variantName ?? "")]
                lines.append((texts.map(Self.csvCell) + rest).joined(separator: ","))
            }
        }
        return lines
    }

    /// The whole table, as it goes over HTTP.
    package var csv: String { self.csvLines.map { $0 + "\r\n" }.joined() }

    /// A text as RFC 4180 section 2 writes it; one that spreadsheets would take for a formula gets a quote before it.
    package static func csvCell(_ text: String) -> String {
        var cell = String.UnicodeScalarView()
        if let first = text.unicodeScalars.first, Self.formulaBeginnings.contains(first) { cell.append("'") }
        // By scalars, not characters: a quote with an accent behind it is one character, and a quote to the table's reader.
        var isQuoted = false
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"":
                isQuoted = true
                cell.append(scalar)
            case ",", "\n", "\r": isQuoted = true
            default: break
            }
            cell.append(scalar)
        }
        return isQuoted ? "\"" + String(cell) + "\"" : String(cell)
    }

    /// The characters with which a formula begins in spreadsheets, full-width forms included, and those that they skip before one.
    private static let formulaBeginnings: Set<Unicode.Scalar> = [
        "=", "+", "-", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}",
    ]
}
