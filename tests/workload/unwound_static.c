/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unwound, as a static program: see there. */
#include "unwound.c"
