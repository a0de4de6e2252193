# SPDX-License-Identifier: GPL-2.0
#
# One page in each 2 MiB, mapped and unmapped, in each way that rig.runs names:
# WAY:SHAPE:GIB,...

bind_vfio "$(parameter bdf)"
for run in $(parameter runs | tr , ' '); do
	# shellcheck disable=SC2046 # three words
	/rig/tables "$(parameter bdf)" $(echo "$run" | tr : ' ')
done
