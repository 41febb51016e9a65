// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Glibc

/// Text for a page: what has a meaning in markup is escaped.
func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        case "\n": result += "\n"
        // XML 1.0 section 2.2 has no other control characters, not even as references.
        case _ where scalar.value < 0x20 || scalar.value == 0x7F: result += "\u{FFFD}"
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result
}

/// A drawing of lines, bars and words, in a frame with axes.
struct Plot {
    let width: Double
    let height: Double
    let left: Double
    let right: Double
    let top: Double
    let bottom: Double
    private var body = ""

    init(width: Double, height: Double, left: Double = 64, right: Double = 16, top: Double = 12, bottom: Double = 40) {
        self.width = width
        self.height = height
        self.left = left
        self.right = right
        self.top = top
        self.bottom = bottom
    }

    var innerWidth: Double { self.width - self.left - self.right }
    var innerHeight: Double { self.height - self.top - self.bottom }

    /// A place in the frame from shares of its width and height, from the bottom left.
    func place(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
        (self.left + x * self.innerWidth, self.top + (1 - y) * self.innerHeight)
    }

    mutating func gridline(atHeight share: Double, label: String) {
        let y = self.place(0, share).y
        self.body += """
            <line class="grid" x1="\(n(self.left))" x2="\(n(self.width - self.right))" y1="\(n(y))" y2="\(n(y))"/>\
            <text class="tick" text-anchor="end" x="\(n(self.left - 8))" y="\(n(y + 4))">\(escaped(label))</text>\n
            """
    }

    mutating func tick(atWidth share: Double, label: String, line: Bool = false) {
        let x = self.place(share, 0).x
        let bottom = self.height - self.bottom
        if line {
            self.body += """
                <line class="grid" x1="\(n(x))" x2="\(n(x))" y1="\(n(self.top))" y2="\(n(bottom))"/>\n
                """
        }
        self.body += """
            <text class="tick" text-anchor="middle" x="\(n(x))" y="\(n(bottom + 18))">\(escaped(label))</text>\n
            """
    }

    mutating func axisTitle(_ text: String) {
        self.body += """
            <text class="axis" text-anchor="middle" x="\(n(self.left + self.innerWidth / 2))" \
            y="\(n(self.height - 4))">\(escaped(text))</text>\n
            """
    }

    mutating func line(_ points: [(x: Double, y: Double)], className: String) {
        guard !points.isEmpty else { return }
        let places = points.map { self.place($0.x, $0.y) }
        let path = places.map { "\(n($0.x)),\(n($0.y))" }.joined(separator: " ")
        self.body += "<polyline class=\"\(className)\" points=\"\(path)\"/>\n"
    }

    mutating func area(_ points: [(x: Double, y: Double)], className: String) {
        guard let first = points.first, let last = points.last else { return }
        let corners = [(x: first.x, y: 0.0)] + points + [(x: last.x, y: 0.0)]
        let path = corners.map { self.place($0.x, $0.y) }.map { "\(n($0.x)),\(n($0.y))" }.joined(separator: " ")
        self.body += "<polygon class=\"\(className)\" points=\"\(path)\"/>\n"
    }

    mutating func bar(from: Double, to: Double, height: Double, className: String, title: String) {
        let (x, y) = self.place(from, height)
        let width = max(0.5, (to - from) * self.innerWidth - 2)
        self.body += """
            <rect class="\(className)" x="\(n(x + 1))" y="\(n(y))" width="\(n(width))" \
            height="\(n(max(0, height) * self.innerHeight))" rx="1.5"><title>\(escaped(title))</title></rect>\n
            """
    }

    mutating func band(from: Double, to: Double, className: String) {
        let (x, y) = self.place(from, 1)
        self.body += """
            <rect class="\(className)" x="\(n(x))" y="\(n(y))" width="\(n((to - from) * self.innerWidth))" \
            height="\(n(self.innerHeight))"/>\n
            """
    }

    mutating func marker(atWidth share: Double, label: String, className: String, onLeft: Bool) {
        let (x, y) = self.place(share, 1)
        self.body += """
            <line class="\(className)" x1="\(n(x))" x2="\(n(x))" y1="\(n(y))" y2="\(n(self.height - self.bottom))"/>\
            <text class="mark" text-anchor="\(onLeft ? "end" : "start")" x="\(n(x + (onLeft ? -6 : 6)))" \
            y="\(n(y + 12))">\(escaped(label))</text>\n
            """
    }

    mutating func baseline() {
        let y = self.height - self.bottom
        self.body += """
            <line class="base" x1="\(n(self.left))" x2="\(n(self.width - self.right))" y1="\(n(y))" y2="\(n(y))"/>\n
            """
    }

    /// The drawing as an element of a page.
    func svg(label: String) -> String {
        """
        <svg viewBox="0 0 \(n(self.width)) \(n(self.height))" role="img" aria-label="\(escaped(label))">
        \(self.body)</svg>\n
        """
    }

    /// A coordinate with one decimal.
    private func n(_ value: Double) -> String {
        guard value.isFinite else { return "0" }
        let tenths = Int((min(max(value, -1e6), 1e6) * 10).rounded())
        let fraction = abs(tenths % 10)
        let sign = tenths < 0 ? "-" : ""
        return "\(sign)\(abs(tenths / 10))" + (fraction == 0 ? "" : ".\(fraction)")
    }
}

/// Round numbers for an axis from 0.
enum Ticks {
    /// Four to eight of them, the last at or above `limit`.
    static func upTo(_ limit: Double) -> [Double] {
        guard limit > 0, limit.isFinite else { return [0, 1] }
        let power = pow(10, log10(limit).rounded(.down))
        let step = [0.2, 0.25, 0.5, 1, 2, 2.5].first { limit / ($0 * power) <= 6 } ?? 2.5
        var ticks: [Double] = [0]
        while let last = ticks.last, last < limit { ticks.append(last + step * power) }
        return ticks
    }
}
