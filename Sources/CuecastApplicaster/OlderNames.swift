// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import AdPresentation

// The names under which apps and providers that are ported know the protocols and types of `AdPresentation`.

/// The name under which older apps know `AdViewProtocol`.
public typealias ZPAdViewProtocol = AdViewProtocol
/// The name under which older apps know `AdViewState`.
public typealias ZPAdViewState = AdViewState
/// The name under which older apps know `AdType`.
public typealias ZPAdType = AdType
/// The name under which older apps know `AdConfig`.
public typealias ZPAdConfig = AdConfig
/// The name under which older providers know `AdPresenterProtocol`.
public typealias ZPAdPresenterProtocol = AdPresenterProtocol
/// The name under which older providers know `AdPluginProtocol`.
public typealias ZPAdPluginProtocol = AdPluginProtocol
/// The name under which older providers know `AdPluginRefreshProtocol`.
public typealias ZPAdPluginRefreshProtocol = AdPluginRefreshProtocol
/// The name under which older apps know `AdvertisementManager`.
public typealias ZPAdvertisementManager = AdvertisementManager

extension AdConfig {
    /// An inline banner; `adUnitID`, as older apps spell it.
    public convenience init(adUnitId: String, inlineBannerSize: String?) {
        self.init(adUnitID: adUnitId, inlineBannerSize: inlineBannerSize)
    }

    /// An advertisement of this type; `adUnitID`, as older apps spell it.
    public convenience init(adUnitId: String, adType: AdType) {
        self.init(adUnitID: adUnitId, adType: adType)
    }

    /// `adUnitID`, as older apps spell it.
    public var adUnitId: String { self.adUnitID }
}
