#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run all tests of the library in userspace. TAP on stdout, progress on stderr.
#
# usage: run.sh      environment: OPS, SEED, CC, JOBS, OUT as for make
#
# Two CPUs that have nothing else to do need two to five minutes for it, most of
# them for a million OPS for each configuration.
set -eu
cd "$(dirname "$0")"

# A make that called us has its own flags
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
CC=${CC:-cc}
OUT=${OUT:-$(cd ../../.. && pwd)/build/user/$CC}
OPS=${OPS:-1000000}
SEED=${SEED:-$(date +%s)}
JOBS=${JOBS:-$(nproc)}
failed=0

say()
{
	echo "user: $*" >&2
}

# part WHAT COMMAND...: its TAP is ours
part()
{
	what=$1
	shift
	start=$(date +%s)
	rc=0
	"$@" >"$OUT/tap" 2>"$OUT/err" || rc=$?
	cat "$OUT/tap"
	if [ "$rc" != 0 ]; then
		failed=1
		grep -q '^not ok' "$OUT/tap" || echo "not ok - $what: ended with exit code $rc"
		sed 's/^/# /' "$OUT/err" | head -n 60
	fi
	passed=$(grep -c '^ok' "$OUT/tap" || :)
	say "$what: $passed passed, $(grep -c '^not ok' "$OUT/tap" || :) failed," \
		"$(($(date +%s) - start)) s"
}

mkdir -p "$OUT"
say "compiling with $CC"
if ! make -s -j"$JOBS" CC="$CC" OUT="$OUT" everything >"$OUT/make.log" 2>&1; then
	echo "not ok - user: compiles with $CC"
	sed 's/^/# /' "$OUT/make.log" | head -n 40
	exit 1
fi
if [ -s "$OUT/make.log" ]; then
	echo "not ok - user: compiles without a warning with $CC"
	sed 's/^/# /' "$OUT/make.log" | head -n 40
	failed=1
else
	echo "ok - user: compiles without a warning with $CC"
fi

part "walkers" "$OUT/golden"
part "contract" "$OUT/contract"
part "inputs that the fuzzer found" "$OUT/fuzz-replay-asan" -t 180 corpus.txt
part "replays" "$OUT/random-asan" -r replays/*.replay
part "races with thread sanitizer" "$OUT/races-tsan" -n 10 -s "$SEED" \
	-t "races with thread sanitizer"
part "races with address sanitizer" "$OUT/races-asan" -n 20 -s "$SEED" \
	-t "races with address sanitizer"
part "small model" "$OUT/small" -j "$JOBS"
part "random with sanitizers" "$OUT/random-asan" -n $((OPS / 20)) -s "$SEED" \
	-t "random with sanitizers" -d "$OUT" -j "$JOBS"
part "allocation failures" "$OUT/random-asan" -f -n $((OPS / 1000)) \
	-s "$SEED" -t "allocation failures" -d "$OUT" -j "$JOBS"
part "random" "$OUT/random" -n "$OPS" -s "$SEED" -d "$OUT" -j "$JOBS"

exit $failed
