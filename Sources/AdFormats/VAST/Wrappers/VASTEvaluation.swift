// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Which ads of the documents so far are taken, and what is needed to know more.
///
/// It is made anew after each answer: a decision depends on the documents only, never on the order in which they came.
struct VASTEvaluation {
    /// The fate of one ad.
    private enum Use {
        /// An answer is missing.
        case pending
        /// It, or what is behind it, is taken.
        case taken([VASTResolution.Taken])
        /// Nothing of it is taken; whether another ad of its document takes its place.
        case nothing(mayBeReplaced: Bool)
    }

    /// The wrappers whose addresses are needed now.
    private(set) var wanted: [VASTResolution.Place] = []
    /// Whether an answer is missing.
    private(set) var isPending = false
    private var taken: [VASTResolution.Taken] = []
    private var left: [VASTResolution.Left] = []
    private let nodes: [VASTResolver.Node]
    private let children: [VASTResolution.Place: Int]
    private let pastLimit: Set<VASTResolution.Place>
    private let takesAllStandAlone: Bool
    private let addressBytesMax: Int
    private let limits: VASTResolutionLimits

    /// Looks at the documents of a resolver.
    init(of resolver: VASTResolver) {
        self.nodes = resolver.nodes
        self.children = resolver.children
        self.pastLimit = resolver.pastLimit
        self.takesAllStandAlone = resolver.reading.allStandAlone
        self.addressBytesMax = resolver.reading.limits.urlBytesMax
        self.limits = resolver.limits
        if self.nodes[0].isWaiting {
            self.isPending = true
        } else if let ads = self.ads(of: 0) {
            self.taken = ads
        } else {
            self.isPending = true
        }
    }

    /// The result, where no answer is missing.
    func resolution(of resolver: VASTResolver) -> VASTResolution {
        var taken = self.taken
        var left = self.left
        for each in taken.dropFirst(max(self.limits.adsMax, 0)) {
            left.append(self.leaving(each.place, .tooManyAds(maximum: max(self.limits.adsMax, 0))))
        }
        taken = Array(taken.prefix(max(self.limits.adsMax, 0)))
        if taken.contains(where: { $0.place.document != 0 }) {
            self.number(&taken, idBytesMax: resolver.reading.limits.identifierBytesMax)
        }
        var documents = self.nodes.map(\.told)
        for each in taken { self.tell(each.place, in: &documents) }
        left.sort { ($0.place.document, $0.place.position) < ($1.place.document, $1.place.position) }
        return VASTResolution(taken: taken, left: left, documents: documents)
    }

    /// Ids and places in a pod that differ, for ads of several documents.
    private func number(_ taken: inout [VASTResolution.Taken], idBytesMax: Int) {
        var ids: Set<String> = []
        for index in taken.indices {
            taken[index].ad.id = VASTCandidate.unused(taken[index].ad.id, among: ids, bytesMax: idBytesMax)
            ids.insert(taken[index].ad.id)
        }
        guard taken.contains(where: { $0.ad.sequence != nil }) else { return }
        for index in taken.indices { taken[index].ad.sequence = index + 1 }
    }

    /// Tells with each document what was left out of its wrappers, once.
    private func tell(_ place: VASTResolution.Place, in documents: inout [VASTResolution.Document]) {
        guard case .inLine(_, let leftOut)? = self.nodes[place.document].entries?[place.position - 1].content else {
            return
        }
        var document = place.document
        for each in leftOut.reversed() {
            guard let parent = self.nodes[document].told.parent else { return }
            document = parent.document
            for part in each where !documents[document].leftOut.contains(part) {
                documents[document].leftOut.append(part)
            }
        }
    }

    // MARK: One document

    /// The ads of a document in their order; nil: an answer is missing.
    ///
    /// The rules are those of ``VASTOrder`` (VAST 4.3 section 3.3.1), and those of the wrapper that led to the document.
    private mutating func ads(of document: Int) -> [VASTResolution.Taken]? {
        guard let entries = self.nodes[document].entries else { return [] }
        var pod = entries.indices.filter { entries[$0].sequence != nil }
            .sorted { (entries[$0].sequence ?? 0, $0) < (entries[$1].sequence ?? 0, $1) }
        var standAlone = entries.indices.filter { entries[$0].sequence == nil }
        if let wrapper = self.nodes[document].wrappers.last, !wrapper.allowsMultipleAds {
            // Servers number a single ad too; a pod of one is not more than one ad.
            if standAlone.isEmpty, pod.count == 1 { (pod, standAlone) = ([], pod) }
            for index in pod { self.leave(document, index, standAlone.isEmpty ? .podNotAllowed : .notTheOnlyOne) }
            for index in standAlone.dropFirst() { self.leave(document, index, .notTheOnlyOne) }
            return self.standAlone(Array(standAlone.prefix(1)), of: document)
        }
        return pod.isEmpty
            ? self.standAlone(standAlone, of: document) : self.pod(pod, substitutes: standAlone, of: document)
    }

