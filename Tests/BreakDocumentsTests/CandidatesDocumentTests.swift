// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@testable import BreakDocuments

@Suite(.suiteLimit)
struct CandidatesDocumentTests {
    private func ad(_ id: String) -> String {
        #"{"id": "\#(id)", "duration": "30s", "media": [{"url": "https://cdn.example.com/a.mp3"}]}"#
    }

    private func candidate(_ id: String = "a", _ members: String = "") -> String {
        #"{"ad": \#(self.ad(id))\#(members.isEmpty ? "" : ", " + members)}"#
    }

    private func read(_ candidates: [String], _ members: String = "") throws(DocumentFault) -> CandidatesDocument {
        let text = "{\(members.isEmpty ? "" : members + ",")\n\"candidates\": [\(candidates.joined(separator: ",\n"))]}"
        return try CandidatesDocument.read(Array(text.utf8))
    }

    private func fault(_ candidates: [String], _ members: String = "") -> DocumentFault? {
        do throws(DocumentFault) {
            _ = try self.read(candidates, members)
            return nil
        } catch {
            return error
        }
    }

    @Test func `all members are read`() throws {
        let document = try read(
            [
                candidate(
                    "a",
                    """
                    "priority": 1, "weight": 3, "categories": ["IAB2-3"], "from": "2026-05-01T00:00:00Z",
                    "until": "2026-06-01T00:00:00+02:00", "times": 2, "variants": ["cars", "default"],
                    "dayparts": [{"days": ["mon", "sun"], "from": "22:00", "until": "06:30"}, {}]
                    """
                ),
                candidate("b", #""role": "opener""#), candidate("c", #""lock": "story""#),
            ],
            """
            "timeZone": "Europe/Oslo",
            "rules": {"ads": 8, "jingles": 2, "oncePerBreak": ["advertiser"], "apart": {"ad": "30m", "category": 90}},
            "variants": [{"name": "cars", "if": [{"attribute": "device", "is": "car"}]}]
            """
        )
        #expect(document.timeZone == "Europe/Oslo")
        #expect(document.adsMax == 8 && document.jinglesMax == 2)
        #expect(document.isAdvertiserOnce && !document.isCategoryOnce)
        #expect((document.gaps.ad, document.gaps.advertiser, document.gaps.category) == (1_800_000, 0, 90_000))
        #expect(document.variants.map(\.name) == ["cars"])
        let first = try #require(document.candidates.first)
        #expect((first.priority, first.weight, first.times) == (1, 3, 2))
        #expect(first.categories == ["IAB2-3"])
        #expect(first.from == Timestamp(rfc3339: "2026-05-01T00:00:00Z"))
        #expect(first.until == Timestamp(rfc3339: "2026-05-31T22:00:00Z"))
        #expect(
            first.dayparts == [
                CandidatesDocument.Daypart(weekdays: [0, 6], fromMinute: 1_320, untilMinute: 390),
                CandidatesDocument.Daypart(weekdays: [0, 1, 2, 3, 4, 5, 6], fromMinute: 0, untilMinute: 1_440),
            ]
        )
        #expect(first.isFor("cars") && first.isFor("default") && !first.isFor("other"))
        #expect(document.candidates.map(\.role) == ["ad", "opener", "ad"])
        #expect(document.candidates[2].lock == "story")
    }

