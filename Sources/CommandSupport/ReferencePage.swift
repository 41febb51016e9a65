// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A table of a reference page, made from declarations in the code.
package struct ReferenceTable: Hashable, Sendable {
    /// One row: a name by which pages select it, and its cells in Markdown.
    package struct Row: Hashable, Sendable {
        package let name: String
        package let cells: [String]

        package init(_ name: String, _ cells: [String]) {
            self.name = name
            self.cells = cells
        }

        /// A row whose first cell shows its name as code.
        package init(code name: String, _ others: [String]) {
            self.init(name, ["`\(name)`"] + others)
        }

        /// The row as a page has it.
        fileprivate var line: String { ReferenceTable.line(self.cells) }
    }

    package let columns: [String]
    package let rows: [Row]

    package init(columns: [String], rows: [Row]) {
        self.columns = columns
        self.rows = rows
    }

    /// A table with some of the rows, as a page has it.
    fileprivate func lines(_ rows: [Row]) -> [String] {
        [Self.line(self.columns), Self.line(self.columns.map { _ in "---" })] + rows.map(\.line)
    }

    private static func line(_ cells: [String]) -> String {
        "|" + cells.map { $0.isEmpty ? " |" : " \($0) |" }.joined()
    }
}

/// A page whose tables are made from declarations in the code.
///
/// Two comments enclose each of its tables. The first one names the table and the rows, in the page's order: by their names, or by
/// the beginning of their names and a `*`. Such a beginning leaves out the rows that another comment of the page names.
///
///     <!-- generated: limits listenersMax sessions* -->
///
///     | limit | default | key | effect when reached |
///
///     <!-- end of generated -->
package struct ReferencePage: Sendable {
    /// Why a page cannot be made.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The name of its file, without `.md`; it must show every row of the table of that name.
    private let name: String
    private let text: String

    package init(name: String, text: String) {
        self.name = name
        self.text = text
    }

    /// The page with its tables as the code has them.
    ///
    /// - Parameter tables: by name.
    /// - Returns: the whole page.
    /// - Throws: if a comment names a table or a row that does not exist, or a row of the page's own table is not shown.
    package func generated(from tables: [String: ReferenceTable]) throws(Fault) -> String {
        var lines: [Substring] = []
        var shown: Set<String> = []
        var isSkipping = false
        let named = self.namedRows
        for line in self.text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let words = Self.words(of: line) {
                guard !isSkipping else { throw self.fault("a table has no end before \(line)") }
                guard let kind = words.first, let table = tables[kind] else { throw self.fault("no table: \(line)") }
                let rows = try self.rows(of: table, selectedBy: words.dropFirst(), named: named)
                if kind == self.name { shown.formUnion(rows.map(\.name)) }
                lines += [line, ""] + table.lines(rows).map { Substring($0) } + [""]
                isSkipping = true
            } else if line == Self.end {
                guard isSkipping else { throw self.fault("a table ends that did not begin") }
                isSkipping = false
                lines.append(line)
            } else if !isSkipping {
                lines.append(line)
            }
        }
        guard !isSkipping else { throw self.fault("the last table has no end") }
        if let table = tables[self.name] {
            let missing = table.rows.map(\.name).filter { !shown.contains($0) }
            guard missing.isEmpty else { throw self.fault("no table shows \(missing.joined(separator: ", "))") }
        }
        return lines.joined(separator: "\n")
    }

    private static let start = "<!-- generated: "
    private static let end = "<!-- end of generated -->"

    /// The words of a comment that begins a table; `nil`: the line is none.
    private static func words(of line: Substring) -> [String]? {
        guard line.hasPrefix(Self.start), line.hasSuffix(" -->") else { return nil }
        return line.dropFirst(Self.start.count).dropLast(" -->".count).split(separator: " ").map(String.init)
    }

    /// The rows that the page's comments name in full.
    private var namedRows: Set<String> {
        let comments = self.text.split(separator: "\n").compactMap(Self.words)
        return Set(comments.flatMap { $0.dropFirst() }.filter { !$0.hasSuffix("*") })
    }

    private func rows(
        of table: ReferenceTable,
        selectedBy words: ArraySlice<String>,
        named: Set<String>
    ) throws(Fault) -> [ReferenceTable.Row] {
        var found: [ReferenceTable.Row] = []
        for word in words {
            let rows =
                word.hasSuffix("*")
                ? table.rows.filter { $0.name.hasPrefix(word.dropLast()) && !named.contains($0.name) }
                : table.rows.filter { $0.name == word }
            guard !rows.isEmpty else { throw self.fault("no row is called \(word)") }
            found += rows
        }
        return found
    }

    private func fault(_ reason: String) -> Fault { Fault(description: "\(self.name).md: \(reason)") }
}
