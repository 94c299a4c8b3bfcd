#!/usr/bin/env bash
# Builds the module as DKMS does: from the installed sources, by what dkms.conf says, for each kernel of the machine.
# Usage: dkms_test.sh BUILD. Exit status 77: the kernels' packages cannot be had.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
DESTDIR=$root cmake --install "$build/plugins/vhca" > /dev/null
sources=$(echo "$root"/usr/src/heddle-vhca-*)

for series in 6.1 6.12; do
  tests/vm/prepare "$build" "$series"
  kernelver=$(cat "$build/vm/$series/version")
  # What dkms.conf may use.
  export kernelver kernel_source_dir="$build/vm/$series/tree/usr/src/linux-headers-$kernelver"
  # shellcheck disable=SC1091
  . "$sources/dkms.conf"
  [ "$PACKAGE_NAME-$PACKAGE_VERSION" = "$(basename "$sources")" ]
  [[ $kernelver =~ $BUILD_EXCLUSIVE_KERNEL ]]
  (cd "$sources" && eval "${MAKE[0]}") > "$root/log" 2>&1 || { cat "$root/log"; exit 1; }
  made=$sources/${BUILT_MODULE_LOCATION[0]}/${BUILT_MODULE_NAME[0]}.ko
  # For this very kernel.
  /usr/sbin/modinfo -F vermagic "$made" | grep -qF "$kernelver "
  (cd "$sources" && eval "$CLEAN") > "$root/log" 2>&1
  make -C "$sources/module" sparse KERNEL="$kernel_source_dir" > "$root/log" 2>&1 || { cat "$root/log"; exit 1; }
  (cd "$sources" && eval "$CLEAN") > "$root/log" 2>&1
  [ ! -e "$made" ]
done
