// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors
//
// Loads other servers with what `cuecast-load` loads the gateway with, on one thread: many subscribers and one publisher,
// or many connections that ask for the same bytes over HTTP, one request in flight on each.

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "protocols.h"

static const char *help =
    "usage: peer_load notices --protocol NAME --port N --connections N [options]\n"
    "       peer_load requests --port N --path PATH --connections N [options]\n"
    "\n"
    "Connects to 127.0.0.1 and prints one JSON object, as `cuecast-load notices` and `requests` do.\n"
    "\n"
    "  --protocol NAME          nats, mqtt, redis, nchan (an EventSource), nchan-websocket or cuecast-websocket\n"
    "  --publish-port N         where messages are published, if not at --port\n"
    "  --publish-token-file F   the bearer token for it\n"
    "  --pattern single|burst   one message after a silence, or many at once (default single)\n"
    "  --message-bytes N        the length of a message, 8 to 4096 (default 100)\n"
    "  --silence SECONDS        before each single message (default 1)\n"
    "  --burst N                messages in a burst (default 500)\n"
    "  --count N                rounds (default 1)\n"
    "  --duration SECONDS       requests: how long is measured (default 10)\n"
    "  --warmup SECONDS         requests: how long before that (default 2)\n"
    "\n"
    "Exits with 1 when messages were lost, repeated or out of order, 69 when the server does not answer.\n"
    "example: peer_load notices --protocol nats --port 4222 --connections 9000 --pattern burst\n";

enum { messageBytesMin = 8, messageBytesMax = 4096, connectingMax = 256, tokenBytesMax = 2048, readBytesMax = 1 << 18, eventsMax = 512 };
static const double patienceSeconds = 120;

struct Connection {
    int descriptor;
    bool isReady, isPublisher;
    // The beginning of a message whose end has not come.
    char *pending;
    size_t pendingSize;
    uint64_t next;       // the number of the message that is expected
    size_t bodyLeft;     // HTTP: what is missing of the body
    bool isInBody;
};

static struct {
    const char *mode, *protocol, *pattern, *path, *tokenFile;
    long port, publishPort, connections, messageBytes, burst, count;
    double silence, duration, warmup;
} options = {.pattern = "single", .messageBytes = 100, .burst = 500, .count = 1, .silence = 1, .duration = 10, .warmup = 2};

static const struct Protocol *protocol;
static struct Connection *connections, publisher;
static int poller;
static long connecting, ready;
static double now;
// The round's arrivals; their times are in order as they come.
static uint64_t arrivals, lost, repeated;
static double *arrivalTimes, lastArrival;
// Requests.
static uint64_t answers;
static bool isRunning;
static char request[roomMax];
static size_t requestSize, replyBytes;
static char token[tokenBytesMax + 1];
// Of the last message that came.
static size_t noticeBytes;

__attribute__((format(printf, 2, 3), noreturn)) static void fail(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("peer_load: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    exit(code);
}

static double clockSeconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void broken(struct Connection *connection, const char *what) {
    fail(69, "the server said what was not expected on %s: %.*s", connection->isPublisher ? "the publisher" : "a subscriber",
         (int)strcspn(what, "\r\n"), what);
}

// Sends all of it; waits where the server does not read, which only a publisher's burst does.
void answer(struct Connection *connection, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t sent = write(connection->descriptor, bytes, size);
        if (sent < 0 && errno == EINTR) { continue; }
        if (sent < 0) { fail(69, "the server ended a connection: %s", strerror(errno)); }
        bytes += sent;
        size -= (size_t)sent;
    }
}

void subscribed(struct Connection *connection) {
    if (connection->isReady || connection->isPublisher) { return; }
    connection->isReady = true;
    ready += 1;
    connecting -= 1;
}

bool isSubscribed(const struct Connection *connection) { return connection->isReady; }

bool isPublisher(const struct Connection *connection) { return connection->isPublisher; }

const char *publishToken(void) { return token; }

void received(struct Connection *connection, const char *payload, size_t size) {
    if (connection->isPublisher) { return; }
    char digits[messageBytesMin + 1] = {0};
    if (size != (size_t)options.messageBytes) { fail(1, "a message of %zu bytes instead of %ld", size, options.messageBytes); }
    memcpy(digits, payload, messageBytesMin);
    numbered(connection, strtoull(digits, NULL, 16), size);
}

