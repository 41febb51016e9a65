// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Cuecast
import Foundation
import Testing

@_spi(ProviderChecks) @testable import AdPresentation

/// The sentences of errors for people.
@Suite(.suiteLimit)
struct ErrorSentenceTests {
    private static let errors: [any Error] =
        ([.invalidRequest, .loadingError(AdContentError.noBanner)] as [AdvertisementError])
        + ([
            .invalidURL("ftp://a"), .unreachable(Cause()), .timedOut(after: .seconds(1)), .status(404),
            .mediaType("text/plain"), .tooLarge(bytesMax: 7), .unreadableImage, .noAdvertisement, .noBanner,
        ] as [AdContentError])
        + ([.noProvider, .noAnswer(after: .seconds(1)), .noParent, .unknown] as [AdLoadError])
        + ([.notAnInterstitial, .notLoaded(.loading), .alreadyShown, .noParent, .alreadyLoaded] as [AdOrderError])
        + ([.unknownAdUnit("u"), .unknownBannerSize("s"), .alreadyLoaded] as [CuecastAdError])
        + ([.nothingToOpen, .tooLong(bytesMax: 7), .unreadable("a"), .scheme("tel"), .noHost("b")]
            as [ClickThroughRefusal])

    @Test func `every error says a sentence of its own, also where it is only known as an error`() {
        let sentences = Self.errors.map(\.localizedDescription)
        for (error, sentence) in zip(Self.errors, sentences) {
            #expect(sentence == (error as? any LocalizedError)?.errorDescription, "\(error)")
            #expect(sentence.first?.isUppercase == true && sentence.split(separator: " ").count > 2, "\(sentence)")
        }
        #expect(Set(sentences).count == sentences.count)
    }

    @Test func `an error says the sentence of its cause`() {
        #expect(
            AdvertisementError.loadingError(AdContentError.status(404)).localizedDescription
                == "The advertisement could not be loaded: The server answered with status 404."
        )
        #expect(
            AdvertisementError.loadingError(AdContentError.unreachable(Cause(number: 2))).localizedDescription
                == "The advertisement could not be loaded: The content could not be fetched: Cause(number: 2)"
        )
    }

    @Test func `a skipped check has a sentence`() {
        #expect(Set(AdPluginReport.Unchecked.allCases.map(\.description)).count == 3)
    }
}
