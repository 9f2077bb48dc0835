// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library that writes to some pages of its own data when it is loaded: as many as the digit in `marker` says, which a
 * test changes in a copy of the file. That is another build of it, with the same layout.
 */
#include <stddef.h>

enum { NR_PAGES = 32, PAGE = 4096 };

const char touch_pages_marker[] = "TOUCH_PAGES=3";
static volatile char pages[NR_PAGES][PAGE] __attribute__((aligned(4096))) = { { 1 } };

__attribute__((constructor)) static void touch_pages(void)
{
	const volatile char *marker = touch_pages_marker;

	for (int i = 0; i < marker[sizeof(touch_pages_marker) - 2] - '0'; i++)
		pages[2 * i + 1][0] = 1;
}