void numbered(struct Connection *connection, uint64_t number, size_t size) {
    noticeBytes = size;
    if (number < connection->next) {
        repeated += 1;
        return;
    }
    lost += number - connection->next;
    connection->next = number + 1;
    if (arrivalTimes && arrivals < (uint64_t)options.connections) { arrivalTimes[arrivals] = now; }
    arrivals += 1;
    lastArrival = now;
}

// HTTP: takes one answer, and asks again.
static size_t consumeAnswer(struct Connection *connection, const char *bytes, size_t size) {
    size_t done = 0;
    if (!connection->isInBody) {
        const char *end = memmem(bytes, size, "\r\n\r\n", 4);
        if (!end) { return 0; }
        if (strncmp(bytes, "HTTP/1.1 200", 12)) { broken(connection, bytes); }
        const char *length = memmem(bytes, size, "Content-Length: ", 16);
        if (!length || length > end) { fail(69, "an answer without Content-Length"); }
        connection->bodyLeft = replyBytes = (size_t)strtoul(length + 16, NULL, 10);
        connection->isInBody = true;
        done = (size_t)(end - bytes) + 4;
    }
    size_t here = size - done < connection->bodyLeft ? size - done : connection->bodyLeft;
    connection->bodyLeft -= here;
    if (connection->bodyLeft > 0) { return done + here; }
    connection->isInBody = false;
    answers += 1;
    if (!connection->isReady) {
        connection->isReady = true;
        ready += 1;
        connecting -= 1;
    }
    // While others still connect, no connection asks again: a busy server would accept slowly.
    if (isRunning) { answer(connection, request, requestSize); }
    return done + here;
}

static void readFrom(struct Connection *connection) {
    static char buffer[readBytesMax + roomMax + messageBytesMax];
    size_t size = connection->pendingSize;
    memcpy(buffer, connection->pending ? connection->pending : "", size);
    ssize_t count = recv(connection->descriptor, buffer + size, readBytesMax, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) { return; }
    if (count <= 0) { fail(69, "the server ended a connection: %s", count < 0 ? strerror(errno) : "closed"); }
    size += (size_t)count;
    size_t done = protocol ? protocol->consume(connection, buffer, size) : consumeAnswer(connection, buffer, size);
    connection->pendingSize = size - done;
    if (connection->pendingSize > roomMax + messageBytesMax) { fail(69, "a message of the server is too long"); }
    if (connection->pendingSize > 0) {
        if (!connection->pending) { connection->pending = malloc(roomMax + messageBytesMax); }
        memcpy(connection->pending, buffer + done, connection->pendingSize);
    }
}

static void look(double seconds) {
    struct epoll_event events[eventsMax];
    int count = epoll_wait(poller, events, eventsMax, seconds <= 0 ? 0 : (int)(seconds * 1000) + 1);
    if (count < 0 && errno != EINTR) { fail(70, "epoll_wait: %s", strerror(errno)); }
    for (int index = 0; index < count; index += 1) {
        now = clockSeconds();
        readFrom(events[index].data.ptr);
    }
    now = clockSeconds();
}

static void openConnection(struct Connection *connection, const char *first, size_t size) {
    long port = connection->isPublisher && options.publishPort ? options.publishPort : options.port;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    connection->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->descriptor < 0) { fail(69, "socket: %s", strerror(errno)); }
    setsockopt(connection->descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(connection->descriptor, (struct sockaddr *)&address, sizeof address) < 0) {
        fail(69, "cannot connect to port %ld: %s", port, strerror(errno));
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, connection->descriptor, &event) < 0) { fail(70, "epoll_ctl: %s", strerror(errno)); }
    answer(connection, first, size);
}

static void openAll(const char *first, size_t size) {
    double deadline = clockSeconds() + patienceSeconds;
    for (long opened = 0; ready < options.connections;) {
        while (opened < options.connections && connecting < connectingMax) {
            connecting += 1;
            openConnection(&connections[opened++], first, size);
        }
        look(0.01);
        if (now > deadline) { fail(69, "only %ld of %ld connections were answered", ready, options.connections); }
    }
}

