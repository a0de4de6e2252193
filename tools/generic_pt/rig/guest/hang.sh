# SPDX-License-Identifier: GPL-2.0
#
# Never ends: the host has to notice.

sleep 100000
