// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing
import ZeroMQ

@Suite(.suiteLimit)
struct ErrorTests {
    let context: Context

    init() throws {
        self.context = try Context()
    }

    @Test func `binding an endpoint twice names the endpoint in use`() throws {
        let first = try Socket(.rep, in: self.context)
        let second = try Socket(.rep, in: self.context)
        let endpoint = try first.bind(anyPort)

        let error = #expect(throws: ZeroMQError.self) { try second.bind(endpoint) }
        #expect(error?.code == .addressInUse)
        #expect(error?.operation == "zmq_bind")
        #expect(error?.description == "zmq_bind \(endpoint): Address already in use (addressInUse)")
    }

    @Test func `a wildcard port is answered with the port that the kernel chose`() throws {
        let socket = try Socket(.rep, in: self.context)
        let endpoint = try socket.bind(anyPort)
        let port = try #require(endpoint.split(separator: ":").last.flatMap { Int($0) })
        #expect(endpoint == "tcp://127.0.0.1:\(port)")
        #expect(port > 0)
        #expect(try socket.get(.lastEndpoint) == endpoint)
    }

    @Test(arguments: [
        // 192.0.2.0/24 is kept for documentation (RFC 5737): no machine has it.
        ("tcp://192.0.2.1:*", ZeroMQError.Code.addressNotAvailable),
        ("tcp://127.0.0.1", .invalidArgument),
        ("carrier-pigeon://here", .protocolNotSupported),
        ("nonsense", .invalidArgument),
    ])
    func `an endpoint that cannot be bound is refused with a name`(endpoint: String, code: ZeroMQError.Code) throws {
        let socket = try Socket(.rep, in: self.context)
        let error = #expect(throws: ZeroMQError.self) { try socket.bind(endpoint) }
        #expect(error?.code == code)
        #expect(error?.detail == endpoint)
    }

    @Test func `an endpoint that cannot be read is refused on connecting`() throws {
        let socket = try Socket(.req, in: self.context)
        #expect(throws: ZeroMQError(operation: "zmq_connect", code: .invalidArgument, detail: "tcp://127.0.0.1")) {
            try socket.connect("tcp://127.0.0.1")
        }
    }

    @Test func `only a connected endpoint can be disconnected`() throws {
        let socket = try Socket(.req, in: self.context)
        let endpoint = try Socket(.rep, in: self.context).bind(anyPort)
        let error = #expect(throws: ZeroMQError.self) { try socket.disconnect(endpoint) }
        #expect(error?.code == .noSuchEndpoint)
        try socket.connect(endpoint)
        try socket.disconnect(endpoint)
    }

    @Test func `a socket refuses what is not its part`() throws {
        let subscriber = try Socket(.sub, in: self.context)
        let publisher = try Socket(.pub, in: self.context)
        let requester = try Socket(.req, in: self.context)
        #expect(throws: ZeroMQError(operation: "zmq_send", code: .notSupported)) { try subscriber.send([1]) }
        #expect(throws: ZeroMQError(operation: "zmq_msg_recv", code: .notSupported)) {
            _ = try publisher.receive() == nil
        }
        #expect(throws: ZeroMQError(operation: "zmq_msg_recv", code: .wrongState)) {
            _ = try requester.receive() == nil
        }
    }

    @Test func `a context gives as many sockets as it was told, and not one more`() throws {
        let context = try Context(socketsMax: 2)
        let first = try Socket(.pair, in: context)
        let second = try Socket(.pair, in: context)
        let error = #expect(throws: ZeroMQError.self) { _ = try Socket(.pair, in: context).kind }
        #expect(error?.code == .tooManyFileDescriptors)
        #expect(error?.operation == "zmq_socket")
        first.close()
        second.close()
    }

    @Test(arguments: [0, -1, Int.max])
    func `a context without threads or sockets is refused`(number: Int) {
        let threads = #expect(throws: ZeroMQError.self) { try Context(ioThreads: number) }
        #expect(threads?.detail == "ZMQ_IO_THREADS = \(number)")
        let sockets = #expect(throws: ZeroMQError.self) { try Context(socketsMax: number) }
        #expect(sockets?.detail == "ZMQ_MAX_SOCKETS = \(number)")
        #expect(sockets?.code == .invalidArgument)
    }

    @Test func `a code without a name shows its number`() {
        let code = ZeroMQError.Code(rawValue: 7)
        #expect(code.name == "errno 7")
        #expect(ZeroMQError.Code.terminated.name == "terminated")
        #expect(ZeroMQError.Code.terminated.message == "Context was terminated")
        #expect(ZeroMQError(operation: "zmq_send", code: .hostUnreachable).description.contains("(hostUnreachable)"))
    }
}
