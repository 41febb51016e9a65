// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A request that did not come as a frame, with what the rules of the wire say of it.
///
/// The check takes some work: it is made once, by the thread that makes this value.
package struct CheckedBroadcastRequest: Sendable {
    /// As it was asked.
    package let asked: BroadcastRequest
    /// As it is kept, or why it is refused.
    package let read: Result<BroadcastRequest, WireError>
    /// How many bytes its frame would have.
    package let byteCount: Int

    /// Looks at all rules.
    package init(_ asked: BroadcastRequest) {
        self.asked = asked
        self.read = Result { () throws(WireError) in try asked.checked() }
        self.byteCount = asked.encodedByteCount
    }
}
