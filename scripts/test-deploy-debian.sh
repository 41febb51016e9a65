#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Tests the Debian package as a user without this folder: in a bare Debian 12 without Swift, first
# where no systemd runs, then where systemd is the first process. Needs root, for namespaces of mounts, processes and
# network: whatever happens, nothing that was started or mounted outlives the test, and its ports are its own.
#
#   scripts/test-deploy-debian.sh     tests .build/dist/cuecast_VERSION_ARCH.deb (make deb)
#
# The bare system is made once, from the machine's own mirror, and kept in .build-deploy.
set -euo pipefail

# The first process of the namespaces: mounts what a system expects, then becomes systemd, or waits.
if [ "${1:-}" = --first-process ]; then
    root="$2"
    mount --make-rprivate /
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount -t tmpfs -o mode=755 tmpfs "$root/run"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    ip link set lo up
    if [ "$3" = systemd ]; then
        mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
        mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
    fi
    # Not chroot: in one, the kernel refuses the user namespaces that the service asks for.
    cd "$root"
    pivot_root . .
    umount --lazy .
    cd /
    if [ "$3" = systemd ]; then
        exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd \
            --system --log-target=console --show-status=no
    fi
    exec sleep infinity
fi

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
be_patient

readonly release=bookworm
# How long anything may take before the test fails: what takes longer hangs.
readonly patience_seconds=300
[ "$(id -u)" -eq 0 ] || fail 77 "this needs root, for a bare Debian in namespaces of its own"
for tool in debootstrap unshare nsenter ip; do
    command -v "$tool" >/dev/null || fail 69 "there is no $tool; run: scripts/setup.sh deploy"
done
architecture="$(dpkg --print-architecture)"
version="$("$scratch/dist/cuecast" version 2>/dev/null | cut -d ' ' -f 2)" || true
deb="$scratch/dist/cuecast_${version}_$architecture.deb"
[ -f "$deb" ] || fail 66 "there is no package in $scratch/dist; run: make deb"
newer="$version+newer"
folder="$(mktemp -d -t cuecast-deploy.XXXXXX)"
newer_deb="$folder/newer.deb"
booted="" # `unshare`; with it ends everything in the namespaces
first=""  # the first process in them
close() {
    local status="$?"
    leave
    rm -rf --one-file-system -- "$folder"
    [ "$status" -eq 0 ] || echo "test-deploy-debian: failed with exit code $status" >&2
}
trap close EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { printf '\n-- %s\n' "$*"; }

# Waits until a command succeeds.
await() {
    local deadline=$((SECONDS + patience_seconds))
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$deadline" ] || fail 70 "waited in vain for: $*"
        sleep 0.1
    done
}

scripts/deb.sh --repack "$newer" "$newer_deb"

# A Debian with nothing but what it needs to start, as a folder.
make_base() {
    local base=".build-deploy/$release-$architecture" mirror new="$folder/base"
    if [ ! -f "$base.tar" ]; then
        say "making a bare Debian ($release), once"
        mirror="$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' "Created-By: Packages" |
            awk -v release="$release" '$1 == release { print $2; exit }')"
        mkdir -p .build-deploy
        debootstrap --variant=minbase --include=systemd,systemd-sysv "$release" "$new" \
            "${mirror:-http://deb.debian.org/debian}" >"$base.log" || fail 69 "debootstrap failed; see $base.log"
        # The machine's way to its mirror.
        apt-config dump | grep -E '^Acquire::.*::Proxy ' >"$new/etc/apt/apt.conf.d/90proxy" || true
        tar --create --numeric-owner --file "$base.tar.new" --directory "$new" .
        mv "$base.tar.new" "$base.tar"
        rm -rf --one-file-system "$new"
    fi
    mkdir "$1"
    tar --extract --numeric-owner --file "$base.tar" --directory "$1"
    cp /etc/resolv.conf "$1/etc/resolv.conf"
    cp Examples/two-ads.vast.xml "$1/root/"
    cp "$deb" "$1/root/cuecast.deb"
    cp "$newer_deb" "$1/root/cuecast-newer.deb"
}

