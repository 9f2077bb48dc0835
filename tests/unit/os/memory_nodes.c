/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The zones of /proc/zoneinfo: of two nodes, as Linux 6.12 prints them, without the lines that nobody reads. */
#include "os/memory_nodes.h"

#include "support/random_event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int put(void *ctx, unsigned int node, uint64_t start, uint64_t end)
{
	sprintf((char *)ctx + strlen(ctx), "%u:%" PRIu64 "-%" PRIu64 " ", node, start, end);
	return 0;
}

static void test_zones(void **state)
{
	char text[] = "Node 0, zone      DMA\n  per-node stats\n      nr_inactive_anon 1\n  pages free     3840\n"
		      "        boost    0\n        spanned  4095\n        present  3998\n  start_pfn:           1\n"
		      "Node 0, zone    DMA32\n        spanned  1044480\n        present  258015\n"
		      "  node_unreclaimable:  0\n  start_pfn:           4096\n"
		      "Node 0, zone  Movable\n        spanned  0\n        present  0\n"
		      "Node 1, zone   Normal\n        spanned  262144\n  start_pfn:           1048576\n"
		      "Node 1, zone   Device\n        spanned  0\n  start_pfn:           0";
	char empty[] = "", broken[] = "Node x, zone\n  spanned 12y\n  start_pfn: 1\nspanned\nstart_pfn:\n";
	char zones[256] = "";

	assert_int_equal(pfs_memory_nodes_of(text, put, zones), 0);
	assert_string_equal(zones, "0:1-4096 0:4096-1048576 1:1048576-1310720 ");
	zones[0] = '\0';
	assert_int_equal(pfs_memory_nodes_of(empty, put, zones), 0);
	assert_int_equal(pfs_memory_nodes_of(broken, put, zones), 0);
	assert_string_equal(zones, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_zones) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
