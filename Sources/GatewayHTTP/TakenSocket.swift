// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import NIOCore
import NIOHTTPTypes
import SystemSupport

/// A socket that was taken out of the server in the middle of an answer, which goes on elsewhere.
struct TakenSocket: Sendable {
    /// Its only descriptor.
    let descriptor: Int32
    /// Whether the answer's body is in chunks; if not, it ends with the connection.
    let isChunked: Bool

    /// Takes the socket of a connection once everything that was written to it is sent.
    ///
    /// The connection ends for the server, and stays open for its peer. Cancelling this closes it.
    ///
    /// - Parameter channel: of a request whose answer is being written.
    /// - Returns: `nil` where the answer has to go on here: the connection is encrypted, or further requests came on it, or the process
    ///   has no descriptor left.
    static func take(of channel: any Channel) async -> TakenSocket? {
        await withTaskCancellationHandler {
            let taken = channel.eventLoop.flatSubmit { () -> EventLoopFuture<TakenSocket?> in
                guard Self.versions(of: channel) != nil else { return channel.eventLoop.makeSucceededFuture(nil) }
                // It is sent when all before it is. The channel is closed when it has told so, not while it does.
                return channel.writeAndFlush(HTTPResponsePart.body(ByteBuffer()))
                    .flatMap { channel.eventLoop.submit { Self.takeNow(of: channel) } }
            }
            return try? await taken.get()
        } onCancel: {
            channel.close(promise: nil)
        }
    }

    /// Finds the handler that knows the answer's version; `nil`: the socket cannot be taken.
    private static func versions(of channel: any Channel) -> FirstVersions? {
        guard let versions = try? channel.pipeline.syncOperations.handler(type: FirstVersions.self),
            versions.letsSocketGo
        else { return nil }
        return versions
    }

    private static func takeNow(of channel: any Channel) -> TakenSocket? {
        // A further request may have come meanwhile.
        guard let versions = Self.versions(of: channel) else { return nil }
        let descriptor = try? channel.pipeline.syncOperations
            .withUnsafeTransportIfAvailable { (socket: NIOBSDSocket.Handle) in System.copyConnection(socket) }
        guard let descriptor, descriptor >= 0 else { return nil }
        // It closes the server's own descriptor, and shuts nothing down.
        channel.close(promise: nil)
        return TakenSocket(descriptor: descriptor, isChunked: versions.isChunked)
    }
}
