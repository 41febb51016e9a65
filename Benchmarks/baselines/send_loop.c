// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors
//
// The least that fans out notices at all: one thread, one epoll, bare sockets. What comes in from publishers is kept once,
// framed; whatever a subscriber has not had of it goes to it as one `send`. One notice is one `send` of one frame for each
// subscriber. Of ZMTP 3.0 it speaks as much as makes subscribers and publishers begin: greeting, NULL, READY, frames. It
// matches no topics: who has subscribed to anything gets everything.

#include "program.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *help =
    "usage: send_loop [--in PORT] [--out PORT]\n"
    "\n"
    "Takes messages of an empty frame and one more from DEALER or REQ connections and sends the second frame to every\n"
    "SUB connection that has subscribed to anything. Listens on 127.0.0.1 only.\n"
    "Prints `ready in=ENDPOINT out=ENDPOINT` when it listens on both; ends on SIGTERM.\n"
    "\n"
    "  --in PORT    where publishers connect (default 0, a free port)\n"
    "  --out PORT   where subscribers connect (default 0, a free port)\n"
    "\n"
    "example: send_loop --in 7402 --out 7400\n";

enum {
    backlog = 4096,
    eventsMax = 1024,
    // One read; the longest frame of a peer is shorter.
    readBytesMax = 1 << 20,
    // What may wait for the slowest subscriber: beyond it nothing that is measured is meant.
    logBytesMax = 256 << 20,
    greetingBytes = 64,
    flagMore = 1,
    flagLong = 2,
    flagCommand = 4,
};

struct Peer {
    int descriptor;
    bool publishes;
    bool isGreeted;
    bool isSubscribed;
    // The kernel takes no more at the moment.
    bool isBlocked;
    // Its place among the subscribers.
    size_t place;
    // How much of the log it has had, from the beginning of all time.
    uint64_t cursor;
    // What came of a frame that is not there in full.
    unsigned char *rest;
    size_t restCount;
    struct Peer *nextDead;
};

static int poller;
static struct Peer **subscribers;
static size_t subscriberCount, subscriberRoom, blockedCount;
// Frames that some subscriber may not have had, as they go over the wire; `logBase` bytes were before them.
static unsigned char *pending;
static size_t pendingCount, pendingRoom;
static uint64_t logBase;
static uint64_t forwarded, refused;
// Peers that ended; their memory goes once all events of a wait are handled, as later ones may name them.
static struct Peer *dead;
static unsigned char input[2 * readBytesMax];

static void *grown(void *memory, size_t *room, size_t wanted, size_t each) {
    if (wanted <= *room) { return memory; }
    size_t next = *room ? *room : 1024;
    while (next < wanted) { next *= 2; }
    memory = realloc(memory, next * each);
    if (!memory) { fail(exitSoftware, "no memory for %zu bytes", next * each); }
    *room = next;
    return memory;
}

static void watch(struct Peer *peer, bool writing, int operation) {
    struct epoll_event event = {.events = EPOLLIN | (writing ? EPOLLOUT : 0), .data.ptr = peer};
    if (epoll_ctl(poller, operation, peer->descriptor, &event) < 0) { fail(exitSoftware, "epoll_ctl: %s", strerror(errno)); }
}

static void unsubscribe(struct Peer *peer) {
    if (!peer->isSubscribed) { return; }
    subscriberCount -= 1;
    subscribers[peer->place] = subscribers[subscriberCount];
    subscribers[peer->place]->place = peer->place;
    if (peer->isBlocked) { blockedCount -= 1; }
    peer->isSubscribed = peer->isBlocked = false;
}

static void subscribe(struct Peer *peer) {
    if (peer->isSubscribed) { return; }
    subscribers = grown(subscribers, &subscriberRoom, subscriberCount + 1, sizeof *subscribers);
    peer->place = subscriberCount;
    peer->cursor = logBase + pendingCount;
    peer->isSubscribed = true;
    subscribers[subscriberCount] = peer;
    subscriberCount += 1;
}

static void end(struct Peer *peer) {
    if (peer->descriptor < 0) { return; }
    unsubscribe(peer);
    close(peer->descriptor);
    peer->descriptor = -1;
    peer->nextDead = dead;
    dead = peer;
}

static void freeTheDead(void) {
    while (dead) {
        struct Peer *next = dead->nextDead;
        free(dead->rest);
        free(dead);
        dead = next;
    }
}

