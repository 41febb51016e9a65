// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Asks servers by https whose certificates are checked against a file of one's own.
///
/// `URLSession` on Linux trusts the machine's certificates only. A connection is made for each request: playlists are small, and far
/// apart. Only the addresses that were looked up are connected to.
struct TrustedConnection: Sendable {
    /// The answer of a server.
    struct Answer: Sendable {
        let status: Int
        /// Where the head leads, as it says it; `nil`: nowhere.
        let location: String?
        /// Empty unless the status is 200.
        let body: [UInt8]
    }

    /// Why there is no answer.
    enum Failure: Error {
        /// The time was over.
        case timedOut
        /// The body has more bytes than may be.
        case tooLarge
        /// There is no connection, or it broke.
        case broken(any Error)
    }

    /// The most addresses of a host that are tried.
    private static let addressesMax = 8

    private let context: NIOSSLContext

    /// Reads the certificates.
    ///
    /// - Parameter roots: certificates (PEM), at least one.
    /// - Throws: why they cannot be used.
    init(roots: [UInt8]) throws {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(roots))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        self.context = try NIOSSLContext(configuration: configuration)
    }

    /// Asks once.
    ///
    /// - Parameters:
    ///   - url: the address, of https.
    ///   - addresses: those of its host that may be connected to, tried one after the other.
    ///   - headers: further fields of the head.
    ///   - bodyBytesMax: the most bytes of the body.
    ///   - deadline: when it is over at the latest.
    /// - Returns: the answer.
    /// - Throws: why there is none.
    func get(
        _ url: URL,
        at addresses: [HostAddress],
        headers: [String: String],
        bodyBytesMax: Int,
        until deadline: ContinuousClock.Instant
    ) async throws(Failure) -> Answer {
        let asking = Task(name: "A load by https") { () -> Result<Answer, Failure> in
            do throws(Failure) {
                return .success(
                    try await self.ask(
                        url,
                        at: addresses,
                        headers: headers,
                        bodyBytesMax: bodyBytesMax,
                        until: deadline
                    )
                )
            } catch {
                return .failure(error)
            }
        }
        let timer = Task(name: "Deadline of a load by https") {
            if (try? await Task.sleep(until: deadline, clock: .continuous)) != nil { asking.cancel() }
        }
        let result = await withTaskCancellationHandler {
            await asking.value
        } onCancel: {
            asking.cancel()
        }
        timer.cancel()
        await timer.value
        if case .failure(.broken) = result, deadline <= .now { throw .timedOut }
        return try result.get()
    }

    private func ask(
        _ url: URL,
        at addresses: [HostAddress],
        headers: [String: String],
        bodyBytesMax: Int,
        until deadline: ContinuousClock.Instant
    ) async throws(Failure) -> Answer {
        var failure: any Error = ChannelError.eof
        for address in addresses.prefix(Self.addressesMax) {
            guard deadline > .now else { throw .timedOut }
            let channel: NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>
            do {
                channel = try await self.connect(to: address, of: url, until: deadline)
            } catch {
                failure = error
                continue
            }
            do {
                return try await channel.executeThenClose { inbound, outbound in
                    try await outbound.write(.head(Self.head(of: url, headers)))
                    try await outbound.write(.end(nil))
                    return try await Self.read(inbound, bodyBytesMax: bodyBytesMax)
                }
            } catch let error as Failure {
                throw error
            } catch {
                throw .broken(error)
            }
        }
        throw .broken(failure)
    }

    private func connect(
        to address: HostAddress,
        of url: URL,
        until deadline: ContinuousClock.Instant
    ) async throws -> NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart> {
        let place = try SocketAddress(packedIPAddress: ByteBuffer(bytes: address.bytes), port: url.port ?? 443)
        let host = Self.host(of: url)
        // An address is no server name; the certificate is compared with the address then.
        let name = (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil
        return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(TimeAmount(max(deadline - .now, .milliseconds(1))))
            .connect(to: place) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(try NIOSSLClientHandler(context: self.context, serverHostname: name))
                    try pipeline.addHTTPClientHandlers(leftOverBytesStrategy: .dropBytes)
                    return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                }
            }
    }

    /// The name or the address of the server, without brackets.
    private static func host(of url: URL) -> String {
        let host = url.host(percentEncoded: true) ?? ""
        return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    private static func head(of url: URL, _ fields: [String: String]) -> HTTPRequestHead {
        var target = url.path(percentEncoded: true)
        if target.isEmpty { target = "/" }
        if let query = url.query(percentEncoded: true) { target += "?\(query)" }
        let host = Self.host(of: url)
        let name = host.contains(":") ? "[\(host)]" : host
        var headers: HTTPHeaders = [
            "Host": url.port.map { "\(name):\($0)" } ?? name, "User-Agent": "cuecast", "Connection": "close",
        ]
        for (field, value) in fields { headers.add(name: field, value: value) }
        return HTTPRequestHead(version: .http1_1, method: .GET, uri: target, headers: headers)
    }

    private static func read(
        _ inbound: NIOAsyncChannelInboundStream<HTTPClientResponsePart>,
        bodyBytesMax: Int
    ) async throws -> Answer {
        var head: HTTPResponseHead?
        var body: [UInt8] = []
        for try await part in inbound {
            switch part {
            case .head(let found):
                // 1xx comes before the answer.
                guard found.status.code >= 200 else { continue }
                head = found
                // The rest is of no use, and may be long.
                if found.status != .ok { return Self.answer(found, []) }
            case .body(let bytes):
                guard head != nil else { continue }
                guard body.count + bytes.readableBytes <= bodyBytesMax else { throw Failure.tooLarge }
                body += bytes.readableBytesView
            case .end:
                guard let head else { continue }
                return Self.answer(head, body)
            }
        }
        throw ChannelError.eof
    }

    private static func answer(_ head: HTTPResponseHead, _ body: [UInt8]) -> Answer {
        let isRedirect = [301, 302, 303, 307, 308].contains(head.status.code)
        return Answer(
            status: Int(head.status.code),
            location: isRedirect ? head.headers.first(name: "Location") : nil,
            body: body
        )
    }
}
