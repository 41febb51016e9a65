// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors
//
// The least that fans out notices with libzmq: what comes in on a ROUTER goes out on an XPUB, one frame each. The XPUB is
// touched every 10 ms also when there is nothing to send, as libzmq attaches and detaches subscribers only then.

#include "baseline.h"

static const char *help =
    "usage: xpub_forwarder [--in ENDPOINT] [--out ENDPOINT] [--confirm]\n"
    "\n"
    "Takes messages of an empty frame and one more from DEALER or REQ connections and publishes the second frame.\n"
    "Prints `ready in=ENDPOINT out=ENDPOINT` when both are bound; ends on SIGTERM.\n"
    "\n"
    "  --in ENDPOINT    where publishers connect (default tcp://127.0.0.1:*, a free port)\n"
    "  --out ENDPOINT   where subscribers connect (default tcp://127.0.0.1:*, a free port)\n"
    "  --confirm        answers each message with an empty one once it is published\n"
    "  --io-threads N   threads that move bytes; 0 (default): one less than there are cores\n"
    "\n"
    "example: xpub_forwarder --in tcp://127.0.0.1:7402 --out tcp://127.0.0.1:7400\n";

static void drainSubscriptions(void *publisher, zmq_msg_t *frame) {
    for (int index = 0; index < subscriptionsPerPassMax; index += 1) {
        if (!receive(publisher, frame)) { return; }
    }
}

// Answers with an empty frame behind the empty delimiter; one that cannot be taken is dropped.
static bool confirm(void *router, zmq_msg_t *identity) {
    zmq_msg_t address, empty;
    check(zmq_msg_init(&address), "zmq_msg_init");
    check(zmq_msg_move(&address, identity), "zmq_msg_move");
    if (!sendFrame(router, &address, ZMQ_SNDMORE)) { return false; }
    check(zmq_msg_init(&empty), "zmq_msg_init");
    if (!sendFrame(router, &empty, ZMQ_SNDMORE)) { return false; }
    check(zmq_msg_init(&empty), "zmq_msg_init");
    return sendFrame(router, &empty, 0);
}

int main(int count, char **arguments) {
    programName = "xpub_forwarder";
    const char *in = "tcp://127.0.0.1:*", *out = "tcp://127.0.0.1:*";
    bool confirms = false;
    int ioThreads = 0;
    for (int index = 1; index < count; index += 1) {
        if (!strcmp(arguments[index], "--help")) {
            fputs(help, stdout);
            return 0;
        } else if (!strcmp(arguments[index], "--in")) {
            in = optionValue(count, arguments, &index);
        } else if (!strcmp(arguments[index], "--out")) {
            out = optionValue(count, arguments, &index);
        } else if (!strcmp(arguments[index], "--confirm")) {
            confirms = true;
        } else if (!strcmp(arguments[index], "--io-threads")) {
            ioThreads = ioThreadsValue(optionValue(count, arguments, &index));
        } else {
            fail(exitUsage, "unknown option %s; see --help", arguments[index]);
        }
    }

    stopOnSignals();
    void *context = makeContext(ioThreads);
    // More than the gateway's 16: what comes in only feeds the socket that is measured, and must not hold it up.
    void *router = makeRouter(context, 1048576, 1000);
    void *publisher = makePublisher(context);
    char inBound[256], outBound[256];
    bindTo(router, in, inBound, sizeof inBound);
    bindTo(publisher, out, outBound, sizeof outBound);
    printf("ready in=%s out=%s\n", inBound, outBound);
    fflush(stdout);

    zmq_msg_t identity, body, subscription;
    check(zmq_msg_init(&identity), "zmq_msg_init");
    check(zmq_msg_init(&body), "zmq_msg_init");
    check(zmq_msg_init(&subscription), "zmq_msg_init");
    zmq_pollitem_t items[] = {{.socket = router, .events = ZMQ_POLLIN}, {.socket = publisher, .events = ZMQ_POLLIN}};
    uint64_t forwarded = 0, refused = 0, unconfirmed = 0;
    while (!mustStop) {
        waitForInput(items, 2);
        drainSubscriptions(publisher, &subscription);
        bool isWhole;
        for (int index = 0; index < requestsPerPassMax && receiveRequest(router, &identity, &body, &isWhole); index += 1) {
            if (!isWhole) {
                refused += 1;
                continue;
            }
            // A publisher never blocks: what a slow subscriber cannot take is dropped for it alone.
            while (zmq_msg_send(&body, publisher, ZMQ_DONTWAIT) < 0) {
                if (zmq_errno() != EINTR) { fail(exitSoftware, "zmq_msg_send: %s", zmq_strerror(zmq_errno())); }
            }
            forwarded += 1;
            if (confirms && !confirm(router, &identity)) { unconfirmed += 1; }
        }
    }

    fprintf(stderr, "xpub_forwarder: %llu forwarded, %llu refused, %llu not confirmed\n", (unsigned long long)forwarded,
            (unsigned long long)refused, (unsigned long long)unconfirmed);
    zmq_msg_close(&identity);
    zmq_msg_close(&body);
    zmq_msg_close(&subscription);
    closeAll(context, router, publisher);
    return 0;
}
