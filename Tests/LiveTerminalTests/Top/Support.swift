// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GatewayDocuments
import LiveTerminal

/// The events of a gateway, as it sends them.
enum Said {
    static let fault = TopState.Fault(sentence: "no", isRefusal: false)

    static func gateway(
        listeners: Int = 1_204,
        streams: Int = 10_000,
        running: Int = 12,
        here: Int? = nil,
        gateways: Int = 0,
        alarms: [(String, String)] = [],
        limits: [(String, Int)] = [],
        draining: Bool = false,
        notice: String = #"{"p50":1200,"p99":3400}"#
    ) throws -> GatewayEventDocument {
        let alarms = alarms.map { #"{"alarm":"\#($0.0)","title":"T","sentence":"\#($0.1)"}"# }.joined(separator: ",")
        let limits = limits.map { #"{"limit":"\#($0.0)","refused":\#($0.1),"max":null}"# }.joined(separator: ",")
        return try self.read(
            """
            {"at":"2026-05-01T12:00:10.000000Z","listeners":\(listeners),"listenersHere":\(here ?? listeners),"listenersHTTP":3,"gateways":\(gateways),"streams":\(streams),"breaksRunning":\(running),\
            "rates":{"notices":1,"batches":40.25,"acknowledgements":1234.5},"latency":{"noticeMicroseconds":\(notice),\
            "appendMicroseconds":null,"scheduleLateMicroseconds":null},"ledgerLagRecords":17,"ledgerLagSeconds":0.5,\
            "disk":{"bytes":12582912,"free":21474836480},"memoryBytes":64000000,"descriptors":{"open":40,"max":1048576},\
            "limits":[\(limits)],"alarms":[\(alarms)],"draining":\(draining),"version":"0.1.0"}
            """
        )
    }

    /// A page of streams that are called r1, r2 and so on.
    static func streams(
        _ numbers: Range<Int>,
        of total: Int,
        running: Set<Int> = [],
        prefix: String = "r"
    ) throws -> StreamListDocument {
        let lines = numbers.map { number in
            let running =
                running.contains(number)
                ? #"{"break":"noon","state":"live","start":"2026-05-01T12:00:00Z","end":"2026-05-01T12:00:30Z","revision":2}"#
                : "null"
            let next =
                #"{"break":"later","state":"scheduled","start":"2026-05-01T12:05:00.000000Z","end":null,"revision":1}"#
            let name = prefix + "\(number)"
            return #"{"stream":"\#(name)","listeners":\#(number * 1_000),"running":\#(running),"next":\#(next)}"#
        }
        let after = numbers.upperBound <= total ? #""r\#(numbers.upperBound - 1)""# : "null"
        return try self.read(
            """
            {"now":"2026-05-01T12:00:10.000000Z","streams":[\(lines.joined(separator: ","))],"after":\(after),"total":\(total)}
            """
        )
    }

    static func counts(_ stream: String, break id: String? = "noon", delivered: Int = 100) throws -> CountsEventDocument
    {
        guard let id else {
            return try self.read(#"{"stream":"\#(stream)","listeners":7,"break":null,"funnel":null}"#)
        }
        return try self.read(
            """
            {"stream":"\(stream)","listeners":7,"break":"\(id)","funnel":{"notified":null,"asked":50,"delivered":\(delivered),\
            "played":60,"ignored":25,"failed":5,"unknown":10}}
            """
        )
    }

    static func breaks() throws -> BreakListDocument {
        try self.read(
            """
            {"now":"2026-05-01T12:00:10.000000Z","breaks":[{"stream":"r1","break":"noon","state":"live",\
            "start":"2026-05-01T12:00:00.000000Z","end":"2026-05-01T12:00:30.000000Z","durationMilliseconds":30000,"ads":2,\
            "firstAdTitle":"Tea \\u001b[2J","preStream":false,"exact":false,"published":"2026-05-01T11:00:00.000000Z","revision":2}]}
            """
        )
    }

    /// So many watchers; the second one is gone.
    static func watchers(_ count: Int) throws -> [SignalListDocument.Watcher] {
        let texts = (1...count)
            .map { number in
                let facts =
                    number == 2
                    ? #""state":"gone","reported":"2026-05-01T12:00:00.000000Z""#
                    : #""state":"present","reported":"2026-05-01T12:00:09.000000Z","heard":"2026-05-01T12:00:02.000000Z""#
                return
                    #"{"watcher":"w\#(number)","source":"encoder","kind":"hls","address":"https://a.example/x","steady":true,"#
                    + #""since":"2026-05-01T11:00:00.000000Z",\#(facts)}"#
            }
        return try self.read("[\(texts.joined(separator: ","))]")
    }

    private static func read<Document: Decodable>(_ text: String) throws -> Document {
        try JSONDecoder().decode(Document.self, from: Data(text.utf8))
    }
}

extension String {
    /// Without the spaces at its end.
    var trimmingSuffixSpaces: Substring {
        var end = self.endIndex
        while end > self.startIndex, self[self.index(before: end)] == " " { end = self.index(before: end) }
        return self[..<end]
    }
}

extension TopState {
    /// Takes an event at the beginning of our clock.
    @discardableResult
    mutating func apply(_ event: Event) -> Action? { self.apply(event, at: .zero) }

    /// Presses keys, and gives what is to be done because of the last one.
    @discardableResult
    mutating func press(_ keys: Key...) -> Action? {
        var action: Action?
        for key in keys { action = self.apply(.pressed(key)) }
        return action
    }

    /// The content of the screen.
    func screen(at own: Duration = .zero) -> [String] {
        TopScreen(self).lines(at: own, address: "127.0.0.1:7480").map(\.text)
    }

    /// The first line with this in it.
    func line(_ part: String, at own: Duration = .zero) -> String? {
        self.screen(at: own).first { $0.contains(part) }
    }
}
