// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// What an operator should look at although requests are taken and counted.
///
/// What keeps a gateway from taking requests is no alarm: then it is not ready.
package enum Alarm: String, CaseIterable, Hashable, Sendable {
    /// The gateway's clock does not follow the wall clock any more: they are too far apart.
    case clock
    /// The control socket could not be made: commands of the command line cannot reach the gateway.
    case control
    /// Retention stands still: at the start the wall clock was far ahead of the books, and nobody has confirmed it.
    case retention
    /// So many connections are open that no more are accepted.
    case connections
}

/// An alarm that is raised, and why.
package struct RaisedAlarm: Codable, Hashable, Sendable {
    /// The alarm by its name.
    package let alarm: String
    /// One sentence for people: what is wrong, and what to do.
    package let sentence: String

    package init(alarm: String, sentence: String) {
        self.alarm = alarm
        self.sentence = sentence
    }

    package init(_ alarm: Alarm, _ sentence: String) {
        self.init(alarm: alarm.rawValue, sentence: sentence)
    }
}
