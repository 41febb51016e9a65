#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Every check and test, from a fresh clone to the end: what `make test` and continuous integration run. Stops at the first
# step that fails, names it, and exits with its code. Quick checks come first.
#
#   scripts/check.sh
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

done_steps=()
current_step=""

# Ends the run: the summary, and which step failed.
close() {
    local status="$?" line
    printf '\n'
    for line in "${done_steps[@]}"; do printf '  passed  %s\n' "$line"; done
    if [ -n "$current_step" ]; then
        printf '  FAILED  %s\n\ncheck: step "%s" failed with exit code %s, after %s s in all\n' \
            "$current_step" "$current_step" "$status" "$SECONDS"
    else
        printf '\ncheck: all %s steps passed in %s s\n' "${#done_steps[@]}" "$SECONDS"
    fi
}
trap close EXIT

# Runs one step: its name, then the command. Never call this where the shell suspends `set -e` (`if`, `&&`, `||`).
step() {
    local started="$SECONDS"
    current_step="$1"
    printf '\n== %s\n' "$current_step"
    shift
    "$@" </dev/null
    done_steps+=("$(printf '%-45s %5s s' "$current_step" "$((SECONDS - started))")")
    printf '== passed: %s\n' "${done_steps[-1]}"
    current_step=""
}

# The scripts themselves: their syntax, what shellcheck finds where it is installed, whether the checkers can fail, and
# whether the measurements compute right.
check_scripts() {
    local files=(scripts/*.sh .ci/run) file
    for file in "${files[@]}"; do bash -n "$file"; done
    if command -v shellcheck >/dev/null; then shellcheck --external-sources --severity=warning "${files[@]}"; fi
    python3 scripts/checkers_test.py
    python3 Benchmarks/compare_test.py
    python3 Benchmarks/instructions_test.py
}

step "setup" scripts/setup.sh
step "scripts" check_scripts
step "format" scripts/format.sh lint
step "headers and Safety lines" scripts/check-sources
step "imports" scripts/check-imports
step "documents" scripts/check-documents
choose_swift_flags
step "build, warnings are errors" swift build "${swift_flags[@]}" --build-tests
step "generated code is current" scripts/generate-proto.sh --check
step "client library without libzmq" scripts/check-without-zeromq.sh
step "documentation" scripts/docs.sh
step "tests" run_all_tests
step "sanitizers find mistakes" scripts/sanitize.sh --self-test
step "thread sanitizer, short" env CUECAST_SANITIZED_TESTS="CuecastTests CuecastZeroMQTests" \
    scripts/sanitize.sh thread 'ClientTests|ClientLifeTests|ObserverTests|DelegateKindTests|ZeroMQListenerTests|ListenerJournalTests'
step "property tests with new seeds" scripts/fuzz.sh --seconds 20
step "instructions of the hot paths" scripts/instructions.sh
step "end to end" scripts/end-to-end.sh
step "crash test, short" scripts/crash.sh --moments 3
step "measurements work" scripts/bench.sh --smoke
