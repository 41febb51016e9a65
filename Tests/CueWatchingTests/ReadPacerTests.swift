// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import NIOCore
import NIOEmbedded
import Testing

@testable import CueWatching

/// How datagrams are read together.
@Suite(.suiteLimit)
struct ReadPacerTests {
    /// Counts the reads that reach the socket.
    private final class Socket: ChannelOutboundHandler {
        typealias OutboundIn = NIOAny
        var reads = 0

        func read(context: ChannelHandlerContext) {
            self.reads += 1
            context.read()
        }
    }

    private let loop = EmbeddedEventLoop()
    private let socket = Socket()
    private let channel: EmbeddedChannel

    init() throws {
        self.channel = EmbeddedChannel(loop: self.loop)
        let pacer = ReadPacer(interval: .milliseconds(5), messagesPerReadMax: 3)
        try self.channel.pipeline.syncOperations.addHandlers([self.socket, pacer])
        // The channel reads by itself where it begins, and after each completed read.
        try self.channel.setOption(.autoRead, value: false).wait()
    }

    private func receive(_ count: Int) throws {
        for number in 0..<count { try self.channel.writeInbound(number) }
    }

    @Test func `reads are as far apart as is asked for, and the first one waits for nothing`() throws {
        self.channel.read()
        #expect(self.socket.reads == 1)
        for passed in 1...100 {
            // Each message asks for the next read, as a socket's does.
            try self.receive(1)
            self.channel.read()
            self.loop.advanceTime(by: .milliseconds(1))
            #expect(self.socket.reads == 1 + passed / 5)
        }
    }

    @Test func `a read that took as much as it may is followed at once`() throws {
        self.channel.read()
        try self.receive(3)
        self.channel.read()
        #expect(self.socket.reads == 2)
        try self.receive(2)
        self.channel.read()
        #expect(self.socket.reads == 2)
        self.loop.advanceTime(by: .milliseconds(5))
        #expect(self.socket.reads == 3)
    }

    @Test func `every message goes on, in order`() throws {
        try self.receive(10)
        for number in 0..<10 { #expect(try self.channel.readInbound(as: Int.self) == number) }
    }

    @Test func `a channel that ends reads no more`() throws {
        self.channel.read()
        self.channel.read()
        _ = try self.channel.finish()
        self.loop.advanceTime(by: .seconds(1))
        #expect(self.socket.reads == 1)
    }
}
