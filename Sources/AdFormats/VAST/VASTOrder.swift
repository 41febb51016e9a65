// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// One ad of a document, before it is known whether it plays.
struct VASTCandidate {
    /// The place in a pod; nil for a stand-alone ad.
    let sequence: Int?
    /// The ad, where it can be played.
    var ad: AdContent?
    /// The ad as a skipped one; its reason counts only where it is skipped.
    var skipped: SkippedAd

    /// Reads the `Ad` elements of a document and gives their ads ids that differ.
    static func read(_ elements: [MarkupElement], options: VASTReadingOptions) -> [VASTCandidate] {
        var ids: Set<String> = []
        return elements.enumerated()
            .map { index, element in
                var reader = VASTAdReader(element, position: index + 1, options: options)
                let sequence = reader.sequence()
                do throws(SkipReason) {
                    var ad = try reader.read()
                    ad.id = Self.unused(ad.id, among: ids, bytesMax: options.limits.identifierBytesMax)
                    ad.sequence = sequence
                    ids.insert(ad.id)
                    return VASTCandidate(sequence: sequence, ad: ad, skipped: reader.skipped(because: .notNeeded))
                } catch {
                    return VASTCandidate(sequence: sequence, ad: nil, skipped: reader.skipped(because: error))
                }
            }
    }

    /// The id itself, or with the first number from 2 that makes it unique.
    static func unused(_ id: String, among ids: Set<String>, bytesMax: Int) -> String {
        var candidate = id
        var number = 1
        while ids.contains(candidate) {
            number += 1
            let suffix = "-\(number)"
            candidate = id.prefix(bytesMax: bytesMax - suffix.utf8.count) + suffix
        }
        return candidate
    }
}

/// Which ads of a document play, and in which order (VAST 4.3 section 3.3.1).
enum VASTOrder {
    /// The batch that some candidates make; without an ad if none can be played.
    ///
    /// Ads of a pod play in numerical order, those with the same number in document order. Stand-alone ads fill the places
    /// of pod ads that cannot be played, each once. Without a pod ad in the document the first stand-alone ad plays, or all.
    static func batch(of candidates: [VASTCandidate], allStandAlone: Bool) -> AdBatch {
        var candidates = candidates
        let pod = candidates.indices.filter { candidates[$0].sequence != nil }
            .sorted { (candidates[$0].sequence ?? 0, $0) < (candidates[$1].sequence ?? 0, $1) }
        var standAlone = candidates.indices.filter { candidates[$0].sequence == nil && candidates[$0].ad != nil }[...]
        var ads: [AdContent] = []
        var used: Set<Int> = []
        for index in pod {
            if let ad = candidates[index].ad {
                ads.append(ad)
                used.insert(index)
            } else if let substitute = standAlone.popFirst(), var ad = candidates[substitute].ad {
                ad.sequence = candidates[index].sequence
                candidates[index].skipped.replacedBy = ad.id
                ads.append(ad)
                used.insert(substitute)
            }
        }
        if pod.isEmpty {
            for index in allStandAlone ? standAlone : standAlone.prefix(1) {
                ads += [candidates[index].ad].compactMap { $0 }
                used.insert(index)
            }
        }
        let skipped = candidates.indices.filter { !used.contains($0) }.map { candidates[$0].skipped }
        return AdBatch(ads: ads, skipped: skipped)
    }
}
