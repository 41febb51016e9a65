// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Foundation

/// The results of another reader of VAST, vast-client-js 6.4.4, for the samples.
struct OtherReader: Decodable {
    struct File: Decodable {
        let file: String
        let version: String?
        let error: String?
        let ads: [Ad]?
    }

    struct Ad: Decodable {
        let id: String?
        let sequence: String?
        let adServingId: String?
        let system: String?
        let title: String?
        let impressions: [Impression]
        let errors: [String]
        let creatives: [Creative]
    }

    struct Impression: Decodable {
        let id: String?
        let url: String
    }

    struct Creative: Decodable {
        let type: String
        let universalAdIds: [UniversalAdId]
        let duration: Double?
        let skipDelay: Double?
        let mediaFiles: [MediaFile]
        let tracking: [String: [String]]?
        let clickThrough: String?
        let clickTracking: [String]
        let icons: Int?
        let companions: [Companion]
    }

    struct UniversalAdId: Decodable {
        let idRegistry: String
        let value: String
    }

    struct MediaFile: Decodable {
        let id: String
        let url: String
        let type: String
        let delivery: String
        let bitrate: Int
        let minBitrate: Int
        let maxBitrate: Int
        let width: Int
        let height: Int
        let codec: String
    }

    struct Companion: Decodable {
        struct Static: Decodable {
            let url: String
            let creativeType: String
        }

        let id: String?
        let width: String
        let height: String
        let `static`: [Static]?
        let clickThrough: String?
    }

    let files: [File]

    static func load() throws -> OtherReader {
        let file = Places.samples.appending(path: "vast/expected-vast-client-js-6.4.4.json")
        return try JSONDecoder().decode(OtherReader.self, from: try Data(contentsOf: file))
    }
}

/// The findings of a reader in a document, as text by name, so that two readers can be compared.
typealias Facts = [String: String]

extension OtherReader.File {
    /// The facts of the ads at these positions, counted from 1, and a few of all others.
    func facts(ofPlayable positions: Set<Int>) -> Facts {
        var facts: Facts = ["ads": "\(self.ads?.count ?? 0)", "error": self.error == nil ? "" : "yes"]
        // An error carries no version.
        if !positions.isEmpty { facts["version"] = self.version ?? "" }
        for (index, ad) in (self.ads ?? []).enumerated() {
            let name = "ad \(index + 1)"
            facts["\(name) id"] = ad.id ?? ""
            facts["\(name) title"] = ad.title ?? ""
            facts["\(name) errors"] = "\(ad.errors)"
            guard positions.contains(index + 1), let linear = ad.creatives.first(where: { $0.type == "linear" }) else {
                continue
            }
            let duration = Int(((linear.duration ?? 0) * 1_000).rounded())
            facts["\(name) sequence"] = ad.sequence ?? ""
            facts["\(name) serving"] = ad.adServingId ?? ""
            facts["\(name) system"] = ad.system ?? ""
            facts["\(name) impressions"] = "\(ad.impressions.map { "\($0.id ?? "") \($0.url)" })"
            facts["\(name) universal ids"] = "\(linear.universalAdIds.map { "\($0.idRegistry) \($0.value)" })"
            facts["\(name) duration"] = "\(duration)"
            let skip = linear.skipDelay ?? -1
            facts["\(name) skip"] = skip < 0 ? "" : "\(Int(skip * 1_000))"
            facts["\(name) media"] = linear.mediaFiles
                .map { file in
                    "\(file.id) \(file.url) \(file.type) \(file.delivery) \(file.bitrate) \(file.minBitrate) \(file.maxBitrate) "
                        + "\(file.width)x\(file.height) \(file.codec)"
                }
                .joined(separator: "\n")
            facts["\(name) tracking"] = (linear.tracking ?? [:])
                .flatMap { event, urls in
                    urls.map { "\(Self.event(event, durationMilliseconds: duration)) \($0)" }
                }
                .sorted().joined(separator: "\n")
            facts["\(name) click"] = linear.clickThrough ?? ""
            facts["\(name) click tracking"] = "\(linear.clickTracking)"
            facts["\(name) icons"] = "\(linear.icons ?? 0)"
            facts["\(name) companions"] = ad.creatives.filter { $0.type == "companion" }.flatMap(\.companions)
                .map { companion in
                    let files = (companion.static ?? []).map { "\($0.creativeType) \($0.url)" }
                    return
                        "\(companion.id ?? "") \(companion.width)x\(companion.height) \(files) \(companion.clickThrough ?? "")"
                }
                .joined(separator: "\n")
        }
        return facts
    }