# Starts the namespaces around a root. Arguments: the root, `systemd` or `nothing` as the first process.
enter() {
    unshare --mount --pid --fork --kill-child --net --uts --ipc --cgroup -- \
        bash "scripts/$(basename "$0")" --first-process "$1" "$2" >"$folder/first.log" 2>&1 &
    booted="$!"
    await find_first "$2"
}
find_first() {
    kill -0 "$booted" || { cat "$folder/first.log" >&2; fail 70 "the namespaces could not be made"; }
    first="$(cat "/proc/$booted/task/$booted/children")"
    first="${first%% *}"
    case "$1" in
        systemd) [ "$(cat "/proc/$first/comm")" = systemd ] && inside systemctl is-system-running | grep -q running ;;
        *) [ "$(cat "/proc/$first/comm")" = sleep ] ;;
    esac
}
leave() {
    [ -n "$booted" ] || return 0
    kill -KILL "$booted" 2>/dev/null || true
    wait "$booted" 2>/dev/null || true
    booted=""
}

# Runs a command inside. `inside` has the root's own network, `online` the machine's: for apt.
within() {
    nsenter --target "$first" --mount --pid --uts --ipc --cgroup --root --wd=/ "${network[@]}" \
        env --chdir=/root -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
inside() { network=(--net); within "$@"; }
online() { network=(); within "$@"; }
as_cuecast() { inside runuser -u cuecast -- "$@"; }

# Plays one break to the end with a listener, until the books have counted it. Arguments: the stream, the break.
play() {
    inside cuecast listen --stream "$1" --breaks 1 --speed 5 >"$folder/listen.log" 2>&1 &
    local listener="$!"
    inside cuecast publish --stream "$1" --break "$2" --vast two-ads.vast.xml --in 3s
    wait "$listener" || { cat "$folder/listen.log"; fail 70 "the listener failed"; }
    await counted "$2"
}
# Whether both advertisements of a break were played by its one listener, and so counted.
counted() {
    inside cuecast report --break "$1" --format json |
        python3 -c 'import json, sys
ads = [ad for entry in json.load(sys.stdin)["breaks"] for ad in entry["ads"]]
sys.exit(0 if len(ads) == 2 and all(ad["counts"]["delivered"] == ad["counts"]["played"] == 1 for ad in ads) else 1)'
}
# Break, advertisement, delivered, played, ignored, failed and unknown of the first stream.
books() { inside cuecast report --stream radio1 --format csv | tail -n +2 | cut -d , -f 2,3,7-11 | tr '\n' ' '; }

expect() { # What it is, what it must be, what it is found to be.
    [ "$2" = "$3" ] || fail 1 "$1: expected '$2' and found '$3'"
    echo "   $1: $3"
}

install_deb() { online apt-get install -y -q --no-install-recommends --allow-downgrades "$@" >"$folder/apt.log" 2>&1 ||
    { cat "$folder/apt.log"; fail 70 "apt-get install $* failed"; }; }

expect_gone() { # Paths of the root that must not be there.
    local path
    for path in "${@:2}"; do [ ! -e "$1$path" ] || fail 1 "$path is still there"; done
    echo "   gone: ${*:2}"
}

# What both systems get: everything is removed but the data, then that, too.
remove_and_purge() {
    online apt-get remove -y -q cuecast >"$folder/apt.log" 2>&1 || { cat "$folder/apt.log"; fail 70 "apt-get remove"; }
    expect_gone "$1" /usr/bin/cuecast /usr/bin/cuecast-load /usr/share/man/man1/cuecast.1.gz
    [ -s "$1/var/lib/cuecast/events.sqlite" ] || fail 1 "the data went with the package"
    [ -s "$1/etc/cuecast/cuecast.yaml" ] || fail 1 "the configuration went with the package"
    echo "   kept: /var/lib/cuecast/events.sqlite /etc/cuecast/cuecast.yaml"
    online apt-get purge -y -q cuecast >"$folder/apt.log" 2>&1 || { cat "$folder/apt.log"; fail 70 "apt-get purge"; }
    expect_gone "$1" /var/lib/cuecast /etc/cuecast /etc/systemd/system/multi-user.target.wants/cuecast.service
}

# Without systemd: the gateway is started by hand, as the package's user.
test_bare() {
    local root="$folder/bare" gateway before started
    make_base "$root"
    say "in a bare Debian where no systemd runs"
    enter "$root" nothing
    online apt-get update -q >"$folder/apt.log" 2>&1 || { cat "$folder/apt.log"; fail 69 "apt-get update failed"; }
    started="$EPOCHREALTIME"
    install_deb ./cuecast.deb
    expect "the owner of the data" "cuecast cuecast 700" "$(inside stat -c '%U %G %a' /var/lib/cuecast)"
    as_cuecast cuecast check-config --config /etc/cuecast/cuecast.yaml >"$folder/checked"
    echo "   check-config: $(grep -c '^[^#]' "$folder/checked") keys"
    expect "the toolchain's libraries in the root" "" "$(find "$root" -xdev -name 'libswift*' | head -n 1)"
    start_by_hand
    play radio1 noon-1
    inside cuecast report --stream radio1
    printf '   from apt-get install to a served report: %.1f s\n' "$(bc -l <<<"$EPOCHREALTIME - $started")"
    before="$(books)"

    say "an upgrade beside a running gateway"
    install_deb ./cuecast-newer.deb
    expect "the version" "$newer" "$(inside dpkg-query --show -f '${Version}' cuecast)"
    kill -0 "$gateway" || fail 1 "the upgrade ended a gateway that was started by hand"
    stop_by_hand
    start_by_hand
    await counted noon-1
    expect "the books after the upgrade" "$before" "$(books)"
    # A repeat is told what is recorded already: nothing confirmed was lost or is counted twice.
    play radio2 noon-2
    stop_by_hand

    say "remove and purge"
    remove_and_purge "$root"
    leave
}
start_by_hand() {
    rm -f "$folder/ready"
    as_cuecast cuecast serve --config /etc/cuecast/cuecast.yaml >"$folder/ready" 2>"$folder/gateway.log" &
    gateway="$!"
    await ready_by_hand
}
ready_by_hand() {
    kill -0 "$gateway" || { cat "$folder/gateway.log" >&2; fail 70 "the gateway ended"; }
    grep -q '^ready ' "$folder/ready"
}
stop_by_hand() {
    # The gateway itself: `runuser` passes the signal on only where it is the one that it gets.
    inside bash -c 'for each in /proc/[0-9]*; do
        [ "$(readlink "$each/exe")" = /usr/bin/cuecast ] || [ "$(readlink "$each/exe")" = "/usr/bin/cuecast (deleted)" ] || continue
        kill -TERM "${each#/proc/}"
    done'
    local status=0
    wait "$gateway" || status="$?"
    expect "the gateway's exit code" 0 "$status"
}

property() { inside systemctl show --property "$1" --value cuecast; }
service_is() { [ "$(property ActiveState)" = "$1" ]; }
ready_over_http() { inside bash -c 'exec 3<>/dev/tcp/127.0.0.1/7480
    printf "GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" >&3; head -n 1 <&3 | grep -q " 200 "'; }
restarted_since() { [ "$(property NRestarts)" -gt "$1" ] && service_is active && await ready_over_http; }

# With systemd as the first process: what the service's unit promises.
test_booted() {
    local root="$folder/booted" before started process restarts files backup=/var/backups/cuecast/before
    make_base "$root"
    say "in a Debian that systemd has started"
    enter "$root" systemd
    echo "   $(inside systemctl --version | head -n 1)"
    online apt-get update -q >"$folder/apt.log" 2>&1 || { cat "$folder/apt.log"; fail 69 "apt-get update failed"; }
    started="$EPOCHREALTIME"
    install_deb ./cuecast.deb
    expect "the service" "active enabled" "$(property ActiveState) $(property UnitFileState)"
    play radio1 noon-1
    inside cuecast report --stream radio1
    printf '   from apt-get install to a served report: %.1f s\n' "$(bc -l <<<"$EPOCHREALTIME - $started")"

    say "what the service may do"
    process="$(property MainPID)"
    expect "its user" cuecast "$(inside stat -c %U "/proc/$process")"
    expect "its capabilities" 0000000000000000 "$(inside sed -n 's/^CapBnd:\t//p' "/proc/$process/status")"
    expect "filter of system calls, no new privileges" "2 1" \
        "$(inside sed -n 's/^Seccomp:\t//p' "/proc/$process/status") $(inside sed -n 's/^NoNewPrivs:\t//p' "/proc/$process/status")"
    # Where the machine itself may not raise the limit, the service gets what there is.
    files="$(prlimit --nofile=524288:524288 sh -c 'ulimit -n' 2>/dev/null || ulimit -Hn)"
    expect "its open files" "$files" "$(inside awk '/^Max open files/ { print $4 }' "/proc/$process/limits")"

    say "reload, backup, kill"
    inside sed -i 's/^logLevel: .*/logLevel: debug/' /etc/cuecast/cuecast.yaml
    inside systemctl reload cuecast
    await inside sh -c 'journalctl --no-pager --unit cuecast | grep -q logLevel'
    expect "the process after a reload" "$process" "$(property MainPID)"
    as_cuecast cuecast backup --data-dir /var/lib/cuecast --to "$backup"
    before="$(books)"
    restarts="$(property NRestarts)"
    inside systemctl kill --signal KILL cuecast
    await restarted_since "$restarts"
    await counted noon-1
    expect "the books after a kill" "$before" "$(books)"

    say "a gateway that stands still is ended by the watchdog, and started again"
    restarts="$(property NRestarts)"
    inside systemctl kill --signal STOP cuecast
    await restarted_since "$restarts"
    await counted noon-1
    expect "the books after that" "$before" "$(books)"

    say "a configuration that is wrong"
    inside cp /etc/cuecast/cuecast.yaml /root/right.yaml
    inside sed -i 's/^drainTimeout: .*/drainTimeout: soon/' /etc/cuecast/cuecast.yaml
    inside systemctl restart cuecast 2>/dev/null || true
    await service_is failed
    expect "its end" "failed 65 0" "$(property ActiveState) $(property ExecMainStatus) $(property NRestarts)"
    inside cp /root/right.yaml /etc/cuecast/cuecast.yaml
    inside systemctl reset-failed cuecast
    inside systemctl start cuecast
    await ready_over_http

    say "upgrade"
    process="$(property MainPID)"
    # A changed configuration stays as it is.
    install_deb --option Dpkg::Options::=--force-confold ./cuecast-newer.deb
    expect "the version" "$newer" "$(inside dpkg-query --show -f '${Version}' cuecast)"
    expect "the service" active "$(property ActiveState)"
    [ "$(property MainPID)" != "$process" ] || fail 1 "the upgrade did not restart the service"
    expect "the changed configuration" "logLevel: debug" "$(inside grep ^logLevel /etc/cuecast/cuecast.yaml)"
    await ready_over_http
    await counted noon-1
    expect "the books after the upgrade" "$before" "$(books)"
    play radio2 noon-2

    say "roll back"
    inside systemctl stop cuecast
    expect "its end" "inactive 0" "$(property ActiveState) $(property ExecMainStatus)"
    install_deb --option Dpkg::Options::=--force-confold ./cuecast.deb
    inside systemctl stop cuecast
    as_cuecast cuecast restore --from "$backup" --data-dir /var/lib/cuecast --replace
    inside systemctl start cuecast
    await ready_over_http
    await counted noon-1
    expect "the books of before the upgrade" "$before" "$(books)"

    say "move to another machine: the old one"
    inside systemctl disable --now cuecast
    as_cuecast cuecast backup --data-dir /var/lib/cuecast --to /var/backups/cuecast/move
    inside tar -C /var/backups/cuecast -cf move.tar move
    inside cp /etc/cuecast/cuecast.yaml .
    cp "$root"/root/{move.tar,cuecast.yaml} "$folder/"

    say "remove and purge"
    remove_and_purge "$root"
    expect_gone "$root" /lib/systemd/system/cuecast.service
    [ -s "$root$backup/manifest.json" ] || fail 1 "the backup went with the package"
    echo "   kept: $backup"
    leave
    rm -rf --one-file-system "$root"
    move_in "$before"
}

# The new machine of a move, which goes on where the old one stopped. Argument: the books of the old one.
move_in() {
    local root="$folder/moved"
    make_base "$root"
    cp "$folder"/{move.tar,cuecast.yaml} "$root/root/"
    say "move to another machine: the new one"
    enter "$root" systemd
    online apt-get update -q >"$folder/apt.log" 2>&1 || { cat "$folder/apt.log"; fail 69 "apt-get update failed"; }
    install_deb ./cuecast.deb
    inside systemctl stop cuecast
    inside cp cuecast.yaml /etc/cuecast/
    inside tar -C /var/backups/cuecast --no-same-owner -xf move.tar
    inside chown -R cuecast:cuecast /var/backups/cuecast/move
    as_cuecast cuecast restore --from /var/backups/cuecast/move --data-dir /var/lib/cuecast --replace
    inside systemctl start cuecast
    await ready_over_http
    await counted noon-1
    expect "the books on the new machine" "$1" "$(books)"
    expect "the changed configuration" "logLevel: debug" "$(inside grep ^logLevel /etc/cuecast/cuecast.yaml)"
    play radio3 noon-3
    leave
}

test_bare
test_booted
say "the Debian package works, where systemd runs and where it does not"
