// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The names under which older apps and providers know the protocols and types of this module.

/// The name under which older apps know ``AdViewProtocol``.
public typealias ZPAdViewProtocol = AdViewProtocol
/// The name under which older apps know ``AdViewState``.
public typealias ZPAdViewState = AdViewState
/// The name under which older apps know ``AdType``.
public typealias ZPAdType = AdType
/// The name under which older apps know ``AdConfig``.
public typealias ZPAdConfig = AdConfig
/// The name under which older providers know ``AdPresenterProtocol``.
public typealias ZPAdPresenterProtocol = AdPresenterProtocol
/// The name under which older providers know ``AdPluginProtocol``.
public typealias ZPAdPluginProtocol = AdPluginProtocol
/// The name under which older providers know ``AdPluginRefreshProtocol``.
public typealias ZPAdPluginRefreshProtocol = AdPluginRefreshProtocol
/// The name under which older apps know ``AdvertSettings``, with its ``AdvertSettings/shared``.
public typealias DianomiAdverts = AdvertSettings
/// The name under which older apps know ``AdvertisementManager``.
public typealias ZPAdvertisementManager = AdvertisementManager
