// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastBroadcast

/// Something that a watcher saw in its source, and what it makes of it.
package struct CueObservation: Hashable, Sendable {
    /// The meaning of something that a watcher saw.
    package enum Meaning: Hashable, Sendable {
        /// The gateway gets this signal.
        case signal(ProgrammeSignal)
        /// It means nothing for breaks.
        case ignored(reason: String)
        /// It should mean something, and cannot be used.
        case refused(CueRefusal)
    }

    /// The stream that the gateway knows.
    package var stream: String
    /// The name of the source, as signals have it.
    package var source: String
    /// A sentence for people about what the source said.
    package var seen: String
    /// Its meaning.
    package var meaning: Meaning

    /// An observation.
    package init(stream: String, source: String, seen: String, meaning: Meaning) {
        self.stream = stream
        self.source = source
        self.seen = seen
        self.meaning = meaning
    }
}

/// Why a watcher cannot use a cue.
package struct CueRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of refusals.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// The bytes are no SCTE-35 section that can be read.
        case unreadable = "UNREADABLE"
        /// The section is encrypted.
        case encrypted = "ENCRYPTED"
        /// The section has a command that is not read, `splice_schedule()` for instance.
        case unsupportedCommand = "UNSUPPORTED_COMMAND"
        /// The cue has a time of the stream's clock, and nothing says when that is.
        case noTimeReference = "NO_TIME_REFERENCE"
        /// The cue is about a time that is further from now than a live stream reaches.
        case tooFar = "TOO_FAR"
        /// The break is longer than breaks may be.
        case tooLong = "TOO_LONG"
        /// The source sends something that is not what it should send, a broken playlist for instance.
        case badSource = "BAD_SOURCE"
        /// The source cannot be reached, or may not be asked.
        case unreachable = "UNREACHABLE"
    }

    /// The kind of the refusal.
    package let code: Code
    /// A sentence for people.
    package let sentence: String

    /// A refusal.
    package init(_ code: Code, _ sentence: String) {
        self.code = code
        self.sentence = sentence
    }

    /// The code and the sentence.
    package var description: String { "\(self.code.rawValue): \(self.sentence)" }
}
