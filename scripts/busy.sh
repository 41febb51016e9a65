#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Runs tests, or any command, while other programs keep every core busy: what passes only on a quiet machine fails here.
#
#   scripts/busy.sh                          every test target, the end-to-end tests among them, 10 times
#   scripts/busy.sh --times N TARGET…        so often; some targets: GatewayTests, …, EndToEnd
#   scripts/busy.sh --nice …                 also at nice 19, where the others leave next to nothing
#   scripts/busy.sh [--nice] -- COMMAND…     a command, once, with its exit code
#
# Goes on after a failure; says at the end which targets failed how often, and exits with 1 when one did. The output of each
# run that failed stays in the folder `busy` of the build.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
be_patient

times=10
prefix=()
targets=()
while [ "$#" -gt 0 ]; do
    case "$1" in
        --times)
            times="${2:-}"
            [[ "$times" =~ ^[1-9][0-9]*$ ]] || fail 64 "--times is '$times'; it must be a number above 0"
            shift
            ;;
        --nice) prefix=(nice -n 19) ;;
        --) break ;;
        -*) fail 64 "unknown argument '$1'; there are --times N, --nice, and -- COMMAND" ;;
        *)
            [ "$1" = EndToEnd ] || [ -d "Tests/$1" ] || fail 64 "there is no test target '$1'"
            targets+=("$1")
            ;;
    esac
    shift
done

# The other programs: one for each core, and two at least.
hogs=()
end_hogs() {
    for hog in "${hogs[@]}"; do kill "$hog" 2>/dev/null || true; done
}
keep_busy() {
    local count
    count="$(getconf _NPROCESSORS_ONLN)"
    [ "$count" -ge 2 ] || count=2
    trap end_hogs EXIT
    while [ "${#hogs[@]}" -lt "$count" ]; do
        (while :; do :; done) &
        hogs+=("$!")
    done
}

if [ "${1:-}" = "--" ]; then
    shift
    [ "$#" -gt 0 ] || fail 64 "say which command"
    keep_busy
    status=0
    "${prefix[@]}" "$@" || status="$?"
    exit "$status"
fi

if [ "${#targets[@]}" -eq 0 ]; then
    for target in Tests/*Tests; do targets+=("${target#Tests/}"); done
    targets+=(EndToEnd)
fi
# What `run_tests` puts before `swift test`.
test_prefix=("${prefix[@]}")
choose_swift_flags
swift build "${swift_flags[@]}" --build-tests
logs="$scratch/busy"
mkdir -p "$logs"
keep_busy
SECONDS=0

# Runs one target once.
run_target() {
    case "$1" in
        EndToEnd) "${prefix[@]}" scripts/end-to-end.sh ;;
        *) run_tests --filter "^$1\." ;;
    esac
}

failed_targets=0
summary=()
for target in "${targets[@]}"; do
    began="$SECONDS"
    failures=0
    for ((run = 1; run <= times; run++)); do
        log="$logs/$target-$run.log"
        if run_target "$target" >"$log" 2>&1; then
            rm -f "$log"
        else
            failures=$((failures + 1))
            echo "busy: $target failed in run $run; the output is in $log" >&2
        fi
    done
    [ "$failures" -eq 0 ] || failed_targets=$((failed_targets + 1))
    summary+=("$(printf '%-28s %3s of %3s runs failed %6s s' "$target" "$failures" "$times" "$((SECONDS - began))")")
    echo "${summary[-1]}"
done
printf '\nbusy: beside %s busy programs%s:\n' "${#hogs[@]}" "${prefix[*]:+, with ${prefix[*]}}"
printf '  %s\n' "${summary[@]}"
[ "$failed_targets" -eq 0 ] || fail 1 "$failed_targets targets failed"
