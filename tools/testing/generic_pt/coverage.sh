#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run the tests in userspace with counters in the library, and say what of it
# they came by. HTML in build/user/coverage/. Needs gcc and gcovr.
#
# usage: coverage.sh      environment: JOBS, OPS
set -eu
cd "$(dirname "$0")"

unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
out=$(cd ../../.. && pwd)/build/user/deep
JOBS=${JOBS:-$(nproc)}
command -v gcovr >/dev/null || {
	echo "gcovr not found: apt-get install gcovr" >&2
	exit 1
}

make -s -j"$JOBS" CC=gcc OUT="$out" coverage-programs
find "$out/coverage" -name '*.gcda' -delete

# run WHAT COMMAND...
run()
{
	echo "coverage: $1" >&2
	shift
	"$@" >"$out/log" 2>&1 || {
		tail -n 20 "$out/log"
		echo "coverage: error: a test fails" >&2
		exit 1
	}
}

run contract "$out/contract-coverage"
run golden "$out/golden-coverage"
run "all of a small world" "$out/small-coverage" -n 2 -j "$JOBS"
run replays "$out/random-coverage" -r replays/*.replay
run corpus "$out/fuzz-replay-coverage" corpus.txt
run random "$out/random-coverage" -n "${OPS:-20000}" -s 1 -d "$out" -j "$JOBS"
./coverage.py "$out/coverage" "$out/../coverage"
