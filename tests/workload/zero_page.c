/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exits with 0 where reads of anonymous memory get the zero page, else with 1. */
#include "workload.h"

int main(void)
{
	return !wl_has_zero_page();
}
