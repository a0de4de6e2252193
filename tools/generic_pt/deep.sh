#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The slow tests of the library in userspace: install what they need, run them.
#
# usage: deep.sh qtest|fuzz|mutate|coverage
#
# environment: JOBS; T (seconds) and KEEP=1 for fuzz, N, T and SEED for mutate; see
# tools/testing/generic_pt/deep.mk

. "$(dirname "$0")/lib.sh"

case ${1:-} in
qtest) need make gcc python3 ;;
fuzz) need make gcc clang libclang-rt-dev python3 ;;
mutate) need make gcc ccache python3 ;;
coverage) need make gcc gcovr python3 ;;
*) die "no test '${1:-}'" "choose of: qtest fuzz mutate coverage" ;;
esac
exec make -s -C "$ROOT/tools/testing/generic_pt" JOBS="$JOBS" "$1"