    private mutating func pod(_ pod: [Int], substitutes: [Int], of document: Int) -> [VASTResolution.Taken]? {
        var substitutes = substitutes[...]
        var ads: [VASTResolution.Taken] = []
        var isPending = false
        for index in pod {
            switch self.use(document, index) {
            case .pending: isPending = true
            case .taken(let taken): ads += self.inPod(taken, as: index, of: document)
            case .nothing(mayBeReplaced: false): continue
            case .nothing(mayBeReplaced: true):
                substitution: while let next = substitutes.popFirst() {
                    switch self.use(document, next) {
                    case .pending:
                        isPending = true
                        break substitution
                    case .taken(let taken):
                        self.replace(document, index, by: taken.first?.place)
                        ads += self.inPod(taken, as: index, of: document)
                        break substitution
                    case .nothing: continue
                    }
                }
            }
        }
        for index in substitutes { self.leave(document, index, .unplayable(.notNeeded)) }
        return isPending ? nil : ads
    }

    private mutating func standAlone(_ indices: [Int], of document: Int) -> [VASTResolution.Taken]? {
        var ads: [VASTResolution.Taken] = []
        var isPending = false
        var rest = indices[...]
        while let index = rest.popFirst() {
            switch self.use(document, index) {
            case .pending: isPending = true
            case .taken(let taken): ads += taken
            case .nothing(mayBeReplaced: true): continue
            // Without a pod, no other ad is asked for where the wrapper wants none in its place.
            case .nothing(mayBeReplaced: false): if self.takesAllStandAlone { continue }
            }
            guard self.takesAllStandAlone else { break }
        }
        for index in rest { self.leave(document, index, .unplayable(.notNeeded)) }
        return isPending ? nil : ads
    }

    private func inPod(
        _ taken: [VASTResolution.Taken],
        as index: Int,
        of document: Int
    ) -> [VASTResolution.Taken] {
        taken.map { each in
            var each = each
            each.ad.sequence = self.nodes[document].entries?[index].sequence
            return each
        }
    }

    // MARK: One ad

    private mutating func use(_ document: Int, _ index: Int) -> Use {
        guard let entry = self.nodes[document].entries?[index] else { return .pending }
        let place = VASTResolution.Place(document: document, position: index + 1)
        switch entry.content {
        case .inLine(let ad, _): return .taken([VASTResolution.Taken(place: place, ad: ad)])
        case .unusable(let reason):
            self.leave(document, index, reason)
            return .nothing(mayBeReplaced: true)
        case .wrapper(let wrapper):
            let nothing = Use.nothing(mayBeReplaced: wrapper.fallsBack ?? true)
            if let reason = self.refusal(of: wrapper, at: place) {
                self.leave(document, index, reason)
                return nothing
            }
            guard let child = self.children[place] else {
                self.wanted.append(place)
                return .pending
            }
            if let fault = self.nodes[child].told.fault {
                self.leave(document, index, .noDocument(fault))
                return nothing
            }
            guard !self.nodes[child].isWaiting, let ads = self.ads(of: child) else { return .pending }
            guard ads.isEmpty else { return .taken(ads) }
            self.leave(document, index, .nothingTaken)
            return nothing
        }
    }

    /// Why a wrapper is not followed; nil: it is.
    private func refusal(of wrapper: VASTWrapper, at place: VASTResolution.Place) -> VASTLeftReason? {
        let node = self.nodes[place.document]
        if let around = node.wrappers.last, !around.followsWrappers { return .wrapperNotAllowed }
        switch wrapper.address {
        case .empty, .placeholder: return .noAddress
        case .unusable(let text): return .unusableAddress(text)
        case .tooLong: return .addressTooLong(maximum: self.addressBytesMax)
        case .usable(let address):
            if node.addresses.contains(address) { return .loop }
        }
        let wrappersMax = max(self.limits.wrappersMax, 0)
        guard node.wrappers.count < wrappersMax else { return .tooManyWrappers(maximum: wrappersMax) }
        return self.pastLimit.contains(place)
            ? .tooManyDocuments(maximum: max(self.limits.documentsMax, 0)) : nil
    }

    private mutating func leave(_ document: Int, _ index: Int, _ reason: VASTLeftReason) {
        var reason = reason
        // An ad that is not needed may be one that could not be played.
        if reason == .unplayable(.notNeeded), case .unusable(let own)? = self.nodes[document].entries?[index].content {
            reason = own
        }
        self.left.append(self.leaving(VASTResolution.Place(document: document, position: index + 1), reason))
    }

    private func leaving(_ place: VASTResolution.Place, _ reason: VASTLeftReason) -> VASTResolution.Left {
        var urls: [String] = []
        if let code = reason.vastErrorCode {
            let node = self.nodes[place.document]
            urls = node.wrappers.flatMap(\.errorURLs) + (node.entries?[place.position - 1].errorURLs ?? [])
            if case .noDocument(let fault) = reason { urls += fault.errorURLs }
            urls = urls.map { VASTMacros.filled($0, errorCode: code) }
        }
        return VASTResolution.Left(place: place, reason: reason, errorURLs: urls)
    }

    private mutating func replace(_ document: Int, _ index: Int, by other: VASTResolution.Place?) {
        let place = VASTResolution.Place(document: document, position: index + 1)
        guard let found = self.left.lastIndex(where: { $0.place == place }) else { return }
        self.left[found].replacedBy = other
    }
}
