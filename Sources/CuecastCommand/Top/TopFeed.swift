// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import Foundation
import GatewayDocuments
import LiveTerminal
import Synchronization

/// Asks a gateway for what is shown, again and again, and keeps what it says.
///
/// The list of streams is asked for in pages; figures and counts come as events, on one connection that is opened anew when other streams
/// are shown.
final class TopFeed: Sendable {
    /// After so long a gateway that does not answer is asked again.
    private static let retryPause: Duration = .seconds(1)
    /// The most breaks of one stream that are listed.
    private static let breaksMax = 100

    private let gateway: OperatorGateway
    private let began = ContinuousClock().now
    private let kept: Mutex<TopState>
    /// Yields when something has changed; further changes meanwhile are one.
    let news: AsyncStream<Void>
    private let newsSink: AsyncStream<Void>.Continuation
    /// Yields when the list is to be asked for.
    private let wishes: AsyncStream<Void>
    private let wishSink: AsyncStream<Void>.Continuation

    init(_ gateway: OperatorGateway, _ state: TopState) {
        self.gateway = gateway
        self.kept = Mutex(state)
        (self.news, self.newsSink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        (self.wishes, self.wishSink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    var address: String { "\(self.gateway.endpoint)" }
    var state: TopState { self.kept.withLock { $0 } }
    /// Our clock, from the beginning on.
    var now: Duration { ContinuousClock().now - self.began }

    /// Takes what has happened.
    ///
    /// - Returns: the next action of the screen; `nil`: only draw.
    @discardableResult
    func apply(_ event: TopState.Event) -> TopState.Action? {
        let now = self.now
        let action = self.kept.withLock { $0.apply(event, at: now) }
        if action == .load { self.wishSink.yield() }
        self.newsSink.yield()
        return action
    }

    /// Ends `news`.
    func finish() { self.newsSink.finish() }

    /// Asks once: a gateway that fails now has a wrong address, or refuses access.
    ///
    /// - Throws: why not.
    func check() async throws(OperatorGateway.Fault) {
        _ = try await self.gateway.document(StreamListDocument.self, "/v1/streams?limit=1")
    }

    /// Asks until it is cancelled.
    func run(_ interval: Duration) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.followEvents() }
            group.addTask { await self.load() }
            while !Task.isCancelled {
                self.wishSink.yield()
                try? await Task.sleep(for: interval)
            }
            group.cancelAll()
        }
    }

    // MARK: - Lists

    private func load() async {
        for await _ in self.wishes {
            guard let request = self.state.request else { continue }
            do throws(OperatorGateway.Fault) {
                let list = try await self.gateway.document(
                    StreamListDocument.self,
                    OperatorGateway.target(
                        "/v1/streams",
                        [
                            ("search", request.search), ("after", request.after), ("limit", "\(request.limit)"),
                            ("sort", request.order == .stream ? nil : request.order.rawValue),
                        ]
                    )
                )
                self.apply(.streams(list, request))
                if let stream = request.detail {
                    let breaks = try await self.gateway.document(
                        BreakListDocument.self,
                        OperatorGateway.target(
                            "/v1/streams/\(stream)/breaks",
                            [("open", "true"), ("limit", "\(Self.breaksMax)")]
                        )
                    )
                    self.apply(.breaks(breaks, stream: stream))
                    let path = "/v1/streams/\(stream)/signals"
                    let signals = try await self.gateway.document(SignalListDocument.self, path)
                    self.apply(.watchers(signals.watchers, stream: stream))
                }
                self.apply(.reached(.streams))
            } catch {
                guard !Task.isCancelled else { return }
                self.apply(.failed(.streams, TopState.Fault(error)))
            }
        }
    }

    // MARK: - Events

    private func followEvents() async {
        while !Task.isCancelled {
            let watched = self.state.watched
            self.apply(.following(watched))
            do throws(OperatorGateway.Fault) {
                let streams = watched.isEmpty ? nil : watched.joined(separator: ",")
                try await self.gateway.readEvents(OperatorGateway.target("/v1/events", [("streams", streams)])) {
                    event in
                    self.take(event, watching: watched)
                }
            } catch {
                guard !Task.isCancelled else { return }
                self.apply(.failed(.events, TopState.Fault(error)))
                try? await Task.sleep(for: Self.retryPause)
            }
        }
    }

    /// Keeps what an event says.
    ///
    /// - Returns: whether this connection still tells of all that is shown.
    private func take(_ event: ServerEvent, watching watched: [String]) -> Bool {
        let data = Data(event.data.utf8)
        let decoder = JSONDecoder()
        switch event.name {
        case "gateway":
            guard let document = try? decoder.decode(GatewayEventDocument.self, from: data) else {
                let sentence = "the gateway's figures cannot be understood"
                self.apply(.failed(.events, TopState.Fault(sentence: sentence, isRefusal: false)))
                break
            }
            self.apply(.gateway(document))
            self.apply(.reached(.events))
        case "counts":
            guard let document = try? decoder.decode(CountsEventDocument.self, from: data) else { break }
            self.apply(.counts(document))
        // A break has changed: the list says how.
        case "break", "resync": self.wishSink.yield()
        default: break
        }
        return Set(watched).isSuperset(of: self.state.watched)
    }
}

extension TopState.Fault {
    init(_ fault: OperatorGateway.Fault) {
        self.init(sentence: fault.sentence, isRefusal: fault.exit == CommandExit.notAllowed)
    }
}
