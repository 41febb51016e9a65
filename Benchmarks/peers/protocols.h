// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors
//
// The protocols that `peer_load` speaks: what a subscriber sends, when it is subscribed, where its messages are, and how a
// message is published. Only as much of each as its server needs; every server is started by the measurement itself.

#ifndef PEER_PROTOCOLS_H
#define PEER_PROTOCOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Connection;

// What a connection's bytes mean; implemented by the load itself.
void subscribed(struct Connection *connection);
bool isSubscribed(const struct Connection *connection);
bool isPublisher(const struct Connection *connection);
void received(struct Connection *connection, const char *payload, size_t size);
// The same where the message has another length than the one that was published: its number alone.
void numbered(struct Connection *connection, uint64_t number, size_t size);
void answer(struct Connection *connection, const char *bytes, size_t size);
// The bearer token that a publisher shows, at most 2,048 bytes; empty where none is needed.
const char *publishToken(void);
_Noreturn void broken(struct Connection *connection, const char *what);

struct Protocol {
    const char *name;
    // What a subscriber sends first; at most `roomMax` bytes.
    size_t (*subscribe)(char *room);
    // Takes whole messages from the start of what has come, and returns how many bytes they were.
    size_t (*consume)(struct Connection *connection, const char *bytes, size_t size);
    // What a publisher sends first, and one message.
    size_t (*greet)(char *room);
    size_t (*publish)(char *room, const char *payload, size_t size);
};

enum { roomMax = 1024 };

static size_t put(char *room, const char *text) {
    size_t size = strlen(text);
    memcpy(room, text, size);
    return size;
}

static size_t putNothing(char *room) {
    (void)room;
    return 0;
}

// The length of the line at the start, without its end; −1 where its end has not come.
static long lineLength(const char *bytes, size_t size) {
    const char *end = memchr(bytes, '\n', size);
    return end ? end - bytes : -1;
}

// NATS: INFO from the server, then CONNECT, SUB and PING; PONG proves the subscription. MSG SUBJECT SID SIZE.

static size_t natsSubscribe(char *room) {
    return put(room, "CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB bench 1\r\nPING\r\n");
}

static size_t natsGreet(char *room) {
    return put(room, "CONNECT {\"verbose\":false,\"pedantic\":false}\r\n");
}

static size_t natsConsume(struct Connection *connection, const char *bytes, size_t size) {
    size_t done = 0;
    for (;;) {
        const char *line = bytes + done;
        long length = lineLength(line, size - done);
        if (length < 0) { return done; }
        size_t after = done + (size_t)length + 1;
        if (!strncmp(line, "MSG ", 4)) {
            const char *number = memrchr(line, ' ', (size_t)length);
            size_t payload = (size_t)strtoul(number, NULL, 10);
            if (size - after < payload + 2) { return done; }
            received(connection, bytes + after, payload);
            after += payload + 2;
        } else if (!strncmp(line, "PONG", 4)) {
            subscribed(connection);
        } else if (!strncmp(line, "PING", 4)) {
            answer(connection, "PONG\r\n", 6);
        } else if (strncmp(line, "INFO", 4)) {
            broken(connection, line);
        }
        done = after;
    }
}

static size_t natsPublish(char *room, const char *payload, size_t size) {
    size_t head = (size_t)sprintf(room, "PUB bench %zu\r\n", size);
    memcpy(room + head, payload, size);
    memcpy(room + head + size, "\r\n", 2);
    return head + size + 2;
}

// MQTT 3.1.1, QoS 0: CONNECT and SUBSCRIBE; SUBACK proves the subscription.

static size_t mqttConnect(char *room) {
    // A clean session, no keep-alive, and an empty client id: the server chooses one.
    return memcpy(room, "\x10\x0c\x00\x04MQTT\x04\x02\x00\x00\x00\x00", 14), (size_t)14;
}

static size_t mqttSubscribe(char *room) {
    size_t size = mqttConnect(room);
    memcpy(room + size, "\x82\x0a\x00\x01\x00\x05" "bench\x00", 12);
    return size + 12;
}

