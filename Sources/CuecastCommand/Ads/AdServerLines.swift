// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import AdServers
import CuecastWire
import Foundation

/// The outcome of asking ad servers, as lines for people.
struct AdServerLines {
    private let report: AdServerReport
    private let resolution: VASTResolution

    init(_ report: AdServerReport) {
        self.report = report
        self.resolution = report.resolution
    }

    /// An address without what may be secret: a user and the query, in which ad tags have keys.
    static func shown(_ address: String) -> String {
        let end = address.firstIndex { $0 == "?" || $0 == "#" } ?? address.endIndex
        let start = address.range(of: "://")?.upperBound ?? address.startIndex
        let authority = address[start..<end].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(address[..<end]) }
        return String(address[..<start] + address[address.index(after: at)..<end])
    }

    /// A line for each ad that was taken, and for all that was not, which fit a log: no query of an address is in them.
    var lines: [String] {
        var lines: [String] = []
        if let fault = self.resolution.documents.first?.fault { lines.append("\(self.source(0)): \(fault)") }
        for each in self.resolution.taken {
            let wrappers = self.resolution.documents[each.place.document].wrappers
            let behind = wrappers == 0 ? "" : wrappers == 1 ? ", behind 1 wrapper" : ", behind \(wrappers) wrappers"
            lines.append("\(self.source(each.place.document)): took \(Self.text(of: each.ad))\(behind)")
        }
        for each in self.resolution.left {
            lines.append("\(self.source(each.place.document)): left \(self.sentence(of: each))")
        }
        for (index, document) in self.resolution.documents.enumerated() {
            for each in document.leftOut { lines.append("\(self.source(index)): left out \(each)") }
        }
        for each in self.resolution.taken {
            for part in each.ad.leftOut {
                lines.append("\(self.source(each.place.document)): left out \(part)")
            }
        }
        return lines
    }

    /// The documents with their ads, each below the wrapper that led to it.
    var tree: String {
        var lines: [String] = []
        self.add(0, indent: "", to: &lines)
        let taken = self.resolution.taken
        let milliseconds = taken.reduce(0) { $0 + $1.ad.durationMilliseconds }
        let duration = Duration.milliseconds(milliseconds).inSecondsText
        let time = Self.text(of: self.report.time)
        let (ads, left) = (taken.count, self.resolution.left.count)
        lines.append("\(ads) \(ads == 1 ? "ad" : "ads"), \(duration), found in \(time); \(left) left")
        return lines.joined(separator: "\n")
    }

    private func add(_ index: Int, indent: String, to lines: inout [String]) {
        let document = self.resolution.documents[index]
        let exchange = self.report.exchanges[index]
        lines.append(indent + (exchange?.address ?? document.address ?? "the file"))
        let inner = indent + "  "
        var facts: [String] = []
        if let exchange {
            if let status = exchange.status { facts.append("status \(status)") }
            facts.append(Self.text(of: exchange.time))
            if exchange.redirects > 0 { facts.append("redirects: \(exchange.redirects)") }
            if exchange.attempts > 1 { facts.append("attempts: \(exchange.attempts)") }
            if exchange.bytes > 0 { facts.append("\(exchange.bytes) bytes") }
        }
        if let version = document.version { facts.append("VAST \(version)") }
        if !facts.isEmpty { lines.append(inner + facts.joined(separator: ", ")) }
        if let fault = document.fault { lines.append("\(inner)no ads: \(fault) (VAST error \(fault.vastErrorCode))") }
        for position in document.ads.indices.map({ $0 + 1 }) {
            self.add(index, position, indent: inner, to: &lines)
        }
        for each in document.leftOut { lines.append("\(inner)left out: \(each)") }
    }

    private func add(_ index: Int, _ position: Int, indent: String, to lines: inout [String]) {
        let place = (index, position)
        if let child = self.resolution.documents.firstIndex(where: { $0.parent.map(Self.pair) ?? (-1, 0) == place }) {
            lines.append("\(indent)\(self.name(index, position)) is a wrapper of:")
            self.add(child, indent: indent + "  ", to: &lines)
        }
        if let taken = self.resolution.taken.first(where: { Self.pair($0.place) == place }) {
            lines.append("\(indent)taken: \(Self.text(of: taken.ad))")
            for each in taken.ad.leftOut { lines.append("\(indent)  left out: \(each)") }
        }
        if let left = self.resolution.left.first(where: { Self.pair($0.place) == place }) {
            let code = left.reason.vastErrorCode.map { " (VAST error \($0))" } ?? ""
            lines.append("\(indent)left: \(self.sentence(of: left))\(code)")
        }
    }

    private static func pair(_ place: VASTResolution.Place) -> (Int, Int) { (place.document, place.position) }

    private func source(_ document: Int) -> String {
        self.resolution.documents[document].address.map(Self.shown) ?? "the file"
    }

    static func text(of ad: AdContent) -> String {
        let title = ad.title.isEmpty ? ad.id : "“\(ad.title)”"
        return "\(title), \(Duration.milliseconds(ad.durationMilliseconds).inSecondsText)"
    }

    static func text(of time: Duration) -> String { "\(Int(time.inMicroseconds / 1_000)) ms" }

    /// One sentence for people, which names the ad.
    func sentence(of left: VASTResolution.Left) -> String {
        var text = "\(self.name(left.place.document, left.place.position)) \(left.reason)"
        if let other = left.replacedBy, let name = self.resolution.name(of: other) {
            text += "; in its place is \(name.title.map { "“\($0)”" } ?? "ad \(other.position)")"
        }
        return text.hasSuffix(".") ? text : text + "."
    }

    private func name(_ document: Int, _ position: Int) -> String {
        let ad = self.resolution.documents[document].ads[position - 1]
        var name = "ad \(position)"
        if let title = ad.title { name += " “\(title)”" }
        if let id = ad.documentID { name += " with the id “\(id)”" }
        return "\(name) on line \(ad.line)"
    }
}
