# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Shows that check-imports, check-sources, check-documents, check-copyright and api-page can fail: each offence they look for is made in a small package of its own.
Shows the links that docs_site.py makes for the site of the documents, too.

    python3 scripts/checkers_test.py
"""

import importlib.machinery
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

HEADER = "// SPDX-License-Identifier: Apache-2.0\n// Copyright (c) 2026 the Cuecast authors\n"


def script(name):
    """The script of that name as a module."""
    path = str(Path(__file__).resolve().parent / name)
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


CHECK_IMPORTS = script("check-imports")
CHECK_SOURCES = script("check-sources")
CHECK_DOCUMENTS = script("check-documents")
CHANGED_TARGETS = script("changed-targets")
CHECK_COPYRIGHT = script("check-copyright")
API_PAGE = script("api-page")
DOCS_SITE = script("docs_site.py")


class CheckerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


class ImportsTests(CheckerTest):
    def setUp(self):
        super().setUp()
        for target in CHECK_IMPORTS.ALLOWED:
            self.write(f"Sources/{target}/Nothing.swift", "")

    def offences(self, text, path="Sources/GatewayCore/Break.swift"):
        self.write(path, text)
        return [line.replace(f"{self.root}/", "") for line in CHECK_IMPORTS.offences(self.root)]

    def test_what_the_table_allows_passes(self):
        self.assertEqual(self.offences("package import CuecastWire\nimport HeapModule\n"), [])

    def test_every_way_to_write_an_import_is_seen(self):
        for line in (
            "import GRDB",
            "package import GRDB",
            "  internal import struct GRDB.Row",
            "@preconcurrency import GRDB",
            "@_spi(Inner) public import GRDB",
            "import GRDB.SQL",
        ):
            expected = "Sources/GatewayCore/Break.swift:2: GatewayCore may not import GRDB here"
            self.assertEqual(self.offences(f"\n{line}\n"), [expected], line)

    def test_words_in_comments_and_strings_are_no_imports(self):
        text = '// import GRDB\n/*\nimport GRDB\n*/\nlet a = """\n    import GRDB\n    """\nimport CuecastWire\n'
        self.assertEqual(self.offences(text), [])
        self.assertEqual(len(self.offences(text + "import GRDB\n")), 1)

    def test_a_module_allowed_in_one_folder_is_refused_beside_it(self):
        metrics = "Sources/GatewayCore/Metrics/Cells.swift"
        self.assertEqual(self.offences("import Synchronization\n", metrics), [])
        self.assertEqual(len(self.offences("import Synchronization\n")), 1)

    def test_foundation_may_only_stand_in_for_foundation_essentials(self):
        path = "Sources/CuecastWire/Coding.swift"
        text = "#if canImport(FoundationEssentials)\nimport FoundationEssentials\n#else\nimport Foundation\n#endif\n"
        self.assertEqual(self.offences(text, path), [])
        self.assertEqual(len(self.offences("import Foundation\n", path)), 1)
        self.assertEqual(len(self.offences(text + "import Foundation\n", path)), 1)
        self.write(path, "")
        self.assertEqual(len(self.offences(text)), 2)

    def test_the_c_library_goes_by_each_of_its_names(self):
        path = "Sources/ZeroMQ/Clock.swift"
        for module in ("Glibc", "Musl", "Darwin"):
            self.assertEqual(self.offences(f"import {module}\n", path), [])
            self.assertEqual(len(self.offences(f"import {module}\n", "Sources/Cuecast/Clock.swift")), 1)
            self.write("Sources/Cuecast/Clock.swift", "")

    def test_testable_imports_are_refused(self):
        self.assertEqual(len(self.offences("@testable import CuecastWire\n")), 1)

    def test_a_target_without_a_row_is_named(self):
        self.assertIn("has no row for Surprise", "".join(self.offences("", "Sources/Surprise/A.swift")))

    def test_a_row_without_a_target_is_named(self):
        (self.root / "Sources/ZeroMQ/Nothing.swift").unlink()
        (self.root / "Sources/ZeroMQ").rmdir()
        self.assertIn("no target ZeroMQ", "".join(self.offences("")))

    def test_a_package_without_targets_is_no_success(self):
        self.assertEqual(len(list(CHECK_IMPORTS.offences(self.root / "Sources/ZeroMQ"))), 1 + len(CHECK_IMPORTS.ALLOWED))


class SourcesTests(CheckerTest):
    def offences(self, text, path="Sources/Gateway/A.swift"):
        self.write(path, text)
        return list(CHECK_SOURCES.offences(self.root))

    def test_a_file_with_its_header_passes(self):
        self.assertEqual(self.offences(HEADER), [])
        self.assertEqual(self.offences(HEADER, "Benchmarks/baselines/a.c"), [])
        self.assertEqual(self.offences("#!/bin/sh\n" + HEADER.replace("//", "#"), "scripts/run"), [])
        self.assertEqual(self.offences("// swift-tools-version: 6.3\n" + HEADER, "Examples/A/Package.swift"), [])
        self.assertEqual(self.offences(HEADER, "Examples/web/a.js"), [])
        lines = [line.removeprefix("// ") for line in HEADER.splitlines()]
        self.assertEqual(self.offences("".join(f"/* {line} */\n" for line in lines), "Examples/web/a.css"), [])
        self.assertEqual(self.offences("<!doctype html>\n" + "".join(f"<!-- {line} -->\n" for line in lines), "Examples/web/a.html"), [])

    def test_a_missing_or_altered_header_is_refused(self):
        for text in ("", "import A\n", "\n" + HEADER, HEADER.replace("2026", "2025"), HEADER.splitlines()[0]):
            self.assertEqual(len(self.offences(text)), 1, text)
        self.assertEqual(len(self.offences("#!/bin/sh\n", "scripts/run")), 2)
        self.assertEqual(len(self.offences("#include <a.h>\n", "Benchmarks/baselines/a.h")), 3)
        self.assertEqual(len(self.offences(HEADER, "Examples/web/a.html")), 4)

    def test_generated_and_built_files_are_left_alone(self):
        self.write("Sources/Gateway/Kept.swift", HEADER)
        self.assertEqual(self.offences("", "Sources/CuecastWire/Generated/a.pb.swift"), [])
        self.assertEqual(self.offences("", "Examples/A/.build/checkouts/B.swift"), [])

    def test_a_promise_without_a_reason_is_refused(self):
        for promise in ("final class A: @unchecked Sendable {}", "nonisolated(unsafe) let a = 1"):
            self.assertEqual(len(self.offences(f"{HEADER}\n{promise}\n")), 1)
            self.assertEqual(len(self.offences(f"{HEADER}\n// Safety:\n{promise}\n")), 1)
            self.assertEqual(self.offences(f"{HEADER}\n// Safety: never written.\n{promise}\n"), [])

    def test_a_reason_must_be_near(self):
        promise = "nonisolated(unsafe) let a = 1\n"
        reason = "// Safety: never written.\n"
        self.assertEqual(self.offences(f"{HEADER}\n{reason}let b = 1\nlet c = 1\n{promise}"), [])
        self.assertEqual(len(self.offences(f"{HEADER}\n{reason}let b = 1\nlet c = 1\nlet d = 1\n{promise}")), 1)
        self.assertEqual(self.offences(f"{HEADER}\n{reason}// a\n// b\n// c\n// d\n{promise}"), [])

    def test_a_promise_in_a_comment_is_none(self):
        self.assertEqual(self.offences(f"{HEADER}\n// @unchecked Sendable would be wrong here.\n"), [])

    def test_suites_of_tests_have_one_time_limit(self):
        own = f"{HEADER}@Suite(.timeLimit(.minutes(1))) struct A {{}}\n"
        self.write("Tests/ATests/ATests.swift", own)
        self.write("Tests/Shared/SuiteLimit.swift", own)
        found = list(CHECK_SOURCES.offences(self.root))
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith("Tests/ATests/ATests.swift:3: a time limit"), found)

    def test_the_time_limit_of_suites_is_linked_and_not_copied(self):
        limit = f"{HEADER}@Suite(.timeLimit(.minutes(1))) struct A {{}}\n"
        self.write("Tests/Shared/SuiteLimit.swift", limit)
        self.write("Tests/BTests/SuiteLimit.swift", limit)
        (self.root / "Tests/ATests").mkdir()
        (self.root / "Tests/ATests/SuiteLimit.swift").symlink_to("../Shared/SuiteLimit.swift")
        found = list(CHECK_SOURCES.offences(self.root))
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith("Tests/BTests/SuiteLimit.swift:3: a time limit"), found)

    def test_tests_start_commands_their_own_way(self):
        starts = f"{HEADER}let child = Process()\n"
        self.write("Tests/ATests/ATests.swift", starts)
        self.write("Sources/A/A.swift", starts)
        self.write("Tests/ATests/BTests.swift", f"{HEADER}let child = try ChildProcess([])\n")
        found = list(CHECK_SOURCES.offences(self.root))
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith("Tests/ATests/ATests.swift:3: Foundation's Process"), found)

    def test_a_package_without_files_is_no_success(self):
        self.assertEqual(len(list(CHECK_SOURCES.offences(self.root))), 1)


class DocsSiteTests(unittest.TestCase):
    def rewritten(self, text, page="operations/run.md", **settings):
        return DOCS_SITE.rewrite_links(text, page, **settings)

    def test_links_between_pages_lead_to_pages(self):
        for text in ("[a](tls.md)", "[a](../reference/http.md#b)", "[a](https://x.example/y)", "[a](#b)", "![a](../images/b.png)"):
            self.assertEqual(self.rewritten(text), text)
        self.assertEqual(self.rewritten("[`a` b](../../deploy/fronts/README.md#c)"), "[`a` b](../deploy/fronts.md#c)")
        self.assertEqual(self.rewritten("[a](../../deploy/fronts)"), "[a](../deploy/fronts.md)")
        self.assertEqual(self.rewritten("[a](../../docs/operations/tls.md)", page="deploy/fronts.md"), "[a](../operations/tls.md)")

    def test_a_link_to_another_file_names_it_or_leads_to_the_repository(self):
        self.assertEqual(self.rewritten("See [the rule](../../Makefile)."), "See the rule (`Makefile`).")
        self.assertEqual(self.rewritten("[`Makefile`](../../Makefile)"), "`Makefile`")
        self.assertEqual(self.rewritten("[a](../../Makefile)", repository_files="https://x.example/main/"),
                         "[a](https://x.example/main/Makefile)")

    def test_a_link_to_an_article_leads_to_the_library_that_is_built(self):
        text = "[a](../../Sources/Cuecast/Cuecast.docc/OutboxAndStorage.md)"
        self.assertEqual(self.rewritten(text, libraries=["Cuecast"]),
                         '<a href="../libraries/Cuecast/documentation/cuecast/outboxandstorage/">a</a>')
        self.assertEqual(self.rewritten(text), "a (`Sources/Cuecast/Cuecast.docc/OutboxAndStorage.md`)")

    def test_code_stays_as_it_is(self):
        for text in ("```\n[a](../../Makefile)\n```\n", "`[a](../../Makefile)`", "```sh\na\n- b\n```\n"):
            self.assertEqual(DOCS_SITE.separate_lists(self.rewritten(text)), text)

    def test_a_link_that_leads_nowhere_is_a_warning(self):
        with self.assertLogs("mkdocs.hooks.docs_site", "WARNING") as logged:
            self.rewritten("[a](../../none.md)")
        self.assertEqual(logged.records[0].getMessage(), "docs/operations/run.md: the link to ../../none.md leads nowhere")

    def test_a_list_after_text_gets_an_empty_line(self):
        self.assertEqual(DOCS_SITE.separate_lists("a:\n- b\n- c\n  d\n- e\n"), "a:\n\n- b\n- c\n  d\n- e\n")
        self.assertEqual(DOCS_SITE.separate_lists("**a**\n1. b\n2. c\n"), "**a**\n\n1. b\n2. c\n")


class DocumentsTests(CheckerTest):
    def setUp(self):
        super().setUp()
        self.write("docs/internals/decisions/0001-the-log-decides.md", "# 1. The log decides\n")
        self.write("docs/internals/decisions/README.md", "[The log decides](0001-the-log-decides.md)\n")
        self.write("docs/run.md", "# Operations\n\n## When the disk is full, busy or fails\n\n```\n# no heading\n```\n")
        self.write("Sources/GatewayCore/Board.swift", HEADER + "struct Board {\n    enum Kind {\n        case open, closed(Int)\n    }\n}\n")

    def test_defaults_are_read_as_a_table_writes_them(self):
        text = ("    package var bytesMax = 256 * 1_024\n    package static let framesMax = 64\n    package var wait: Duration = .seconds(3)\n"
                "    package var tick: Duration = .milliseconds(50)\n    package var instance: UInt64\n    static let other = Limits.framesMax\n")
        self.assertEqual(CHECK_DOCUMENTS.defaults(text),
                         {"bytesMax": "262144", "framesMax": "64", "wait": "3 s", "tick": "50 ms"})

    def test_values_of_limits_are_those_of_their_declarations(self):
        self.write("Sources/A/LimitName.swift", """
        case .one: .init(4 * 1_024, .bytes, whenReached: "it waits")
        case .two:
            .init(
                3,
                by: LimitSetting("a.two", 1...9, isReloadable: true, "how many"),
                whenReached: "it waits"
            )
        }
