// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors
//
// The least that makes records durable on servers of NATS: js_PublishMsgAsync of libnats with so many bytes, so many under way,
// and nothing around it. Each answer is waited for; an error ends the program.

#include "program.h"

#include <nats/nats.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

static const char *help =
    "usage: jetstream_append --servers URLS --subject SUBJECT [--bytes N] [--window N] [--seconds S] [--warmup S]\n"
    "\n"
    "Publishes messages to a stream for so long, with so many that wait for their answers, and prints one JSON object:\n"
    "records and bytes a second, from sending to the answer (median, 99th percentile, longest, in microseconds), and its own CPU\n"
    "seconds. What is answered during the warm-up does not count.\n"
    "\n"
    "  --servers URLS      nats://HOST:PORT, with commas\n"
    "  --subject SUBJECT   of a stream that exists\n"
    "  --bytes N           of a message (default 30000; 8 to 4194304)\n"
    "  --window N          how many wait for their answers at most (default 64; 1 to 65536)\n"
    "  --seconds S         how long it is measured (default 10)\n"
    "  --warmup S          before that (default 1)\n"
    "\n"
    "example: jetstream_append --servers nats://127.0.0.1:4222 --subject bare.log.breaks --bytes 300 --window 1\n";

enum {
    bytesMin = 8,
    bytesMax = 4 << 20,
    windowMax = 65536,
    // A machine that is busy takes longer than any that is not: only a server that hangs is given up.
    answerMilliseconds = 600 * 1000,
    // Latencies in microseconds are counted up to here; longer ones count as this.
    latenciesMax = 1 << 22,
};

struct Measurement {
    // Nanoseconds of the monotonic clock: only answers in between count.
    int64_t from, until;
    atomic_llong answered;
    atomic_llong longest;
    atomic_llong failures;
    // How often each microsecond was met. The library calls the handler from one thread.
    uint32_t *latencies;
    char error[256];
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void check(natsStatus status, const char *operation) {
    if (status != NATS_OK) { fail(exitUnavailable, "%s: %s", operation, natsStatus_GetText(status)); }
}

static void answered(jsCtx *context, natsMsg *message, jsPubAck *answer, jsPubAckErr *error, void *closure) {
    (void)context;
    struct Measurement *measurement = closure;
    if (!answer) {
        if (atomic_fetch_add(&measurement->failures, 1) == 0) {
            snprintf(measurement->error, sizeof measurement->error, "%s", error && error->ErrText ? error->ErrText : "no answer");
        }
        natsMsg_Destroy(message);
        return;
    }
    int64_t sent, came = now();
    memcpy(&sent, natsMsg_GetData(message), sizeof sent);
    natsMsg_Destroy(message);
    if (came < measurement->from || came >= measurement->until) { return; }
    int64_t took = (came - sent) / 1000;
    atomic_fetch_add(&measurement->answered, 1);
    if (took > atomic_load(&measurement->longest)) { atomic_store(&measurement->longest, took); }
    measurement->latencies[took < latenciesMax ? took : latenciesMax - 1] += 1;
}

static int64_t quantile(const struct Measurement *measurement, double share) {
    int64_t count = atomic_load(&measurement->answered), passed = 0;
    for (int64_t took = 0; took < latenciesMax; took += 1) {
        passed += measurement->latencies[took];
        if (count && (double)passed >= share * (double)count) { return took; }
    }
    return 0;
}

static double cpuSeconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double number(const char *name, const char *text, double least, double most) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most)) { fail(exitUsage, "%s is from %g to %g; it was %s", name, least, most, text); }
    return value;
}

