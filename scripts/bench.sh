#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Measures what docs/internals/performance.md states, on this machine, and gates nothing. The whole takes about two hours; a plot
# and the results stay in the folder `bench` of the build.
#
#   scripts/bench.sh                     everything
#   scripts/bench.sh --rows NAME,…       some rows of the comparison; other arguments go to Benchmarks/compare.py too
#   scripts/bench.sh --peers [ARGS]      the same work on other servers: arguments go to Benchmarks/peers.py
#   scripts/bench.sh --smoke             only shows that the comparison works, with the build of the tests, in seconds
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
be_patient

python=/usr/bin/python3
command -v "$python" >/dev/null || python=python3
results="$scratch/bench"

if [ "${1:-}" = --smoke ]; then
    choose_swift_flags
    build_products cuecast cuecast-load
    binaries="$(built_folder)"
    folder="$(mktemp -d)"
    trap 'rm -rf -- "$folder"' EXIT
    "$python" Benchmarks/compare.py --smoke --binary "$binaries/cuecast" --load "$binaries/cuecast-load" \
        --results "$folder" "${@:2}"
    "$python" Benchmarks/plot.py --results "$folder" --output "$folder/performance.svg"
    exit
fi

choose_release_flags
products=(cuecast cuecast-load)
products+=(cuecast-bench)
for product in "${products[@]}"; do
    swift build "${release_flags[@]}" --product "$product"
done
binaries="$(swift build "${release_flags[@]}" --show-bin-path)"

if [ "${1:-}" = --peers ]; then
    exec "$python" Benchmarks/peers.py --binary "$binaries/cuecast" --load "$binaries/cuecast-load" \
        --results "$results" "${@:2}"
fi

if [ "$#" -eq 0 ]; then
    printf '\n== from a publication to its notice\n'
    "$python" Benchmarks/notice_latency.py --binary "$binaries/cuecast"
    printf '\n== how long stopping takes\n'
    "$python" Benchmarks/stop_times.py --binary "$binaries/cuecast" || true  # It says so itself, and gates nothing here.
fi
printf '\n== the gateway and bare libzmq and SQLite\n'
status=0
"$python" Benchmarks/compare.py --binary "$binaries/cuecast" --load "$binaries/cuecast-load" \
    --bench-tool "$binaries/cuecast-bench" --results "$results" "$@" || status="$?"
"$python" Benchmarks/plot.py --results "$results" --output "$results/performance.svg"
exit "$status"
