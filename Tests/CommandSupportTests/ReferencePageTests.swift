// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import Testing

/// Pages whose tables are made from declarations.
@Suite(.suiteLimit)
struct ReferencePageTests {
    private static let fruits = ReferenceTable(
        columns: ["fruit", "key"],
        rows: [.init("apple", ["`apple`", ""]), .init("appleTart", ["tart", "2"]), .init("pear", ["`pear`", "3"])]
    )

    private func generated(_ text: String, name: String = "other") throws -> String {
        try ReferencePage(name: name, text: text).generated(from: ["fruits": Self.fruits])
    }

    private func fault(_ text: String, name: String = "other") -> String? {
        #expect(throws: ReferencePage.Fault.self) { try self.generated(text, name: name) }?.description
    }

    @Test func `the tables of a page become those of the code, and the rest stays`() throws {
        let page = """
            # Fruits

            <!-- generated: fruits pear apple* -->
            | old |
            <!-- end of generated -->

            Prose.

            <!-- generated: fruits appleTart -->
            <!-- end of generated -->

            """
        let expected = """
            # Fruits

            <!-- generated: fruits pear apple* -->

            | fruit | key |
            | --- | --- |
            | `pear` | 3 |
            | `apple` | |

            <!-- end of generated -->

            Prose.

            <!-- generated: fruits appleTart -->

            | fruit | key |
            | --- | --- |
            | tart | 2 |

            <!-- end of generated -->

            """
        #expect(try self.generated(page) == expected)
        #expect(try self.generated(expected) == expected)
    }

    @Test func `a page that does not fit the code is refused`() throws {
        let end = "<!-- end of generated -->"
        #expect(self.fault("<!-- generated: nuts * -->\n\(end)") == "other.md: no table: <!-- generated: nuts * -->")
        #expect(self.fault("<!-- generated: fruits fig -->\n\(end)") == "other.md: no row is called fig")
        #expect(self.fault("<!-- generated: fruits fig* -->\n\(end)") == "other.md: no row is called fig*")
        #expect(self.fault("<!-- generated: fruits pear -->") == "other.md: the last table has no end")
        #expect(self.fault(end) == "other.md: a table ends that did not begin")
        let page = "<!-- generated: fruits pear -->\n\(end)"
        #expect(self.fault(page, name: "fruits") == "fruits.md: no table shows apple, appleTart")
    }
}
