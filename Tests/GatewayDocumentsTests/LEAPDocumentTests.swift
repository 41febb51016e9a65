// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GatewayDocuments
import Testing

/// The shapes of IAB Tech Lab's LEAP, against its own tables.
@Suite(.suiteLimit)
struct LEAPDocumentTests {
    private static func object(_ value: some Encodable) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? [String: Any])
    }

    @Test func `concurrent streams have the attributes that are required, as integers`() throws {
        let document = ConcurrentStreamsDocument(
            timestamp: 1_795_780_800_000,
            streamsdata: [
                ConcurrentStreamsDocument.StreamsData(
                    sdp: "Radio",
                    mediastreams: [
                        ConcurrentStreamsDocument.MediaStream(
                            content: ConcurrentStreamsDocument.Content(id: "radio1", channel: .init(name: "radio1")),
                            eventstart: 1_795_780_800_000,
                            eventend: 1_795_784_400_000,
                            streamcount: [ConcurrentStreamsDocument.StreamCount(cstreams: 1_000)]
                        )
                    ]
                )
            ]
        )
        let object = try Self.object(document)
        #expect(Set(object.keys) == ["version", "timestamp", "streamsdata"])
        #expect(object["version"] as? String == "1.0.0" && object["timestamp"] as? Int == 1_795_780_800_000)
        let data = try #require((object["streamsdata"] as? [[String: Any]])?.first)
        #expect(Set(data.keys) == ["sdp", "mediastreams"])
        let media = try #require((data["mediastreams"] as? [[String: Any]])?.first)
        #expect(Set(media.keys) == ["content", "eventstart", "eventend", "streamcount"])
        #expect(media["eventstart"] as? Int == 1_795_780_800_000 && media["eventend"] as? Int == 1_795_784_400_000)
        #expect((media["streamcount"] as? [[String: Int]]) == [["cstreams": 1_000]])
        #expect((media["content"] as? [String: Any])?["id"] as? String == "radio1")
    }

    /// Every attribute of the specification's example has the same place here, but for those that Cuecast does not know.
    @Test func `the specification's example has the same structure`() throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../shared/samples/leap/concurrent-streams-example.json").path
        guard let bytes = FileManager.default.contents(atPath: path) else {
            try Test.cancel("no samples beside the project")
        }
        func paths(_ value: Any, _ path: String = "") -> Set<String> {
            switch value {
            case let object as [String: Any]:
                object.reduce(into: []) { $0.formUnion(paths($1.value, "\(path).\($1.key)")) }
            case let list as [Any]: list.reduce(into: []) { $0.formUnion(paths($1, path)) }
            default: [path]
            }
        }
        let theirs = paths(try JSONSerialization.jsonObject(with: bytes))
        let content = ConcurrentStreamsDocument.Content(id: "a", channel: .init(name: "a"))
        let ours = ConcurrentStreamsDocument(
            timestamp: 1,
            streamsdata: [
                .init(
                    sdp: "a",
                    mediastreams: [
                        .init(content: content, eventstart: 1, eventend: 2, streamcount: [.init(cstreams: 1)])
                    ]
                )
            ]
        )
        #expect(paths(try Self.object(ours)).subtracting(theirs) == [])
    }

    @Test func `a forecast has the attributes that are required`() throws {
        let document = LEAPForecastDocument(
            timestamp: 1,
            events: [
                LEAPForecastDocument.UpcomingEvent(
                    scheduledstart: 1,
                    scheduledend: 2,
                    content: ConcurrentStreamsDocument.Content(id: "radio1"),
                    streamsdata: [LEAPForecastDocument.StreamsData(expectedpeak: 100, lowerbound: 50)],
                    inventoryconfig: .init(totaladdurationsec: 90, expectedpodcount: 2, unplanned: 1),
                    lastmodifieddate: 1
                )
            ]
        )
        let object = try Self.object(document)
        #expect(Set(object.keys) == ["version", "timestamp", "events"])
        let event = try #require((object["events"] as? [[String: Any]])?.first)
        #expect(
            Set(event.keys) == [
                "id", "scheduledstart", "scheduledend", "content", "eventstatus", "streamsdata", "inventoryconfig",
                "lastmodifieddate",
            ]
        )
        #expect(event["id"] as? String == "radio1" && event["eventstatus"] as? Int == 1)
        #expect((event["streamsdata"] as? [[String: Int]]) == [["expectedpeak": 100, "lowerbound": 50]])
    }
}
