// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors
//
// What the bare servers on libzmq share: the settings of a server for many connections, of which the gateway's broadcasters'
// socket has most (Sources/Gateway/Broadcasters/BroadcastSockets.swift; docs/internals/zeromq-settings.md gives the reasons).

#ifndef CUECAST_BASELINE_H
#define CUECAST_BASELINE_H

#include "program.h"
#include <unistd.h>
#include <zmq.h>

// How often the sockets are touched, in milliseconds: libzmq attaches and detaches peers only inside calls.
static const long touchMilliseconds = 10;
// The most messages taken in one pass over a ROUTER, and over the receiving side of an XPUB.
static const int requestsPerPassMax = 256;
static const int subscriptionsPerPassMax = 4096;

static void check(int result, const char *operation) {
    if (result < 0) { fail(exitUnavailable, "%s: %s", operation, zmq_strerror(zmq_errno())); }
}

// Without a number all cores but one move bytes, at least one.
static inline void *makeContext(int ioThreads) {
    void *context = zmq_ctx_new();
    if (!context) { fail(exitSoftware, "zmq_ctx_new: %s", zmq_strerror(zmq_errno())); }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (ioThreads == 0) { ioThreads = cores > 2 ? (int)cores - 1 : 1; }
    check(zmq_ctx_set(context, ZMQ_IO_THREADS, ioThreads), "ZMQ_IO_THREADS");
    check(zmq_ctx_set(context, ZMQ_MAX_SOCKETS, 64), "ZMQ_MAX_SOCKETS");
    check(zmq_ctx_set(context, ZMQ_BLOCKY, 0), "ZMQ_BLOCKY");
    return context;
}

static void setOption(void *socket, int option, int value, const char *name) {
    check(zmq_setsockopt(socket, option, &value, sizeof value), name);
}

// A socket with the settings that all of them have.
static void *makeSocket(void *context, int kind, int64_t messageBytesMax) {
    void *socket = zmq_socket(context, kind);
    if (!socket) { fail(exitSoftware, "zmq_socket: %s", zmq_strerror(zmq_errno())); }
    setOption(socket, ZMQ_LINGER, 1000, "ZMQ_LINGER");
    setOption(socket, ZMQ_BACKLOG, 4096, "ZMQ_BACKLOG");
    setOption(socket, ZMQ_HANDSHAKE_IVL, 3000, "ZMQ_HANDSHAKE_IVL");
    setOption(socket, ZMQ_TCP_KEEPALIVE, 1, "ZMQ_TCP_KEEPALIVE");
    setOption(socket, ZMQ_TCP_KEEPALIVE_IDLE, 10, "ZMQ_TCP_KEEPALIVE_IDLE");
    setOption(socket, ZMQ_TCP_KEEPALIVE_INTVL, 5, "ZMQ_TCP_KEEPALIVE_INTVL");
    setOption(socket, ZMQ_TCP_KEEPALIVE_CNT, 3, "ZMQ_TCP_KEEPALIVE_CNT");
    check(zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &messageBytesMax, sizeof messageBytesMax), "ZMQ_MAXMSGSIZE");
    return socket;
}

static inline void *makeRouter(void *context, int64_t messageBytesMax, int receiveHighWaterMark) {
    void *socket = makeSocket(context, ZMQ_ROUTER, messageBytesMax);
    setOption(socket, ZMQ_SNDHWM, 64, "ZMQ_SNDHWM");
    setOption(socket, ZMQ_RCVHWM, receiveHighWaterMark, "ZMQ_RCVHWM");
    setOption(socket, ZMQ_ROUTER_MANDATORY, 1, "ZMQ_ROUTER_MANDATORY");
    return socket;
}

static inline void *makePublisher(void *context) {
    void *socket = makeSocket(context, ZMQ_XPUB, 4096);
    setOption(socket, ZMQ_SNDHWM, 1000, "ZMQ_SNDHWM");
    setOption(socket, ZMQ_XPUB_NODROP, 0, "ZMQ_XPUB_NODROP");
    setOption(socket, ZMQ_XPUB_VERBOSE, 0, "ZMQ_XPUB_VERBOSE");
    return socket;
}

// Binds, and writes where to `endpoint`: the port may have been left to the system.
static void bindTo(void *socket, const char *wanted, char *endpoint, size_t size) {
    if (zmq_bind(socket, wanted) < 0) { fail(exitUnavailable, "cannot bind to %s: %s", wanted, zmq_strerror(zmq_errno())); }
    check(zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &size), "ZMQ_LAST_ENDPOINT");
}

// Receives the next frame without waiting; false when there is none.
static bool receive(void *socket, zmq_msg_t *frame) {
    for (;;) {
        if (zmq_msg_recv(frame, socket, ZMQ_DONTWAIT) >= 0) { return true; }
        if (zmq_errno() == EAGAIN) { return false; }
        if (zmq_errno() != EINTR) { fail(exitSoftware, "zmq_msg_recv: %s", zmq_strerror(zmq_errno())); }
    }
}

// Receives one request: the routing id, an empty frame and the body. False when there is none; `isWhole` says whether it
// had these three frames.
static inline bool receiveRequest(void *router, zmq_msg_t *identity, zmq_msg_t *body, bool *isWhole) {
    if (!receive(router, identity)) { return false; }
    *isWhole = false;
    if (!zmq_msg_more(identity)) { return true; }
    if (!receive(router, body)) { fail(exitSoftware, "libzmq gave half a message"); }
    bool hasDelimiter = zmq_msg_size(body) == 0 && zmq_msg_more(body);
    int frames = 2;
    while (zmq_msg_more(body)) {
        if (!receive(router, body)) { fail(exitSoftware, "libzmq gave half a message"); }
        frames += 1;
    }
    *isWhole = hasDelimiter && frames == 3;
    return true;
}

// Sends a frame of a reply without waiting; false when the peer is gone or does not read. Releases the frame.
static inline bool sendFrame(void *socket, zmq_msg_t *frame, int flags) {
    for (;;) {
        if (zmq_msg_send(frame, socket, ZMQ_DONTWAIT | flags) >= 0) { return true; }
        int code = zmq_errno();
        if (code == EINTR) { continue; }
        check(zmq_msg_close(frame), "zmq_msg_close");
        if (code == EAGAIN || code == EHOSTUNREACH) { return false; }
        fail(exitSoftware, "zmq_msg_send: %s", zmq_strerror(code));
    }
}

// Waits until a socket is readable, a signal has come, or the next touch is due.
static inline void waitForInput(zmq_pollitem_t *items, int count) {
    if (zmq_poll(items, count, touchMilliseconds) < 0 && zmq_errno() != EINTR) {
        fail(exitSoftware, "zmq_poll: %s", zmq_strerror(zmq_errno()));
    }
}

static inline void closeAll(void *context, void *first, void *second) {
    check(zmq_close(first), "zmq_close");
    if (second) { check(zmq_close(second), "zmq_close"); }
    while (zmq_ctx_term(context) < 0 && zmq_errno() == EINTR) {}
}

static inline int ioThreadsValue(const char *text) {
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end != 0 || value < 0 || value > 64) { fail(exitUsage, "--io-threads must be from 0 to 64, and is %s", text); }
    return (int)value;
}

#endif
