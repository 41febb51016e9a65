// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

@testable import AdPresentation

/// Keeps what it is asked to open, and what is told of clicks.
@MainActor
final class LinkLog: ClickThroughOpener {
    var works = true
    private(set) var opened: [String] = []
    private(set) var events: [ClickThroughEvent] = []
    /// Is called when something is opened.
    var onOpen: (@MainActor () -> Void)?

    /// Handling that comes here; without an opener where the system has none.
    func handling(opens: Bool = true) -> ClickThroughHandling {
        ClickThroughHandling(opener: opens ? self : nil) { [weak self] in self?.events.append($0) }
    }

    func open(_ url: URL, completion: @escaping @MainActor @Sendable (_ isOpened: Bool) -> Void) {
        self.opened.append(url.absoluteString)
        self.onOpen?()
        completion(self.works)
    }
}
