#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, builds, and runs every test, or only the named parts:
#   ./test.sh [checks] [unit] [golden] [integration] [sanitizers] [fuzz] [chaos] [lab] [judge] [bench]
# The last line is `N passed, N failed, N skipped`; the exit code is 0 if nothing failed.
set -u
cd "$(dirname "$0")" || exit 1
# shellcheck source=tools/setup.sh
. tools/setup.sh
# shellcheck source=tools/sanitizers.sh
. tools/sanitizers.sh

readonly PARTS=(checks unit golden integration sanitizers fuzz chaos lab judge bench)
readonly FUZZ_SECONDS=${FUZZ_SECONDS:-8}
passed=0 failed=0 skipped=0
reasons=() failures=()

skip() {
	skipped=$((skipped + 1))
	reasons+=("$1")
}

fail() {
	failed=$((failed + 1))
	failures+=("$1")
}

# Runs a command whose lines begin with PASS, FAIL or SKIP; other lines are shown and not counted.
counted() {
	local line status=1 before=$failed
	while IFS= read -r line; do
		case $line in
		status=*)
			status=${line#status=}
			continue
			;;
		"PASS "*) passed=$((passed + 1)) ;;
		"FAIL "*) fail "${line#FAIL }" ;;
		"SKIP "*) skip "${line#SKIP }" ;;
		esac
		printf '%s\n' "$line"
	done < <("$@" 2>&1; echo "status=$?")
	if [ "$status" != 0 ] && [ "$failed" = "$before" ]; then
		echo "FAIL $* ended with $status"
		fail "$* ended with $status"
	fi
}

# Runs a command as one test.
one() {
	local name=$1 begin=$SECONDS
	shift
	"$@" && echo "PASS $name $((SECONDS - begin)) s" || echo "FAIL $name $((SECONDS - begin)) s"
}

# meson_tests DIR NAME WORD...: runs tests with meson's own words, and reads meson's log for
# machines. Three run at once, because those of ZeroMQ mostly wait. A limit of time is four times
# what the test's meson.build says, because a busy machine and a sanitizer each take their part.
meson_tests() {
	local dir=$1 name=$2
	meson test -C "$dir" "${@:3}" --no-rebuild --print-errorlogs --num-processes 3 \
		--timeout-multiplier 4 \
		>"$dir/$name.log" 2>&1
	local code=$?
	[ $code = 0 ] || grep -v -E '^ *[0-9]+/[0-9]+ .* OK ' "$dir/$name.log"
	counted "$PYTHON" tools/meson_results.py "$dir/meson-logs/testlog.json" "$dir"
}

# meson_suite DIR SUITE: runs all tests of a suite.
meson_suite() {
	local dir=$1 suite=$2
	if ! meson test -C "$dir" --list 2>/dev/null | grep -q ":$suite / "; then
		skip "$suite: no such tests in $dir"
		return
	fi
	meson_tests "$dir" "$suite" --suite "$suite"
}

# The sanitizers' builds take two and a half minutes of both cores. Most tests of the parts before them
# mostly wait, so the builds run beside these tests, in the time that they leave.
compiling='' compile_log=''
compile_beside() {
	[[ -z $compiling && " ${chosen[*]} " == *" sanitizers "* ]] || return
	compile_log=$(mktemp)
	setsid tools/sanitizers.sh >"$compile_log" 2>&1 </dev/null &
	compiling=$!
	trap stop_beside EXIT
}

# The builds beside now have the same right to run as others.
hurry_beside() {
	local pid
	for pid in $(ps -o pid= -s "$compiling"); do
		chrt --other --pid 0 "$pid" 2>/dev/null
	done
}

stop_beside() {
	hurry_beside
	kill "$compiling" 2>/dev/null
	wait "$compiling" 2>/dev/null
	rm -f "$compile_log"
}

# Waits for the end of the builds beside, if there are any.
compiled_beside() {
	[ -n "$compiling" ] || return
	local status=0
	hurry_beside
	wait "$compiling" || status=$?
	cat "$compile_log" >&2
	rm -f "$compile_log"
	trap - EXIT
	compiling=''
	[ "$status" = 0 ] || exit 1
}