""")
        self.write("Sources/A/SettingDefaults.swift", "    static let lease: Duration = .seconds(300)\n")
        self.write("Sources/A/CertificateFiles.swift", "")
        self.write("Sources/A/SharedLogSettings.swift", """
    static let sharedLogRows: [Row] = [
        text("d.e", "what", \\.d) { $0 },
    ]
""")
        self.write("Sources/A/ConfigurationRows.swift", """
    static let ownRows: [Row] = [
        text("b", "what", \\.b) { $0 }
        .reloadable,
        Row(
            key: "c.d",
            meaning: "what"
        ),
    ]
""")
        text = ("    static let one = LimitName.one.value\n    var lease: Duration = SettingDefaults.lease\n"
                "        self.second = limits[.two]\n")
        self.assertEqual(CHECK_DOCUMENTS.defaults(CHECK_DOCUMENTS.with_limits(self.root, text)),
                         {"one": "4096", "lease": "300 s", "second": "3"})
        self.assertEqual(CHECK_DOCUMENTS.configuration_keys(self.root), {"a.two": True, "b": True, "c.d": False, "d.e": False})

    def links(self, text):
        self.write("README.md", text)
        return CHECK_DOCUMENTS.offences_of_links(self.root)

    def names(self, text, path="Sources/GatewayCore/Break.swift"):
        self.write(path, text)
        return CHECK_DOCUMENTS.offences_of_names(self.root)

    def test_links_to_files_and_headings_that_are_there_pass(self):
        text = "[a](docs/run.md) [b](docs/run.md#when-the-disk-is-full-busy-or-fails) [c](https://x.example/#y)"
        self.assertEqual(self.links(text + " [d](#here)\n\n# Here\n"), [])

    def test_a_link_to_no_file_or_no_heading_is_named(self):
        self.assertEqual(self.links("[a](docs/none.md)"), ["README.md: the link to docs/none.md leads nowhere"])
        for anchor in ("no-heading", "nowhere"):
            self.assertEqual(
                self.links(f"[a](docs/run.md#{anchor})"), [f"README.md: docs/run.md has no heading '#{anchor}'"]
            )

    def test_a_decision_that_the_list_lacks_is_named(self):
        self.write("docs/internals/decisions/0002-two.md", "# 2. Two\n")
        self.assertEqual(self.links(""), ["docs/internals/decisions/README.md: it does not list 0002-two.md"])

    def test_a_page_that_the_navigation_lacks_or_only_it_has_is_named(self):
        self.write("scripts/docs_site.py", 'PAGES_OUTSIDE = {\n    "about/changes.md": "CHANGELOG.md",\n}\n')
        listed = "site_name: x\nnav:\n  - A:\n      - run.md\n      - about/changes.md\n"
        self.write("mkdocs.yml", listed + "      - internals/decisions/README.md\n")
        self.assertEqual(CHECK_DOCUMENTS.offences_of_navigation(self.root), [])
        self.write("mkdocs.yml", listed + "      - none.md\n")
        self.assertEqual(CHECK_DOCUMENTS.offences_of_navigation(self.root), [
            "mkdocs.yml: the navigation does not list internals/decisions/README.md",
            "mkdocs.yml: the navigation lists none.md, which does not exist"])

    def test_what_is_there_may_be_named(self):
        text = (
            "/// ``Board`` and ``Board/Kind/closed(_:)``, `docs/run.md`, \"Operations\", decision 1, and\n"
            "/// docs/internals/decisions/0001.\n"
        )
        self.assertEqual(self.names(text), [])

    def test_what_is_not_there_is_named(self):
        for text, fault in (
            ("/// See ``Board/Kind/lost``.", "it names ``Board/Kind/lost``, which is declared nowhere"),
            ("// See docs/none.md.", "it names docs/none.md, which does not exist"),
            ("// Decision 2 says why.", "there is no decision 2"),
            ('/// (`docs/run.md`, "Nothing").', 'docs/run.md has no heading "Nothing"'),
        ):
            self.assertEqual(self.names(text + "\n"), [f"Sources/GatewayCore/Break.swift: {fault}"])

    def test_what_code_says_is_not_looked_at(self):
        self.assertEqual(self.names('let path = "docs/none.md, decision 7"\n'), [])

    def words(self, text, path="README.md"):
        for page in CHECK_DOCUMENTS.PLAIN_PAGES:
            self.write(page, "# Plain\n")
        self.write(path, text)
        return CHECK_DOCUMENTS.offences_of_words(self.root)

    def test_an_avoided_word_in_a_plain_page_is_named_with_its_line(self):
        for page in CHECK_DOCUMENTS.PLAIN_PAGES:
            for word, advice in CHECK_DOCUMENTS.AVOIDED_WORDS.items():
                self.assertEqual(self.words(f"```\na\n```\n{word.capitalize()}.\n", page), [f'{page}:4: avoid "{word}": {advice}'])
        self.assertEqual(len(self.words("It stands\nthere, and nobody reads it.\n")), 2)

    def test_plain_words_code_and_other_pages_pass(self):
        self.assertEqual(self.words("The key is in the file. `nobody` is a user.\n\n```\nchown nobody data\n```\n"), [])
        self.assertEqual(self.words("Whoever reads.\n", "docs/other/run.md"), [])

    def comments(self, path, text):
        self.write(path, text)
        return CHECK_DOCUMENTS.offences_of_comments(self.root)

    def test_an_avoided_word_in_a_comment_or_a_test_name_is_named_with_its_line(self):
        advice = CHECK_DOCUMENTS.AVOIDED_WORDS["nobody"]
        for path, text in (
            ("Sources/Edge/Loop.swift", "let a = 1\n    // Nobody reads it.\n"),
            ("Tests/EdgeTests/LoopTests.swift", "\n    @Test func `nobody reads it`() {}\n"),
            ("Tests/EndToEnd/test_loop.py", "\n    def test_nobody_reads_it(self):\n"),
        ):
            self.assertEqual(self.comments(path, text), [f'{path}:2: avoid "nobody": {advice}'])
            (self.root / path).unlink()

    def test_a_summary_that_begins_with_a_question_word_is_named(self):
        path = "Sources/Edge/Loop.swift"
        fault = f"{path}:1: begin the summary with its subject, not with a question word"
        self.assertEqual(self.comments(path, "/// What a loop holds.\n"), [fault])

    def test_a_value_that_is_described_by_a_question_is_named(self):
        path = "Sources/Edge/Loop.swift"
        fault = "name the value, do not begin with a question word"
        text = "/// Reads.\n///\n/// - Parameters:\n///   - bytes: what came.\n///   - peer: whatever it is.\n/// - Returns: whose it is.\n"
        self.assertEqual(self.comments(path, text), [f"{path}:4: {fault}", f"{path}:6: {fault}"])

    def test_plain_comments_strings_and_later_lines_pass(self):
        text = '/// The bytes of `nobody`.\n///\n/// What follows is an example.\nlet user = "nobody"  // reads as a user\n'
        self.assertEqual(self.comments("Sources/Edge/Loop.swift", text), [])
        self.assertEqual(self.comments("Sources/GatewayHTTP/Generated/Files.swift", "/// What nobody reads.\n"), [])

    def test_a_plain_page_that_is_gone_is_named(self):
        self.words("")
        (self.root / "CHANGELOG.md").unlink()
        self.assertEqual(CHECK_DOCUMENTS.offences_of_words(self.root),
                         ["CHANGELOG.md: the page is in PLAIN_PAGES and does not exist"])

    def test_a_plan_that_names_a_missing_test_is_named(self):
        self.write("Tests/ReadTests/ReadTests.swift", "@Test func `a file is read`() {}\n")
        plan = "docs/internals/test-plan-read.md"
        for text, expected in (
            ("- **A1** A file is read, whatever\n  its size → `a file is read`\n- **A2b** Two → `a file is read`\n", []),
            ("- **A1** A file is read →\n  `a file is written`\n", [f"{plan}, A1: there is no test `a file is written`"]),
            ("- **A1** A file is read\n", [f"{plan}, A1: it names no tests after an arrow"]),
            ("| A1 | A file is read | `a file is read` |\n", [f"{plan}: it has no promises"]),
        ):
            self.write(plan, f"# Plan\n\n{text}")
            self.assertEqual(CHECK_DOCUMENTS.offences_of_plans(self.root), expected, text)

    def test_pages_and_lines_that_are_too_long_are_named(self):
        long = "a " * 61
        self.write("docs/operations/run.md", f"# Run\n\n{long}\n\n```\n{long}\n```\n\n| {long} |\n- `{'b' * 130}`\n")
        self.assertEqual(CHECK_DOCUMENTS.offences_of_length(self.root),
                         ["docs/operations/run.md:3: it has 122 characters; the most is 120"])
        self.write("docs/operations/run.md", "a\n" * 251)
        self.assertEqual(CHECK_DOCUMENTS.offences_of_length(self.root), ["docs/operations/run.md: it has 251 lines; the most is 250"])

    def test_a_symptom_that_no_source_has_is_named(self):
        self.write("Sources/Gateway/Start.swift", HEADER + 'let said = "the port \\(port) is in use by \\(name)"\n')
        self.write("docs/operations/troubleshoot.md", "| `the port … is in use by …` | a | `ss` |\n| `the port is taken` | b | `ss` |\n")
        self.assertEqual(CHECK_DOCUMENTS.offences_of_messages(self.root),
                         ["docs/operations/troubleshoot.md: no source has the message `the port is taken`"])

    def test_kind_and_label_of_metrics_are_read_where_they_are_declared(self):
        self.write("Sources/GatewayCore/Metric.swift", HEADER + 'case one = "cuecast_one_total"\ncase two = "cuecast_two"\ncase both = "cuecast_both"\n')
        self.write("Sources/GatewayCore/MetricDeclaration.swift", HEADER + "\n        switch self {\n"
                   '        case .one:\n            .counter(\n                "One.",\n                by: "kind",\n                [.a]\n'
                   '            )\n        case .two: .gaugeInMicroseconds("Two.")\n'
                   '        case .both:\n            .counter("Both.", by: "source", and: "result", [])\n        }\n')
        self.assertEqual(CHECK_DOCUMENTS.metrics(self.root), {"cuecast_one_total": ("counter", "kind"), "cuecast_two": ("gauge", ""),
                                                              "cuecast_both": ("counter", "source, result")})

    def test_swift_code_that_nothing_compiles_is_named(self):
        self.write("Snippets/Read.swift", "import AdFormats\n\nfunc read() {\n    let one = 1\n}\n")
        self.write("docs/read.md", "# Read\n\n```swift\nlet one = 1\n```\n")
        self.assertEqual(CHECK_DOCUMENTS.offences_of_articles(self.root), [])
        for page in ("docs/read.md", "Sources/Cuecast/Cuecast.docc/Read.md"):
            self.write(page, "# Read\n\n```swift\nlet two = 2\n```\n")
            self.assertEqual(CHECK_DOCUMENTS.offences_of_articles(self.root),
                             [f"{page}: no compiled file has the code that begins with `let two = 2`"])
            self.write(page, "# Read\n")

    def test_python_code_that_no_example_has_is_named(self):
        self.write("Examples/read.py", "import sys\n\nprint(1)\n")
        self.write("docs/read.md", "# Read\n\n```python\nprint(1)\n```\n")
        self.assertEqual(CHECK_DOCUMENTS.offences_of_articles(self.root), [])
        self.write("docs/read.md", "# Read\n\n```python\nprint(2)\n```\n")
        self.assertEqual(CHECK_DOCUMENTS.offences_of_articles(self.root),
                         ["docs/read.md: no example has the code that begins with `print(2)`"])


class CopyrightTests(CheckerTest):
    def setUp(self):
        super().setUp()
        self.write("Package.resolved", """{"pins": [{"location": "https://example.com/a/jwt-kit.git"},
            {"location": "https://example.com/b/GRDB.swift"}]}""")
        self.write("deploy/debian/copyright", "Files: *\n\nFiles: Yams/* GRDB.swift/*\nFiles: jwt-kit/*\n")
        self.write("NOTICE", "  GRDB.swift (copyright somebody), jwt-kit, Yams*\n")

    def offences(self):
        return list(CHECK_COPYRIGHT.offences(self.root, CHECK_COPYRIGHT.pinned(self.root)))

    def test_packages_that_are_named_pass(self):
        self.assertEqual(CHECK_COPYRIGHT.pinned(self.root), ["GRDB.swift", "jwt-kit"])
        self.assertEqual(self.offences(), [])

    def test_a_package_that_is_not_named_is_refused(self):
        self.write("deploy/debian/copyright", "Files: *\n\nFiles: GRDB.swift/* jwt-kit-extras/* jwt-kit/Sources/Inner/*\n")
        self.assertEqual(self.offences(), ["deploy/debian/copyright does not name jwt-kit, which is linked in: "
                                           "add jwt-kit/* to the Files of its licence"])
        self.write("NOTICE", "jwt-kit-extras, jwt-kit\n")
        self.assertEqual(self.offences()[0], "NOTICE does not name GRDB.swift")


class APIPageTests(CheckerTest):
    @staticmethod
    def symbol(path, kind, line):
        return {"pathComponents": path.split("/"), "kind": {"identifier": f"swift.{kind}"},
                "location": {"uri": "file:///A.swift", "position": {"line": line}}}

    def symbols(self):
        return [self.symbol("Player", "class", 1), self.symbol("Player/stop()", "method", 9),
                self.symbol("Player/start()", "method", 5), self.symbol("Player/State", "enum", 2),
                self.symbol("Player/State/idle", "enum.case", 3), self.symbol("Player/description", "property", 4)]

    def test_members_stand_in_the_order_of_the_sources(self):
        text, faults = API_PAGE.section("Cuecast", [("Playing", ["Player"])], self.symbols())
        self.assertEqual(faults, [])
        self.assertEqual(text, "## Cuecast: 6 public symbols\n\n```\n# Playing\nPlayer  start()  stop()\nPlayer.State  .idle\n```\n")

    def test_a_type_that_no_topic_names_is_named(self):
        _, faults = API_PAGE.section("Cuecast", [("Playing", ["Other"])], self.symbols())
        self.assertEqual(faults, ["Cuecast: no topic of the documentation names Player"])

    def test_a_page_that_lacks_a_member_is_old_and_another_order_is_not(self):
        text, _ = API_PAGE.section("Cuecast", [("Playing", ["Player"])], self.symbols())
        self.assertTrue(API_PAGE.says_the_same(text.replace("start()  stop()", "stop()  start()"), text))
        self.assertFalse(API_PAGE.says_the_same(text.replace("start()", ""), text))

    def test_topics_behind_spi_are_left_out(self):
        self.write("A.md", "# A\n\n## Topics\n\n### Playing\n\n- <doc:Loop>\n- ``Player``\n\n### More: @_spi(More)\n\n- ``Sender``\n")
        self.assertEqual(API_PAGE.topics(self.root / "A.md"), [("Playing", ["Player"])])


class ChangedTargetsTests(unittest.TestCase):
    #: A library, one that needs it, their tests, and a test kit below Tests/ that one of them needs.
    TARGETS = [
        {"name": "Low", "type": "regular", "dependencies": [{"product": ["Logging", "swift-log", None, None]}]},
        {"name": "High", "type": "regular", "dependencies": [{"byName": ["Low", None]}]},
        {"name": "Kit", "type": "regular", "path": "Tests/Kit", "dependencies": [{"target": ["Low", None]}]},
        {"name": "LowTests", "type": "test", "dependencies": [{"byName": ["Low", None]}]},
        {"name": "HighTests", "type": "test", "dependencies": [{"byName": ["High", None]}]},
        {"name": "KitTests", "type": "test", "dependencies": [{"byName": ["Kit", None]}]},
    ]

    def affected(self, *changed):
        return CHANGED_TARGETS.affected(self.TARGETS, changed) & {"LowTests", "HighTests", "KitTests"}

    def test_a_library_affects_the_tests_of_all_that_need_it(self):
        self.assertEqual(self.affected("Sources/Low/Sub/A.swift"), {"LowTests", "HighTests", "KitTests"})
        self.assertEqual(self.affected("Sources/High/A.swift"), {"HighTests"})

    def test_a_test_target_affects_itself_alone(self):
        self.assertEqual(self.affected("Tests/LowTests/A.swift"), {"LowTests"})

    def test_a_folder_with_a_longer_name_is_another_target(self):
        self.assertEqual(self.affected("Sources/Lower/A.swift", "README.md"), set())

    def test_the_path_of_the_manifest_counts(self):
        self.assertEqual(self.affected("Tests/Kit/A.swift"), {"KitTests"})

    def test_shared_files_and_the_manifest_affect_every_test_target(self):
        for path in ("Tests/Shared/SuiteLimit.swift", "Package.swift"):
            self.assertEqual(self.affected(path), {"LowTests", "HighTests", "KitTests"}, path)

    def test_files_of_no_target_are_named_by_kind(self):
        self.assertEqual(
            list(CHANGED_TARGETS.kinds({"docs/a.md", "scripts/lib.sh", "Tests/EndToEnd/test_top.py", "Tests/EndToEnd/vast.py"})),
            ["documents", "scripts", "end-to-end test_top"])


if __name__ == "__main__":
    unittest.main()