// Sends what a subscriber has not had, as one piece.
static void sendPending(struct Peer *peer) {
    size_t from = (size_t)(peer->cursor - logBase);
    ssize_t sent = 0;
    if (from < pendingCount) {
        sent = send(peer->descriptor, pending + from, pendingCount - from, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (sent < 0 && errno != EAGAIN && errno != EINTR) { return end(peer); }
    if (sent > 0) { peer->cursor += (uint64_t)sent; }
    bool isBehind = peer->cursor < logBase + pendingCount;
    if (isBehind == peer->isBlocked) { return; }
    peer->isBlocked = isBehind;
    if (isBehind) { blockedCount += 1; } else { blockedCount -= 1; }
    watch(peer, isBehind, EPOLL_CTL_MOD);
}

static void sendToAll(void) {
    // From the end: one that is gone is replaced by the last.
    for (size_t index = subscriberCount; index > 0; index -= 1) {
        if (!subscribers[index - 1]->isBlocked) { sendPending(subscribers[index - 1]); }
    }
}

static void forgetWhatAllHad(void) {
    if (blockedCount > 0) {
        if (pendingCount > logBytesMax) { fail(exitSoftware, "a subscriber does not read"); }
        return;
    }
    logBase += pendingCount;
    pendingCount = 0;
}

static void keep(const unsigned char *body, size_t count) {
    pending = grown(pending, &pendingRoom, pendingCount + count + 9, 1);
    unsigned char *end = pending + pendingCount;
    if (count < 256) {
        *end++ = 0;
        *end++ = (unsigned char)count;
    } else {
        *end++ = flagLong;
        for (int shift = 56; shift >= 0; shift -= 8) { *end++ = (unsigned char)((uint64_t)count >> shift); }
    }
    memcpy(end, body, count);
    pendingCount = (size_t)(end - pending) + count;
    forwarded += 1;
}

// A whole frame came: false when the peer says what has no place here.
static bool take(struct Peer *peer, unsigned char flags, const unsigned char *body, size_t count) {
    if (flags & flagCommand) { return true; }
    if (peer->publishes) {
        // An empty delimiter, then the notice.
        if (flags & flagMore) { return count == 0; }
        keep(body, count);
        return true;
    }
    if (count == 0 || flags & flagMore || body[0] > 1) { return false; }
    if (body[0]) { subscribe(peer); } else { unsubscribe(peer); }
    return true;
}

// Takes the frames that are there in full; gives how many bytes they had, or -1 for a peer that is no ZMTP.
static ssize_t takeFrames(struct Peer *peer, const unsigned char *bytes, size_t count) {
    size_t offset = 0;
    if (!peer->isGreeted) {
        if (count < greetingBytes) { return 0; }
        if (bytes[0] != 0xFF || bytes[9] != 0x7F || bytes[10] < 3) { return -1; }
        peer->isGreeted = true;
        offset = greetingBytes;
    }
    while (offset + 2 <= count) {
        unsigned char flags = bytes[offset];
        size_t head = flags & flagLong ? 9 : 2, length = 0;
        if (offset + head > count) { break; }
        for (size_t index = 1; index < head; index += 1) { length = length << 8 | bytes[offset + index]; }
        if (length > readBytesMax - 9) { return -1; }
        if (offset + head + length > count) { break; }
        if (!take(peer, flags, bytes + offset + head, length)) { return -1; }
        offset += head + length;
    }
    return (ssize_t)offset;
}

static void receive(struct Peer *peer) {
    size_t kept = peer->restCount;
    if (kept > 0) { memcpy(input, peer->rest, kept); }
    ssize_t count = recv(peer->descriptor, input + kept, readBytesMax, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) { return; }
    if (count <= 0) { return end(peer); }
    size_t all = kept + (size_t)count;
    ssize_t taken = takeFrames(peer, input, all);
    if (taken < 0) {
        refused += 1;
        return end(peer);
    }
    peer->restCount = all - (size_t)taken;
    free(peer->rest);
    peer->rest = NULL;
    if (peer->restCount == 0) { return; }
    peer->rest = malloc(peer->restCount);
    if (!peer->rest) { fail(exitSoftware, "no memory for %zu bytes", peer->restCount); }
    memcpy(peer->rest, input + taken, peer->restCount);
}

// Greeting and READY in one piece: what the peer is does not matter.
static void greet(struct Peer *peer) {
    unsigned char greeting[128] = {0xFF, [9] = 0x7F, [10] = 3, [12] = 'N', 'U', 'L', 'L'}, *next = greeting + greetingBytes;
    const char *type = peer->publishes ? "ROUTER" : "XPUB";
    size_t length = strlen(type);
    *next++ = flagCommand;
    *next++ = (unsigned char)(6 + 12 + 4 + length);
    memcpy(next, "\5READY\13Socket-Type\0\0\0", 21);
    next += 21;
    *next++ = (unsigned char)length;
    memcpy(next, type, length);
    next += length;
    // So little always fits into the buffer of a new connection.
    ssize_t sent = send(peer->descriptor, greeting, (size_t)(next - greeting), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent != next - greeting) { end(peer); }
}

static void acceptAll(int listening, bool publishes) {
    for (;;) {
        int descriptor = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (descriptor < 0) {
            if (errno == EINTR || errno == ECONNABORTED) { continue; }
            if (errno == EAGAIN) { return; }
            fail(exitUnavailable, "accept: %s", strerror(errno));
        }
        int on = 1;
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct Peer *peer = calloc(1, sizeof *peer);
        if (!peer) { fail(exitSoftware, "no memory for a connection"); }
        peer->descriptor = descriptor;
        peer->publishes = publishes;
        watch(peer, false, EPOLL_CTL_ADD);
        greet(peer);
    }
}

// Listens on a port, and says which.
static int listenOn(struct Peer *marker, int port, int *bound) {
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (descriptor < 0) { fail(exitUnavailable, "socket: %s", strerror(errno)); }
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(descriptor, (struct sockaddr *)&address, size) < 0 || listen(descriptor, backlog) < 0
        || getsockname(descriptor, (struct sockaddr *)&address, &size) < 0) {
        fail(exitUnavailable, "cannot listen on port %d: %s", port, strerror(errno));
    }
    marker->descriptor = descriptor;
    *bound = ntohs(address.sin_port);
    watch(marker, false, EPOLL_CTL_ADD);
    return descriptor;
}

static int portValue(const char *text) {
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end != 0 || value < 0 || value > 65535) { fail(exitUsage, "a port is from 0 to 65535, and not %s", text); }
    return (int)value;
}

