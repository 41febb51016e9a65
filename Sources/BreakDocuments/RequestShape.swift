// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// An object of a document that a client sends: the one place that says its members' names, kinds and meanings.
///
/// `JSONFields` refuses members that the shape does not have. The schema in `/openapi.json` is made from the shape.
package struct RequestShape: Sendable {
    /// The name of the schema in `/openapi.json`; empty: the schema stands wherever the object is used.
    package let name: String
    /// A sentence; `nil`: the names say it.
    package let meaning: String?
    /// Whether an object without any member is refused.
    package let needsMember: Bool
    package let members: [RequestMember]

    /// A shape of an object.
    ///
    /// - Parameters:
    ///   - name: the name of its schema.
    ///   - meaning: its meaning, for readers.
    ///   - needsMember: whether an object without any member is refused.
    ///   - members: all members that it may have, each name once.
    package init(_ name: String = "", _ meaning: String? = nil, needsMember: Bool = false, members: [RequestMember]) {
        self.name = name
        self.meaning = meaning
        self.needsMember = needsMember
        self.members = members
    }

    /// The names of all members.
    package var names: Set<String> { Set(self.members.map(\.name)) }
}

/// One member of an object that a client sends.
package struct RequestMember: Sendable {
    package let name: String
    package let kind: RequestKind
    /// A sentence; `nil`: the name says it.
    package let meaning: String?
    package let isRequired: Bool

    private init(_ name: String, _ kind: RequestKind, _ meaning: String?, isRequired: Bool) {
        self.name = name
        self.kind = kind
        self.meaning = meaning
        self.isRequired = isRequired
    }

    /// A member without which the object is refused.
    package static func required(_ name: String, _ kind: RequestKind, _ meaning: String? = nil) -> RequestMember {
        RequestMember(name, kind, meaning, isRequired: true)
    }

    /// A member that may be absent or `null`.
    package static func optional(_ name: String, _ kind: RequestKind, _ meaning: String? = nil) -> RequestMember {
        RequestMember(name, kind, meaning, isRequired: false)
    }
}

/// The values that a member may have.
package indirect enum RequestKind: Sendable {
    /// Text such as `1m30s`, or a number of seconds that is not negative; or one word.
    case duration(orWord: String? = nil)
    /// RFC 3339 in UTC.
    case instant
    case flag
    /// A whole number from 0 to 4,294,967,295.
    case count
    /// Text of so many bytes in UTF-8.
    case text(bytesMin: Int = 0, bytesMax: Int? = nil)
    /// One of these words.
    case word([String])
    /// Bytes as RFC 4648 section 4 writes them.
    case base64
    /// The name of a source of signals.
    case signalSource
    /// The id of a signalled event.
    case signalEvent
    /// One value, or from 1 to `countMax` of them.
    case oneOrMore(RequestKind, countMax: Int)
    /// As many values as the range says.
    case list(of: RequestKind, count: ClosedRange<Int>)
    case object(RequestShape)
}