static size_t mqttConsume(struct Connection *connection, const char *bytes, size_t size) {
    size_t done = 0;
    while (size - done >= 2) {
        const unsigned char *packet = (const unsigned char *)bytes + done;
        size_t remaining = 0, head = 1;
        for (int shift = 0;; shift += 7, head += 1) {
            if (head >= size - done) { return done; }
            if (shift > 21) { broken(connection, "a length of more than four bytes"); }
            remaining |= (size_t)(packet[head] & 0x7F) << shift;
            if (packet[head] < 0x80) { break; }
        }
        head += 1;
        if (size - done < head + remaining) { return done; }
        switch (packet[0] >> 4) {
        case 3: {
            size_t topic = 2 + ((size_t)packet[head] << 8 | packet[head + 1]);
            if (topic > remaining) { broken(connection, "a topic longer than its packet"); }
            received(connection, (const char *)packet + head + topic, remaining - topic);
            break;
        }
        case 2:
            if (packet[head + 1] != 0) { broken(connection, "CONNACK with a refusal"); }
            break;
        case 9: subscribed(connection); break;
        default: broken(connection, "a packet without a request");
        }
        done += head + remaining;
    }
    return done;
}

static size_t mqttPublish(char *room, const char *payload, size_t size) {
    size_t remaining = 7 + size, at = 0;
    room[at++] = 0x30;
    for (size_t left = remaining;; left >>= 7) {
        room[at++] = (char)(left > 0x7F ? (left & 0x7F) | 0x80 : left);
        if (left <= 0x7F) { break; }
    }
    memcpy(room + at, "\x00\x05" "bench", 7);
    memcpy(room + at + 7, payload, size);
    return at + 7 + size;
}

// Redis (RESP2): SUBSCRIBE is answered by an array of three, as are messages.

static size_t redisSubscribe(char *room) {
    return put(room, "SUBSCRIBE bench\r\n");
}

// One bulk string or integer at the start; false where it is not whole.
static bool redisItem(const char *bytes, size_t size, size_t *used, const char **text, size_t *textSize) {
    long length = lineLength(bytes, size);
    if (length < 0) { return false; }
    *used = (size_t)length + 1;
    if (bytes[0] != '$') { return true; }
    *textSize = (size_t)strtoul(bytes + 1, NULL, 10);
    if (size - *used < *textSize + 2) { return false; }
    *text = bytes + *used;
    *used += *textSize + 2;
    return true;
}

static size_t redisConsume(struct Connection *connection, const char *bytes, size_t size) {
    size_t done = 0;
    for (;;) {
        long length = lineLength(bytes + done, size - done);
        if (length < 0) { return done; }
        // A publisher's answers are integers.
        if (bytes[done] == ':') {
            done += (size_t)length + 1;
            continue;
        }
        if (strncmp(bytes + done, "*3\r\n", 4)) { broken(connection, bytes + done); }
        size_t at = done + 4, used = 0, kindSize = 0, textSize = 0;
        const char *kind = NULL, *text = NULL;
        if (!redisItem(bytes + at, size - at, &used, &kind, &kindSize)) { return done; }
        at += used;
        if (!redisItem(bytes + at, size - at, &used, &text, &textSize)) { return done; }
        at += used;
        if (!redisItem(bytes + at, size - at, &used, &text, &textSize)) { return done; }
        at += used;
        if (kindSize == 7 && !memcmp(kind, "message", 7)) {
            received(connection, text, textSize);
        } else {
            subscribed(connection);
        }
        done = at;
    }
}

static size_t redisPublish(char *room, const char *payload, size_t size) {
    size_t head = (size_t)sprintf(room, "*3\r\n$7\r\nPUBLISH\r\n$5\r\nbench\r\n$%zu\r\n", size);
    memcpy(room + head, payload, size);
    memcpy(room + head + size, "\r\n", 2);
    return head + size + 2;
}

// Nchan: subscribers read an EventSource, whose messages are lines that begin with `data: `; publishers POST.

static size_t nchanSubscribe(char *room) {
    return put(room, "GET /sub HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\n\r\n");
}

static size_t nchanConsume(struct Connection *connection, const char *bytes, size_t size) {
    size_t done = 0;
    for (;;) {
        const char *line = bytes + done;
        long length = lineLength(line, size - done);
        if (length < 0) { return done; }
        if (!strncmp(line, "data: ", 6)) {
            received(connection, line + 6, (size_t)length - 6);
        } else if (!strncmp(line, "HTTP/1.1 ", 9)) {
            if (line[9] != '2') { broken(connection, line); }
            subscribed(connection);
        }
        done += (size_t)length + 1;
    }
}

static size_t nchanPublish(char *room, const char *payload, size_t size) {
    size_t head = (size_t)sprintf(room, "POST /pub HTTP/1.1\r\nHost: bench\r\nContent-Length: %zu\r\n\r\n", size);
    memcpy(room + head, payload, size);
    return head + size;
}

