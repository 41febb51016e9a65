// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Finds the ads that a chain of wrappers leads to, without asking anybody itself (VAST 4.3 sections 2.3.5 and 3.19).
///
/// The caller asks, in any order and at once where it can, and tells what came:
///
/// ```swift
/// var resolver = VASTResolver(address: "https://ads.example.com/vast?cb=[CACHEBUSTING]")
/// while resolver.resolution == nil {
///     for request in resolver.takeRequests() {
///         resolver.answer(request.document, .document(fetch(request.address), charset: nil))
///     }
/// }
/// ```
///
/// An address is asked only once it is known that its ads are needed: all wrappers of a pod at once, stand-alone ads one after the
/// other. The same documents give the same result, in whatever order they come.
package struct VASTResolver: Sendable {
    /// An address to ask.
    package struct Request: Hashable, Sendable {
        /// The number by which its answer is told: its place in ``VASTResolution/documents``.
        package let document: Int
        /// Where, with its macros unfilled.
        package let address: String
    }

    /// The outcome of asking an address.
    package enum Answer: Sendable {
        /// A document, and the encoding that its sender declared.
        case document([UInt8], charset: String?)
        /// None.
        case fault(VASTDocumentFault)
    }

    /// A document on the way.
    struct Node: Sendable {
        /// The document as the result has it.
        var told: VASTResolution.Document
        /// The addresses that led to it, its own last.
        let addresses: [String]
        /// The wrappers that led to it, the outermost first.
        let wrappers: [VASTWrapper]
        /// Its ads; nil: it has not come.
        var entries: [VASTEntry]?

        /// Whether its answer is still to come.
        var isWaiting: Bool { self.entries == nil && self.told.fault == nil }
    }

    let reading: VASTReadingOptions
    let limits: VASTResolutionLimits
    private(set) var nodes: [Node] = []
    /// The documents that wrappers led to.
    private(set) var children: [VASTResolution.Place: Int] = [:]
    /// The wrappers that would have needed one address too many.
    private(set) var pastLimit: Set<VASTResolution.Place> = []
    private var requests: [Request] = []
    /// The result; nil: answers are still to come.
    package private(set) var resolution: VASTResolution?

    /// Begins with an address.
    ///
    /// - Parameters:
    ///   - address: The ad tag, an absolute `http` or `https` address.
    ///   - reading: What is taken of each document, and how much.
    ///   - limits: The bounds of following wrappers.
    package init(
        address: String,
        reading: VASTReadingOptions = VASTReadingOptions(),
        limits: VASTResolutionLimits = VASTResolutionLimits()
    ) {
        self.reading = reading
        self.limits = limits
        let told = VASTResolution.Document(parent: nil, address: address, wrappers: 0)
        self.nodes = [Node(told: told, addresses: [address], wrappers: [])]
        self.requests = [Request(document: 0, address: address)]
    }

    /// Begins with a document that is there.
    ///
    /// - Parameters:
    ///   - document: Its bytes.
    ///   - reading: What is taken of each document, and how much.
    ///   - limits: The bounds of following wrappers.
    package init(
        document: [UInt8],
        reading: VASTReadingOptions = VASTReadingOptions(),
        limits: VASTResolutionLimits = VASTResolutionLimits()
    ) {
        self.reading = reading
        self.limits = limits
        let told = VASTResolution.Document(parent: nil, address: nil, wrappers: 0)
        self.nodes = [Node(told: told, addresses: [], wrappers: [])]
        self.answer(0, .document(document, charset: reading.charset))
    }

    /// The addresses to ask that were not taken before; each is to be answered once.
    package mutating func takeRequests() -> [Request] {
        defer { self.requests = [] }
        return self.requests
    }

    /// Tells what came of an address; a second answer changes nothing.
    ///
    /// - Parameters:
    ///   - document: The number of the request.
    ///   - answer: What came.
    package mutating func answer(_ document: Int, _ answer: Answer) {
        guard self.nodes.indices.contains(document), self.nodes[document].isWaiting else { return }
        switch answer {
        case .fault(let fault): self.nodes[document].told.fault = fault
        case .document(let bytes, let charset): self.read(bytes, charset: charset, as: document)
        }
        self.advance()
    }

    private mutating func read(_ bytes: [UInt8], charset: String?, as document: Int) {
        var options = self.reading
        options.charset = charset
        do throws(AdFormatError) {
            let read = try VASTDocument(bytes, options: options)
            self.nodes[document].told.version = read.version
            guard !read.ads.isEmpty else { throw .noAds(errorURLs: read.errorURLs) }
            let entries = VASTEntry.read(read.ads, through: self.nodes[document].wrappers, options: options)
            self.nodes[document].entries = entries
            self.nodes[document].told.ads = entries.map(\.name)
            self.nodes[document].told.leftOut = read.leftOut
        } catch {
            self.nodes[document].told.fault = .unreadable(error)
        }
    }

    /// Looks what is needed next, and asks for it.
    private mutating func advance() {
        var evaluation: VASTEvaluation
        var isLimited: Bool
        repeat {
            isLimited = false
            evaluation = VASTEvaluation(of: self)
            for place in evaluation.wanted {
                // The first document of a file is not asked for.
                let asked = self.nodes.count { $0.told.address != nil }
                guard asked < max(self.limits.documentsMax, 0) else {
                    self.pastLimit.insert(place)
                    isLimited = true
                    continue
                }
                self.ask(place)
            }
        } while isLimited
        guard !evaluation.isPending else { return }
        self.resolution = evaluation.resolution(of: self)
        self.requests = []
    }

    private mutating func ask(_ place: VASTResolution.Place) {
        let node = self.nodes[place.document]
        guard let wrapper = node.entries?[place.position - 1].wrapper, case .usable(let address) = wrapper.address
        else { return }
        let document = self.nodes.count
        let wrappers = node.wrappers + [wrapper]
        let told = VASTResolution.Document(parent: place, address: address, wrappers: wrappers.count)
        self.nodes.append(Node(told: told, addresses: node.addresses + [address], wrappers: wrappers))
        self.children[place] = document
        self.requests.append(Request(document: document, address: address))
    }
}

