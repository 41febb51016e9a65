// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// A screen that was written for a container of another library, and goes on with this one.
import AdPresentation
import Cuecast
import CuecastDianomi
import Foundation

// snippet.settings
@MainActor
func setUpAdverts(consent: String?) {
    DianomiAdverts.shared.loggingEnabled = true
    DianomiAdverts.shared.consent = consent
    DianomiAdverts.shared.appearanceOverride = .dark
}
// snippet.end

// snippet.screen
final class ArticleScreen: PlatformViewController, AdvertDelegate {
    private var advert: DianomiAdvertView?

    func showAdvert(beside article: String) {
        let advert = DianomiAdvertView(
            frame: CGRect(x: 0, y: 0, width: 320, height: 100),
            contextFeedID: "radio1/sidebar",
            context: article
        )
        advert.delegate = self
        self.view.addSubview(advert)
        self.advert = advert
        advert.loadAd()
    }

    func didChangeStatus(advertView: DianomiAdvertView, status: AdvertStatus) {
        switch status {
        case .created, .loading, .loaded:
            break
        case .rendered:
            advertView.frame.size.height = advertView.contentHeight ?? 0
        case .failed(let error):
            print("no advertisement:", error.localizedDescription)
            advertView.isHidden = true
        }
    }

    func leave() {
        self.advert?.stop()
    }
}
// snippet.end

// snippet.height
final class GrowingScreen: PlatformViewController, AdvertDelegate {
    func didChangeStatus(advertView: AdvertView, status: AdvertStatus) {
        if status.kind == .rendered { self.fit(advertView) }
    }

    // New: the view has another width, or the content changed by itself.
    func didChangeContentHeight(advertView: AdvertView) { self.fit(advertView) }

    private func fit(_ advertView: AdvertView) {
        advertView.frame.size.height = advertView.contentHeight ?? 0
    }
}
// snippet.end

// snippet.clicks
@MainActor
func setUpClicks() {
    // New: what a tap leads to opens by itself. To hear of it, and of what is not opened:
    DianomiAdverts.shared.clickThroughs.onEvent = { event in
        switch event {
        case .chosen(let url): print("chosen:", url)
        case .refused(let address, let reason): print("not opened:", address, reason.localizedDescription)
        default: break
        }
    }
}
// snippet.end

@MainActor
func show() async {
    setUpAdverts(consent: nil)
    setUpClicks()
    let screen = ArticleScreen()
    screen.showAdvert(beside: "https://example.com/article")
    screen.leave()
    _ = GrowingScreen()
}

await show()