// WebSocket (RFC 6455): an upgrade, then frames. What a server sends has no mask, and no server here splits a message.

#define UPGRADE "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"

// Takes the answer to the upgrade, and then whole messages, each of which `take` gets; a publisher speaks plain HTTP.
static size_t webSocketConsume(struct Connection *connection, const char *bytes, size_t size,
                               void (*take)(struct Connection *, const char *, size_t)) {
    if (isPublisher(connection)) { return nchanConsume(connection, bytes, size); }
    size_t done = 0;
    if (!isSubscribed(connection)) {
        const char *end = memmem(bytes, size, "\r\n\r\n", 4);
        if (!end) { return 0; }
        if (strncmp(bytes, "HTTP/1.1 101", 12)) { broken(connection, bytes); }
        subscribed(connection);
        done = (size_t)(end - bytes) + 4;
    }
    while (size - done >= 2) {
        const unsigned char *frame = (const unsigned char *)bytes + done;
        size_t head = 2, length = frame[1];
        if (length > 126) { broken(connection, "a frame with a mask, or of 64 KiB"); }
        if (length == 126) {
            if (size - done < 4) { return done; }
            head = 4;
            length = (size_t)frame[2] << 8 | frame[3];
        }
        if (size - done < head + length) { return done; }
        switch (frame[0]) {
        case 0x81: case 0x82: take(connection, (const char *)frame + head, length); break;
        case 0x89: case 0x8A: break;
        default: broken(connection, "a frame that is no message, or a part of one");
        }
        done += head + length;
    }
    return done;
}

// Nchan by WebSocket: a message of the channel is a message of text.

static size_t nchanSocketSubscribe(char *room) {
    return put(room, "GET /socket HTTP/1.1\r\nHost: bench\r\n" UPGRADE "\r\n");
}

static size_t nchanSocketConsume(struct Connection *connection, const char *bytes, size_t size) {
    return webSocketConsume(connection, bytes, size, received);
}

// The gateway by WebSocket (ZWS 2.0, https://rfc.zeromq.org/spec/45/): a routing id, a subscription of the stream `bench`, both masked
// with zeros; then notices. A break is published over HTTP, and its id has the message's number.

static size_t cuecastSubscribe(char *room) {
    size_t head = put(room, "GET / HTTP/1.1\r\nHost: bench\r\nSec-WebSocket-Protocol: ZWS2.0\r\n" UPGRADE "\r\n");
    memcpy(room + head, "\x82\x81\0\0\0\0\0" "\x82\x88\0\0\0\0\0\1bench\0", 7 + 14);
    return head + 7 + 14;
}

static void cuecastTake(struct Connection *connection, const char *payload, size_t size) {
    // A repeated position tells of no break; the first message is the gateway's routing id.
    const char *id = memmem(payload, size, "break-", 6);
    if (!id || size - (size_t)(id - payload) < 14) { return; }
    char digits[9] = {0};
    memcpy(digits, id + 6, 8);
    numbered(connection, strtoull(digits, NULL, 16), size);
}

static size_t cuecastConsume(struct Connection *connection, const char *bytes, size_t size) {
    return webSocketConsume(connection, bytes, size, cuecastTake);
}

static size_t cuecastPublish(char *room, const char *payload, size_t size) {
    static const char body[] = "{\"cued\":true,\"duration\":\"30s\",\"ads\":[{\"id\":\"a\",\"duration\":\"30s\",\"media\":[{\"url\":\"https://cdn.example.com/a.mp3\"}]}]}";
    (void)size;
    return (size_t)sprintf(room, "PUT /v1/streams/bench/breaks/break-%.8s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
                                 "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                           payload, publishToken(), sizeof body - 1, body);
}

static const struct Protocol protocols[] = {
    {"nats", natsSubscribe, natsConsume, natsGreet, natsPublish},
    {"mqtt", mqttSubscribe, mqttConsume, mqttConnect, mqttPublish},
    {"redis", redisSubscribe, redisConsume, putNothing, redisPublish},
    {"nchan", nchanSubscribe, nchanConsume, putNothing, nchanPublish},
    {"nchan-websocket", nchanSocketSubscribe, nchanSocketConsume, putNothing, nchanPublish},
    {"cuecast-websocket", cuecastSubscribe, cuecastConsume, putNothing, cuecastPublish},
};

#endif
