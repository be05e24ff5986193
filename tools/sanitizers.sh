#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test.sh sources this file, for the builds that sanitizers check. When run, it makes both builds.
# shellcheck disable=SC2317 # functions for those who source this

# A sanitizer's report needs only the line numbers of -g, which take a fifth less time to compile. Code
# that stops at an error takes a tenth less time to compile. lld links in less than half of ld's time.
# Bursts have 64 packets there, so that the tests cover this build option, too.
build_asan() {
	CC=clang CC_LD=lld build build-asan -Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true -Dburst=64 \
		-Doptimization=2 -Ddebug=false -Dc_args='-gline-tables-only -fno-sanitize-recover=undefined'
}

# Builds only the tests whose threads ThreadSanitizer checks.
build_tsan() {
	CC=clang CC_LD=lld build build-tsan -Db_sanitize=thread -Db_lundef=false --buildtype=debugoptimized -- \
		tests/unit/{node/test_{pending,workers,sharing},flow/test_flow_{sampling,table},datapath/test_fib_change,qos/qos_place_test}
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	set -u
	cd "$(dirname "$0")/.." || exit 1
	# shellcheck source=tools/setup.sh
	. tools/setup.sh
	build_asan
	build_tsan
fi