int main(int count, char **arguments) {
    programName = "send_loop";
    int in = 0, out = 0;
    for (int index = 1; index < count; index += 1) {
        if (!strcmp(arguments[index], "--help")) {
            fputs(help, stdout);
            return 0;
        } else if (!strcmp(arguments[index], "--in")) {
            in = portValue(optionValue(count, arguments, &index));
        } else if (!strcmp(arguments[index], "--out")) {
            out = portValue(optionValue(count, arguments, &index));
        } else {
            fail(exitUsage, "unknown option %s; see --help", arguments[index]);
        }
    }

    stopOnSignals();
    // Signals come while it waits and at no other time, so that none falls between a look and a wait.
    sigset_t ending, none;
    sigemptyset(&none);
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    sigprocmask(SIG_BLOCK, &ending, NULL);
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    poller = epoll_create1(EPOLL_CLOEXEC);
    if (poller < 0) { fail(exitUnavailable, "epoll_create1: %s", strerror(errno)); }
    struct Peer publishersListener = {.publishes = true}, subscribersListener = {0};
    int publishers = listenOn(&publishersListener, in, &in), listeners = listenOn(&subscribersListener, out, &out);
    printf("ready in=tcp://127.0.0.1:%d out=tcp://127.0.0.1:%d\n", in, out);
    fflush(stdout);

    static struct epoll_event events[eventsMax];
    while (!mustStop) {
        int ready = epoll_pwait(poller, events, eventsMax, -1, &none);
        if (ready < 0 && errno != EINTR) { fail(exitSoftware, "epoll_pwait: %s", strerror(errno)); }
        for (int index = 0; index < ready; index += 1) {
            struct Peer *peer = events[index].data.ptr;
            if (peer == &publishersListener) {
                acceptAll(publishers, true);
            } else if (peer == &subscribersListener) {
                acceptAll(listeners, false);
            } else {
                if (peer->descriptor >= 0 && peer->isBlocked && events[index].events & EPOLLOUT) { sendPending(peer); }
                if (peer->descriptor >= 0 && events[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) { receive(peer); }
            }
        }
        if (pendingCount > 0) {
            sendToAll();
            forgetWhatAllHad();
        }
        freeTheDead();
    }

    fprintf(stderr, "send_loop: %llu forwarded, %llu refused\n", (unsigned long long)forwarded, (unsigned long long)refused);
    return 0;
}
