#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run all tests. Each part prints TAP on stdout and its progress on stderr; the
# last line of this script counts what they said.
#
# usage: test.sh [PART...]    of: prepare check kunit user bench model cross rig (all)

. "$(dirname "$0")/lib.sh"

PARTS=${*:-prepare check kunit user bench model cross rig}
TAP=$OUT/tap
PASSED=0 FAILED=0 SKIPPED=0

# count FILE REGEX [REGEX]: lines that match all of them
count()
{
	grep -E "$2" "$1" | grep -Ec "${3:-.}" || :
}

# part NAME COMMAND...: run one part and count its TAP
part()
{
	name=$1
	shift
	tap=$TAP/$name
	if [ ! -x "$1" ]; then
		say "$name: skipped, ${1#"$ROOT/"} is not there"
		SKIPPED=$((SKIPPED + 1))
		return
	fi
	say "$name: starting"
	start=$(date +%s)
	rc=0
	"$@" >"$tap" || rc=$?
	failed=$(count "$tap" '^not ok\b')
	skipped=$(count "$tap" '^ok\b' '# SKIP')
	passed=$(($(count "$tap" '^ok\b') - skipped))
	# A part that failed without saying what, or said nothing, has failed
	if [ "$rc" != 0 ] && [ "$failed" = 0 ]; then
		echo "not ok - $name: ended with exit code $rc" >>"$tap"
		failed=1
	elif [ $((passed + failed + skipped)) = 0 ]; then
		echo "not ok - $name: tested nothing" >>"$tap"
		failed=1
	fi
	# What went wrong, with what is said about it
	awk '/^ok/ { bad = 0 } /^not ok/ { bad = 1 } bad' "$tap"
	say "$name: $passed passed, $failed failed, $skipped skipped, $(($(date +%s) - start)) s"
	PASSED=$((PASSED + passed)) FAILED=$((FAILED + failed)) SKIPPED=$((SKIPPED + skipped))
}

for p in $PARTS; do
	case $p in
	prepare | check | kunit | user | bench | model | cross | rig) ;;
	*) die "no part $p" "choose of: prepare check kunit user bench model cross rig" ;;
	esac
done

mkdir -p "$TAP"
for p in $PARTS; do
	case $p in
	prepare) part prepare "$TOOLS/prepare_test.py" ;;
	check) part check "$TOOLS/check.sh" ;;
	kunit) part kunit "$TOOLS/kunit.sh" um-debug um um32 ;;
	user) part user "$ROOT/tools/testing/generic_pt/run.sh" ;;
	bench) part bench "$TOOLS/bench.sh" test ;;
	model) part model "$TOOLS/model.sh" ;;
	cross) part cross "$TOOLS/cross.sh" ;;
	rig) part rig "$TOOLS/rig.sh" test ;;
	esac
done
say "each result: build/tap/, logs: build/"

echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
[ "$FAILED" = 0 ] && [ "$PASSED" != 0 ]
