#!/usr/bin/env bash
# Time of OpenSM's routing and of ours on the same fabric, one after the other in one run.
# Usage: HEDDLE_BUILD=build/release tests/bench/opensm_ratio.sh [SPEC [ENGINE [LMC]]], as root: it makes a network namespace.
# OpenSM's time is from "building routing" to "tables configured" in its log: computing, and handing the blocks to its sender.
set -euo pipefail
spec=${1:-tree:k=12,n=3,full}
engine=${2:-updn}
lmc=${3:-0}
if [ "${IN_NAMESPACE:-}" != yes ]; then IN_NAMESPACE=yes exec unshare -n "$0" "$@"; fi
sysctl -qw net.unix.max_dgram_qlen=512
heddle=$(realpath "${HEDDLE_BUILD:-build/release}")/tools/heddle/heddle
work=$(mktemp -d)
ibsim=
opensm=
stop() {
  for child in $opensm $ibsim; do kill "$child" 2> /dev/null || true; done
  wait 2> /dev/null || true
}
trap 'stop; rm -rf "$work"' EXIT
cd "$work"
mkdir c d; mkfifo fifo
"$heddle" fabric generate "$spec" -o fabric.net
export IBSIM_SOCKNAME=heddle-ratio OSM_CACHE_DIR=$PWD/c OSM_TMP_DIR=$PWD/d
SIM_HOST=$(grep -m1 -oP '^Ca[^"]*"\K[^"]+' fabric.net)
export SIM_HOST
exec 3<> fifo
ibsim -s -n -N 50000 -S 4000 -P 200000 -L 49152 fabric.net <&3 > ibsim.log 2>&1 &
ibsim=$!
for _ in $(seq 600); do grep -q "@$IBSIM_SOCKNAME:out9" /proc/net/unix && break; sleep 0.1; done
env LD_PRELOAD=/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so opensm -o -e -f osm.log -D 0x07 \
  -R "$engine,no_fallback" -l "$lmc" -n 64 > opensm.out 2>&1 &
opensm=$!
for _ in $(seq 3000); do kill -0 "$opensm" 2> /dev/null || break; sleep 0.1; done

# "Nov 21 16:04:24 741593 [...]": seconds of the day.
moment() { grep -m1 "$1" osm.log | awk '{split($3, t, ":"); printf "%.6f", t[1] * 3600 + t[2] * 60 + t[3] + $4 / 1e6}'; }
begin=$(moment 'building routing with')
end=$(moment 'tables configured on all switches')
theirs=$(awk "BEGIN {print $end - $begin}")
ours=$("$heddle" --json route compute --fabric "$spec" --lmc "$lmc" --samples 0 | grep -oP '"seconds": ?\K[0-9.eE+-]+')
awk "BEGIN {printf \"%s, LMC %s: opensm %s %.3f s, heddle updn %.3f s, ratio %.1f\\n\", \"$spec\", \"$lmc\", \"$engine\", $theirs, $ours, $theirs / $ours}"
