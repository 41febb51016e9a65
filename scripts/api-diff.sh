#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Says what in the public libraries breaks code that uses them, compared with an earlier revision. Exits with 1 where
# something does that .api-allowlist does not allow: one message a line, as it is printed here.
#
#   scripts/api-diff.sh             compares with the last tag; without tags, with the commit before this branch
#   scripts/api-diff.sh REVISION    compares with that revision
#
# Builds both in a folder of its own, only the libraries. What was found out about a revision is kept there.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

# The libraries that others may use. One that the earlier revision does not have yet is left out.
readonly libraries=(AdFormats AdPresentation Cuecast CuecastApplicaster CuecastBroadcast CuecastDianomi CuecastMycrocast
    CuecastNIO CuecastTesting CuecastZeroMQ)

revision="${1:-}"
if [ -z "$revision" ]; then
    revision="$(git describe --tags --abbrev=0 2>/dev/null || true)"
fi
if [ -z "$revision" ]; then
    revision="$(git merge-base HEAD main 2>/dev/null || true)"
    # On the main branch itself: what the last commit changed.
    if [ -z "$revision" ] || [ "$(git rev-parse "$revision")" = "$(git rev-parse HEAD)" ]; then revision="HEAD~1"; fi
fi
baseline="$(git rev-parse --verify --quiet "$revision^{commit}")" || fail 64 "there is no revision $revision"

own="$PWD/$scratch-api"
package="$own/package"
export CUECAST_SUBSET="${libraries[*]}"

# In the repository that the package manager compares: no hooks or settings of the user's, and always the same commit for
# the same content, so that a revision that was looked at before is known.
git_here() {
    GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_DATE="2026-01-01T00:00:00Z" GIT_COMMITTER_DATE="2026-01-01T00:00:00Z" \
        git -C "$package" -c user.name=api-diff -c user.email=api-diff@localhost -c commit.gpgsign=false "$@"
}

# Makes `package` the sources that come as an archive on the input, with a manifest of the libraries only.
take_sources() {
    rm -rf "$package/Sources" "$package/Package.swift"
    tar -x -C "$package" Sources Package.swift
    cat scripts/subset.swift >>"$package/Package.swift"
}

rm -rf "$package"
mkdir -p "$package"
git_here init --quiet
git archive --format=tar "$baseline" Sources Package.swift | take_sources
git_here add --all
git_here commit --quiet --no-verify --message "baseline"
compared="$(git_here rev-parse HEAD)"
tar -c Sources Package.swift | take_sources

allowlist=()
if [ -f .api-allowlist ]; then
    grep -Ev '^(#|$)' .api-allowlist >"$own/allowlist" || true
    allowlist=(--breakage-allowlist-path "$own/allowlist")
fi
echo "api-diff: compares with $revision ($(git log -1 --format='%h, %s' "$baseline"))"
log="$own/log"
status=0
swift package --package-path "$package" --scratch-path "$own/build" diagnose-api-breaking-changes "${allowlist[@]}" \
    --baseline-dir "$own/baselines" "$compared" 2>&1 | tee "$log" | { grep -v '^\[[0-9]' || true; } || status="$?"
[ "$status" -ne 0 ] || exit 0
# It did not find breaking changes, it failed.
grep -Fq "API breakage: " "$log" || exit "$status"

# A new case breaks no client if the enum is @nonexhaustive, which the package manager does not look at: every switch of
# others has a default.
grep -F "API breakage: " "$log" | sed 's/.*API breakage: /API breakage: /' >"$own/breakages"
find Sources -name '*.swift' -exec cat {} + | awk '
    match($0, /^ *(public )?(final )?(struct|class|actor|enum|extension) [A-Za-z.]+/) {
        indent = match($0, /[^ ]/) - 1
        name = substr($0, RSTART); sub(/^.*(struct|class|actor|enum|extension) /, "", name); sub(/[^A-Za-z.].*/, "", name)
        for (outer in names) if (outer + 0 >= indent) delete names[outer]
        names[indent] = name
        if (before ~ /@nonexhaustive/) {
            path = ""
            for (level = 0; level <= indent; level += 4) if (level in names) path = path names[level] "\\."
            print path
        }
    }
    { before = $0 }' | sort -u |
    while IFS= read -r path; do
        sed -i -E "/^API breakage: enumelement ${path}[^. ]+ has been added as a new enum case$/d" "$own/breakages"
    done
[ -s "$own/breakages" ] || { echo "api-diff: only new cases of @nonexhaustive enums, which break no client"; exit 0; }
printf '\napi-diff: this breaks code that uses the libraries:\n' >&2
cat "$own/breakages" >&2
echo "api-diff: undo it, or allow it by adding its line to .api-allowlist with the reason above it" >&2
exit 1
