// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(FoundationXML)

import Foundation
import FoundationXML
import Testing
import TestSupport

@testable import AdFormats

/// The XML reader beside libxml2, which Foundation has: what one accepts the other accepts and sees the same in it.
@Suite(.suiteLimit)
struct MarkupOracleTests {
    /// The events in a document, in order.
    private final class Events: NSObject, XMLParserDelegate {
        private(set) var events: [String] = []
        private(set) var faults: [Int] = []
        private(set) var text: [String] = []

        func parser(
            _ parser: XMLParser,
            didStartElement name: String,
            namespaceURI: String?,
            qualifiedName: String?,
            attributes: [String: String]
        ) {
            self.text.append("")
            self.events.append("<\(MarkupOracleTests.localName(name))> \(attributes.sorted { $0.key < $1.key })")
        }

        func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
            self.events.append("</\(MarkupOracleTests.localName(name))> \(self.text.removeLast())")
        }

        func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
            self.faults.append((error as NSError).code)
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { self.text[self.text.count - 1] += string }

        func parser(_ parser: XMLParser, foundCDATA block: Data) {
            self.text[self.text.count - 1] += String(decoding: block, as: UTF8.self)
        }
    }

    private static func localName(_ name: String) -> String {
        name.firstIndex(of: ":").map { String(name[name.index(after: $0)...]) } ?? name
    }

    private func events(of element: MarkupElement) -> [String] {
        let attributes = Dictionary(uniqueKeysWithValues: element.attributes.map { ($0.name, $0.value) })
        return ["<\(element.name)> \(attributes.sorted { $0.key < $1.key })"]
            + element.children.flatMap { self.events(of: $0) } + ["</\(element.name)> \(element.text)"]
    }

    /// The events that libxml2 sees in a document; nil if it finds a fault, which is not always where `parse()` does.
    ///
    /// - Throws: `Undecided` where it stumbles over a name with two colons, which is against the namespaces recommendation
    ///   and not against XML.
    private func libxml2(_ document: [UInt8]) throws -> [String]? {
        let parser = XMLParser(data: Data(document))
        let events = Events()
        parser.delegate = events
        _ = parser.parse()
        if events.faults.contains(202) { throw Undecided() }
        // A version after 1.0 (97) is only warned of, and the namespaces recommendation (99, 100, 200 to 205) is none of the
        // reader's business. A document that ends too early is no fault to Foundation at all.
        let faults = events.faults.filter { $0 != 97 && $0 != 99 && $0 != 100 && !(200...205).contains($0) }
        return faults.isEmpty && events.text.isEmpty && !events.events.isEmpty ? events.events : nil
    }

    private struct Undecided: Error {}

    private func ours(_ document: [UInt8]) -> [String]? {
        (try? MarkupReader.read(document, limits: AdFormatLimits())).map { self.events(of: $0) }
    }

    @Test func `documents that are well-formed are seen alike`() throws {
        for document in try documentsToSpoil() {
            #expect(try self.ours(document) == self.libxml2(document))
        }
    }

    @Test func `documents spoiled at random are accepted by both and seen alike, or refused by both`() async throws {
        var random = SeededGenerator(for: "two XML readers")
        let documents = try documentsToSpoil()
        let rounds = max(30, 600 / documents.count)
        var accepted = 0
        for document in documents {
            for _ in 0..<rounds {
                await Task.yield()
                let spoiled = Mutation.spoiled(document, with: documents, using: &random)
                // Where they are known to differ: declarations of types, names beyond ASCII, and carriage returns, which
                // libxml2 leaves in CDATA sections, against XML 1.0 section 2.11.
                let text = String(decoding: spoiled, as: UTF8.self)
                guard !text.contains("<!DOCTYPE"), spoiled.allSatisfy({ $0 < 0x80 && $0 != 0x0D }) else { continue }
                let ours = self.ours(spoiled)
                let theirs: [String]?
                do { theirs = try self.libxml2(spoiled) } catch is Undecided { continue }
                if ours != theirs {
                    let place = zip(ours ?? [], theirs ?? []).first { $0 != $1 }.map { "\($0)" } ?? ""
                    let fault = readingError(spoiled).map { "\($0)" } ?? "no fault"
                    let text = "here: \(fault); libxml2: \(theirs == nil ? "refused" : "accepted"); \(place)"
                    Issue.record(
                        "CUECAST_SEED=\(SeededGenerator.seed): \(text)\n\(String(decoding: spoiled, as: UTF8.self))"
                    )
                    return
                }
                accepted += ours == nil ? 0 : 1
            }
        }
        print("two XML readers: \(accepted) spoiled documents accepted by both")
        #expect(accepted > 0, "CUECAST_SEED=\(SeededGenerator.seed)")
    }
}

#endif
