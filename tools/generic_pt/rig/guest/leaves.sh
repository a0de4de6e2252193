# SPDX-License-Identifier: GPL-2.0
#
# Whole leaf tables come and go, while the device witnesses it.

bind_vfio "$(parameter bdf)"
/rig/leaves "$(parameter bdf)" iommufd 1
/rig/leaves "$(parameter bdf)" type1 4
checkpoint released
