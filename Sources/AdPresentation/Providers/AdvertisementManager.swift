// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Foundation

/// The providers of an app, in the order in which they are tried.
///
/// ```swift
/// AdvertisementManager.shared.register(HouseAdsPlugin.self, configurationJSON: ["unit": "home"])
/// AdvertisementManager.shared.register { CuecastAdPlugin(client.advertisements, stream: stream) }
/// ```
@MainActor
public final class AdvertisementManager {
    /// How many providers are registered at most.
    static let providersMax = 64

    /// The one that an app usually has.
    public static let shared = AdvertisementManager()

    private var makers: [@MainActor () -> any AdPluginProtocol] = []

    /// A manager without providers.
    public init() {}

    /// How many providers are registered.
    var count: Int { self.makers.count }

    /// Adds a provider after those that are registered.
    ///
    /// - Parameters:
    ///   - type: is made anew for each use, by its `init(configurationJSON:)`.
    ///   - configurationJSON: its part of the app's configuration.
    /// - Returns: whether it was added: not where there are 64 already.
    @discardableResult
    public func register(_ type: any AdPluginProtocol.Type, configurationJSON: NSDictionary? = nil) -> Bool {
        // Later changes of a mutable dictionary do not count.
        let configuration = configurationJSON?.copy() as? NSDictionary
        return self.register { type.init(configurationJSON: configuration) }
    }

    /// Adds a provider after those that are registered.
    ///
    /// - Parameter make: makes a new one for each use.
    /// - Returns: whether it was added: not where there are 64 already.
    @discardableResult
    public func register(_ make: @escaping @MainActor () -> any AdPluginProtocol) -> Bool {
        guard self.makers.count < Self.providersMax else { return false }
        self.makers.append(make)
        return true
    }

    /// Forgets all providers.
    public func removeAll() {
        self.makers = []
    }

    /// A fresh instance of the first registered provider; `nil` where none is registered.
    public func getAdPlugin() -> (any AdPluginProtocol)? {
        self.makePlugin(at: 0)
    }

    /// A fresh instance of the provider at `index` in the order in which they are tried; `nil`: there are not so many.
    func makePlugin(at index: Int) -> (any AdPluginProtocol)? {
        self.makers.indices.contains(index) ? self.makers[index]() : nil
    }
}
