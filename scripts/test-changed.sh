#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# The quick check while you develop: builds and runs what a change can break, and no more. `make test` runs everything.
#
#   scripts/test-changed.sh            what differs from the branch `main`, committed or not
#   scripts/test-changed.sh --since REV    what differs from another commit
#   scripts/test-changed.sh --list     prints what it would run, and runs nothing
#
# It runs the lint, the build with warnings as errors, each test target that depends on a changed file, and the files of end-to-end
# tests that changed. It leaves out the other end-to-end tests, the sanitizers, the instruction counts, the attacks and the packages.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

since=""
list=""
while [ "$#" -gt 0 ]; do
    case "$1" in
        --since)
            since="${2:-}"
            [ -n "$since" ] || fail 64 "--since needs a commit, for example: --since HEAD~1"
            shift
            ;;
        --list) list=yes ;;
        *) fail 64 "unknown argument '$1'; there are --since REV and --list" ;;
    esac
    shift
done

# The commit where this branch left main. On main itself: the newest commit of its remote, else HEAD.
choose_since() {
    local main branch
    branch="$(git symbolic-ref --quiet --short HEAD || true)"
    for main in main origin/main; do
        [ "$main" != "$branch" ] || continue
        if since="$(git merge-base HEAD "$main" 2>/dev/null)"; then return; fi
    done
    since=HEAD
}

[ -n "$since" ] || choose_since
git rev-parse --quiet --verify "$since^{commit}" >/dev/null || fail 64 "'$since' is no commit of this repository"
mapfile -t changed < <({ git diff --name-only "$since" && git ls-files --others --exclude-standard; } | sort -u)
if [ "${#changed[@]}" -eq 0 ]; then
    echo "test-changed: nothing differs from $(git rev-parse --short "$since")"
    exit 0
fi

SECONDS=0
work="$(swift package --scratch-path "$scratch" dump-package | scripts/changed-targets "${changed[@]}")"
mapfile -t targets < <(sed -n 's/^target //p' <<<"$work")
mapfile -t end_to_end < <(sed -n 's/^end-to-end //p' <<<"$work")
echo "test-changed: ${#changed[@]} files differ from $(git rev-parse --short "$since"); test targets: ${targets[*]:-none};" \
    "end-to-end tests: ${end_to_end[*]:-none}"
if [ -n "$list" ]; then exit 0; fi

has() { grep -Fxq -- "$1" <<<"$work"; }

make --no-print-directory lint
if has documents; then scripts/check-documents; fi
if has scripts; then python3 scripts/checkers_test.py; fi
choose_swift_flags
if [ "${#targets[@]}" -gt 0 ] || [ "${#end_to_end[@]}" -gt 0 ]; then
    swift build "${swift_flags[@]}" --build-tests
fi
status=0
if [ "${#targets[@]}" -gt 0 ]; then
    trap end_running_targets EXIT
    run_named_targets "${targets[@]}" || status="$?"
fi
CUECAST_BIN="$(built_folder)/cuecast"
export CUECAST_BIN
for name in "${end_to_end[@]}"; do
    (cd Tests/EndToEnd && /usr/bin/python3 -m unittest "$name") || status="$?"
done
if [ "$status" -eq 0 ]; then
    echo "test-changed: passed in $SECONDS s; before you push, run make test"
else
    echo "test-changed: FAILED after $SECONDS s" >&2
fi
exit "$status"
