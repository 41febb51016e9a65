// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayDocuments

/// The state and the view of `cuecast top`: events in, lines out (`TopScreen`), without a terminal, a network or a clock.
///
/// It holds what is shown and no more: one page of streams, and counts of those and of what the connection tells.
package struct TopState: Sendable {
    /// In which order streams are listed.
    package enum Order: String, CaseIterable, Sendable {
        case stream
        /// Those with most listeners first; there is one page of these.
        case listeners
    }

    /// The repeated request to the gateway.
    package struct Request: Hashable, Sendable {
        package var search: String?
        package var order: Order
        /// The last stream of the page before.
        package var after: String?
        package var limit: Int
        /// The stream whose breaks are listed.
        package var detail: String?
    }

    /// Where news come from.
    package enum Source: Hashable, Sendable, CaseIterable {
        case streams
        case events
    }

    /// Why the gateway does not tell what is shown.
    package struct Fault: Hashable, Sendable {
        /// For people; with a full stop or without.
        package var sentence: String
        /// Whether the gateway answers, and refuses our credentials.
        package var isRefusal: Bool

        package init(sentence: String, isRefusal: Bool) {
            self.sentence = sentence
            self.isRefusal = isRefusal
        }
    }

    /// The events.
    package enum Event: Sendable {
        case gateway(GatewayEventDocument)
        case counts(CountsEventDocument)
        /// A connection begins that tells the counts of these streams: each at once, and again only when it has changed.
        case following([String])
        /// The page for a request.
        case streams(StreamListDocument, Request)
        case breaks(BreakListDocument, stream: String)
        case watchers([SignalListDocument.Watcher], stream: String)
        /// The gateway does not tell what was asked for.
        case failed(Source, Fault)
        /// It answers.
        case reached(Source)
        case resized(ScreenSize)
        case pressed(Key)
    }

    /// The actions that follow from an event.
    package enum Action: Hashable, Sendable {
        /// Something else is to be shown: ask at once.
        case load
        /// Draw everything anew.
        case redraw
        case suspend
        case quit
    }

    /// The view on the screen.
    enum Face: Hashable {
        case streams
        /// One stream.
        case detail(String)
        case help
    }

    /// Where a page begins.
    struct Page: Hashable {
        /// The last stream before it; `nil`: it is the first.
        var after: String?
        /// How many streams stand before it.
        var start: Int
    }

    /// The most streams of which the gateway tells counts to one reader.
    package static let countedStreamsMax = 50
    /// The most bytes of their ids with a comma behind each: the gateway reads 2,048 of path and query.
    package static let countedStreamsBytesMax = 1_900
    /// The most streams of one page of the gateway.
    package static let pageStreamsMax = 200
    /// The longest part of an id that is searched for; no id is longer.
    package static let searchCharactersMax = 64

    package private(set) var gateway: GatewayEventDocument?
    /// How often the gateway has told how it is.
    package private(set) var gatewayCount = 0
    private(set) var counts: [String: CountsEventDocument] = [:]
    /// The streams of which the present connection tells counts; at most `countedStreamsMax`.
    private var followed: Set<String> = []
    private(set) var list: StreamListDocument?
    private(set) var breaks: [BreakListDocument.Break]?
    /// The watchers of the stream that is looked at.
    private(set) var watchers: [SignalListDocument.Watcher] = []
    private(set) var faults: [Source: Fault] = [:]
    package private(set) var size: ScreenSize
    private(set) var face = Face.streams
    private(set) var order: Order
    private(set) var search: String?
    /// The text that is being typed; `nil`: nothing is.
    private(set) var typed: String?
    /// The pages before this one and this one; never empty.
    private(set) var pages = [Page(after: nil, start: 0)]
    private(set) var selected: String?
    /// The gateway's clock, in seconds since 1970, and when it was that by ours.
    private var clock: (gateway: Double, own: Duration)?
    /// Where there is no screen: how many streams are told of.
    private let rows: Int?

    /// - Parameters:
    ///   - order: in which streams are listed.
    ///   - search: part of their ids; `nil`: all.
    ///   - size: the screen's.
    ///   - rows: how many streams are told of where there is no screen.
    package init(order: Order = .stream, search: String? = nil, size: ScreenSize = .usual, rows: Int? = nil) {
        self.order = order
        self.search = search
        self.size = size
        self.rows = rows
    }

    // MARK: - What is to be asked

    /// The current request; `nil`: no streams are shown.
    package var request: Request? {
        let limit = self.rows ?? max(1, self.size.rows)
        guard limit > 0 else { return nil }
        var request = Request(
            search: self.search,
            order: self.order,
            after: self.pages.last?.after,
            limit: min(limit, Self.pageStreamsMax)
        )
        if case .detail(let stream) = self.face { request.detail = stream }
        return request
    }

    /// The streams of which counts are wanted.
    package var watched: [String] {
        if case .detail(let stream) = self.face { return [stream] }
        var bytes = 0
        return self.shown.prefix(Self.countedStreamsMax).map(\.stream)
            .prefix { stream in
                bytes += stream.utf8.count + 1
                return bytes <= Self.countedStreamsBytesMax
            }
            .map(\.self)
    }

    /// The streams that have a row.
    var shown: ArraySlice<StreamListDocument.Stream> {
        (self.list?.streams ?? []).prefix(self.rows ?? TopScreen(self).streamRows)
    }

    /// Whether there are streams behind those that are shown.
    var hasNextPage: Bool {
        guard let list, self.order == .stream else { return false }
        return list.after != nil || self.shown.count < list.streams.count
    }

    /// Whether everything is here that one line or document of a program tells.
    package var isComplete: Bool {
        guard self.gateway != nil, self.faults.isEmpty else { return false }
        guard self.request != nil else { return true }
        return self.list != nil && self.watched.allSatisfy { self.counts[$0] != nil }
    }

    /// Why the gateway does not tell what is shown; `nil`: it does.
    package var fault: Fault? { Source.allCases.lazy.compactMap { self.faults[$0] }.first }

    /// The gateway's clock now.
    ///
    /// - Parameter own: our clock.
    /// - Returns: seconds since 1970; `nil` while nothing was heard.
    func now(_ own: Duration) -> Double? {
        self.clock.map { $0.gateway + max(0, (own - $0.own) / .seconds(1)) }
    }

    // MARK: - Events

    /// Takes what has happened.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - own: our clock.
    /// - Returns: the next action; `nil`: only draw.
    package mutating func apply(_ event: Event, at own: Duration) -> Action? {
        switch event {
        case .gateway(let document):
            self.gateway = document
            self.gatewayCount += 1
            self.set(clock: document.at, at: own)
        case .counts(let document):
            // The answer to an earlier request may still come.
            guard self.keepsCounts(of: document.stream) else { break }
            self.counts[document.stream] = document
        case .following(let streams):
            self.followed = Set(streams)
            self.dropOldCounts()
        case .streams(let document, let request): self.take(document, for: request, at: own)
        case .breaks(let document, let stream):
            guard self.face == .detail(stream) else { break }
            self.breaks = document.breaks
            self.set(clock: document.now, at: own)
        case .watchers(let watchers, let stream):
            guard self.face == .detail(stream) else { break }
            self.watchers = watchers
        case .failed(let source, let fault): self.faults[source] = fault
        case .reached(let source): self.faults[source] = nil
        case .resized(let size):
            self.size = size
            return .load
        case .pressed(let key): return self.press(key)
        }
        return nil
    }

    /// Whether counts of a stream are of use: what is shown, and what this connection will not tell again when it is shown.
    private func keepsCounts(of stream: String) -> Bool {
        self.followed.contains(stream) || self.watched.contains(stream)
    }

    private mutating func dropOldCounts() {
        let kept = self.followed.union(self.watched)
        self.counts = self.counts.filter { kept.contains($0.key) }
    }

    private mutating func set(clock text: String, at own: Duration) {
        guard let gateway = TopText.seconds(text) else { return }
        self.clock = (gateway, own)
    }

    private mutating func take(_ document: StreamListDocument, for request: Request, at own: Duration) {
        // The page is not wanted any more.
        guard var wanted = self.request else { return }
        wanted.limit = request.limit
        wanted.detail = request.detail
        guard wanted == request else { return }
        self.set(clock: document.now, at: own)
        self.list = document
        let isEmptyPage = document.streams.isEmpty && self.pages.count > 1
        // The former content is gone.
        if isEmptyPage { self.pages.removeLast() }
        self.dropOldCounts()
        if !self.shown.contains(where: { $0.stream == self.selected }) { self.selected = self.shown.first?.stream }
    }

    // MARK: - Keys

    private mutating func press(_ key: Key) -> Action? {
        switch key {
        case .control("c"): return .quit
        case .control("z"): return .suspend
        case .control("l"): return .redraw
        default: break
        }
        if let typed { return self.type(key, after: typed) }
        switch (self.face, key) {
        case (_, .character("q")): return .quit
        case (.help, _): self.face = .streams
        case (.detail, .escape), (.detail, .enter), (.detail, .backspace), (.detail, .left):
            self.face = .streams
            self.breaks = nil
            self.watchers = []
            return .load
        case (_, .character("?")), (_, .character("h")): self.face = .help
        case (.detail, _): break
        case (.streams, _): return self.pressInList(key)
        }
        return nil
    }

    private mutating func pressInList(_ key: Key) -> Action? {
        switch key {
        case .up, .character("k"): return self.move(-1)
        case .down, .character("j"): return self.move(1)
        case .pageDown, .character(" "): return self.turn(forward: true)
        case .pageUp, .character("b"): return self.turn(forward: false)
        case .home, .character("g"): return self.begin()
        case .character("s"):
            self.order = self.order == .stream ? .listeners : .stream
            return self.begin()
        case .character("/"): self.typed = self.search ?? ""
        case .escape where self.search != nil:
            self.search = nil
            return self.begin()
        case .enter, .right:
            guard let selected else { break }
            self.face = .detail(selected)
            self.breaks = nil
            return .load
        default: break
        }
        return nil
    }

    private mutating func type(_ key: Key, after typed: String) -> Action? {
        switch key {
        case .enter:
            self.typed = nil
            self.search = typed.isEmpty ? nil : typed
            return self.begin()
        case .escape: self.typed = nil
        case .backspace: self.typed = String(typed.dropLast())
        case .control("u"): self.typed = ""
        case .character(let character) where typed.count < Self.searchCharactersMax:
            self.typed = typed + String(character)
        default: break
        }
        return nil
    }

    /// Shows the first page, of which nothing is known.
    private mutating func begin() -> Action {
        self.pages = [Page(after: nil, start: 0)]
        self.list = nil
        self.selected = nil
        return .load
    }

    private mutating func turn(forward: Bool) -> Action? {
        if forward {
            guard self.hasNextPage, let last = self.shown.last, let page = self.pages.last else { return nil }
            self.pages.append(Page(after: last.stream, start: page.start + self.shown.count))
        } else {
            guard self.pages.count > 1 else { return nil }
            self.pages.removeLast()
        }
        self.list = nil
        self.selected = nil
        return .load
    }

    private mutating func move(_ step: Int) -> Action? {
        let shown = self.shown
        guard let index = shown.firstIndex(where: { $0.stream == self.selected }) else {
            self.selected = shown.first?.stream
            return nil
        }
        guard shown.indices.contains(index + step) else { return self.turn(forward: step > 0) }
        self.selected = shown[index + step].stream
        return nil
    }
}
