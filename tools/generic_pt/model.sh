#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Check the model of the life of a table with spin. TAP on stdout.
#
# usage: model.sh [full]

. "$(dirname "$0")/lib.sh"

case ${*:-full} in
full) ;;
*) die "no such model: $*" "model.sh [full]" ;;
esac
need spin gcc
OUT=$OUT exec "$ROOT/tools/testing/generic_pt/model/check.sh" "$@"