/// One ad of a document, before it is known whether it is taken.
struct VASTEntry: Sendable {
    /// The content of an ad.
    enum Content: Sendable {
        /// It can be played, with all that the wrappers around it add, and for each of them what was left out.
        case inLine(AdContent, leftOut: [[LeftOut]])
        /// Its ad is elsewhere.
        case wrapper(VASTWrapper)
        /// It cannot be played.
        case unusable(VASTLeftReason)
    }

    /// The place in a pod; nil for a stand-alone ad.
    let sequence: Int?
    let name: VASTResolution.Name
    let content: Content
    /// The URLs to call when it cannot be played, without those of the wrappers around it.
    let errorURLs: [String]

    /// The wrapper; nil: it is none.
    var wrapper: VASTWrapper? { if case .wrapper(let wrapper) = self.content { wrapper } else { nil } }

    /// Reads the `Ad` elements of a document to which wrappers led.
    static func read(
        _ elements: [MarkupElement],
        through wrappers: [VASTWrapper],
        options: VASTReadingOptions
    ) -> [VASTEntry] {
        zip(elements, VASTCandidate.read(elements, options: options))
            .map { element, candidate in
                let content: Content
                if let ad = candidate.ad {
                    do throws(VASTLeftReason) {
                        let carried = try VASTWrapper.carried(ad, through: wrappers, options: options)
                        content = .inLine(carried.ad, leftOut: carried.leftOut)
                    } catch {
                        content = .unusable(error)
                    }
                } else if case .wrapper = candidate.skipped.reason, let wrapper = element.child("Wrapper") {
                    content = .wrapper(VASTWrapper(wrapper, of: element, limits: options.limits))
                } else {
                    content = .unusable(.unplayable(candidate.skipped.reason))
                }
                let name = VASTResolution.Name(
                    documentID: candidate.skipped.documentID,
                    title: candidate.skipped.title,
                    line: candidate.skipped.line,
                    isWrapper: element.child("Wrapper") != nil && element.child("InLine") == nil
                )
                return VASTEntry(
                    sequence: candidate.sequence,
                    name: name,
                    content: content,
                    errorURLs: candidate.skipped.errorURLs
                )
            }
    }
}
