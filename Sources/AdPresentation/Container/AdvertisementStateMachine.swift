// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Foundation

/// The status of one ``AdvertisementView``; it decides, it never acts.
///
/// Legal: any → loading, loading → loaded or failed, loaded → rendered or failed, any → created, any → failed for want of a
/// request. Each load has a number; what an earlier one brings is dropped.
struct AdvertisementStateMachine: Sendable {
    /// An event.
    enum Event: Sendable {
        /// A load begins.
        case load
        /// A load was wanted, and no request could be made.
        case refuse
        /// The content of this load arrived.
        case arrived(load: Int)
        /// The content of this load is shown in full, this high.
        case shown(load: Int, height: CGFloat)
        /// The content of this load, which is shown in full, has another height.
        case resized(load: Int, height: CGFloat)
        /// This load failed.
        case failed(load: Int, AdvertisementError)
        /// Loading is not wanted any more.
        case stop
    }

    private(set) var status = AdvertisementStatus.created
    /// The height of the content; `nil` until it is rendered.
    private(set) var contentHeight: CGFloat?
    /// The number of the load that counts.
    private(set) var load = 0

    /// Takes what happened, where that is legal.
    ///
    /// - Returns: whether the status changed, or began anew; for another height, whether that is new.
    mutating func take(_ event: Event) -> Bool {
        switch event {
        case .load: self.begin(.loading)
        case .refuse: self.begin(.failed(.invalidRequest))
        case .stop:
            guard self.status.kind != .created else { return false }
            self.begin(.created)
        case .arrived(let load):
            guard load == self.load, self.status.kind == .loading else { return false }
            self.status = .loaded
        case .shown(let load, let height):
            guard load == self.load, self.status.kind == .loaded else { return false }
            self.contentHeight = height
            self.status = .rendered
        case .resized(let load, let height):
            guard load == self.load, self.status.kind == .rendered, height != self.contentHeight else { return false }
            self.contentHeight = height
        case .failed(let load, let error):
            guard load == self.load, self.status.kind == .loading || self.status.kind == .loaded else { return false }
            self.status = .failed(error)
        }
        return true
    }

    private mutating func begin(_ status: AdvertisementStatus) {
        self.load += 1
        self.contentHeight = nil
        self.status = status
    }
}
