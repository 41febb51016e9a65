// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import AdFormats

/// Makes signals for the gateway of the lines of one automation system.
///
/// A line says which element begins to play. It fetches nothing and has no clock.
package struct LineSignals: Hashable, Sendable {
    private let stream: String
    private let source: String
    private let mapping: AutomationMapping
    private var onAir: OnAirBreak

    /// Signals of a system that has said nothing yet.
    ///
    /// - Parameters:
    ///   - stream: The stream that the gateway knows.
    ///   - source: The name of the source.
    ///   - mapping: How a line says what plays.
    package init(stream: String, source: String, mapping: AutomationMapping) {
        self.stream = stream
        self.source = source
        self.mapping = mapping
        self.onAir = OnAirBreak(stream: stream, source: source)
    }

    /// Takes a line.
    ///
    /// - Parameters:
    ///   - piece: The line.
    ///   - now: When it came, in milliseconds since 1970.
    /// - Returns: What was seen in it.
    mutating func observation(of piece: LineSplitter.Piece, atMilliseconds now: Int) -> CueObservation {
        guard case .line(let line) = piece else {
            let sentence = "A line has more than \(LineSplitter.lineBytesMax) bytes (lineBytesMax)."
            return self.observation("a long line", .refused(CueRefusal(.badSource, sentence)))
        }
        let seen = OnAirBreak.shown(String(decoding: line, as: UTF8.self))
        do throws(AutomationFault) {
            let fields = try AutomationFields(line: line, pattern: self.mapping.line)
            let element = try self.mapping.element(fields)
            return self.observation(seen, self.onAir.begin(element, raw: line, atMilliseconds: now))
        } catch {
            return self.observation(seen, .refused(CueRefusal(.badSource, error.description)))
        }
    }

    private func observation(_ seen: String, _ meaning: CueObservation.Meaning) -> CueObservation {
        CueObservation(stream: self.stream, source: self.source, seen: seen, meaning: meaning)
    }
}
