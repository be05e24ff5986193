# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# run.sh and lifecycle.sh source this file.
work='' failed=0

# check NAME COMMAND...: runs a command as one test, and shows what it said if it failed.
check() {
	local name=$1 begin=$SECONDS
	shift
	if "$@" >"$work/log" 2>&1; then
		echo "PASS $name $((SECONDS - begin)) s"
	else
		tail -n 40 "$work/log"
		echo "FAIL $name $((SECONDS - begin)) s"
		failed=$((failed + 1))
	fi
}
