// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors
//
// Runs a program with a disk that is slow to synchronise: slow_sync FILE PROGRAM [ARGUMENT…]
//
// Each fsync, fdatasync and sync_file_range of the program waits for as many nanoseconds as the first eight bytes of FILE say, one
// after the other, as at one disk. The number may change at any time. The kernel tells a helper process of each call (seccomp user
// notification), so that it works for programs that do not use the C library, such as nats-server. The program keeps the process id.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "add this architecture's number of linux/audit.h"
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

static void end(const char *what) {
    fprintf(stderr, "slow_sync: %s: %s\n", what, strerror(errno));
    exit(70);
}

// A descriptor goes through a socket.
static void send_descriptor(int socket, int descriptor) {
    char byte = 0, control[CMSG_SPACE(sizeof descriptor)] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
    if (sendmsg(socket, &message, 0) != 1) end("sendmsg");
}

static int receive_descriptor(int socket) {
    int descriptor;
    char byte, control[CMSG_SPACE(sizeof descriptor)];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) exit(70);  // The program did not start, and says so itself.
    memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
    return descriptor;
}

// Answers each call after the time that the file says, until no process has the filter any more.
static void supervise(int calls, const _Atomic int64_t *delay) {
    struct seccomp_notif_sizes sizes;
    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) end("seccomp sizes");
    struct seccomp_notif *call = calloc(1, sizes.seccomp_notif);
    struct seccomp_notif_resp *answer = calloc(1, sizes.seccomp_notif_resp);
    if (call == NULL || answer == NULL) end("calloc");
    while (1) {
        struct pollfd wanted = {calls, POLLIN, 0};
        if (poll(&wanted, 1, -1) < 0 && errno != EINTR) end("poll");
        if (wanted.revents & POLLHUP) exit(0);
        if (!(wanted.revents & POLLIN)) continue;
        memset(call, 0, sizes.seccomp_notif);
        if (ioctl(calls, SECCOMP_IOCTL_NOTIF_RECV, call) != 0) continue;  // The program was killed meanwhile.
        int64_t nanoseconds = atomic_load(delay);
        if (nanoseconds > 0) {
            struct timespec pause = {nanoseconds / 1000000000, nanoseconds % 1000000000};
            nanosleep(&pause, NULL);
        }
        memset(answer, 0, sizes.seccomp_notif_resp);
        answer->id = call->id;
        answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(calls, SECCOMP_IOCTL_NOTIF_SEND, answer);
    }
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "usage: slow_sync FILE PROGRAM [ARGUMENT...]\n");
        return 64;
    }
    int file = open(arguments[1], O_RDONLY | O_CLOEXEC);
    if (file < 0) end(arguments[1]);
    _Atomic int64_t *delay = mmap(NULL, sizeof *delay, PROT_READ, MAP_SHARED, file, 0);
    if (delay == MAP_FAILED) end("mmap");
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) end("socketpair");

    // A grandchild, so that the program has no child that it does not know of.
    pid_t child = fork();
    if (child < 0) end("fork");
    if (child == 0) {
        if (fork() != 0) _exit(0);
        close(pair[0]);
        close(STDIN_FILENO);
        close(STDOUT_FILENO);
        supervise(receive_descriptor(pair[1]), delay);
    }
    waitpid(child, NULL, 0);

    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsync, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fdatasync, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sync_file_range, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) end("prctl");
    unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    int calls = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);
    // Linux before 5.19 begins a call again where a signal comes; that only takes longer.
    if (calls < 0 && errno == EINVAL) calls = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    if (calls < 0) end("seccomp");
    send_descriptor(pair[0], calls);
    close(calls);
    execvp(arguments[2], arguments + 2);
    end(arguments[2]);
}
