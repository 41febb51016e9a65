// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GatewayCore
import GatewayDocuments
import Testing

@Suite(.suiteLimit)
struct DocumentDescriptionTests {
    private static let documents: [any GatewayDocument.Type] = [
        AcknowledgedDocument.self, AcknowledgeRequestDocument.self, AcknowledgeRequestDocument.Outcome.self,
        AdDocument.self, AdDocument.Banner.self, AdDocument.MediaFile.self, AdDocument.Tracker.self,
        AdDocument.Verification.self, AdDocument.Icon.self, UniversalIDDocument.self, VerificationResourceDocument.self,
        CaptionFileDocument.self, BatchDocument.Advertisement.Verification.self, BatchDocument.Advertisement.Icon.self,
        AdListDocument.self, AdListsDocument.self, AdReportDocument.self, AdReportDocument.Ad.self,
        AssetListDocument.self, AssetListDocument.Asset.self, AssetListDocument.Identifier.self,
        AssetListDocument.Signaling.self, AssetListDocument.Slot.self, AssetListDocument.Tracking.self,
        AuditDocument.self, AuditDocument.Entry.self, AuditDocument.Unanswered.self, BatchDocument.self,
        BatchDocument.Advertisement.self,
        BatchDocument.Advertisement.Banner.self, BatchDocument.Advertisement.MediaFile.self,
        BatchDocument.Advertisement.Tracker.self, BatchRequestDocument.self, BreakListDocument.self,
        BreakListDocument.Break.self, BreakListDocument.Signal.self, ConfigurationDocument.self,
        ConfigurationDocument.Setting.self,
        CountsEventDocument.self, CountsEventDocument.Funnel.self, DryRunDocument.self, DryRunDocument.Ad.self,
        DryRunDocument.Left.self, DryRunDocument.Variant.self, EndDocument.self, EventTicketDocument.self,
        ForecastDocument.self, ForecastDocument.Break.self, ForecastDocument.Stream.self,
        GatewayEventDocument.self, GatewayEventDocument.Descriptors.self, GatewayEventDocument.Disk.self,
        GatewayEventDocument.Latency.self, GatewayEventDocument.Limit.self, GatewayEventDocument.Percentiles.self,
        GatewayEventDocument.Rates.self, GroupResultDocument.self, GroupResultDocument.Stream.self,
        GroupStateDocument.self, HeardElementDocument.self, HistoryDocument.self, HistoryDocument.Sample.self,
        IndexDocument.self, JoinedDocument.self,
        LeaveRequestDocument.self,
        LifeDocument.self, LimitsDocument.self, LimitsDocument.Limit.self, NoticeDocument.self,
        NoticeDocument.Window.self, OutcomeDocument.self, OutcomesEndDocument.self, ProblemDocument.self,
        RaisedAlarm.self, ReadinessDocument.self, ReloadDocument.self, ReportDocument.self,
        ReportDocument.Advertisement.self, ReportDocument.Break.self, ReportDocument.Counts.self,
        ReportDocument.LaneProgress.self, StreamListDocument.self, StreamListDocument.Break.self,
        StreamListDocument.Stream.self, TimeDocument.self,
    ]

    @Test func `a document has the fields of its description and no others`() throws {
        for document in Self.documents { try Self.checkFields(of: document) }
    }

    private static func checkFields<Document: GatewayDocument>(of type: Document.Type) throws {
        let fields = type.documentDescription.fields
        let full = try Document(from: SampleDecoder(isFull: true))
        let all = try #require(JSONValue(encoding: full).asObject, "\(type)")
        let least = try #require(
            JSONValue(encoding: try Document(from: SampleDecoder(isFull: false))).asObject,
            "\(type)"
        )

        #expect(all.keys.sorted() == fields.map(\.name).sorted(), "\(type)")
        #expect(least.keys.sorted() == fields.filter { $0.presence != .optional }.map(\.name).sorted(), "\(type)")
        for field in fields {
            let value = all[field.name] ?? .null
            #expect(Self.fits(value, field.kind.schema), "\(type).\(field.name) is \(value)")
            #expect((least[field.name] == .null) == (field.presence == .orNull), "\(type).\(field.name)")
        }
    }

    @Test func `a document is the same after it was encoded and decoded`() throws {
        func check<Document: GatewayDocument>(_ type: Document.Type) throws {
            for isFull in [false, true] {
                let document = try Document(from: SampleDecoder(isFull: isFull))
                let data = try JSONEncoder().encode(document)
                #expect(try JSONDecoder().decode(type, from: data) == document, "\(type)")
            }
        }
        for document in Self.documents { try check(document) }
    }

    @Test func `every document that another one refers to is checked`() {
        let known = Set(Self.documents.map { $0.schema.name })
        for document in Self.documents {
            let names = document.schema.uses.map(\.name)
            #expect(known.isSuperset(of: names), "\(document) uses \(names)")
        }
    }

    @Test func `no two documents have schemas of one name`() {
        let names = Self.documents.map { $0.schema.name }.filter { !$0.isEmpty }
        #expect(Set(names).count == names.count)
    }

    @Test func `the schema says what the description says`() {
        #expect(
            LifeDocument.schema.schema == [
                "type": "object",
                "properties": [
                    "status": ["type": "string", "enum": ["alive", "failed"]],
                    "sentence": ["type": "string", "description": "Why it failed."],
                ],
                "required": ["status"],
                "additionalProperties": false,
            ]
        )
        #expect(StreamListDocument.schema.schema["properties"]?["after"]?["anyOf"]?.asArray?.last == ["type": "null"])
        #expect(LeaveRequestDocument.schema.schema["additionalProperties"] == nil)
    }

    @Test func `a value with other fields than a schema does not fit it`() throws {
        let value = JSONValue(encoding: try LifeDocument(from: SampleDecoder(isFull: true)))
        #expect(Self.fits(value, LifeDocument.schema.reference))
        #expect(!Self.fits(value, TimeDocument.schema.reference))
        #expect(!Self.fits([value], Schema.array(of: TimeDocument.schema.schema)))
        #expect(!Self.fits(value, Schema.map(of: Schema.count)))
    }

    /// Schemas by the references to them.
    private static let named = Dictionary(
        uniqueKeysWithValues: Self.documents.map { $0.schema }.filter { !$0.name.isEmpty }
            .map { ($0.reference, $0.schema) }
    )

    /// Whether a value with all fields is of the type that a schema names, and so is each part of it.
    private static func fits(_ value: JSONValue, _ schema: JSONValue) -> Bool {
        if let reference = schema["$ref"] {
            return Self.named[["$ref": reference]].map { Self.fits(value, $0) } ?? false
        }
        if let kinds = schema["anyOf"]?.asArray { return kinds.contains { Self.fits(value, $0) } }
        switch schema["type"]?.asString {
        case "string": return value.asString != nil
        case "boolean": return value.asBoolean != nil
        case "integer": return value.asInteger != nil
        case "number": return value.asNumber != nil
        case "array": return value.asArray?.allSatisfy { Self.fits($0, schema["items"] ?? .null) } == true
        case "object":
            guard let members = value.asObject else { return false }
            guard let fields = schema["properties"]?.asObject else {
                return members.values.allSatisfy { Self.fits($0, schema["additionalProperties"] ?? .null) }
            }
            return members.keys == fields.keys && members.allSatisfy { Self.fits($1, fields[$0] ?? .null) }
        default: return false
        }
    }
}