int main(int count, char **arguments) {
    programName = "jetstream_append";
    const char *servers = NULL, *subject = NULL;
    double bytes = 30000, window = 64, seconds = 10, warmup = 1;
    for (int index = 1; index < count; index += 1) {
        const char *name = arguments[index];
        if (!strcmp(name, "--help")) {
            fputs(help, stdout);
            return 0;
        }
        const char *value = optionValue(count, arguments, &index);
        if (!strcmp(name, "--servers")) {
            servers = value;
        } else if (!strcmp(name, "--subject")) {
            subject = value;
        } else if (!strcmp(name, "--bytes")) {
            bytes = number(name, value, bytesMin, bytesMax);
        } else if (!strcmp(name, "--window")) {
            window = number(name, value, 1, windowMax);
        } else if (!strcmp(name, "--seconds")) {
            seconds = number(name, value, 0.01, 86400);
        } else if (!strcmp(name, "--warmup")) {
            warmup = number(name, value, 0, 86400);
        } else {
            fail(exitUsage, "unknown option %s; see --help", name);
        }
    }
    stopOnSignals();
    if (!servers || !subject) { fail(exitUsage, "--servers and --subject are needed; see --help"); }

    struct Measurement measurement = {.latencies = calloc(latenciesMax, sizeof(uint32_t))};
    unsigned char *record = malloc((size_t)bytes);
    if (!measurement.latencies || !record) { fail(exitSoftware, "there is not enough memory"); }
    // Nothing that could be compressed on its way.
    uint64_t state = 1;
    for (size_t at = 0; at < (size_t)bytes; at += 1) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        record[at] = (unsigned char)(state >> 56);
    }

    natsOptions *options = NULL;
    natsConnection *connection = NULL;
    jsCtx *stream = NULL;
    jsOptions streamOptions;
    check(natsOptions_Create(&options), "natsOptions_Create");
    char *copy = strdup(servers), *rest = copy;
    const char *urls[16];
    int urlCount = 0;
    for (char *each; (each = strsep(&rest, ",")) && urlCount < 16;) { urls[urlCount++] = each; }
    check(natsOptions_SetServers(options, urls, urlCount), "natsOptions_SetServers");
    // Otherwise a message waits for others that could go with it.
    check(natsOptions_SetSendAsap(options, true), "natsOptions_SetSendAsap");
    check(natsConnection_Connect(&connection, options), servers);
    check(jsOptions_Init(&streamOptions), "jsOptions_Init");
    streamOptions.PublishAsync.MaxPending = (int64_t)window;
    streamOptions.PublishAsync.StallWait = answerMilliseconds;
    streamOptions.PublishAsync.AckHandler = answered;
    streamOptions.PublishAsync.AckHandlerClosure = &measurement;
    check(natsConnection_JetStream(&stream, connection, &streamOptions), "natsConnection_JetStream");

    measurement.from = now() + (int64_t)(warmup * 1e9);
    measurement.until = measurement.from + (int64_t)(seconds * 1e9);
    double cpu = 0;
    bool isWarm = false;
    for (int64_t sent; (sent = now()) < measurement.until && !atomic_load(&measurement.failures);) {
        if (mustStop) { fail(exitSoftware, "stopped by a signal before the measurement was over"); }
        if (!isWarm && sent >= measurement.from) {
            isWarm = true;
            cpu = cpuSeconds();
        }
        natsMsg *message = NULL;
        memcpy(record, &sent, sizeof sent);
        check(natsMsg_Create(&message, subject, NULL, (const char *)record, (int)bytes), "natsMsg_Create");
        check(js_PublishMsgAsync(stream, &message, NULL), "js_PublishMsgAsync");
        natsMsg_Destroy(message);
    }
    cpu = cpuSeconds() - cpu;
    jsPubOptions wait;
    check(jsPubOptions_Init(&wait), "jsPubOptions_Init");
    wait.MaxWait = answerMilliseconds;
    check(js_PublishAsyncComplete(stream, &wait), "js_PublishAsyncComplete");
    if (atomic_load(&measurement.failures)) { fail(exitUnavailable, "a message was not stored: %s", measurement.error); }

    double perSecond = (double)atomic_load(&measurement.answered) / seconds;
    printf("{\"bytes\":%d,\"window\":%d,\"seconds\":%g,\"count\":%lld,\"per_second\":%.1f,\"bytes_per_second\":%.0f,\"p50_us\":%lld,"
           "\"p99_us\":%lld,\"max_us\":%lld,\"own_cpu_seconds\":%.3f}\n",
           (int)bytes, (int)window, seconds, (long long)atomic_load(&measurement.answered), perSecond, perSecond * bytes,
           (long long)quantile(&measurement, 0.5), (long long)quantile(&measurement, 0.99),
           (long long)atomic_load(&measurement.longest), cpu);
    jsCtx_Destroy(stream);
    natsConnection_Destroy(connection);
    natsOptions_Destroy(options);
    nats_Close();
    free(copy);
    free(record);
    free(measurement.latencies);
    return 0;
}
