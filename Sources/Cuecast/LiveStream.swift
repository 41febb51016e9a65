// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The live audio or video stream that is being heard.
public struct LiveStream: Hashable, Sendable, Identifiable, CustomStringConvertible {
    /// The stream's id.
    ///
    /// 1 to 64 characters `A–Z a–z 0–9 . _ -`. A client with another id refuses to be made.
    public let id: String

    /// The stream with this id.
    public init(id: String) {
        self.id = id
    }

    /// The stream's id.
    public var description: String { self.id }
}
