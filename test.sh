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
readonly FUZZ_SECONDS=${FUZZ_SECONDS:-6}
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

# Counts lines that begin with PASS, FAIL or SKIP, up to status=CODE; other lines are shown and not counted.
count_lines() {
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
	done
	if [ "$status" != 0 ] && [ "$failed" = "$before" ]; then
		echo "FAIL $* ended with $status"
		fail "$* ended with $status"
	fi
}

# Runs a command that prints such lines.
counted() {
	count_lines "$@" < <("$@" 2>&1; echo "status=$?")
}

# Runs a command as one test.
one() {
	local name=$1 begin=$SECONDS
	shift
	"$@" && echo "PASS $name $((SECONDS - begin)) s" || echo "FAIL $name $((SECONDS - begin)) s"
}

# Runs tests of a build with meson's own words. Four run at once, because those of ZeroMQ mostly wait. A
# limit of time is four times what the test's meson.build says, because a busy machine and a sanitizer
# each take their part.
readonly meson_test=(meson test --no-rebuild --print-errorlogs --num-processes 4 --timeout-multiplier 4 -C)

# meson_results DIR LOG CODE: reads meson's log for machines, and shows the other one if a test failed.
meson_results() {
	local dir=$1 log=$2 code=$3
	[ "$code" = 0 ] || grep -v -E '^ *[0-9]+/[0-9]+ .* OK ' "$log"
	counted "$PYTHON" tools/meson_results.py "$dir/meson-logs/testlog.json" "$dir"
}

# meson_suite DIR SUITE: runs all tests of a suite.
meson_suite() {
	local dir=$1 suite=$2
	if ! meson test -C "$dir" --list 2>/dev/null | grep -q ":$suite / "; then
		skip "$suite: no such tests in $dir"
		return
	fi
	"${meson_test[@]}" "$dir" --suite "$suite" >"$dir/$suite.log" 2>&1
	meson_results "$dir" "$dir/$suite.log" $?
}

# beside LOG COMMAND...: runs a command beside what follows. The command ends with this script at the latest.
job='' job_log=''
beside() {
	job_log=$1
	"${@:2}" >"$job_log" 2>&1 </dev/null &
	job=$!
	trap stop_beside EXIT
}

# Waits for its end, and returns its exit code.
end_beside() {
	local status=0
	wait "$job" || status=$?
	job=''
	return "$status"
}

stop_beside() {
	[ -n "$job" ] || return
	hurry
	pkill -CONT -s "$job"
	kill "$job" 2>/dev/null
	end_beside 2>/dev/null
}

# Gives what runs beside the same right to run as others have: each thread, because a process inherits its
# right from the thread that begins it.
hurry() {
	local pid
	for pid in $(ps -o pid= -s "$job"); do
		chrt --all-tasks --other --pid 0 "$pid" 2>/dev/null
	done
}

# The sanitizers' builds take minutes of both cores. Most tests of the parts before them
# mostly wait, so the builds run beside these tests, in the time that they leave.
compile_beside() {
	[[ -z $job && " ${chosen[*]} " == *" sanitizers "* ]] || return
	beside build/sanitizers.log setsid tools/give_way.sh tools/sanitizers.sh
}

compiled_beside() {
	local status=0
	[ -n "$job" ] || return
	hurry
	end_beside || status=1
	cat "$job_log" >&2
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
	counted one "a release build" build build-release --buildtype=release -- \
		apps/hopsight{,d,-controller,-collector,-lab,-bench,-schema}
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
	counted "$PYTHON" tests/integration/run.py --together --apart
	counted "$PYTHON" tests/integration/run.py --together --apart --general
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
	threads_beside
	nodes_sanitized --together --apart
	threads_ended
	nodes_sanitized --alone
}

nodes_sanitized() {
	counted env HOPSIGHT_BUILD="$PWD/build-asan" "$PYTHON" tests/integration/run.py "$@" \
		listing_1 bad command_line layout_of_the_paper unchanged telemetry namespace jumbo \
		sigterm vanishes bridge flooded configuration not_there thousand_rules \
		kernel_itself taken_again undone two_workers partial_results
}

# ThreadSanitizer checks what several threads do at once: workers on one rule, reports taken beside
# them, reports added up by several, rules and routes changed during look-ups. It cannot check whole
# nodes, because it does not see how the libraries of DPDK and ZeroMQ, which it did not build, order
# their threads.
threads_beside() {
	build_tsan
	TSAN_OPTIONS=suppressions=$PWD/tests/tsan.supp beside build-tsan/threads.log nice -n 10 \
		"${meson_test[@]}" build-tsan node-pending node-workers node-sharing flow-sampling flow-table fib-change qos-place
}

threads_ended() {
	local code=0
	end_beside || code=$?
	meson_results build-tsan build-tsan/threads.log "$code"
}

part_fuzz() {
	build_asan
	counted "$PYTHON" tests/fuzz/run.py build-asan/tests/fuzz "$FUZZ_SECONDS"
}

# Hostile clients and hosts, killed peers, resources used up: nodes and controllers stay up. These tests
# mostly wait, so a part of the lab's runs beside them.
part_chaos() {
	build build
	[[ " ${chosen[*]} " != *" lab "* ]] || general_beside
	counted "$PYTHON" tests/chaos/run.py --together --apart
	[ -z "$job" ] || pkill -STOP -s "$job"
	counted "$PYTHON" tests/chaos/run.py --alone
	[ -z "$job" ] || pkill -CONT -s "$job"
}

# Every scenario meets its expectations. Then a few seconds of each run on the general path, and of
# some in the other compiler's build with sanitizers: these must report nothing and give the same bytes.
part_lab() {
	local code=0
	build build
	[ -n "$job" ] || general_beside
	counted "$PYTHON" tests/lab/run.py
	hurry
	end_beside || code=$?
	count_lines lab --general < <(cat "$job_log"; echo "status=$code")
	code=0
	build_asan
	beside build/reproduce.log nice -n 5 "$PYTHON" tools/reproduce/run.py --check
	counted env ASAN_OPTIONS=detect_leaks=1 \
		LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0" \
		"$PYTHON" tests/lab/run.py --sanitized "$PWD/build-asan"
	end_beside || code=$?
	count_lines reproduce < <(cat "$job_log"; echo "status=$code")
}

general_beside() {
	beside build/general.log setsid tools/give_way.sh "$PYTHON" tests/lab/run.py --general
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
	counted build/apps/hopsight-bench --quick --rounds 2 --baseline tests/bench/baseline.json
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
chosen=()
for part in "${PARTS[@]}"; do
	[[ " $* " != *" $part "* ]] || chosen+=("$part")
done

[ "$*" = checks ] || need_root
install_packages "${TEST_PACKAGES[@]}"
for part in "${chosen[@]}"; do
	say "== $part"
	begin=$SECONDS
	case $part in
	unit | golden | integration | lab) ;;
	*) compiled_beside ;; # before sanitizers at the latest
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
