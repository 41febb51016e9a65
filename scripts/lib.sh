# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# What the scripts share. To be sourced, never run; it leaves the shell in the package's root folder.
#
#   CUECAST_SCRATCH_PATH   where builds go; .build unless told
#   TESTS_ARE_BUILT        when not empty, scripts that need the build of the tests find it and do not build
#   CI                     when not empty, as in continuous integration, builds are made for one run and not for developing
#   CUECAST_WARNINGS       `error` or `allow`; unless told, warnings are errors with the compiler that the project is
#                          developed with, and allowed with a newer one, which may have new warnings

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 70

# The oldest compiler that builds the package, and the one whose warnings are errors.
readonly swift_version_min="6.3"

# The folder of every build. One folder and one set of flags: other flags would build our modules anew.
scratch="${CUECAST_SCRATCH_PATH:-.build}"

# Ends the script with a sentence on the error output. Arguments: the exit code, then the sentence.
fail() {
    local code="$1"
    shift
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit "$code"
}

# The installed compiler's version, such as 6.3.1; nothing where there is none.
swift_version() {
    { swift --version 2>/dev/null || true; } | sed -nE 's/.*Swift version ([0-9]+(\.[0-9]+)+).*/\1/p' | head -n 1
}

# Whether the first version is the second or newer.
version_at_least() {
    [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]
}

# Whether the compiler is the one that the project is developed with.
is_own_compiler() {
    case "$(swift_version)" in
        "$swift_version_min" | "$swift_version_min".*) true ;;
        *) false ;;
    esac
}

# Sets `swift_flags`, the flags of every build and test run.
# SwiftPM leaves the flag that makes warnings errors out for dependencies, so that theirs never fail a build.
choose_swift_flags() {
    swift_flags=(--scratch-path "$scratch")
    local warnings="${CUECAST_WARNINGS:-}"
    if [ -z "$warnings" ]; then
        if is_own_compiler; then warnings=error; else warnings=allow; fi
    fi
    case "$warnings" in
        error) swift_flags+=(-Xswiftc -warnings-as-errors) ;;
        allow) ;;
        *) fail 64 "CUECAST_WARNINGS is '$warnings'; it may be 'error' or 'allow'" ;;
    esac
    # Built once, from nothing, and neither debugged nor looked up in an editor: whole modules without debug information take a fifth
    # less time, and a tenth less again where no module is read twice, once for those that import it. A developer's next build takes less
    # time without.
    if [ -n "${CI:-}" ]; then
        swift_flags+=(
            -debug-info-format none
            -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -no-emit-module-separately-wmo
        )
        # It links in half of the time, twenty programs and the tests.
        if [ -x "$(dirname "$(readlink -f "$(command -v swiftc)")")/ld.lld" ]; then swift_flags+=(-Xswiftc -use-ld=lld); fi
    fi
}

# Builds everything and the tests, unless the whole check has done so a moment ago.
build_everything() {
    if [ -z "${TESTS_ARE_BUILT:-}" ]; then swift build "${swift_flags[@]}" --build-tests; fi
}

# Builds the products given, unless the whole check has built everything a moment ago: what a build of everything compiled, a
# build of one product compiles once more.
build_products() {
    local product
    if [ -n "${TESTS_ARE_BUILT:-}" ]; then return; fi
    for product in "$@"; do swift build "${swift_flags[@]}" --product "$product"; done
}

# Prints the folder of what is built with `swift_flags`. After the build of the whole check the package manager is not asked: it
# works on one question at a time, and steps run beside each other.
built_folder() {
    if [ -n "${TESTS_ARE_BUILT:-}" ]; then
        realpath "$scratch/debug"
    else
        swift build "${swift_flags[@]}" --show-bin-path
    fi
}

# Sets `release_flags`, the flags of every optimised build: one set, so that nothing is built twice. Swift's own libraries
# are linked in, so that the binaries run where no Swift is installed. Names of folders are replaced
# (docs/internals/decisions/0035-a-release-without-a-toolchain.md). Commit and compiler
# are told to one small file (Sources/CBuildFacts), so that another commit compiles no more than that.
choose_release_flags() {
    local from="$PWD" option
    RELEASE_COMMIT="$(build_commit)"
    RELEASE_SWIFT_VERSION="$(swift_version)"
    export RELEASE_COMMIT RELEASE_SWIFT_VERSION
    # Parts of the optimiser go through sets, whose order is another in every process unless this is set.
    export SWIFT_DETERMINISTIC_HASHING=1
    release_flags=(--scratch-path "$scratch" -c release --static-swift-stdlib --disable-local-rpath)
    for option in -file-prefix-map "$from=/cuecast"; do release_flags+=(-Xswiftc "$option"); done
    release_flags+=(-Xcc "-ffile-prefix-map=$from=/cuecast")
}

