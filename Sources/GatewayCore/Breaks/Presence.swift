// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// How many listen to each stream now.
///
/// One gateway counts its own listeners; several gateways of one stream have to add theirs.
package protocol Presence: Sendable {
    /// How many listen to a stream.
    func count(of stream: StreamID) -> Int

    /// The streams that have listeners, with their numbers.
    var counts: [StreamID: Int] { get }
}
