// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayDocuments

/// The outcomes of ads, as bars.
extension TopScreen {
    /// The room that the outcomes of one stream take, side by side with others.
    private static let funnelColumnsMin = 60
    private static let funnelRows = 9

    /// The outcomes of the ads of the streams in view, side by side below the table, where the terminal has room for it.
    ///
    /// - Parameter room: how many lines are free.
    /// - Returns: no more lines than that.
    func funnels(room: Int) -> [ScreenLine] {
        let size = self.state.size.columns
        let perRow = max(1, (size + 2) / (Self.funnelColumnsMin + 2))
        let rows = (room - 1) / Self.funnelRows
        guard rows > 0, size >= Self.funnelColumnsMin else { return [] }
        let counted = self.state.shown.filter { self.state.counts[$0.stream]?.funnel != nil }
        // Those on air first.
        let told = (counted.filter { $0.running != nil } + counted.filter { $0.running == nil }).prefix(rows * perRow)
        let width = (size + 2) / perRow - 2
        var lines: [ScreenLine] = []
        for first in stride(from: 0, to: told.count, by: perRow) {
            let blocks = told.dropFirst(first).prefix(perRow).compactMap { self.block($0.stream, width: width) }
            lines += (0..<Self.funnelRows)
                .map { place in
                    var line = ScreenLine()
                    for (index, block) in blocks.enumerated() {
                        line.pad(to: index * (width + 2))
                        line.add(block[place].cut(to: width))
                    }
                    return line
                }
        }
        return lines.isEmpty ? [] : [ScreenLine()] + lines
    }

    /// A stream's name, and its outcomes as bars; as many lines as each block has.
    private func block(_ stream: String, width: Int) -> [ScreenLine]? {
        guard let counts = self.state.counts[stream], let funnel = counts.funnel else { return nil }
        var title = ScreenLine(stream, TextStyle(isBold: true))
        title.add("  break \(counts.break ?? "")", TextStyle(isDim: true))
        let lines = [title] + self.bars(funnel, columns: width)
        return lines + Array(repeating: ScreenLine(), count: max(0, Self.funnelRows - lines.count))
    }

    /// Sessions, and what became of ads, each as long as its share of the whole.
    func bars(_ funnel: CountsEventDocument.Funnel, columns: Int) -> [ScreenLine] {
        let sessions = max(Int64(funnel.notified ?? 0), funnel.asked)
        let rows: [(String, Int64?, Int64, TextStyle.Color)] = [
            ("notified", funnel.notified.map { Int64($0) }, sessions, .cyan), ("asked", funnel.asked, sessions, .cyan),
            ("delivered", funnel.delivered, funnel.delivered, .cyan),
            ("played", funnel.played, funnel.delivered, .green), ("ignored", funnel.ignored, funnel.delivered, .yellow),
            ("failed", funnel.failed, funnel.delivered, .red), ("unknown", funnel.unknown, funnel.delivered, .yellow),
        ]
        let width = max(0, columns - 26)
        return rows.map { name, number, whole, color in
            var line = ScreenLine(TextWidth.cell("  \(name)", 12))
            line.add(TextWidth.cell(number.map { TopText.count($0) } ?? "-", 12, isNumber: true) + "  ")
            let share = whole > 0 ? min(1, Double(number ?? 0) / Double(whole)) : 0
            line.add(String(repeating: "█", count: Int((share * Double(width)).rounded())), TextStyle(color))
            return line
        }
    }
}
