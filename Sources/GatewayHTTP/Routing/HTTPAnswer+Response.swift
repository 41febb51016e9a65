// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

extension HTTPAnswer {
    /// The answer as HTTP.
    ///
    /// - Parameters:
    ///   - channel: of the request.
    ///   - slot: the place of an answer that goes on; `nil`: the body is not sent.
    /// - Returns: the head, and the body.
    func response(on channel: any Channel, slot: HTTPStreams.Slot?) -> Response {
        var headers: HTTPFields = [.cacheControl: "no-store", .xContentTypeOptions: "nosniff"]
        if !self.type.isEmpty { headers[.contentType] = self.type }
        if self.status == .serviceUnavailable { headers[.retryAfter] = "1" }
        // What an operation says of its own stands.
        for field in self.headers { headers[field.name] = nil }
        headers.append(contentsOf: self.headers)
        switch self.body {
        case .bytes(let bytes):
            return Response(
                status: self.status,
                headers: headers,
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
            )
        case .stream(_, let body):
            // An answer to HEAD has none.
            guard let slot else { return Response(status: self.status, headers: headers) }
            return Response(
                status: self.status,
                headers: headers,
                body: ResponseBody { writer in
                    let pieces = HTTPStreamWriter(writer, on: channel)
                    await Self.run(body, on: channel, pieces)
                    withExtendedLifetime(slot) {}
                    try await pieces.finish()
                }
            )
        }
    }

    /// Makes an answer that goes on, until it ends, its peer is gone, or the server shuts down.
    private static func run(
        _ body: @escaping @Sendable (HTTPStreamWriter) async throws -> Void,
        on channel: any Channel,
        _ pieces: HTTPStreamWriter
    ) async {
        let (end, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        channel.triggerUserOutboundEvent(ExchangeGuard.Event.streamBegan, promise: nil)
        channel.closeFuture.whenComplete { _ in sink.finish() }
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                // If an error ends the body early, the client sees only that the answer ends.
                group.addTask { try? await body(pieces) }
                group.addTask { for await _ in end {} }
                await group.next()
                group.cancelAll()
            }
        } onGracefulShutdown: {
            sink.finish()
        }
    }
}
