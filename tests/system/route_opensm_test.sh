#!/usr/bin/env bash
# Tables that the real OpenSM makes on ibsim are proved or refuted as they should be, and its time and balance stand beside ours.
# Usage: route_opensm_test.sh [SPEC ENGINE LMC [ROOT]]; without arguments, the fixed cases.
set -euo pipefail

for program in ibsim opensm unshare; do
  command -v "$program" > /dev/null || { echo "$program is not installed"; exit 77; }
done
shim=/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so
[ -e "$shim" ] || { echo "$shim is not installed"; exit 77; }
# A network namespace of its own: private abstract sockets, and a private limit on their queues.
if [ "${IN_NAMESPACE:-}" != yes ]; then
  unshare -n true 2> /dev/null || { echo "no right to make a network namespace"; exit 77; }
  IN_NAMESPACE=yes exec unshare -n "$0" "$@"
fi
sysctl -qw net.unix.max_dgram_qlen=512

heddle=$HEDDLE_BUILD/tools/heddle/heddle
work=$(mktemp -d)
children=()
stop() {
  for child in "${children[@]}"; do kill "$child" 2> /dev/null || true; done
  children=()
}
trap 'stop; rm -rf "$work"' EXIT
cd "$work"

# sweep SPEC ENGINE LMC [ROOT]: leaves fabric.net and d/opensm-lfts.dump behind, sets osm_seconds.
sweep() {
  rm -rf c d fifo osm.log; mkdir c d; mkfifo fifo
  "$heddle" fabric generate "$1" -o fabric.net
  local roots=()
  if [ -n "${4:-}" ]; then echo "$4" > roots; roots=(-a "$PWD/roots"); fi
  export IBSIM_SOCKNAME=heddle-route SIM_HOST=host-0 OSM_CACHE_DIR=$PWD/c OSM_TMP_DIR=$PWD/d
  SIM_HOST=$(grep -m1 -oP '^Ca[^"]*"\K[^"]+' fabric.net)
  exec 3<> fifo
  ibsim -s -n -N 50000 -S 4000 -P 200000 -L 49152 fabric.net <&3 > ibsim.log 2>&1 &
  children+=($!)
  for _ in $(seq 200); do grep -q "@$IBSIM_SOCKNAME:out9" /proc/net/unix && break; sleep 0.1; done
  env LD_PRELOAD="$shim" opensm -o -e -f osm.log -D "${LOG:-0x47}" -R "$2,no_fallback" -l "$3" -n 64 "${roots[@]}" \
    > opensm.out 2>&1 &
  local opensm=$!
  children+=("$opensm")
  # A failed engine tries again for ever: such a sweep is given up.
  for _ in $(seq "${PATIENCE:-600}"); do kill -0 "$opensm" 2> /dev/null || break; sleep 0.1; done
  stop; exec 3>&-; wait 2> /dev/null || true
  [ -s d/opensm-lfts.dump ] || { tail -n 20 osm.log; echo "opensm made no tables for $1 with $2"; return 1; }
}

# expect WANTED SPEC ENGINE LMC [ROOT]
expect() {
  local wanted=$1; shift
  sweep "$@"
  local found=proved
  "$heddle" route check --fabric fabric.net --lfts d/opensm-lfts.dump > check.out 2> check.err || found=refuted
  echo "== opensm $2, LMC $3, on $1: $found"
  tail -n 12 check.out
  if [ "$found" != "$wanted" ]; then
    cat check.err
    echo "expected: $wanted"
    return 1
  fi
  if [ "$found" = refuted ]; then grep -q "${6:-cycle of channel dependencies}" check.out; fi
  "$heddle" route compute --fabric "$1" --lmc "$3" | tail -n 1
}

if [ $# -ge 3 ]; then
  sweep "$@"
  "$heddle" route check --fabric fabric.net --lfts d/opensm-lfts.dump || true
  exit 0
fi

corner=0x0248450100000000
expect proved torus:4x4,hosts=2,links=2 updn 0 $corner
expect proved torus:4x4,hosts=2,links=2 updn 1 $corner
expect refuted torus:5x5,hosts=1 minhop 0
expect refuted torus:5x5,hosts=1 dfsssp 0
expect proved tree:k=4,n=3,full ftree 0
expect proved tree:k=4,n=3,full updn 1
