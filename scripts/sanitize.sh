#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Runs the client libraries' tests with a sanitizer of the compiler: `thread` finds data races, `address` finds reads and
# writes outside of what was allocated. Builds into a folder of its own, only what these tests need.
#
#   scripts/sanitize.sh thread            all of them
#   scripts/sanitize.sh address
#   scripts/sanitize.sh thread Simulation only the tests whose names match
#   scripts/sanitize.sh --self-test       checks that each sanitizer finds what is put in its way
#
#   CUECAST_SANITIZED_TESTS   the test targets, unless told: those below that there are
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
be_patient

readonly usage="usage: scripts/sanitize.sh thread|address [FILTER], or --self-test"
readonly candidates=(CuecastTests CuecastTestingTests ListenerTransportTests AdPresentationTests)

# Tells the sanitizer how to report: everything, and with an exit code that fails the run. Argument: the sanitizer.
set_options() {
    case "$1" in
        thread)
            export TSAN_OPTIONS="halt_on_error=0:exitcode=66"
            if [ "$(uname)" = Linux ]; then
                # Only Swift's own compiler knows how Swift's functions are called from C.
                local mutex
                mutex="$(cd "$own" && pwd)/mutex.so"
                "$(dirname "$(readlink -f "$(command -v swiftc)")")/clang" -Wall -Wextra -Werror -O1 -fPIC -shared \
                    scripts/sanitizers/mutex.c -o "$mutex"
                preload="$mutex"
            fi
            ;;
        # What Swift's runtime keeps for ever is no leak.
        address) export ASAN_OPTIONS="detect_leaks=0:exitcode=66" ;;
    esac
}

# Builds a small program with a sanitizer, runs it, and leaves its exit code in `status` and its words in `output`.
# Arguments: the sanitizer, the file.
try() {
    status=0
    # The linker has much to say of the sanitizer's own names, and none of it matters.
    output="$(swiftc -parse-as-library -swift-version 6 "-sanitize=$1" "$2" -o "$own/try" 2>&1)" || fail 1 "$output"
    output="$(LD_PRELOAD="$preload" "$own/try" 2>&1)" || status="$?"
}

# Insists that each sanitizer finds the mistake that it has to find, and nothing where there is none.
self_test() {
    set_options thread
    try thread scripts/sanitizers/mistake-thread.swift
    if [ "$status" -eq 0 ] || ! grep -Fq "WARNING: ThreadSanitizer" <<<"$output"; then
        fail 1 "the thread sanitizer did not find the race: $output"
    fi
    try thread scripts/sanitizers/mutex-is-fine.swift
    if [ "$status" -ne 0 ]; then fail 1 "the thread sanitizer reports where there is no mistake: $output"; fi
    preload=""
    set_options address
    try address scripts/sanitizers/mistake-address.swift
    if [ "$status" -eq 0 ] || ! grep -Fq "AddressSanitizer: heap-use-after-free" <<<"$output"; then
        fail 1 "the address sanitizer did not find the mistake: $output"
    fi
    echo "sanitize: both sanitizers find what they have to find, and nothing else"
}

[ $# -ge 1 ] || fail 64 "$usage"
preload=""
if [ "$1" = "--self-test" ]; then
    own="$(mktemp -d)"
    trap 'rm -rf -- "$own"' EXIT
    self_test
    exit
fi
kind="$1"
case "$kind" in thread | address) ;; *) fail 64 "$usage" ;; esac

if [ -z "${CUECAST_SANITIZED_TESTS:-}" ]; then
    for target in "${candidates[@]}"; do
        if [ -d "Tests/$target" ]; then CUECAST_SANITIZED_TESTS+="${CUECAST_SANITIZED_TESTS:+ }$target"; fi
    done
fi
export CUECAST_SUBSET="$CUECAST_SANITIZED_TESTS"
own="$scratch-$kind"
make_subset "$own/package"
# They show more libraries than are tested here.
rm -rf "$own/package/Snippets"

swift_flags=(--package-path "$own/package" --scratch-path "$own/build" --sanitize "$kind")
{ swift build "${swift_flags[@]}" --build-tests 2>&1; } | { grep -Fv "Cannot export local symbol" || true; }
set_options "$kind"
export LD_PRELOAD="$preload"
CUECAST_SAMPLES="${CUECAST_SAMPLES:-$PWD/../shared/samples}"
export CUECAST_SAMPLES
# One test at a time: what computes without a pause is ten times slower here, and would keep those that wait from going on.
how=(--no-parallel)
if [ $# -gt 1 ]; then
    run_tests "${how[@]}" --filter "$2"
else
    for target in $CUECAST_SANITIZED_TESTS; do
        printf '\n-- %s, %s sanitizer\n' "$target" "$kind"
        run_tests "${how[@]}" --filter "^$target\."
    done
fi