part_checks() {
	counted "$PYTHON" tests/checks/run.py
}

part_unit() {
	build build
	compile_beside
	counted "$PYTHON" tests/checks/run.py every_program_is_hardened
	meson_suite build unit
}

part_golden() {
	build build
	compile_beside
	meson_suite build golden
	meson_suite build script
	counted "$PYTHON" tests/collect/run.py --seed 1300 --reports 12000
}

# Tests about packets run again with nodes that have no fast path. Nothing runs beside tests that run
# alone.
part_integration() {
	build build
	compile_beside
	counted "$PYTHON" tests/integration/run.py --together
	counted "$PYTHON" tests/integration/run.py --together --general
	compiled_beside
	counted "$PYTHON" tests/integration/run.py --alone
	counted "$PYTHON" tests/integration/run.py --alone --general
}

# gcc builds what users run. clang must compile the same source with warnings as errors.
part_sanitizers() {
	build_asan
	export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
	export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
	meson_suite build-asan unit
	meson_suite build-asan golden
	counted env HOPSIGHT_BUILD="$PWD/build-asan" "$PYTHON" tests/integration/run.py \
		listing_1 bad command_line layout_of_the_paper unchanged telemetry namespace jumbo \
		sigterm vanishes bridge flooded configuration not_there thousand_rules \
		kernel_itself taken_again undone two_workers partial_results
	threads
}

# ThreadSanitizer checks what several threads do at once: workers on one rule, reports taken beside
# them, rules and routes changed during look-ups. It cannot check whole nodes, because it does not see
# how the libraries of DPDK and ZeroMQ, which it did not build, order their threads.
threads() {
	build_tsan
	TSAN_OPTIONS=suppressions=$PWD/tests/tsan.supp \
		meson_tests build-tsan threads node-pending node-workers node-sharing flow-table fib
}

part_fuzz() {
	build_asan
	counted "$PYTHON" tests/fuzz/run.py build-asan/tests/fuzz "$FUZZ_SECONDS"
}

# Hostile clients and hosts, killed peers, resources used up: nodes and controllers stay up.
part_chaos() {
	build build
	counted "$PYTHON" tests/chaos/run.py
}

# Every scenario meets its expectations. Then a few seconds of each run on the general path, and of
# some in the other compiler's build with sanitizers: these must report nothing and give the same bytes.
part_lab() {
	build build
	counted "$PYTHON" tests/lab/run.py
	counted "$PYTHON" tests/lab/run.py --general
	counted "$PYTHON" tools/reproduce/run.py 000 001 002 003 --check
	build_asan
	counted env ASAN_OPTIONS=detect_leaks=1 \
		LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0" \
		"$PYTHON" tests/lab/run.py --sanitized "$PWD/build-asan"
}

# An independent judge that knows what happened to the packets judges what the lab's nodes publish: in
# each scenario, and in random ones with a new seed each time.
part_judge() {
	build build
	counted "$PYTHON" tests/judge/run.py
}

# Compares ratios of medians to testpmd's mac forwarding, in the build that users get.
part_bench() {
	build build
	counted "$PYTHON" tests/bench/instructions.py
	counted build/apps/hopsight-bench --quick --baseline tests/bench/baseline.json
}

for name in "$@"; do
	case " ${PARTS[*]} " in
	*" $name "*) ;;
	*)
		say "usage: $0 [${PARTS[*]}]"
		exit 2
		;;
	esac
done
[ $# -gt 0 ] || set -- "${PARTS[@]}"
readonly chosen=("$@")

[ "$*" = checks ] || need_root
install_packages "${TEST_PACKAGES[@]}"
for part in "${chosen[@]}"; do
	say "== $part"
	begin=$SECONDS
	case $part in
	unit | golden | integration) ;;
	*) compiled_beside ;;
	esac
	"part_$part"
	say "== $part took $((SECONDS - begin)) s"
done

echo
for reason in "${reasons[@]}"; do
	echo "skipped: $reason"
done
for name in "${failures[@]}"; do
	echo "failed: $name"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
