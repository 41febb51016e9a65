// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import AdPresentation

/// An `AdvertisementViewDelegate` whose methods have the names that older apps know.
@MainActor
public protocol AdvertDelegate: AdvertisementViewDelegate {
    /// The status of `advertView` is now `status`.
    ///
    /// At `rendered` the view's `contentHeight` is known: give it that height. Every method of the view may be called in here.
    func didChangeStatus(advertView: AdvertisementView, status: AdvertisementStatus)

    /// The `contentHeight` of `advertView` is another one than when it was rendered; does nothing by default.
    func didChangeContentHeight(advertView: AdvertisementView)
}

extension AdvertDelegate {
    /// Does nothing.
    public func didChangeContentHeight(advertView: AdvertisementView) {}

    /// Tells it by the older name.
    public func didChangeStatus(advertisementView: AdvertisementView, status: AdvertisementStatus) {
        self.didChangeStatus(advertView: advertisementView, status: status)
    }

    /// Tells it by the older name.
    public func didChangeContentHeight(advertisementView: AdvertisementView) {
        self.didChangeContentHeight(advertView: advertisementView)
    }
}