# The commit of what is built: `unknown` without git, with `-changed` where files differ from it.
build_commit() {
    local commit
    if [ -n "${RELEASE_COMMIT:-}" ]; then
        printf '%s' "$RELEASE_COMMIT"
    elif [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$PWD" ] && commit="$(git rev-parse HEAD 2>/dev/null)"; then
        [ -z "$(git status --porcelain 2>/dev/null)" ] || commit+="-changed"
        printf '%s' "$commit"
    else
        printf 'unknown'
    fi
}

# The time of what is built, in seconds since 1970: of its commit, or of the newest entry of the package's changelog.
build_time() {
    if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
        printf '%s' "$SOURCE_DATE_EPOCH"
    elif [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$PWD" ]; then
        git log -1 --format=%ct
    else
        date --date="$(sed -nE '/^ -- /{s/.*>  //p;q}' deploy/debian/changelog)" +%s
    fi
}

# Prints the path of the program docc, which comes with the toolchain.
find_docc() {
    if [ "$(uname -s)" = Darwin ]; then
        xcrun --find docc
    else
        printf '%s' "$(dirname "$(readlink -f "$(command -v swiftc)")")/docc"
    fi
}

# How long one run of tests may take before it counts as hung: longer than the limit of every suite
# (Tests/Shared/SuiteLimit.swift), which names the test.
readonly test_run_seconds_max="${CUECAST_TEST_SECONDS_MAX:-5400}"

# Ends the test process once it has run for too long: what hangs must fail. Where the one given is a `swift test` its child
# is ended and not itself, which would keep the last lines to itself, and with them what had begun.
end_hung_tests() {
    local runner="$1" nap children=""
    sleep "$test_run_seconds_max" &
    nap="$!"
    trap 'kill "$nap" 2>/dev/null; exit' TERM
    wait "$nap"
    if [ "$(cat /proc/"$runner"/comm 2>/dev/null)" = swift-test ]; then
        children="$(cat /proc/"$runner"/task/*/children 2>/dev/null || true)"
    fi
    # shellcheck disable=SC2086 # several process ids
    kill ${children:-"$runner"} 2>/dev/null
}

# Lets each test wait for half an hour, for scripts that run many at once or beside load: a busy machine must fail no test.
# Otherwise a test waits for 20 s, so that a developer reads of a broken condition soon.
be_patient() {
    export CUECAST_TEST_PATIENCE="${CUECAST_TEST_PATIENCE:-1800}"
}

# What stands before `swift test`, such as `nice`.
test_prefix=()

# Runs the tests that are built, with the arguments given; fails when none ran. Call `choose_swift_flags` and build before.
run_tests() {
    # XCTest is not used; without it the output ends with what counts.
    run_watched "${test_prefix[@]}" swift test "${swift_flags[@]}" --skip-build --disable-xctest "$@"
}

# Runs a command that runs tests; fails when none ran, or when it does not end.
run_watched() {
    local log status=0 started="$SECONDS"
    log="$(mktemp)"
    {
        "$@" </dev/null 2>&1 &
        local runner="$!" watch ended=0
        end_hung_tests "$runner" >/dev/null 2>&1 &
        watch="$!"
        wait "$runner" || ended="$?"
        kill "$watch" 2>/dev/null || true
        (exit "$ended")
    } | tee "$log" || status="$?"
    if [ $((SECONDS - started)) -ge "$test_run_seconds_max" ]; then
        echo "the tests had not ended after $test_run_seconds_max s; what began above and did not end there hangs" >&2
    fi
    if [ "$status" -eq 0 ] && ! grep -Eq 'Test run with [1-9][0-9]* tests?' "$log"; then
        echo "no test ran" >&2
        status=1
    fi
    if [ "$status" -ne 0 ] && [ -n "$test_failures" ]; then
        # The name of what ran stands at its command's end.
        printf '%s\n' "${!#}" >>"$test_failures"
        grep '^✘' "$log" >>"$test_failures" || tail -n 5 "$log" >>"$test_failures"
    fi
    rm -f "$log"
    return "$status"
}

# The targets that take longest, so that they begin first.
readonly longest_targets=(
    ListenerSimulationTests LoadEngineTests GatewayCoreTests GatewayTests GatewayHTTPTests SQLiteStoreTests CuecastWireTests AdFormatsTests
)

# The process groups of the targets that run now, with their names: a script that ends before them ends these.
running_targets=()

# Ends the targets that run.
end_running_targets() {
    local group
    for group in "${!running_targets[@]}"; do kill -- "-$group" 2>/dev/null || true; done
}

# How many targets run at a time: two that compute, on two cores, and two that wait for most of their time.
readonly targets_at_a_time=4

# Where each target's seconds go, when set.
target_times=""

# Where the lines of what failed go, when set.
test_failures=""

# How many tests of a target run at a time. Hundreds that wait for each other on a busy machine take minutes each, and compute half as much
# again, since they look whether what they wait for has come. The option is of the compiler that the project is developed with.
readonly tests_at_a_time=8

# Runs the tests of one target that is built: a process for each. In one process the property tests, which compute without a
# pause, would take all threads of Swift's pool, and tests with real sockets would wait for their turn until they fail. Not by
# `swift test`, of which only one can work in a folder at a time.
run_target() {
    local bundle="$1" target="$2" started="$SECONDS" width=() status=0
    if is_own_compiler; then width=(--experimental-maximum-parallelization-width "$tests_at_a_time"); fi
    printf '\n-- %s\n' "$target"
    run_watched env NO_COLOR=1 "$bundle" --testing-library swift-testing "${width[@]}" --filter "^$target\." || status="$?"
    printf -- '-- %s: %s s\n' "$target" "$((SECONDS - started))"
    if [ -n "${target_times:-}" ]; then printf ' %s %s s;' "$target" "$((SECONDS - started))" >>"$target_times"; fi
    return "$status"
}

# The target whose tests start servers of NATS. They wait for elections by the clock, and a busy machine can fail them: `make
# test-jetstream` runs them.
readonly jetstream_target=JetStreamLogTests

# Runs the tests of all targets that are built, but for those with servers of NATS.
run_all_tests() {
    local names=() target
    for target in Tests/*Tests; do
        target="${target#Tests/}"
        if [ "$target" != "$jetstream_target" ]; then names+=("$target"); fi
    done
    run_named_targets "${names[@]}"
}

# Runs the tests of the given targets that are built, some targets at a time, and shows the output of each when it has ended. A
# target that fails keeps no other from its turn: one run tells of everything. What failed comes last.
run_named_targets() {
    local bundle target ended status=0 logs in_order=()
    test_failures="$(mktemp)"
    logs="$(mktemp -d)"
    bundle="$(built_folder)/cuecastPackageTests.xctest"
    for target in "${longest_targets[@]}"; do
        if [[ " $* " == *" $target "* ]]; then in_order+=("$target"); fi
    done
    for target in "$@"; do
        if [[ " ${longest_targets[*]} " != *" $target "* ]]; then in_order+=("$target"); fi
    done
    while [ "${#in_order[@]}" -gt 0 ] || [ "${#running_targets[@]}" -gt 0 ]; do
        while [ "${#in_order[@]}" -gt 0 ] && [ "${#running_targets[@]}" -lt "$targets_at_a_time" ]; do
            set -m  # A process group of its own, to be ended with all that it started.
            (set +m; run_target "$bundle" "${in_order[0]}") >"$logs/${in_order[0]}" 2>&1 </dev/null &
            set +m
            running_targets["$!"]="${in_order[0]}"
            in_order=("${in_order[@]:1}")
        done
        ended=""
        wait -n -p ended "${!running_targets[@]}" || status="$?"
        cat "$logs/${running_targets["$ended"]}"
        unset "running_targets[$ended]"
    done
    if [ -s "$test_failures" ]; then
        printf '\nWhat failed:\n'
        cat "$test_failures"
    fi
    rm -rf -- "$logs" "$test_failures"
    test_failures=""
    return "$status"
}

# Lists our Swift files, one a line, without what was generated or built.
our_swift_files() {
    local root roots=(Package.swift)
    for root in Sources Tests Examples Snippets Benchmarks scripts; do
        [ -d "$root" ] && roots+=("$root")
    done
    find "${roots[@]}" \( -name '.build*' -o -name Generated \) -prune -o -type f -name '*.swift' -print | sort
}

# Makes a package of links to this one's folders whose manifest has only the targets that CUECAST_SUBSET names, and what
# these need. Its manifest is written only where it differs: one that looks new makes everything look new.
# Arguments: the folder, which may exist; files that stand at the manifest's end.
make_subset() {
    local folder
    mkdir -p "$1"
    for folder in Sources Tests Benchmarks; do ln -sfn "$PWD/$folder" "$1/$folder"; done
    # What looks for snippets does not follow links.
    rm -rf "$1/Snippets"
    cp --recursive --preserve=timestamps Snippets "$1/Snippets"
    cat Package.swift scripts/subset.swift "${@:2}" >"$1/Package.swift.new"
    if cmp -s "$1/Package.swift.new" "$1/Package.swift"; then
        rm "$1/Package.swift.new"
    else
        mv "$1/Package.swift.new" "$1/Package.swift"
    fi
}
