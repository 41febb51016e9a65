// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Foundation

/// Opens what a user chose in an advertisement.
///
/// Give your own to ``ClickThroughHandling/opener`` to open pages within the app, or to ask first.
@MainActor
public protocol ClickThroughOpener: AnyObject, Sendable {
    /// Opens `url`, which is one of http or https.
    ///
    /// - Parameters:
    ///   - url: the address to open.
    ///   - completion: is to be called once, with whether it was opened.
    func open(_ url: URL, completion: @escaping @MainActor @Sendable (_ isOpened: Bool) -> Void)
}

/// The result of a user's action on an advertisement.
///
/// New cases may appear in a minor release.
@nonexhaustive
public enum ClickThroughEvent: Hashable, Sendable {
    /// The user chose this address, and the click was reported. It opens now, where there is something that opens it.
    ///
    /// On systems without UIKit and AppKit there is nothing: there this is all that happens, and opening it is the app's
    /// work.
    case chosen(URL)
    /// The address was opened.
    case opened(URL)
    /// The opener could not open the address.
    case notOpened(URL)
    /// The address, as the advertisement has it, is not opened, and the click was not reported.
    case refused(address: String, ClickThroughRefusal)
}

/// The handling of a user's action on an advertisement.
///
/// ```swift
/// AdvertisementSettings.shared.clickThroughs.onEvent = { event in
///     if case .refused(let address, let reason) = event { print(address, reason) }
/// }
/// ```
///
/// ``AdvertisementSettings/clickThroughs`` counts for every advertisement; ``AdvertisementView/clickThroughs`` and
/// ``CuecastAdPlugin/clickThroughs`` may replace it for theirs.
public struct ClickThroughHandling: Sendable {
    /// Opens the address; `nil`: nothing does, and the app hears of it by ``onEvent``.
    ///
    /// To begin with it is the system, by UIKit or AppKit, and `nil` elsewhere.
    public var opener: (any ClickThroughOpener)?
    /// Is told what happens; `nil`: events are not reported.
    public var onEvent: (@MainActor @Sendable (ClickThroughEvent) -> Void)?

    /// The system's default.
    public init() {
        self.opener = SystemLinks.opener
    }

    /// Handling by `opener` and `onEvent`.
    public init(
        opener: (any ClickThroughOpener)?,
        onEvent: (@MainActor @Sendable (ClickThroughEvent) -> Void)? = nil
    ) {
        self.opener = opener
        self.onEvent = onEvent
    }

    /// Opens `address` where it may be opened.
    ///
    /// - Parameters:
    ///   - address: the advertisement's address; `nil`: it has none.
    ///   - report: tells that it was clicked, before it is opened: then the app may be in the background.
    @MainActor
    func follow(_ address: String?, report: () -> Void) {
        let url: URL
        do throws(ClickThroughRefusal) {
            url = try ClickThrough(address).url
        } catch {
            self.onEvent?(.refused(address: address ?? "", error))
            return
        }
        report()
        self.onEvent?(.chosen(url))
        let onEvent = self.onEvent
        self.opener?.open(url) { isOpened in onEvent?(isOpened ? .opened(url) : .notOpened(url)) }
    }

    /// The same with the opener that `renderer` has, where it has one.
    @MainActor
    func opened(by renderer: any AdRenderer) -> ClickThroughHandling {
        guard let open = (renderer as? any InteractiveAdRenderer)?.openURL else { return self }
        return ClickThroughHandling(opener: ClosureOpener(open), onEvent: self.onEvent)
    }
}

/// Opens with a closure, which says nothing of how it went.
@MainActor
private final class ClosureOpener: ClickThroughOpener {
    private let openURL: @MainActor (URL) -> Void

    init(_ openURL: @escaping @MainActor (URL) -> Void) {
        self.openURL = openURL
    }

    func open(_ url: URL, completion: @escaping @MainActor @Sendable (_ isOpened: Bool) -> Void) {
        self.openURL(url)
        completion(true)
    }
}
