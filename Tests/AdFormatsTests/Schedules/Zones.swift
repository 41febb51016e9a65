// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats

extension ScheduleZone {
    /// Oslo in 2026: an hour ahead of UTC, two from 2026-03-29T01:00:00Z to 2026-10-25T01:00:00Z.
    static func oslo(_ change: ClockChange = .refuse) -> ScheduleZone {
        ScheduleZone(name: "Europe/Oslo", clockChange: change) { seconds in
            (1_774_746_000..<1_792_890_000).contains(seconds) ? 7_200 : 3_600
        }
    }
}

/// The fault that reading gives.
func fault<Value>(_ read: () throws(ScheduleFault) -> Value) -> ScheduleFault? {
    do throws(ScheduleFault) {
        _ = try read()
        return nil
    } catch {
        return error
    }
}

/// An instant of RFC 3339, in milliseconds since 1970.
func instant(_ text: String) -> Int64 { ScheduleText.instant(text) ?? -1 }
