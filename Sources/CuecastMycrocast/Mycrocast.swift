// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Cuecast

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

    /// `AdvertisementCenter.shared`: the observers and the queue of the client that was made with them.
    ///
    /// Without such a client the queue is empty.
    public let advertisements = AdvertisementCenter.shared

    private init() {}
}

/// The name under which older apps know `Advertisement`.
public typealias MycrocastAdvertisement = Advertisement
