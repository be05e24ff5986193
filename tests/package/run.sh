#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Debian packages twice, compares them byte by byte, gives them to lintian, and lets lifecycle.sh install,
# upgrade, downgrade, remove and purge them in a copy of this machine's files that ends with the test:
#   tests/package/run.sh [--keep FOLDER]
# Needs root and Debian 12. The lines begin with PASS or FAIL, as those of ./test.sh. --keep leaves the packages in a
# folder.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tools/setup.sh
. tools/setup.sh
# shellcheck source=tests/package/check.sh
. tests/package/check.sh

# copy_source FOLDER: the files of the repository, with new ones and without what a build made.
copy_source() {
	mkdir -p "$1" || return 1
	git -c safe.directory="$PWD" ls-files -z --cached --others --exclude-standard |
		while IFS= read -r -d '' path; do
			[ ! -e "$path" ] || printf '%s\0' "$path"
		done | tar --null --no-recursion -T - -cf - | tar -xf - -C "$1"
}

# build_into FOLDER: builds packages of the copy and puts them there. Both builds are in one folder, so that ccache makes
# the second one quick; with CCACHE_DISABLE=1 both compile everything. debhelper gives a build another HOME, in which ccache
# would find nothing.
build_into() {
	rm -rf "$work/build" && mkdir -p "$1" "$work/build" && cp -a "$work/source" "$work/build/hopsight" &&
		(cd "$work/build/hopsight" && PATH=/usr/lib/ccache:$PATH CCACHE_DIR=$cache \
			DEB_BUILD_OPTIONS="parallel=$(nproc) noautodbgsym" dpkg-buildpackage -us -uc -b) &&
		mv "$work"/build/*.* "$1"
}

same_packages() {
	local file
	for file in "$work"/first/*.deb; do
		cmp "$file" "$work/second/${file##*/}" || return 1
	done
	[ "$(cd "$work/first" && ls ./*.deb)" = "$(cd "$work/second" && ls ./*.deb)" ]
}

# in_a_copy COMMAND...: runs a command as root of a copy of this machine's files. What the command changes, and the
# processes that it leaves, end with it.
in_a_copy() {
	# shellcheck disable=SC2016 # the words are those of the inner shell
	unshare --mount --pid --fork --kill-child bash -c '
		work=$1 && shift && mkdir "$work/copy" && mount -t tmpfs tmpfs "$work/copy" &&
			cd "$work/copy" && mkdir upper work root &&
			mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root &&
			mount -t proc proc root/proc && mount --rbind /sys root/sys && mount --rbind /dev root/dev &&
			mount -t tmpfs tmpfs root/run && mount --bind "$work" "root$work" &&
			printf "#!/bin/sh\nexit 101\n" >root/usr/sbin/policy-rc.d && chmod 755 root/usr/sbin/policy-rc.d &&
			exec chroot root "$@"' copy "$work" "$@"
}

need_root
install_packages debhelper dh-python dpkg-dev lintian ccache systemd man-db
cache=$(ccache --get-config cache_dir)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM

check "the source can be copied" copy_source "$work/source"
check "dpkg-buildpackage builds the packages" build_into "$work/first"
[ "$failed" = 0 ] || exit 1
if [ "${1:-}" = --keep ]; then
	mkdir -p "$2" && cp "$work"/first/*.deb "$2"
fi
check "lintian has neither errors nor warnings" lintian --fail-on error,warning --allow-root "$work"/first/*.changes
cp tests/package/check.sh tests/package/lifecycle.sh "$work"
in_a_copy "$work/lifecycle.sh" "$work" || failed=$((failed + 1))
check "the packages build again" build_into "$work/second"
check "both builds have the same bytes" same_packages
[ "$failed" = 0 ]
