// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import AdFormats

/// Makes signals for the gateway of the metadata of one radio stream.
///
/// Metadata says what plays now, and never what will play: each break begins as it is told. It has no id that all watchers of a source
/// know. So all signals have the same one: `in` means the break that runs, also for a watcher that did not see it begin, and `out` the
/// next break where none runs. It fetches nothing and has no clock.
package struct RadioSignals: Hashable, Sendable {
    private let stream: String
    private let source: String
    private var watch: RadioWatch
    private var onAir: OnAirBreak
    private var isFirst = true
    /// Whether the ads that play began before the watch did.
    private var hasJoined = false

    /// Signals of a source that has said nothing yet.
    ///
    /// - Parameters:
    ///   - stream: The stream that the gateway knows.
    ///   - source: The name of the source.
    ///   - rules: Which metadata means ads; the first rule that fits counts.
    package init(stream: String, source: String, rules: [RadioRule] = RadioRule.ready) {
        self.stream = stream
        self.source = source
        self.watch = RadioWatch(rules: rules)
        self.onAir = OnAirBreak(stream: stream, source: source)
    }

    /// Takes a block of metadata.
    ///
    /// - Parameters:
    ///   - metadata: What came.
    ///   - place: At which place for metadata of a connection it came; the first one is 1.
    ///   - now: When it came, in milliseconds since 1970.
    /// - Returns: What was seen in it; `nil`: nothing about ads. The first block is told in any case.
    package mutating func observation(
        of metadata: ICYMetadata,
        place: Int,
        atMilliseconds now: Int
    ) -> CueObservation? {
        // A later place follows others that were empty: then it is known that no ads played.
        let isFirst = self.isFirst && place == 1
        let wasFirst = self.isFirst
        self.isFirst = false
        let event = self.watch.read(metadata, atMilliseconds: now)
        let meaning: CueObservation.Meaning
        switch event?.kind {
        case nil:
            guard wasFirst else { return nil }
            meaning = .ignored(reason: "no ads play as the watch begins")
        case .out where isFirst:
            // They may have begun long ago, and the break may be over at the gateway: it must not begin once more.
            self.hasJoined = true
            meaning = .ignored(reason: "ads play as the watch begins, and nothing says when they began")
        case .nextAd where self.hasJoined: meaning = .ignored(reason: "another ad of the same break")
        case .out, .nextAd, .in:
            self.hasJoined = false
            let isAd = event?.kind != .in
            let element = AutomationElement(
                isAd: isAd,
                id: event?.id,
                durationMilliseconds: isAd ? event?.durationMilliseconds : nil
            )
            meaning = self.onAir.begin(element, raw: Array(metadata.text.utf8), atMilliseconds: now)
        }
        let rule = event?.rule.map { "rule \($0): " } ?? ""
        let seen = "\(rule)\(OnAirBreak.shown(metadata.text))"
        return CueObservation(stream: self.stream, source: self.source, seen: seen, meaning: meaning)
    }
}
