# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""libzmq's own way to ask again: stock REQ sockets with RELAXED and CORRELATE, on both ports that answer."""
import os, unittest

import zmq

from harness import PATIENCE, Gateway, ad, broadcast_pb2, listener_pb2, status_pb2


class Correlated(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)

    def requester(self, port, relaxed=True):
        socket = zmq.Context.instance().socket(zmq.REQ)
        self.addCleanup(socket.close)
        socket.linger, socket.rcvtimeo = 0, int(PATIENCE * 1_000)
        socket.setsockopt(zmq.REQ_CORRELATE, 1)
        socket.setsockopt(zmq.REQ_RELAXED, int(relaxed))
        socket.connect(self.gateway.addresses[port])
        return socket

    def publication(self, number, break_id):
        """Cues a break: it is announced at once, and asked for again it is the same one."""
        return broadcast_pb2.BroadcastRequest(request_id=number, publish=broadcast_pb2.Publish(
            stream="radio1", break_id=break_id, duration_ms=10_000,
            advertisements=[ad("a"), ad("b")])).SerializeToString()

    def listen_to(self, requests, break_id):
        """Joins, fetches, acknowledges and leaves; returns how many outcomes were recorded."""
        session, numbers = os.urandom(16), iter(range(1, 100))

        def ask(**kind):
            number = next(numbers)
            requests.send(listener_pb2.Request(request_id=number, session=session, **kind).SerializeToString())
            reply = listener_pb2.Reply.FromString(requests.recv())
            self.assertEqual((reply.request_id, reply.status), (number, status_pb2.STATUS_CODE_OK), reply)
            return reply

        ask(join=listener_pb2.Join(stream="radio1", client="correlate"))
        reply = ask(get_batch=listener_pb2.GetBatch(stream="radio1", break_id=break_id))
        outcomes = [listener_pb2.Outcome(advertisement_id=each.id, kind=listener_pb2.OUTCOME_KIND_IGNORED,
                                         evidence=listener_pb2.EVIDENCE_REPORTED, reason=listener_pb2.IGNORE_REASON_USER,
                                         occurred_us=reply.gateway_us) for each in reply.batch.advertisements]
        recorded = ask(acknowledge=listener_pb2.Acknowledge(
            stream="radio1", break_id=break_id, delivery=reply.batch.delivery, outcomes=outcomes)).acknowledged.recorded
        ask(leave=listener_pb2.Leave(stream="radio1"))
        return recorded

    def test_whole_lives_on_both_ports(self):
        for relaxed in (True, False):
            broadcaster = self.requester("broadcast", relaxed)
            broadcaster.send(self.publication(1, f"b{relaxed:d}"))
            reply = broadcast_pb2.BroadcastReply.FromString(broadcaster.recv())
            self.assertEqual((reply.request_id, reply.status), (1, status_pb2.STATUS_CODE_OK), reply)
            self.assertEqual(self.listen_to(self.requester("requests", relaxed), f"b{relaxed:d}"), 2)

    def test_who_gave_up_waiting_asks_again_on_the_same_socket_and_gets_that_answer(self):
        broadcaster, requests = self.requester("broadcast"), self.requester("requests")
        session = os.urandom(16)
        for number in range(1, 21):
            # Each but the last is given up before its answer can be read.
            broadcaster.send(self.publication(number, "again"))
            requests.send(listener_pb2.Request(request_id=number, session=session,
                                               get_time=listener_pb2.GetTime()).SerializeToString())
        reply = broadcast_pb2.BroadcastReply.FromString(broadcaster.recv())
        self.assertEqual((reply.request_id, reply.status), (20, status_pb2.STATUS_CODE_OK), reply)
        reply = listener_pb2.Reply.FromString(requests.recv())
        self.assertEqual((reply.request_id, reply.status), (20, status_pb2.STATUS_CODE_OK), reply)
        self.assertEqual([each["break"] for each in self.gateway.get("/v1/breaks")["breaks"]], ["again"])


if __name__ == "__main__":
    unittest.main()
