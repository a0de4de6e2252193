#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run all tests of the library in userspace. TAP on stdout, progress on stderr.
#
# usage: run.sh      environment: OPS, SEED, CC, JOBS, OUT as for make
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
	say "$what: $(grep -c '^ok' "$OUT/tap") passed, $(grep -c '^not ok' "$OUT/tap") failed, $(($(date +%s) - start)) s"
}

mkdir -p "$OUT"
say "compiling with $CC"
if ! make -s -j"$JOBS" CC="$CC" OUT="$OUT" all >"$OUT/make.log" 2>&1; then
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

part "replays" "$OUT/random-asan" -r replays/*.replay
part "random with sanitizers" "$OUT/random-asan" -t "random with sanitizers" -n $((OPS / 10)) -s "$SEED" \
	-d "$OUT" -j "$JOBS"
part "random" "$OUT/random" -n "$OPS" -s "$SEED" -d "$OUT" -j "$JOBS"

exit $failed