    /// `progress-30` is progress at 30 s, and `progress-60%` at six tenths of the duration.
    private static func event(_ event: String, durationMilliseconds: Int) -> String {
        guard event.hasPrefix("progress-") else { return event }
        let offset = event.dropFirst("progress-".count)
        let number = Double(offset.hasSuffix("%") ? offset.dropLast() : offset) ?? -1
        let milliseconds = offset.hasSuffix("%") ? Double(durationMilliseconds) * number / 100 : number * 1_000
        return "progress \(Int(milliseconds.rounded()))"
    }
}

extension Facts {
    /// The facts that this package's reader found.
    init(_ result: Result<AdBatch, AdFormatError>) {
        var batch = AdBatch(ads: [])
        self = ["error": ""]
        switch result {
        case .success(let read): batch = read
        case .failure(.nothingPlayable(let skipped)): batch.skipped = skipped
        case .failure(.noAds): break
        case .failure: self["error"] = "yes"
        }
        self["ads"] = "\(batch.ads.count + batch.skipped.count)"
        for skipped in batch.skipped {
            self["ad \(skipped.position) id"] = skipped.documentID ?? ""
            self["ad \(skipped.position) title"] = skipped.title ?? ""
            self["ad \(skipped.position) errors"] = "\(skipped.errorURLs)"
        }
        for (position, ad) in zip(batch.playedPositions, batch.ads) { self.add(ad, as: "ad \(position)") }
        self["version"] = batch.formatVersion
    }

    private mutating func add(_ ad: AdContent, as name: String) {
        self["\(name) id"] = ad.documentID ?? ""
        self["\(name) title"] = ad.title
        self["\(name) errors"] = "\(ad.errorURLs)"
        self["\(name) sequence"] = ad.sequence.map { "\($0)" } ?? ""
        self["\(name) serving"] = ad.adServingID ?? ""
        self["\(name) system"] = ad.adSystem ?? ""
        self["\(name) impressions"] = "\(ad.impressions.map { "\($0.id ?? "") \($0.url)" })"
        self["\(name) universal ids"] = "\(ad.universalIDs.map { "\($0.registry) \($0.value)" })"
        self["\(name) duration"] = "\(ad.durationMilliseconds)"
        self["\(name) skip"] = ad.skipOffsetMilliseconds.map { "\($0)" } ?? ""
        self["\(name) media"] = ad.mediaFiles
            .map { file in
                "\(file.id ?? "") \(file.url) \(file.type) \(file.delivery) \(file.bitrate ?? 0) \(file.bitrateMin ?? 0) "
                    + "\(file.bitrateMax ?? 0) \(file.width ?? 0)x\(file.height ?? 0) \(file.codec ?? "")"
            }
            .joined(separator: "\n")
        self["\(name) tracking"] = ad.trackingEvents
            .map { tracker in
                "\(tracker.event)\(tracker.offsetMilliseconds.map { " \($0)" } ?? "") \(tracker.url)"
            }
            .sorted().joined(separator: "\n")
        self["\(name) click"] = ad.clickThrough ?? ""
        self["\(name) click tracking"] = "\(ad.clickTracking.map(\.url))"
        self["\(name) icons"] = "\(ad.icons.count)"
        self["\(name) companions"] = ad.companions
            .map { companion in
                let files = companion.staticFiles.map { "\($0.type) \($0.url)" }
                let size = "\(companion.width ?? 0)x\(companion.height ?? 0)"
                return "\(companion.id ?? "") \(size) \(files) \(companion.clickThrough ?? "")"
            }
            .joined(separator: "\n")
    }
}

extension AdBatch {
    /// The positions in the document of the ads that play, where they play in document order.
    var playedPositions: [Int] {
        let skipped = Set(self.skipped.map(\.position))
        return (1...(self.ads.count + self.skipped.count + 1)).filter { !skipped.contains($0) }.prefix(self.ads.count)
            .map { $0 }
    }
}
