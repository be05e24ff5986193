#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds everything for 64-bit Arm with a cross compiler, and runs tests in an emulator of the processor:
#   tools/arm.sh FOLDER [WORD...]
# FOLDER gets Debian's packages for Arm (460 MB) and the build. Each WORD is one of `meson test`; without any, the golden
# tests run. The packages gcc-aarch64-linux-gnu, mmdebstrap and qemu-user-static are needed, and root for mmdebstrap.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tools/setup.sh
. tools/setup.sh

[ $# -ge 1 ] || die "usage: tools/arm.sh FOLDER [WORD...]"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
root=$folder/root

libraries=$(printf '%s\n' "${BUILD_PACKAGES[@]}" | grep -- '-dev$' | paste -sd,)
[ -e "$root/usr" ] || mmdebstrap --arch=arm64 --variant=extract --mode=root --include="$libraries" bookworm "$root"
cat >"$folder/aarch64.ini" <<EOF
[binaries]
c = 'aarch64-linux-gnu-gcc'
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64-static', '-L', '$root']
[built-in options]
c_args = ['--sysroot=$root']
c_link_args = ['--sysroot=$root']
[properties]
sys_root = '$root'
pkg_config_libdir = '$root/usr/lib/aarch64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'armv8-a'
endian = 'little'
EOF
[ -e "$folder/build/build.ninja" ] || meson setup --cross-file "$folder/aarch64.ini" "$folder/build"
ninja -C "$folder/build"
if [ $# = 0 ]; then
	set -- --suite golden
fi
meson test -C "$folder/build" --no-rebuild --print-errorlogs --timeout-multiplier 10 "$@"
