// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Foundation

/// Is told what becomes of the advertisement of an ``AdvertView``.
@MainActor
public protocol AdvertDelegate: AnyObject {
    /// The status of `advertView` is now `status`.
    ///
    /// At ``AdvertStatus/rendered`` the view's `contentHeight` is known: give it that height. Every method of the view may
    /// be called in here.
    func didChangeStatus(advertView: AdvertView, status: AdvertStatus)

    /// The `contentHeight` of `advertView` is another one than when it was rendered: the view has another width, or the
    /// content changed by itself. Give the view that height. The status stays.
    func didChangeContentHeight(advertView: AdvertView)
}

extension AdvertDelegate {
    /// Does nothing.
    public func didChangeContentHeight(advertView: AdvertView) {}
}

/// How far an ``AdvertView`` is.
public enum AdvertStatus: Sendable {
    /// Nothing was loaded yet, or loading was stopped.
    case created
    /// Content is on its way.
    case loading
    /// The content arrived. It may show already, in the frame that the view has.
    case loaded
    /// The content is shown in full, and its height is known.
    case rendered
    /// There is nothing to show.
    case failed(AdvertError)

    /// The status without its error, which cannot be compared.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// See ``AdvertStatus/created``.
        case created
        /// See ``AdvertStatus/loading``.
        case loading
        /// See ``AdvertStatus/loaded``.
        case loaded
        /// See ``AdvertStatus/rendered``.
        case rendered
        /// See ``AdvertStatus/failed(_:)``.
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

/// Why an ``AdvertView`` has nothing to show.
public enum AdvertError: Error, Sendable {
    /// No request could be made, for instance because the `contextFeedID` is empty.
    case invalidRequest
    /// Loading or showing failed, for the reason that came with it.
    case loadingError(any Error)
}

extension AdvertError: LocalizedError, CustomStringConvertible {
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
