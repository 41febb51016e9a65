// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The entry point that older apps know.
///
/// Give its ``advertisements`` to the client, and code that says `Mycrocast.shared.advertisements` works with that client:
///
/// ```swift
/// let client = try CuecastClient(…, advertisements: Mycrocast.shared.advertisements)
/// ```
public final class Mycrocast: Sendable {
    /// The only one.
    public static let shared = Mycrocast()

    /// The observers and the queue of the client that was made with them; without one it is empty.
    public let advertisements = AdvertisementCenter()

    private init() {}
}