    @Test(
        arguments: [
            (#""priority": 0"#, "candidates[0].priority"), (#""priority": 10"#, "candidates[0].priority"),
            (#""weight": 0"#, "candidates[0].weight"), (#""weight": 101"#, "candidates[0].weight"),
            (#""times": 0"#, "candidates[0].times"), (#""times": 9"#, "candidates[0].times"),
            (#""role": "closer", "times": 2"#, "candidates[0].times"), (#""role": "ads""#, "candidates[0].role"),
            (#""role": "jingle", "lock": "x""#, "candidates[0].lock"), (#""lock": """#, "candidates[0].lock"),
            (#""times": 2, "lock": "x""#, "candidates[0].times"), (#""weigth": 2"#, "candidates[0].weigth"),
            (#""categories": [""]"#, "candidates[0].categories[0]"),
            (#""categories": "IAB1""#, "candidates[0].categories"),
            (#""from": "2026-05-01""#, "candidates[0].from"), (#""variants": ["cars"]"#, "candidates[0].variants"),
            (#""from": "2026-05-01T00:00:00Z", "until": "2026-05-01T00:00:00Z""#, "candidates[0].until"),
            (#""dayparts": []"#, "candidates[0].dayparts"),
            (#""dayparts": [{"days": ["monday"]}]"#, "candidates[0].dayparts[0].days"),
            (#""dayparts": [{"days": []}]"#, "candidates[0].dayparts[0].days"),
            (#""dayparts": [{"from": "6:00"}]"#, "candidates[0].dayparts[0].from"),
            (#""dayparts": [{"until": "24:01"}]"#, "candidates[0].dayparts[0].until"),
            (#""dayparts": [{"from": "10:00", "until": "10:00"}]"#, "candidates[0].dayparts[0].until"),
        ]
    )
    func `a fault names the entry and the member`(members: String, field: String) {
        let found = fault([candidate("a", members)])
        #expect(found?.field == field)
        #expect(found?.line == 2)
    }

    @Test func `faults between candidates name the second one`() {
        #expect(fault([candidate("a"), candidate("a")])?.field == "candidates[1].ad.id")
        #expect(fault([candidate("a"), candidate("a")])?.line == 3)
        #expect(fault([candidate("a", #""times": 3"#), candidate("a~3")])?.field == "candidates[1].ad.id")
        #expect(fault([candidate("a", #""times": 3"#), candidate("a~4")]) == nil)
        let lock = #""lock": "x""#
        #expect(
            fault([candidate("a", lock), candidate("b", lock + #", "priority": 4"#)])?.field == "candidates[1].lock"
        )
        #expect(fault([candidate("a", lock), candidate("b", lock)]) == nil)
        #expect(fault([])?.field == "candidates")
        #expect(fault([#"{"role": "ad"}"#])?.field == "candidates[0].ad")
        #expect(fault([#"{"ad": {"id": "a", "media": []}}"#])?.field.hasPrefix("candidates[0].ad") == true)
    }

    @Test(
        arguments: [
            (#""rules": {"ads": 0}"#, "rules.ads"), (#""rules": {"ads": 65}"#, "rules.ads"),
            (#""rules": {"jingles": 9}"#, "rules.jingles"),
            (#""rules": {"oncePerBreak": ["ad"]}"#, "rules.oncePerBreak"),
            (#""rules": {"apart": {"ad": "169h"}}"#, "rules.apart.ad"),
            (#""rules": {"apart": {"ads": 1}}"#, "rules.apart.ads"),
            (#""variants": [{"name": "default", "if": []}]"#, "variants[0].name"), (#""limits": {}"#, "limits"),
        ]
    )
    func `a fault of the rules names the rule`(members: String, field: String) {
        #expect(fault([candidate()], members)?.field == field)
    }

    @Test func `limits, at them and one past`() throws {
        let most = (0..<1_000).map { candidate("ad\($0)") }
        #expect(try read(most).candidates.count == 1_000)
        #expect(fault(most + [candidate("more")])?.isTooLarge == true)
        for (count, isFine) in [(16, true), (17, false)] {
            let codes = (0..<count).map { "\"IAB\($0)\"" }.joined(separator: ",")
            #expect((fault([candidate("a", "\"categories\": [\(codes)]")]) == nil) == isFine)
        }
        for (count, isFine) in [(32, true), (33, false)] {
            let parts = [String](repeating: "{}", count: count).joined(separator: ",")
            #expect((fault([candidate("a", "\"dayparts\": [\(parts)]")]) == nil) == isFine)
        }
        for (count, isFine) in [(64, true), (65, false)] {
            let name = String(repeating: "x", count: count)
            #expect((fault([candidate("a", "\"lock\": \"\(name)\"")]) == nil) == isFine)
        }
        for (count, isFine) in [(126, true), (127, false)] {
            #expect((fault([candidate(String(repeating: "x", count: count), #""times": 2"#)]) == nil) == isFine)
        }
        let text = "{\"candidates\": [\(candidate())]}"
        for (size, isFine) in [(CandidatesDocument.bytesMax, true), (CandidatesDocument.bytesMax + 1, false)] {
            let bytes = Array(text.utf8) + [UInt8](repeating: 0x20, count: size - text.utf8.count)
            #expect(((try? CandidatesDocument.read(bytes)) != nil) == isFine)
        }
    }

    @Test func `an id has the number of the time, from the second on`() {
        for time in 1...8 { #expect(CandidatesDocument.ownID(CandidatesDocument.id("a", time: time)) == "a") }
        #expect(CandidatesDocument.id("a", time: 1) == "a")
        #expect(CandidatesDocument.id("a", time: 2) == "a~2")
        for id in ["a~1", "a~9", "a~", "~b", "a~x"] { #expect(CandidatesDocument.ownID(id) == id) }
    }

    @Test func `ads of other breaks are read, and a fault names the entry`() throws {
        let text = """
            {"played": [{"at": "2026-05-01T00:00:00Z", "ad": "a"},
            {"at": "2026-05-01T01:00:00Z", "ad": "b", "advertiser": "Shop", "categories": ["IAB1"]}]}
            """
        let ads = try PlayedAdsDocument.read(Array(text.utf8)).ads
        #expect(ads.map(\.id) == ["a", "b"])
        #expect(ads[1].advertiser == "Shop" && ads[1].categories == ["IAB1"])
        func fault(_ text: String) -> String? {
            do throws(DocumentFault) {
                _ = try PlayedAdsDocument.read(Array(text.utf8))
                return nil
            } catch {
                return error.field
            }
        }
        #expect(fault(#"{"played": [{"ad": "a"}]}"#) == "played[0].at")
        #expect(fault(#"{"played": [{"at": "2026-05-01T00:00:00Z"}]}"#) == "played[0].ad")
        #expect(fault(#"{"played": [], "x": 1}"#) == "x")
        let entry = #"{"at": "2026-05-01T00:00:00Z", "ad": "a"}"#
        for (count, isFine) in [(20_000, true), (20_001, false)] {
            let all = [String](repeating: entry, count: count).joined(separator: ",")
            #expect((fault("{\"played\": [\(all)]}") == nil) == isFine)
        }
    }
}
