// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats

/// Documents at addresses, for a resolver.
final class Chain {
    /// What each address gives; others give nothing in time.
    var documents: [String: VASTResolver.Answer] = [:]
    /// The addresses that were asked, in order.
    private(set) var asked: [String] = []

    /// The address of a document.
    static func address(_ name: String) -> String { "https://ads.example.com/\(name)" }

    /// Makes an address give a document of these ads.
    func serve(_ name: String, _ ads: String..., before: String = "") {
        let document = Documents.vast(ads.joined(separator: "\n"), before: before)
        self.documents[Self.address(name)] = .document(document, charset: nil)
    }

    /// Makes an address give any bytes.
    func serve(_ name: String, bytes: [UInt8]) {
        self.documents[Self.address(name)] = .document(bytes, charset: nil)
    }

    /// Makes an address fail.
    func fail(_ name: String, _ fault: VASTDocumentFault) {
        self.documents[Self.address(name)] = .fault(fault)
    }

    /// What comes of the first document.
    ///
    /// - Parameters:
    ///   - first: the name of its address.
    ///   - options: what is taken of each document.
    ///   - limits: the bounds.
    ///   - next: which of the addresses that wait is answered next.
    /// - Returns: the result; nil: the resolver neither asks nor has one.
    func resolve(
        _ first: String = "first",
        options: VASTReadingOptions = VASTReadingOptions(),
        limits: VASTResolutionLimits = VASTResolutionLimits(),
        next: (Int) -> Int = { _ in 0 }
    ) -> VASTResolution? {
        var resolver = VASTResolver(address: Self.address(first), reading: options, limits: limits)
        var waiting: [VASTResolver.Request] = []
        while resolver.resolution == nil {
            waiting += resolver.takeRequests()
            guard !waiting.isEmpty else { return nil }
            let request = waiting.remove(at: next(waiting.count))
            self.asked.append(request.address)
            resolver.answer(request.document, self.documents[request.address] ?? .fault(.timedOut("Too slow.")))
        }
        return resolver.resolution
    }

    /// A wrapper of an address.
    static func wrapper(_ name: String, ad: String = "", _ attributes: String = "", inWrapper: String = "") -> String {
        """
        <Ad \(ad)><Wrapper \(attributes)><AdSystem>Tests</AdSystem>
        <VASTAdTagURI><![CDATA[\(self.address(name))]]></VASTAdTagURI>
        <Error>https://track.example.com/\(name)/error?code=[ERRORCODE]</Error>
        <Impression>https://track.example.com/\(name)</Impression>\(inWrapper)</Wrapper></Ad>
        """
    }
}

extension VASTResolution {
    /// The titles of the ads that were taken.
    var titles: [String] { self.taken.map(\.ad.title) }

    /// The names of the reasons, in order.
    var reasons: [String] { self.left.map(\.reason.name) }
}
