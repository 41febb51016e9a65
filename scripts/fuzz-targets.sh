#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Looks for bytes of strangers that break what reads them: libFuzzer with the address sanitizer, on one target after the other.
# Tests repeat the inputs that are kept (Tests/FuzzTargets/Corpora).
#
#   scripts/fuzz-targets.sh                        each target for a minute
#   scripts/fuzz-targets.sh --seconds 1200 --only NAME…   some of them, for twenty minutes each
#   scripts/fuzz-targets.sh --keep [--only NAME…]  keeps the fewest inputs of all runs that reach what all of them reach
#
#   CUECAST_FUZZ_CONFIGURATION   `release` unless told; `debug` is built in a third of the time and runs many times slower
#
# What runs found stays in the build folder, and the next run begins with it. Exit codes: 0 nothing was found; 1 an input breaks
# a target, its file and how to repeat it are told; 64 usage.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

readonly usage="usage: scripts/fuzz-targets.sh [--seconds N | --keep] [--only NAME…]"
readonly corpora=Tests/FuzzTargets/Corpora
# The longest input, in bytes: a little longer than a request may be.
readonly bytes_max=20000
# Kept inputs are shorter than this, so that all of them together stay small.
readonly kept_bytes_max=2000

seconds=60
keep=""
names=()
while [ $# -gt 0 ]; do
    case "$1" in
        --seconds)
            [[ "${2:-}" =~ ^[0-9]+$ ]] || fail 64 "$usage"
            seconds="$2"
            shift 2
            ;;
        --keep)
            keep=yes
            shift
            ;;
        --only)
            shift
            while [ $# -gt 0 ] && [[ "$1" != --* ]]; do
                [ -d "$corpora/$1" ] || fail 64 "there is no target $1; there are: $(ls "$corpora" | tr '\n' ' ')"
                names+=("$1")
                shift
            done
            ;;
        *) fail 64 "$usage" ;;
    esac
done
[ "${#names[@]}" -gt 0 ] || for folder in "$corpora"/*/; do names+=("$(basename "$folder")"); done

own="$scratch-fuzz"
readonly configuration="${CUECAST_FUZZ_CONFIGURATION:-release}"

# Builds the targets with what libFuzzer needs in them, and links them with it.
build() {
    local flags=(--package-path "$own/package" --scratch-path "$own/build" -c "$configuration" --product Fuzz)
    # In one option: of two the last one counts.
    local sanitizers=-sanitize=fuzzer,address option
    # What is true while developing is insisted on here too.
    for option in "$sanitizers" -assert-config Debug; do flags+=(-Xswiftc "$option"); done
    CUECAST_SUBSET=FuzzTargets make_subset "$own/package" scripts/fuzz-targets.swift
    # They show more libraries than are built here.
    rm -rf "$own/package/Snippets"
    CUECAST_SUBSET=FuzzTargets swift build "${flags[@]}"
    swiftc "$sanitizers" -o "$own/fuzz" \
        -Xlinker --whole-archive "$own/build/$configuration/libFuzz.a" -Xlinker --no-whole-archive
}

# Runs libFuzzer. Arguments: the target, then libFuzzer's.
fuzz() {
    # What Swift's runtime keeps for ever is no leak, and its own backtraces wait for ever beside the sanitizer.
    CUECAST_FUZZ_TARGET="$1" ASAN_OPTIONS=detect_leaks=0 SWIFT_BACKTRACE=enable=no "$own/fuzz" -detect_leaks=0 -rss_limit_mb=4096 \
        -artifact_prefix="$own/findings/$1-" "${@:2}"
}

run() {
    local name="$1" log="$own/$1.log" status=0
    fuzz "$name" -max_total_time="$seconds" -max_len="$bytes_max" -print_final_stats=1 \
        "$own/corpora/$name" "$corpora/$name" >"$log" 2>&1 || status="$?"
    if [ "$status" -ne 0 ]; then
        tail -n 60 "$log" >&2
        fail 1 "$name: an input breaks it; repeat with CUECAST_FUZZ_TARGET=$name $own/fuzz FILE"
    fi
    if grep -Fq "Is the code instrumented for coverage?" "$log"; then fail 1 "$name: nothing was learnt, see $log"; fi
    printf '%s: %s inputs in %s s, nothing found; %s\n' "$name" \
        "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" "$seconds" \
        "$(sed -n 's/.*\(cov: .*\) exec\/s.*/\1/p' "$log" | tail -n 1)"
}

# Replaces the kept inputs of a target by as few that reach the same.
keep_inputs() {
    local name="$1" fewest
    fewest="$(mktemp -d)"
    fuzz "$name" -set_cover_merge=1 -max_len="$kept_bytes_max" "$fewest" "$own/corpora/$name" "$corpora/$name" \
        >"$own/$name.log" 2>&1 || fail 1 "$name: the inputs could not be merged, see $own/$name.log"
    rm -rf -- "${corpora:?}/$name"
    mv "$fewest" "$corpora/$name"
    chmod -R u=rwX,go=rX "$corpora/$name"
    printf '%s: %s inputs, %s bytes\n' "$name" "$(find "$corpora/$name" -type f | wc -l)" \
        "$(cat "$corpora/$name"/* | wc -c)"
}

build
for name in "${names[@]}"; do
    mkdir -p "$own/findings" "$own/corpora/$name"
    if [ -n "$keep" ]; then keep_inputs "$name"; else run "$name"; fi
done
