#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Check the models with spin, all interleavings. TAP on stdout. A model that
# lacks a part of the protocol must fail, or it proves nothing.
#
# usage: check.sh [full]    full: more rounds, minutes and gigabytes

set -eu
cd "$(dirname "$0")"
model=$PWD/tables.pml
out=${OUT:-$(cd ../../../.. && pwd)/build}/model
mkdir -p "$out"
cd "$out"
command -v spin >/dev/null || {
	echo "spin not found: apt-get install spin" >&2
	exit 1
}
failed=0

# verify NAME good|bad ROUNDS [-DPART...]
verify()
{
	spin -DROUNDS="$3" ${4:+"$4"} ${5:+"$5"} ${6:+"$6"} -a "$model" >spin.log &&
		${CC:-gcc} -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=12000 \
			pan.c -o pan ||
		exit 1
	./pan -m100000 >"$1.log" || :
	case $2:$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' "$1.log") in
	good:0 | bad:[1-9]*)
		states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' "$1.log")
		echo "ok - model: $1 ($states states)"
		;;
	*)
		echo "not ok - model: $1"
		sed 's/^/# /' "$1.log" | head -n 5
		failed=1
		;;
	esac
	# A search that ran out of depth or memory has not seen everything
	if [ "$2" = good ] && grep -Eq 'max search depth too small|out of memory' "$1.log"; then
		echo "not ok - model: $1 was searched whole"
		failed=1
	fi
}

rounds=1,2,1
[ "${1:-}" != full ] || rounds=1,2,2

verify life-of-a-table good $rounds
verify two-leave-together good 2,2,1 -DPLACES=2
verify taken-at-any-moment good 1,1,1 -DPLACES=2 -DTRIM
verify fails-without-flush bad 1,2,1 -DNO_FLUSH
verify fails-when-one-of-two-is-flushed bad 1,1,1 -DPLACES=2 -DTRIM -DFLUSH_ONE
verify fails-without-flush-by-a-map bad 1,2,1 -DNO_HELP
verify fails-without-grace-period bad 1,2,1 -DEARLY_FREE
verify fails-with-one-grace-period bad 1,2,2 -DONE_PERIOD
verify fails-when-counted-late bad 1,2,1 -DCOUNT_LATE
verify fails-when-placed-blindly bad 1,2,2 -DPLACE_BLIND
verify fails-when-parked-blindly bad 1,2,1 -DPARK_BLIND

exit $failed
