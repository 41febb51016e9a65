// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors
//
// The least that answers requests with libzmq: a ROUTER that drains what has come and answers each request in the same
// pass with as many bytes as the gateway would. The bytes are copied for each reply, as real replies differ in their
// request ids.

#include "baseline.h"

static const char *help =
    "usage: router_echo --reply FILE [--bind ENDPOINT]\n"
    "\n"
    "Answers every request of REQ or DEALER connections with the bytes of FILE.\n"
    "Prints `ready requests=ENDPOINT` when it is bound; ends on SIGTERM.\n"
    "\n"
    "  --reply FILE      what to answer; 1 byte to 16 MiB\n"
    "  --bind ENDPOINT   where clients connect (default tcp://127.0.0.1:*, a free port)\n"
    "  --io-threads N    threads that move bytes; 0 (default): one less than there are cores\n"
    "\n"
    "example: router_echo --reply recorded/reply.bin --bind tcp://127.0.0.1:7401\n";

static const size_t replyBytesMax = 16 << 20;

static void *readReply(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) { fail(exitUnavailable, "cannot open %s: %s", path, strerror(errno)); }
    char *bytes = malloc(replyBytesMax + 1);
    if (!bytes) { fail(exitSoftware, "no memory for the reply"); }
    *size = fread(bytes, 1, replyBytesMax + 1, file);
    if (ferror(file)) { fail(exitUnavailable, "cannot read %s: %s", path, strerror(errno)); }
    fclose(file);
    if (*size == 0 || *size > replyBytesMax) { fail(exitUsage, "%s must hold 1 byte to 16 MiB", path); }
    return bytes;
}

// Answers one request without waiting; a reply that the peer cannot take is dropped.
static bool answer(void *router, zmq_msg_t *identity, const void *bytes, size_t size) {
    zmq_msg_t address, frame;
    check(zmq_msg_init(&address), "zmq_msg_init");
    check(zmq_msg_move(&address, identity), "zmq_msg_move");
    if (!sendFrame(router, &address, ZMQ_SNDMORE)) { return false; }
    check(zmq_msg_init(&frame), "zmq_msg_init");
    if (!sendFrame(router, &frame, ZMQ_SNDMORE)) { return false; }
    check(zmq_msg_init_size(&frame, size), "zmq_msg_init_size");
    memcpy(zmq_msg_data(&frame), bytes, size);
    return sendFrame(router, &frame, 0);
}

int main(int count, char **arguments) {
    programName = "router_echo";
    const char *endpoint = "tcp://127.0.0.1:*", *path = NULL;
    int ioThreads = 0;
    for (int index = 1; index < count; index += 1) {
        if (!strcmp(arguments[index], "--help")) {
            fputs(help, stdout);
            return 0;
        } else if (!strcmp(arguments[index], "--bind")) {
            endpoint = optionValue(count, arguments, &index);
        } else if (!strcmp(arguments[index], "--reply")) {
            path = optionValue(count, arguments, &index);
        } else if (!strcmp(arguments[index], "--io-threads")) {
            ioThreads = ioThreadsValue(optionValue(count, arguments, &index));
        } else {
            fail(exitUsage, "unknown option %s; see --help", arguments[index]);
        }
    }
    if (!path) { fail(exitUsage, "--reply FILE is missing; see --help"); }
    size_t size;
    void *reply = readReply(path, &size);

    stopOnSignals();
    void *context = makeContext(ioThreads);
    void *router = makeRouter(context, 16384, 16);
    char bound[256];
    bindTo(router, endpoint, bound, sizeof bound);
    printf("ready requests=%s\n", bound);
    fflush(stdout);

    zmq_msg_t identity, body;
    check(zmq_msg_init(&identity), "zmq_msg_init");
    check(zmq_msg_init(&body), "zmq_msg_init");
    zmq_pollitem_t items[] = {{.socket = router, .events = ZMQ_POLLIN}};
    uint64_t answered = 0, refused = 0, dropped = 0;
    while (!mustStop) {
        waitForInput(items, 1);
        bool isWhole;
        for (int index = 0; index < requestsPerPassMax && receiveRequest(router, &identity, &body, &isWhole); index += 1) {
            if (!isWhole) {
                refused += 1;
            } else if (answer(router, &identity, reply, size)) {
                answered += 1;
            } else {
                dropped += 1;
            }
        }
    }

    fprintf(stderr, "router_echo: %llu answered, %llu refused, %llu replies dropped\n", (unsigned long long)answered,
            (unsigned long long)refused, (unsigned long long)dropped);
    zmq_msg_close(&identity);
    zmq_msg_close(&body);
    closeAll(context, router, NULL);
    free(reply);
    return 0;
}
