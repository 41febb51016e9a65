// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Gateway
import GatewayCore
import Testing

@Suite(.suiteLimit)
struct AlarmTests {
    @Test func `an alarm is shown with its sentence and as a metric until it ends`() {
        let metrics = MetricRegistry()
        let readiness = ReadinessBoard(metrics: metrics)
        #expect(readiness.alarms.isEmpty)
        for alarm in Alarm.allCases {
            #expect(metrics.exposition().contains("cuecast_alarm{alarm=\"\(alarm.rawValue)\"} 0\n"))
        }

        #expect(readiness.raise(.clock, "It is an hour ahead."))
        #expect(!readiness.raise(.clock, "It is two hours ahead."), "raised already")
        #expect(readiness.alarms == [RaisedAlarm(.clock, "It is two hours ahead.")])
        #expect(metrics.value(.alarm, .alarm(.clock)) == 1)
        #expect(metrics.value(.alarm, .alarm(.retention)) == 0)

        #expect(readiness.clear(.clock))
        #expect(!readiness.clear(.clock), "ended already")
        #expect(readiness.alarms.isEmpty)
        #expect(metrics.value(.alarm, .alarm(.clock)) == 0)
    }

    @Test func `each part that requests need is a metric of its own`() {
        let metrics = MetricRegistry()
        let readiness = ReadinessBoard(metrics: metrics)
        #expect(metrics.value(.ready, .sockets) == 0)
        readiness.set(.sockets, isReady: true)
        #expect(metrics.value(.ready, .sockets) == 1)
        #expect(metrics.value(.ready, .log) == 0)
        readiness.set(.sockets, isReady: false)
        for part in ReadinessBoard.Part.allCases {
            #expect(metrics.exposition().contains("cuecast_ready{part=\"\(part.rawValue)\"} 0\n"))
        }
    }

    @Test func `an alarm is no reason to refuse requests`() {
        let readiness = ReadinessBoard()
        for part in ReadinessBoard.Part.allCases { readiness.set(part, isReady: true) }
        for alarm in Alarm.allCases { readiness.raise(alarm, "Look at it.") }
        #expect(readiness.missing.isEmpty)
        #expect(readiness.alarms.map(\.alarm) == Alarm.allCases.map(\.rawValue))
    }
}