static void publish(uint64_t first, long count) {
    // One buffer with all of them, written as fast as the server takes it; arrivals are read in between.
    char *wire = malloc((size_t)count * (roomMax + messageBytesMax)), *payload = malloc((size_t)options.messageBytes + 1);
    if (!wire || !payload) { fail(70, "no memory for a burst"); }
    memset(payload, 'x', (size_t)options.messageBytes);
    size_t size = 0;
    for (long index = 0; index < count; index += 1) {
        char digits[messageBytesMin + 1];
        snprintf(digits, sizeof digits, "%08llx", (unsigned long long)(first + (uint64_t)index));
        memcpy(payload, digits, messageBytesMin);
        size += protocol->publish(wire + size, payload, (size_t)options.messageBytes);
    }
    for (size_t sent = 0; sent < size;) {
        ssize_t written = send(publisher.descriptor, wire + sent, size - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (written > 0) { sent += (size_t)written; }
        if (written < 0 && errno != EAGAIN && errno != EINTR) { fail(69, "the server ended a connection: %s", strerror(errno)); }
        if (sent < size) { look(0.001); }
    }
    free(wire);
    free(payload);
}

// Publishes a round and waits until it is everywhere; returns when it began.
static double playRound(uint64_t first, long count) {
    arrivals = 0;
    double began = now = clockSeconds();
    uint64_t expected = (uint64_t)count * (uint64_t)options.connections;
    uint64_t missing = lost;
    publish(first, count);
    while (arrivals + (lost - missing) < expected) {
        look(0.1);
        if (now > began + patienceSeconds) {
            fail(1, "after %.0f s only %llu of %llu messages had come", patienceSeconds, (unsigned long long)arrivals,
                 (unsigned long long)expected);
        }
    }
    return began;
}

static void wait(double seconds) {
    for (double end = (now = clockSeconds()) + seconds; now < end;) { look(end - now); }
}

static long long unixMicroseconds(double instant) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (long long)((double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3 - (clockSeconds() - instant) * 1e6);
}

static double ownCPU(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int notices(void) {
    for (size_t index = 0; index < sizeof protocols / sizeof *protocols; index += 1) {
        if (options.protocol && !strcmp(options.protocol, protocols[index].name)) { protocol = &protocols[index]; }
    }
    if (!protocol) { fail(64, "--protocol must be one of those in --help"); }
    bool isBurst = !strcmp(options.pattern, "burst");
    char first[roomMax];
    openAll(first, protocol->subscribe(first));
    publisher = (struct Connection){.isPublisher = true, .isReady = true};
    openConnection(&publisher, first, protocol->greet(first));
    arrivalTimes = isBurst ? NULL : malloc((size_t)options.connections * sizeof *arrivalTimes);
    wait(0.1);
    printf("{\"mode\":\"notices\",\"protocol\":\"%s\",\"pattern\":\"%s\",\"connections\":%ld,\"rounds\":[", protocol->name, options.pattern,
           options.connections);
    uint64_t number = 0;
    for (long round = 0; round < options.count; round += 1) {
        if (isBurst) {
            playRound(number++, 1);
            double began = playRound(number, options.burst), took = lastArrival - began;
            number += (uint64_t)options.burst;
            printf("%s{\"messages\":%ld,\"received\":%llu,\"seconds\":%.6f,\"per_second\":%.1f,\"began_unix_us\":%lld,"
                   "\"ended_unix_us\":%lld}", round ? "," : "", options.burst, (unsigned long long)arrivals, took,
                   (double)arrivals / took, unixMicroseconds(began), unixMicroseconds(lastArrival));
        } else {
            wait(options.silence);
            double began = playRound(number++, 1);
            uint64_t count = arrivals ? arrivals : 1;
            printf("%s{\"first_us\":%.1f,\"median_us\":%.1f,\"p99_us\":%.1f,\"last_us\":%.1f,\"received\":%llu}", round ? "," : "",
                   (arrivalTimes[0] - began) * 1e6, (arrivalTimes[(count - 1) / 2] - began) * 1e6, (arrivalTimes[(count * 99 + 99) / 100 - 1] - began) * 1e6,
                   (arrivalTimes[count - 1] - began) * 1e6, (unsigned long long)arrivals);
        }
    }
    printf("],\"notice_bytes\":%zu,\"lost\":%llu,\"repeated\":%llu,\"own_cpu_seconds\":%.3f}\n", noticeBytes, (unsigned long long)lost,
           (unsigned long long)repeated, ownCPU());
    return lost || repeated ? 1 : 0;
}

static int requests(void) {
    if (!options.path || options.path[0] != '/') { fail(64, "--path must begin with /; see --help"); }
    int size = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: bench\r\n\r\n", options.path);
    if (size < 0 || (size_t)size >= sizeof request) { fail(64, "--path is too long"); }
    requestSize = (size_t)size;
    openAll(request, requestSize);
    isRunning = true;
    for (long index = 0; index < options.connections; index += 1) { answer(&connections[index], request, requestSize); }
    wait(options.warmup);
    uint64_t before = answers;
    double began = now, cpu = ownCPU();
    wait(options.duration);
    double took = now - began;
    uint64_t count = answers - before;
    printf("{\"mode\":\"requests\",\"kind\":\"http\",\"connections\":%ld,\"seconds\":%.6f,\"count\":%llu,\"per_second\":%.1f,"
           "\"request_bytes\":%zu,\"reply_bytes\":%zu,\"refused\":{},\"lost\":0,\"own_cpu_seconds\":%.3f,"
           "\"began_unix_us\":%lld,\"ended_unix_us\":%lld}\n",
           options.connections, took, (unsigned long long)count, (double)count / took, requestSize, replyBytes, ownCPU() - cpu,
           unixMicroseconds(began), unixMicroseconds(began + took));
    return 0;
}

static double number(const char *name, const char *text, double min, double max) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != 0 || !(value >= min && value <= max)) {
        fail(64, "%s must be from %g to %g, and is %s", name, min, max, text);
    }
    return value;
}

