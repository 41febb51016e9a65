// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import AdPresentation

// The names under which apps that are ported know the container of `AdPresentation`.

/// The name under which older apps know `AdvertisementView`.
public typealias DianomiAdvertView = AdvertisementView
/// The name under which older apps know `AdvertisementView`.
public typealias AdvertView = AdvertisementView
/// The name under which older apps know `AdvertisementStatus`.
public typealias AdvertStatus = AdvertisementStatus
/// The name under which older apps know `AdvertisementError`.
public typealias AdvertError = AdvertisementError
/// The name under which older apps know `AdvertisementSettings`, with its `shared`.
public typealias DianomiAdverts = AdvertisementSettings

extension AdvertisementSettings {
    /// `userID`, as older apps spell it.
    public var userId: String? {
        get { self.userID }
        set { self.userID = newValue }
    }
}
