// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Foundation

/// Is told what becomes of the advertisement of an ``AdvertisementView``.
@MainActor
public protocol AdvertisementViewDelegate: AnyObject {
    /// The status of `advertisementView` is now `status`.
    ///
    /// At ``AdvertisementStatus/rendered`` the view's `contentHeight` is known: give it that height. Every method of the view may
    /// be called in here.
    func didChangeStatus(advertisementView: AdvertisementView, status: AdvertisementStatus)

    /// The `contentHeight` of `advertisementView` is another one than when it was rendered: the view has another width, or the
    /// content changed by itself. Give the view that height. The status stays.
    func didChangeContentHeight(advertisementView: AdvertisementView)
}

extension AdvertisementViewDelegate {
    /// Does nothing.
    public func didChangeContentHeight(advertisementView: AdvertisementView) {}
}

/// How far an ``AdvertisementView`` is.
public enum AdvertisementStatus: Sendable {
    /// Nothing was loaded yet, or loading was stopped.
    case created
    /// Content is on its way.
    case loading
    /// The content arrived. It may show already, in the frame that the view has.
    case loaded
    /// The content is shown in full, and its height is known.
    case rendered
    /// There is nothing to show.
    case failed(AdvertisementError)

    /// The status without its error, which cannot be compared.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// See ``AdvertisementStatus/created``.
        case created
        /// See ``AdvertisementStatus/loading``.
        case loading
        /// See ``AdvertisementStatus/loaded``.
        case loaded
        /// See ``AdvertisementStatus/rendered``.
        case rendered
        /// See ``AdvertisementStatus/failed(_:)``.
        case failed
    }

    /// The status without its error, to be compared.
    public var kind: Kind {
        switch self {
        case .created: .created
        case .loading: .loading
        case .loaded: .loaded
        case .rendered: .rendered
        case .failed: .failed
        }
    }
}

/// Why an ``AdvertisementView`` has nothing to show.
public enum AdvertisementError: Error, Sendable {
    /// No request could be made, for instance because the `contextFeedID` is empty.
    case invalidRequest
    /// Loading or showing failed, for the reason that came with it.
    case loadingError(any Error)
}

extension AdvertisementError: LocalizedError, CustomStringConvertible {
    /// One sentence for people.
    public var description: String {
        switch self {
        case .invalidRequest: "No request could be made for the advertisement."
        case .loadingError(let cause): "The advertisement could not be loaded: \(cause.sentence)"
        }
    }

    /// The same sentence.
    public var errorDescription: String? { self.description }
}