int main(int count, char **arguments) {
    for (int index = 1; index < count; index += 1) {
        if (!strcmp(arguments[index], "--help")) {
            fputs(help, stdout);
            return 0;
        }
    }
    options.mode = count > 1 ? arguments[1] : "";
    for (int index = 2; index < count; index += 2) {
        const char *name = arguments[index], *value = arguments[index + 1];
        if (index + 1 >= count) { fail(64, "%s needs a value; see --help", name); }
        if (!strcmp(name, "--protocol")) { options.protocol = value; }
        else if (!strcmp(name, "--pattern")) { options.pattern = value; }
        else if (!strcmp(name, "--path")) { options.path = value; }
        else if (!strcmp(name, "--port")) { options.port = (long)number(name, value, 1, 65535); }
        else if (!strcmp(name, "--publish-port")) { options.publishPort = (long)number(name, value, 1, 65535); }
        else if (!strcmp(name, "--publish-token-file")) { options.tokenFile = value; }
        else if (!strcmp(name, "--connections")) { options.connections = (long)number(name, value, 1, 1000000); }
        else if (!strcmp(name, "--message-bytes")) { options.messageBytes = (long)number(name, value, messageBytesMin, messageBytesMax); }
        else if (!strcmp(name, "--burst")) { options.burst = (long)number(name, value, 1, 100000); }
        else if (!strcmp(name, "--count")) { options.count = (long)number(name, value, 1, 100000); }
        else if (!strcmp(name, "--silence")) { options.silence = number(name, value, 0, 86400); }
        else if (!strcmp(name, "--duration")) { options.duration = number(name, value, 0.01, 86400); }
        else if (!strcmp(name, "--warmup")) { options.warmup = number(name, value, 0, 86400); }
        else { fail(64, "unknown option %s; see --help", name); }
    }
    if (!options.port || !options.connections) { fail(64, "--port and --connections are needed; see --help"); }
    if (strcmp(options.pattern, "single") && strcmp(options.pattern, "burst")) { fail(64, "--pattern must be single or burst"); }
    if (options.tokenFile) {
        FILE *file = fopen(options.tokenFile, "r");
        if (!file || !fgets(token, sizeof token, file)) { fail(64, "--publish-token-file cannot be read"); }
        token[strcspn(token, "\r\n")] = 0;
        fclose(file);
    }
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    connections = calloc((size_t)options.connections, sizeof *connections);
    poller = epoll_create1(EPOLL_CLOEXEC);
    if (!connections || poller < 0) { fail(70, "no memory or no epoll"); }
    if (!strcmp(options.mode, "notices")) { return notices(); }
    if (!strcmp(options.mode, "requests")) { return requests(); }
    fail(64, "the first word must be notices or requests; see --help");
}
