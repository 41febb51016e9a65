#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Every check and test, from a fresh clone to the end: what `make test` and continuous integration run. Stops at the first
# step that fails, names it, and exits with its code. Quick checks come first where nothing has to be installed. What builds
# everything once more with other flags is not part of it: `make instructions`, `make test-tsan` and `make test-asan`.
#
#   scripts/check.sh
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
be_patient

# What the steps leave behind: `passed` with a line for each, and for the main line and each that runs beside it a folder
# with `step`, the name of the one that runs, and `log`, the output of those beside.
records="$(mktemp -d)"
mkdir "$records/main"
touch "$records"/{passed,main/step}
own="$records/main"
target_times="$records/targets"
# What runs beside: the process groups by the name of their function.
declare -A beside=()

# Ends the run: the summary, and which step failed.
close() {
    local status="$?" line failed group
    for group in "${beside[@]}"; do kill -- "-$group" 2>/dev/null || true; done
    end_running_targets
    failed="$(cat "$records/${failed_beside:-main}/step")"
    printf '\n'
    while read -r line; do printf '  passed  %s\n' "$line"; done <"$records/passed"
    if [ -e "$target_times" ]; then printf '  targets%s\n' "$(cat "$target_times")"; fi
    if [ "$status" -ne 0 ]; then
        printf '  FAILED  %s\n\ncheck: step "%s" failed with exit code %s, after %s s in all\n' \
            "$failed" "$failed" "$status" "$SECONDS"
        # The output of those beside stands far above.
        if [ -n "${failed_beside:-}" ]; then
            printf 'Its last lines:\n'
            tail -n 12 "$records/$failed_beside/log" | cut -c 1-400
        fi
    else
        printf '\ncheck: all %s steps passed in %s s\n' "$(wc -l <"$records/passed")" "$SECONDS"
    fi
    rm -rf -- "$records"
}
trap close EXIT

# Sets `computed` to the seconds that this shell and the programs that it waited for have computed.
count_computed() {
    # Not in a shell of its own, which would have computed nothing yet.
    times >"$own/times"
    computed="$(awk '{ for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum += part[1] * 60 + part[2] } }
        END { printf "%d", sum }' "$own/times")"
}

# Runs one step: its name, then the command. Never call this where the shell suspends `set -e` (`if`, `&&`, `||`).
step() {
    local started="$SECONDS" before line
    count_computed
    before="$computed"
    printf '%s' "$1" >"$own/step"
    printf '\n== %s\n' "$1"
    "${@:2}" </dev/null
    count_computed
    line="$(printf '%-45s %5s s, computing %5s s' "$1" "$((SECONDS - started))" "$((computed - before))")"
    printf '%s\n' "$line" >>"$records/passed"
    printf '== passed: %s\n' "$line"
    : >"$own/step"
    check_beside
}

# Runs a function that has steps beside the steps that follow; its output comes when it has ended.
begin_beside() {
    mkdir "$records/$1"
    touch "$records/$1"/{step,log}
    set -m  # A process group of its own, to be ended with all that it started.
    (
        set +m
        trap - EXIT
        own="$records/$1"
        check_beside() { :; }
        "$1"
    ) >"$records/$1/log" 2>&1 </dev/null &
    beside["$1"]="$!"
    set +m
}

# Shows what those beside said that have ended; ends the run where one has failed.
check_beside() {
    local name status
    for name in "${!beside[@]}"; do
        if kill -0 "${beside["$name"]}" 2>/dev/null; then continue; fi
        status=0
        wait "${beside["$name"]}" || status="$?"
        unset "beside[$name]"
        cat "$records/$name/log"
        if [ "$status" -ne 0 ]; then
            failed_beside="$name"
            exit "$status"
        fi
    done
}

# Waits for all that run beside, whichever ends first.
end_beside() {
    while [ "${#beside[@]}" -gt 0 ]; do
        wait -n "${beside[@]}" || true  # check_beside asks how it ended.
        check_beside
    done
}

# The scripts themselves: their syntax, what shellcheck finds where it is installed, whether the checkers can fail, and
# whether the measurements compute right.
check_scripts() {
    local files=(scripts/*.sh scripts/make-manuals .ci/run) file
    for file in "${files[@]}"; do bash -n "$file"; done
    if command -v shellcheck >/dev/null; then shellcheck --external-sources --severity=warning "${files[@]}"; fi
    python3 scripts/checkers_test.py
    python3 Benchmarks/compare_test.py
    python3 Benchmarks/instructions_test.py
    python3 Tests/Hostile/hostile_test.py
    python3 Tests/Faults/checker_test.py
}

# Programs of their own, which wait for most of their time.
waiting_steps() {
    step "attacks, short" scripts/hostile.sh --short
    step "measurements work" scripts/bench.sh --smoke
    step "counted operations work" scripts/instructions.sh --smoke
}

# Once more what connections, groups, limits and stops of the gateway do, with several threads for listeners.
run_tests_on_four_threads() {
    CUECAST_TEST_EDGE_THREADS=4 run_tests --filter \
        '^GatewayTests\.(HappyPath|Connection|Durability|Drain|Limit|LogCapacity|NewestBoard|Recovery|Restart|BadInput)'
}

# What the tests need is fetched while the build computes.
set_up_tests() {
    step "setup, what the tests need" scripts/setup.sh
}

# What needs no build. It comes before the build where nothing had to be installed.
quick_steps() {
    step "scripts" check_scripts
    step "headers, Safety lines and time limits" scripts/check-sources
    step "imports" scripts/check-imports
    step "the dashboard in the program is current" scripts/embed-dashboard --check
    step "documents" scripts/check-documents
    step "JavaScript library" scripts/check-javascript
}

# What needs the build and mostly one core.
steps_of_the_build() {
    step "licences of what is linked in" scripts/check-copyright
    step "sanitizers find mistakes" scripts/sanitize.sh --self-test
    step "generated code is current" scripts/generate-proto.sh --check
    step "reference pages are current" scripts/reference-pages.sh --check
    step "client library without libzmq" scripts/check-without-zeromq.sh --short
    step "documentation" scripts/docs.sh
    step "web content" /usr/bin/python3 Tests/WebContent/test_web_content.py
    step "deploy, short" scripts/check-deploy.sh
}

step "setup" scripts/setup.sh build
begin_beside set_up_tests
step "format" scripts/format.sh lint
is_checked=""
if [ "${#beside[@]}" -eq 0 ]; then
    quick_steps
    is_checked=yes
fi
choose_swift_flags
step "build, warnings are errors" build_everything
export TESTS_ARE_BUILT=yes
end_beside
if [ -z "$is_checked" ]; then quick_steps; fi
begin_beside steps_of_the_build
step "tests" run_all_tests
end_beside
step "tests, four threads for listeners" run_tests_on_four_threads
step "tests of the log on NATS, without servers" run_tests --filter "^$jetstream_target\\.(AnswerQueue|LogTail|StreamGuard|StreamText)"
# The tests above draw a seed of their own in every run, so that some of the suites are enough to see that the script works.
step "property tests with new seeds" scripts/fuzz.sh --rounds 1 --only 'HostileBytesTests|RoundTripTests'
# Not beside the tests above, which are load enough for two cores.
begin_beside waiting_steps
step "end to end" scripts/end-to-end.sh
step "crash test, short" scripts/crash.sh --moments 3
step "backup test, short" scripts/backups.sh --rounds 3
step "fault rounds, short" scripts/jepsen.sh --short
end_beside
