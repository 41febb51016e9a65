// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
import CuecastWire
import Testing

/// Names and conditions of variants have one rule in the file of a schedule's variants and in that of candidates.
@Suite(.suiteLimit)
struct VariantFieldsTests {
    /// A file that has variants.
    enum File: CaseIterable {
        case schedule
        case candidates

        static let ad = #"{"id": "a", "duration": "10s", "media": [{"url": "https://a.example/a.mp3"}]}"#

        /// The fault of a file with these variants, each as its members `name` and `if`.
        func fault(_ variants: [String]) -> DocumentFault? {
            do throws(DocumentFault) {
                switch self {
                case .schedule:
                    let own = variants.map { #"{\#($0)\#($0.isEmpty ? "" : ", ")"list": "house"}"# }
                    let text = "{\"variants\": [\(own.joined(separator: ",\n"))]}"
                    #expect(try ScheduleVariantsDocument.read(Array(text.utf8)).variants.count == variants.count)
                case .candidates:
                    let own = variants.map { "{\($0)}" }.joined(separator: ",\n")
                    let text = "{\"variants\": [\(own)],\n\"candidates\": [{\"ad\": \(Self.ad)}]}"
                    #expect(try CandidatesDocument.read(Array(text.utf8)).variants.count == variants.count)
                }
                return nil
            } catch {
                return error
            }
        }
    }

    private static let car = #"{"attribute": "device", "is": "car"}"#

    private static func variant(_ name: String, _ conditions: [String] = [Self.car]) -> String {
        #""name": "\#(name)", "if": [\#(conditions.joined(separator: ", "))]"#
    }

    private static func conditions(_ count: Int) -> [String] {
        (0..<count).map { #"{"attribute": "k\#($0)", "is": "v"}"# }
    }

    private static func values(_ count: Int) -> String {
        #"{"attribute": "device", "is": [\#((0..<count).map { "\"v\($0)\"" }.joined(separator: ", "))]}"#
    }

    @Test(arguments: File.allCases)
    func `a name that the gateway would refuse is a fault of the name`(file: File) {
        for (name, said) in [
            ("default", "there is a variant default already"), ("", "a variant's name"), ("a b", "a variant's name"),
            ("ü", "a variant's name"), (String(repeating: "x", count: 65), "a variant's name"),
        ] {
            let fault = file.fault([Self.variant("first"), Self.variant(name)])
            #expect(
                fault?.field == "variants[1].name" && fault?.line == 2,
                "\(file) '\(name)': \(String(describing: fault))"
            )
            #expect(fault?.reason.contains(said) ?? false, "\(file) '\(name)': \(String(describing: fault))")
        }
        let twice = file.fault([Self.variant("cars"), Self.variant("bus"), Self.variant("cars")])
        #expect(twice?.field == "variants[2].name" && twice?.reason == "there is a variant cars already")
        let nameless = file.fault([#""if": [\#(Self.car)]"#])
        #expect(nameless?.field == "variants[0].name" && nameless?.reason == "it is missing")
        #expect(file.fault([Self.variant(String(repeating: "x", count: 64)), Self.variant("A.b_c-1")]) == nil)
    }

    @Test(arguments: File.allCases)
    func `conditions that the gateway would refuse are a fault of the conditions`(file: File) {
        let long = String(repeating: "v", count: WireLimits.attributeBytesMax + 1)
        for (conditions, said) in [
            ([], "the variant cars needs a condition"),
            ([Self.car, #"{"attribute": "device", "isNot": "tv"}"#], "two conditions about the attribute device"),
            ([#"{"attribute": "", "is": "car"}"#], "a condition of the variant cars has a key"),
            ([#"{"attribute": "device", "is": ""}"#], "values that are not empty"),
            ([#"{"attribute": "device", "is": []}"#], "values that are not empty"),
            ([#"{"attribute": "device", "is": "\#(long)"}"#], "attributeBytesMax"),
            ([#"{"attribute": "\#(long)", "is": "car"}"#], "attributeBytesMax"),
            (Self.conditions(WireLimits.attributesMax + 1), "attributesMax"),
            ([Self.values(WireLimits.valuesPerConditionMax + 1)], "valuesPerConditionMax"),
        ] as [([String], String)] {
            let fault = file.fault([Self.variant("first"), Self.variant("cars", conditions)])
            #expect(
                fault?.field == "variants[1].if" && fault?.line == 2,
                "\(file) \(said): \(String(describing: fault))"
            )
            #expect(fault?.reason.contains(said) ?? false, "\(file) \(said): \(String(describing: fault))")
        }
        let none = file.fault([#""name": "cars""#])
        #expect(none?.field == "variants[0].if", "\(String(describing: none))")
        // A condition that is none has its own place.
        let both = file.fault([Self.variant("cars", [#"{"attribute": "device", "is": "a", "isNot": "b"}"#])])
        #expect(both?.field == "variants[0].if[0].is", "\(String(describing: both))")
        // At the limits.
        let most = String(repeating: "v", count: WireLimits.attributeBytesMax)
        for conditions in [
            Self.conditions(WireLimits.attributesMax), [Self.values(WireLimits.valuesPerConditionMax)],
            [#"{"attribute": "\#(most)", "isNot": "\#(most)"}"#],
        ] {
            #expect(file.fault([Self.variant("cars", conditions)]) == nil, "\(file)")
        }
    }

    @Test func `a file of variants has as many bytes as fileBytesMax, and no more`() throws {
        let text = #"{"variants": [{\#(Self.variant("cars")), "list": "house"}]}"#
        let whole = Array(text.utf8) + Array(repeating: 0x20, count: AdsDocument.bytesMax - text.utf8.count)
        #expect(whole.count == 1_048_576)
        #expect(try ScheduleVariantsDocument.read(whole).variants.map(\.name) == ["cars"])
        let fault = #expect(throws: DocumentFault.self) { try ScheduleVariantsDocument.read(whole + [0x20]) }
        #expect(fault?.isTooLarge ?? false && fault?.reason == "the limit fileBytesMax is 1048576")
    }

    @Test func `a file of a group has as many bytes as groupFileBytesMax, and no more`() throws {
        let text = #"{"streams": [{"stream": "radio1"}]}"#
        let whole = Array(text.utf8) + Array(repeating: 0x20, count: CandidatesDocument.bytesMax - text.utf8.count)
        #expect(whole.count == 4_194_304)
        #expect(try GroupDocument.read(whole).streams.map(\.stream.description) == ["radio1"])
        let fault = #expect(throws: DocumentFault.self) { try GroupDocument.read(whole + [0x20]) }
        #expect(fault?.isTooLarge ?? false && fault?.reason == "the limit groupFileBytesMax is 4194304")
    }
}
