// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
import CuecastWire
import Testing

/// The readers take the members that the shapes have, with values of their kinds and with no others.
@Suite(.suiteLimit)
struct RequestShapeTests {
    private struct Document: Sendable {
        let shape: RequestShape
        let read: @Sendable ([UInt8]) throws -> Void
    }

    private static func documents() throws -> [Document] {
        let key = BreakKey(stream: try StreamID("radio1"), id: try BreakID("noon"))
        return [
            Document(shape: BreakShapes.publish) { _ = try BreakDocument.publish(key, $0) },
            Document(shape: BreakShapes.update) { _ = try BreakDocument.update(key, $0) },
            Document(shape: BreakShapes.punch) { _ = try BreakDocument.punch(key, $0) },
            Document(shape: BreakShapes.postpone) { _ = try BreakDocument.postpone(key, $0) },
            Document(shape: BreakShapes.end) { _ = try BreakDocument.end(key, $0) },
            Document(shape: BreakShapes.adList) { _ = try AdsDocument.read($0) },
            Document(shape: BreakShapes.signal) { _ = try SignalDocument.read(key.stream, $0) },
            Document(shape: WatchReportDocument.shape) { _ = try WatchReportDocument.read(key.stream, $0) },
        ]
    }

    @Test func `a document may have each member of its shape`() throws {
        for document in try Self.documents() {
            for member in document.shape.members {
                let fault = Self.fault(document, with: member, Self.value(member))
                // Some members go only with others.
                #expect(
                    fault.map { $0.reason.hasPrefix("give ") || $0.reason.hasPrefix("it goes with") } ?? true,
                    "\(document.shape.name).\(member.name): \(String(describing: fault))"
                )
            }
        }
    }

    @Test func `a value of another kind is refused with the member's name`() throws {
        for document in try Self.documents() {
            for member in document.shape.members {
                for (path, wrong) in Self.wrongValues(member) {
                    let fault = Self.fault(document, with: member, wrong)
                    #expect(fault?.field.hasPrefix(path) == true, "\(document.shape.name): \(path) as \(wrong)")
                }
            }
        }
    }

    @Test func `a document without a member that it needs is refused with the member's name`() throws {
        for document in try Self.documents() {
            for missing in document.shape.members where missing.isRequired {
                let rest = document.shape.members.filter { $0.isRequired && $0.name != missing.name }
                let text = Self.object(rest.map { ($0.name, Self.value($0)) })
                #expect(Self.fault(document, text)?.field == missing.name, "\(document.shape.name).\(missing.name)")
            }
        }
    }

    @Test func `a member that the shape does not have is refused`() throws {
        for document in try Self.documents() {
            let needed = document.shape.members.filter(\.isRequired).map { ($0.name, Self.value($0)) }
            let fault = Self.fault(document, Self.object(needed + [("other", "1")]))
            #expect(fault?.field == "other", "\(document.shape.name)")
        }
    }

    // MARK: Documents

    private static func fault(_ document: Document, with member: RequestMember, _ value: String) -> DocumentFault? {
        let others = document.shape.members.filter { $0.isRequired && $0.name != member.name }
        return Self.fault(document, Self.object(others.map { ($0.name, Self.value($0)) } + [(member.name, value)]))
    }

    private static func fault(_ document: Document, _ text: String) -> DocumentFault? {
        do {
            try document.read(Array(text.utf8))
            return nil
        } catch {
            return error as? DocumentFault
        }
    }

    private static func object(_ members: [(name: String, value: String)]) -> String {
        "{" + members.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    /// A value that the member may have.
    private static func value(_ member: RequestMember) -> String { Self.value(of: member.kind, named: member.name) }

    private static func value(of kind: RequestKind, named name: String) -> String {
        switch kind {
        case .duration: "\"30s\""
        case .instant: "\"2026-11-21T12:00:00Z\""
        case .flag: "true"
        case .count: "7"
        case .text(_, WireLimits.urlBytesMax): "\"https://a.example/b\""
        case .text where ["x", "y"].contains(name): "\"7\""
        case .text: name == "attribute" ? "\"device\"" : name == "type" ? "\"audio/mpeg\"" : "\"a\""
        case .word(let words): "\"\(words[0])\""
        case .base64: "\"AAAA\""
        case .signalSource, .signalEvent: "\"studio\""
        case .oneOrMore(let kind, _): Self.value(of: kind, named: name)
        case .list(let kind, _): "[\(Self.value(of: kind, named: name))]"
        case .object(let shape): Self.object(Self.full(shape).map { ($0.name, Self.value($0)) })
        }
    }

    /// The members that stand together in a sample; a condition has one of `is` and `isNot`.
    private static func full(_ shape: RequestShape) -> [RequestMember] { shape.members.filter { $0.name != "isNot" } }

    /// Values that the member, or one member inside, may not have, each with the path of what is wrong.
    private static func wrongValues(_ member: RequestMember) -> [(path: String, value: String)] {
        Self.wrongValues(of: member.kind, at: member.name)
    }

    private static func wrongValues(of kind: RequestKind, at path: String) -> [(path: String, value: String)] {
        switch kind {
        case .list(.object(let shape), _):
            [(path, "{}"), (path, "1")]
                + Self.wrongValues(in: shape, at: "\(path)[0]").map { (path: $0.path, value: "[\($0.value)]") }
        case .object(let shape): [(path, "[]"), (path, "\"a\"")] + Self.wrongValues(in: shape, at: path)
        case .list: [(path, "{}"), (path, "1")]
        case .duration, .instant, .flag, .count, .text, .word, .base64, .signalSource, .signalEvent, .oneOrMore:
            [(path, "{}"), (path, kind.takesLists ? "1" : "[]")]
        }
    }

    private static func wrongValues(in shape: RequestShape, at path: String) -> [(path: String, value: String)] {
        let members = Self.full(shape)
        return members.flatMap { wrong in
            let others = members.filter { $0.name != wrong.name }.map { ($0.name, Self.value($0)) }
            return Self.wrongValues(of: wrong.kind, at: "\(path).\(wrong.name)")
                .map { (path: $0.path, value: Self.object(others + [(wrong.name, $0.value)])) }
        }
    }
}

extension RequestKind {
    /// Whether a list may stand in the member's place.
    fileprivate var takesLists: Bool { if case .oneOrMore = self { true } else { false } }
}
