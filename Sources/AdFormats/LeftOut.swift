// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A part of a document that was understood but not taken, and why.
public struct LeftOut: Hashable, Sendable {
    /// Why a part was not taken.
    ///
    /// New cases may appear in a minor release.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// It has no URL.
        case noURL
        /// Its URL is not an absolute `http` or `https` address.
        case unusableURL(String)
        /// Its URL is longer than ``AdFormatLimits/urlBytesMax``.
        case urlTooLong(maximum: Int)
        /// It plays only where the player runs code through a framework, such as VPAID or SIMID.
        case needsFramework(String)
        /// It is code, not media.
        case executable(type: String)
        /// It says when in a way that cannot be read, or not at all.
        case unusableOffset(String)
        /// Its value is not of the kind that belongs there.
        case unusableValue(String)
        /// It has no width and height in pixels, without which the VAST that a gateway writes does not have it.
        case noSize
        /// Its text was longer than ``AdFormatLimits/textBytesMax``; the beginning was taken.
        case shortened(maximum: Int)
        /// It is a verification whose parameters are longer than ``AdFormatLimits/verificationParametersBytesMax``.
        case parametersTooLong(maximum: Int)
        /// It is a verification without the address of any code.
        case noResource
        /// There were more than the named limit allows; ``limit`` says which as a value to switch on.
        case pastLimit(name: String, maximum: Int)
        /// Only one is taken, and another one came first.
        case anotherCameFirst
    }

    /// The element, such as `MediaFile`, or the attribute, such as `Ad@sequence`.
    public var part: String
    /// The line of the document, counted from 1.
    public var line: Int
    /// Why the part was not taken.
    public var reason: Reason

    /// A part, its line and the reason.
    public init(part: String, line: Int, reason: Reason) {
        self.part = part
        self.line = line
        self.reason = reason
    }
}

extension LeftOut: CustomStringConvertible {
    /// One sentence for people.
    public var description: String { "\(self.clause)." }

    /// The sentence as a part of a larger one.
    var clause: String { "\(self.part) on line \(self.line) \(self.reason)" }
}

extension LeftOut.Reason {
    /// Which limit of ``AdFormatLimits`` was passed; `nil`: none, or one that this version does not know.
    public var limit: AdFormatLimits.Name? {
        switch self {
        case .pastLimit(let name, _): AdFormatLimits.Name(rawValue: name)
        case .urlTooLong: .urlBytesMax
        case .shortened: .textBytesMax
        case .parametersTooLong: .verificationParametersBytesMax
        default: nil
        }
    }
}

extension LeftOut.Reason: CustomStringConvertible {
    /// The end of a sentence that begins with the part.
    public var description: String {
        switch self {
        case .noURL: "has no URL"
        case .unusableURL(let url): "has a URL that is not an absolute http or https address: \(quoted(url))"
        case .urlTooLong(let maximum): "has a URL of more than \(maximum) bytes (urlBytesMax)"
        case .needsFramework(let name): "needs the framework \(quoted(name)), which runs code in the player"
        case .executable(let type): "is code of the type \(quoted(type)), not media"
        case .unusableOffset(let text) where text.isEmpty: "has no offset"
        case .unusableOffset(let text): "has the offset \(quoted(text)), which is neither HH:MM:SS nor a percentage"
        case .unusableValue(let text): "has a value that is not valid there: \(quoted(text))"
        case .noSize: "has no width and height in pixels, so players that fetch VAST do not show it"
        case .shortened(let maximum): "was shortened to \(maximum) bytes (textBytesMax)"
        case .parametersTooLong(let maximum):
            "has parameters of more than \(maximum) bytes (verificationParametersBytesMax)"
        case .noResource: "has no address of code"
        case .pastLimit(let name, let maximum): "is one more than the limit \(name) of \(maximum)"
        case .anotherCameFirst: "is not used, because another one came first"
        }
    }
}

/// Text from a document, short enough for a sentence and on one line.
func quoted(_ text: String) -> String {
    let charactersMax = 100
    let line = String(text.prefix(charactersMax).map { $0.isNewline ? " " : $0 })
    return text.dropFirst(charactersMax).isEmpty ? "“\(line)”" : "“\(line)…”"
}
