/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report's tables in their three forms, what they add up to, and that every view can draw anything.
 */
#include "support/draw.h"
#include "base/table.h"
#include "support/random_event.h"
#include "support/scenario.h"

#include <inttypes.h>
#include <jansson.h>

static const struct pfs_view_options plain = { .width = 80 };

/* Two processes with a file in common, a loss, and nothing else: small enough to read. */
static void small(struct feed *f)
{
	feed_comm(f, "parent");
	feed_maps_line(f, 0x400000, 0x404000, RX, 0, 8 << 20 | 1, 77, "/usr/bin/x");
	feed_maps_line(f, 0x600000, 0x601000, RW, 0, 0, 0, "");
	feed_fault(f, 0x400000, PFS_EXECUTE);
	feed_cached(f, 8 << 20 | 1, 77, 0, 0x4000, PFS_CACHE_READY, 0);
	feed_around(f, 8 << 20 | 1, 77, 0, 0x4000);
	feed_fault(f, 0x600000, PFS_READ);
	feed_fault(f, 0x600000, PFS_WRITE);
	feed_fork(f, 2, false);
	feed_as(f, 2, 2);
	feed_fault_mode(f, 0x401000, PFS_READ, PFS_KERNEL);
	feed_unmap(f, 0x600000, 0x601000);
	feed_clear(f);
	feed_exit(f, true);
	feed_lost(f, 1, 12);
}

static void test_text(void **state)
{
	struct feed f = feed_new(1);

	small(&f);
	assert_drawn(
		&f, "report", (struct pfs_view_options){ .wide = true },
		"By file\n"
		"  mappings  processes  pages  faults  read  write  exec  user  kernel  touched  around  device  inode  name\n"
		"         2          2      8       2     1      0     1     1       1        2       3  08:01      77  /usr/bin/x\n"
		"         2          2      2       2     1      1     0     2       0        1       0                 anon\n"
		"                                   4     2      1     1     3       1        3       3                 total of 2\n"
		"\n"
		"By process\n"
		"  pid  parent  epochs  threads  faults  read  write  exec  user  kernel  touched  around  regions  unmapped  gaps  maybe lost     start       end  name\n"
		"    1       0       1        1       3     1      1     1     3       0        2       3        2         0     1          12  0.000000            parent\n"
		"    2       1       1        1       1     1      0     0     0       1        1       0        2         1     0           0  0.000007  0.000011  parent\n"
		"                                     4     2      1     1     3       1        3       3                                                           total of 2\n"
		"\n"
		"By region\n"
		"  pid  epoch  address range      perm  pages  faults  read  write  exec  user  kernel  touched  around  gaps  maybe lost     first      last  name\n"
		"    1      1  00600000-00601000  rw-p      1       2     1      1     0     2       0        1       0     1          12  0.000005  0.000006  anon\n"
		"    1      1  00400000-00404000  r-xp      4       1     0      0     1     1       0        1       3     1          12  0.000003  0.000004  /usr/bin/x\n"
		"    2      1  00400000-00404000  r-xp      4       1     1      0     0     0       1        1       0     0           0  0.000008  0.000008  /usr/bin/x\n"
		"                                                   4     2      1     1     3       1        3       3                                        total of 3\n"
		"\n"
		"Lost events\n"
		"  cpu      from        to  events  processes  regions  may concern\n"
		"    1  0.000011  0.000012      12          1        2  1\n"
		"\n"
		"13 events in 0.000012 s, lost 12 events on CPU 1 between 0.000011 and 0.000012 s\n");
	feed_free(&f);
}

/* Fewer columns: unnamed memory has its address, names their tails. */
static void test_narrow(void **state)
{
	struct feed f = feed_new(1);

	small(&f);
	feed_as(&f, 1, 1);
	feed_maps_line(&f, 0x700000, 0x704000, RX, 0, 8 << 20 | 1, 78,
		       "/a/path/that/is/much/too/long/for/this/width.so");
	feed_fault(&f, 0x700000, PFS_EXECUTE);
	assert_drawn(&f, "report", ((struct pfs_view_options){ .width = 66, .top = 2, .by = 1 << 2 }),
		     "By region\n"
		     "  pid  perm  faults  read  write  exec  touched  gaps  name\n"
		     "    1  rw-p       2     1      1     0        1     1  anon 600000\n"
		     "    1  r-xp       1     0      0     1        1     1  /usr/bin/x\n"
		     "                  5     2      1     2        4        total of 4\n"
		     "\n"
		     "15 events in 0.000014 s, lost 12 events on CPU 1 between 0.000011 and 0.000012 s\n");
	assert_drawn(&f, "report", ((struct pfs_view_options){ .width = 58, .by = 1 << 0 }),
		     "By file\n"
		     "  faults  read  write  exec  touched  around  name\n"
		     "       2     1      0     1        2       3  /usr/bin/x\n"
		     "       2     1      1     0        1       0  anon\n"
		     "       1     0      0     1        1       0  ..s/width.so\n"
		     "       5     2      1     2        4       3  total of 3\n"
		     "\n"
		     "15 events in 0.000014 s, lost 12 events on CPU 1 between 0.000011 and 0.000012 s\n");
	feed_free(&f);
}

static void test_csv(void **state)
{
	struct feed f = feed_new(1);

	small(&f);
	assert_drawn(
		&f, "report", (struct pfs_view_options){ .format = PFS_VIEW_CSV },
		"table,cpu,lost,lost_unknown_times\n"
		"lost,1,12,0\n"
		"table,mappings,processes,pages,faults,read,write,exec,access_unknown,user,kernel,major,signal,outside,touched,around,maybe_around,populated,huge,unobserved,device,inode,name\n"
		"file,2,2,8,2,1,0,1,0,1,1,0,0,0,2,3,0,0,0,0,08:01,77,/usr/bin/x\n"
		"file,2,2,2,2,1,1,0,0,2,0,0,0,0,1,0,0,0,0,0,,,anon\n"
		"table,pid,ppid,epochs,threads,faults,read,write,exec,access_unknown,user,kernel,major,signal,outside,touched,around,maybe_around,populated,huge,unobserved,regions,gone,gaps,may_lack,start_s,end_s,comm,args\n"
		"process,1,0,1,1,3,1,1,1,0,3,0,0,0,0,2,3,0,0,0,0,2,0,1,12,0.000000,,parent,\n"
		"process,2,1,1,1,1,1,0,0,0,0,1,0,0,0,1,0,0,0,0,0,2,1,0,0,0.000007,0.000011,parent,\n"
		"table,pid,epoch,range,perms,gone,pages,faults,read,write,exec,access_unknown,user,kernel,major,signal,outside,touched,around,maybe_around,populated,huge,unobserved,unobserved_s,gaps,may_lack,first_s,last_s,name\n"
		"region,1,1,00600000-00601000,rw-p,0,1,2,1,1,0,0,2,0,0,0,0,1,0,0,0,0,0,0.000000,1,12,0.000005,0.000006,anon\n"
		"region,1,1,00400000-00404000,r-xp,0,4,1,0,0,1,0,1,0,0,0,0,1,3,0,0,0,0,0.000000,1,12,0.000003,0.000004,/usr/bin/x\n"
		"region,2,1,00400000-00404000,r-xp,0,4,1,1,0,0,0,0,1,0,0,0,1,0,0,0,0,0,0.000000,0,0,0.000008,0.000008,/usr/bin/x\n"
		"table,cpu,from_s,to_s,events,processes,regions,pids\n"
		"gap,1,0.000011,0.000012,12,1,2,1\n");
	feed_free(&f);
}

static json_t *report_json(const struct feed *f, bool all)
{
	struct drawing d = draw(f, "report", (struct pfs_view_options){ .format = PFS_VIEW_JSON, .all = all });
	json_error_t error;
	json_t *root = json_loads(d.text, JSON_REJECT_DUPLICATES, &error);

	assert_int_equal(d.ret, 0);
	if (!root)
		print_error("line %d: %s\n%s\n", error.line, error.text, d.text);
	assert_non_null(root);
	free(d.text);
	return root;
}

static uint64_t number_at(const json_t *array, size_t i, const char *key)
{
	return json_integer_value(json_object_get(json_array_get(array, i), key));
}

/* NULL: no such key. */
static const char *text_at(const json_t *root, const char *table, size_t i, const char *key)
{
	return json_string_value(json_object_get(json_array_get(json_object_get(root, table), i), key));
}

/* Sum of a column. */
static uint64_t sum_of(const json_t *root, const char *table, const char *key)
{
	const json_t *array = json_object_get(root, table);
	uint64_t sum = 0;

	for (size_t i = 0; i < json_array_size(array); i++)
		sum += number_at(array, i, key);
	return sum;
}

static void test_json(void **state)
{
	struct feed f = feed_new(1);
	const json_t *table, *row;
	json_t *root;

	small(&f);
	root = report_json(&f, false);
	table = json_object_get(root, "process");
	assert_int_equal(json_array_size(table), 2);
	assert_int_equal(number_at(table, 0, "pid"), 1);
	assert_int_equal(number_at(table, 0, "faults"), 3);
	assert_int_equal(number_at(table, 1, "kernel"), 1);
	row = json_array_get(table, 0);
	assert_true(json_is_null(json_object_get(row, "end_s")));
	assert_true(json_is_real(json_object_get(row, "start_s")));
	assert_string_equal(json_string_value(json_object_get(row, "comm")), "parent");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "recording"), "lost")), 12);
	table = json_object_get(root, "gap");
	assert_int_equal(json_array_size(table), 1);
	assert_int_equal(number_at(table, 0, "events"), 12);
	assert_string_equal(json_string_value(json_object_get(json_array_get(table, 0), "pids")), "1");
	table = json_object_get(root, "file");
	assert_int_equal(number_at(table, 0, "inode"), 77);
	assert_int_equal(number_at(table, 0, "mappings"), 2);
	assert_int_equal(number_at(table, 0, "processes"), 2);
	json_decref(root);
	feed_free(&f);
}

/* The three tables count the same faults, and the model's. */
static void test_sums(void **state)
{
	static const char *const keys[] = {
		"read", "write", "exec", "access_unknown", "user", "kernel", "signal", "outside", "around", "populated",
	};
	struct feed f = feed_new(0);
	json_t *root;

	scenario(&f);
	root = report_json(&f, true);
	assert_int_equal(sum_of(root, "process", "faults"), f.model->counts.faults);
	assert_int_equal(sum_of(root, "region", "faults"), f.model->counts.faults);
	assert_int_equal(sum_of(root, "file", "faults"), f.model->counts.faults);
	for (unsigned int i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		uint64_t sum = sum_of(root, "region", keys[i]);

		assert_int_equal(sum_of(root, "file", keys[i]), sum);
		assert_int_equal(sum_of(root, "process", keys[i]), sum);
	}
	assert_int_equal(sum_of(root, "region", "touched"), sum_of(root, "process", "touched"));
	/* Three mappings in each of two processes, one file. */
	for (size_t i = 0; i < json_array_size(json_object_get(root, "file")); i++) {
		const json_t *files = json_object_get(root, "file");

		if (number_at(files, i, "inode") != 1234)
			continue;
		assert_int_equal(number_at(files, i, "mappings"), 6);
		assert_int_equal(number_at(files, i, "processes"), 2);
	}
	json_decref(root);
	feed_free(&f);
}

/* A process that never had a space of its own (vfork, then exit) still has its faults in the table. */
static void test_guests_are_listed(void **state)
{
	struct feed f = feed_new(1);
	json_t *root;

	feed_map(&f, 0x400000, 0x402000, RW, "");
	feed_fork(&f, 2, true);
	feed_as(&f, 2, 2);
	feed_faults(&f, 0x400000, 2, PFS_WRITE);
	feed_exit(&f, true);
	root = report_json(&f, false);
	assert_int_equal(json_array_size(json_object_get(root, "process")), 2);
	assert_int_equal(number_at(json_object_get(root, "process"), 0, "pid"), 2);
	assert_int_equal(sum_of(root, "process", "faults"), 2);
	assert_int_equal(sum_of(root, "region", "faults"), 2);
	json_decref(root);
	feed_free(&f);
}

static void test_region_filter(void **state)
{
	struct pfs_filter filter = { 0 };
	struct feed f = feed_new(1);
	json_t *root;

	assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_REGION, "x", NULL), 0);
	f.filter = &filter;
	small(&f);
	root = report_json(&f, false);
	assert_int_equal(sum_of(root, "process", "faults"), 2);
	assert_int_equal(sum_of(root, "region", "faults"), 2);
	assert_int_equal(sum_of(root, "file", "faults"), 2);
	json_decref(root);
	pfs_filter_fini(&filter);
	feed_free(&f);
}

static void test_hostile_names(void **state)
{
	struct feed f = feed_new(1);
	json_t *root;

	feed_comm(&f, "a,\"b\"\n\\");
	feed_map(&f, 0x400000, 0x401000, RW, "/\xff\"\\,\r\n\033[2J");
	feed_fault(&f, 0x400000, PFS_READ);
	feed_map(&f, 0x402000, 0x403000, RW, "/a\033[2J\001\\");
	feed_fault(&f, 0x402000, PFS_READ);
	root = report_json(&f, false);
	assert_string_equal(text_at(root, "process", 0, "comm"), "a,\"b\"\n\\");
	for (size_t i = 0; i < 2; i++) {
		const char *table = i ? "file" : "region";
		size_t hex = text_at(root, table, 0, "name_hex") ? 0 : 1;

		assert_string_equal(text_at(root, table, hex, "name"), "/\xef\xbf\xbd\"\\,\r\n\033[2J");
		assert_string_equal(text_at(root, table, hex, "name_hex"), "2fff225c2c0d0a1b5b324a");
		assert_string_equal(text_at(root, table, !hex, "name"), "/a\033[2J\001\\");
		assert_null(text_at(root, table, !hex, "name_hex"));
	}
	json_decref(root);
	assert_true(drawn_with(&f, "report", (struct pfs_view_options){ .format = PFS_VIEW_CSV },
			       ",\"/\\xff\"\"\\\\,\\r\\n\\e[2J\"\n"));
	assert_false(drawn_with(&f, "report", plain, "\033"));
	feed_free(&f);
}

static void test_empty(void **state)
{
	struct feed f = feed_new(1);
	json_t *root = report_json(&f, false);

	assert_int_equal(json_array_size(json_object_get(root, "process")), 0);
	json_decref(root);
	assert_true(drawn_with(&f, "report", plain, "0 events in 0.000000 s, none lost\n"));
	feed_free(&f);
}

/* What a spreadsheet would execute has a ' before it; see base/escape.h. */
static void test_table_formulas(void **state)
{
	static const struct pfs_column columns[] = { { "w", "w", PFS_COLUMN_LEFT }, { NULL, NULL, 0 } };
	struct pfs_table *table = pfs_table_new(columns);
	size_t len = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	assert_true(table && out);
	pfs_table_word(table, "=1+1");
	pfs_table_word(table, "@A1,\"x\"");
	pfs_table_word(table, "'");
	pfs_table_word(table, "---p");
	pfs_table_word(table, "-");
	pfs_table_csv(table, out, "t");
	fclose(out);
	assert_string_equal(text, "table,w\nt,'=1+1\nt,\"'@A1,\"\"x\"\"\"\nt,''\nt,---p\nt,-\n");
	free(text);
	pfs_table_free(table);
}

static void test_table(void **state)
{
	static const struct pfs_column columns[] = {
		{ "n", "number", 0 },
		{ "zero", "zero", PFS_COLUMN_OPTIONAL },
		{ "s", "seconds", PFS_COLUMN_SECONDS },
		{ "w", "word", PFS_COLUMN_LEFT },
		{ NULL, NULL, 0 },
	};
	struct pfs_table *table = pfs_table_new(columns);
	struct pfs_json json;
	size_t len = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	assert_true(table && out);
	pfs_table_number(table, UINT64_MAX);
	pfs_table_number(table, 0);
	pfs_table_number(table, 1234567890123);
	pfs_table_word(table, "größe");
	pfs_table_number(table, 1);
	pfs_table_missing(table);
	pfs_table_missing(table);
	pfs_table_word(table, "");
	assert_int_equal(pfs_table_rows(table), 2);
	assert_int_equal(pfs_table_error(table), 0);
	pfs_table_text(table, out, NULL);
	pfs_table_csv(table, out, "t");
	pfs_json_init(&json, out);
	json.spaced = true;
	pfs_table_json(table, &json, NULL);
	fclose(out);
	assert_same_text(text, "                number      seconds  word\n"
			       "  18446744073709551615  1234.567890  größe\n"
			       "                     1               \n"
			       "table,n,zero,s,w\n"
			       "t,18446744073709551615,0,1234.567890,größe\n"
			       "t,1,,,\n"
			       "[\n"
			       "  {\"n\": 18446744073709551615, \"zero\": 0, \"s\": 1234.567890, \"w\": \"größe\"},\n"
			       "  {\"n\": 1, \"zero\": null, \"s\": null, \"w\": \"\"}\n"
			       "]");
	free(text);
	pfs_table_free(table);
	pfs_table_free(NULL);
}

/* Columns of one form only, and a bar where there is room for it: what is not nothing is seen, all of it fills it. */
static void test_table_with_bars(void **state)
{
	static const struct pfs_column columns[] = {
		{ "bytes", "", PFS_COLUMN_NOT_TEXT },
		{ "memory", "memory", PFS_COLUMN_TEXT_ONLY },
		{ "ratio", "ratio", PFS_COLUMN_MILLIONTHS },
		{ "bar", "", PFS_COLUMN_BAR },
		{ NULL, NULL, 0 },
	};
	static const uint64_t ratios[] = { 0, 1, 500000, 1000000 };
	struct pfs_table *table = pfs_table_new(columns);
	struct pfs_json json;
	size_t len = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	assert_true(table && out);
	for (size_t i = 0; i < 4; i++) {
		pfs_table_number(table, 4096 * i);
		pfs_table_word(table, "4K");
		pfs_table_number(table, ratios[i]);
		pfs_table_number(table, ratios[i]);
	}
	pfs_table_text(table, out, NULL);
	pfs_table_fit(table, 28);
	pfs_table_text(table, out, NULL);
	pfs_table_csv(table, out, "t");
	pfs_json_init(&json, out);
	json.spaced = true;
	pfs_table_json(table, &json, NULL);
	fclose(out);
	assert_same_text(text, "  memory     ratio\n"
			       "      4K  0.000000\n"
			       "      4K  0.000001\n"
			       "      4K  0.500000\n"
			       "      4K  1.000000\n"
			       "  memory     ratio\n"
			       "      4K  0.000000\n"
			       "      4K  0.000001  #\n"
			       "      4K  0.500000  ####\n"
			       "      4K  1.000000  ########\n"
			       "table,bytes,ratio\n"
			       "t,0,0.000000\n"
			       "t,4096,0.000001\n"
			       "t,8192,0.500000\n"
			       "t,12288,1.000000\n"
			       "[\n"
			       "  {\"bytes\": 0, \"ratio\": 0.000000},\n"
			       "  {\"bytes\": 4096, \"ratio\": 0.000001},\n"
			       "  {\"bytes\": 8192, \"ratio\": 0.500000},\n"
			       "  {\"bytes\": 12288, \"ratio\": 1.000000}\n"
			       "]");
	free(text);
	pfs_table_free(table);
}

/* Whatever a file made of the model, each view draws it and says no more than there is. */
static void test_any_model(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct feed f = feed_new(1);
		uint64_t s = seed;

		for (int i = 0; i < 400; i++) {
			struct pfs_event ev;

			random_event(&ev, &s, true);
			feed_apply(&f, &ev);
		}
		for (const struct pfs_view *view = pfs_views; view->name; view++) {
			struct drawing d =
				draw(&f, view->name,
				     (struct pfs_view_options){
					     .width = 40 + seed * 9, .all = seed % 2, .color = seed % 3 == 0 });

			assert_true(d.ret == 0 || d.ret == -ENOENT);
			free(d.text);
		}
		json_decref(report_json(&f, true));
		feed_free(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_table_formulas),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_guests_are_listed),
		cmocka_unit_test(test_region_filter),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_table_with_bars),
		cmocka_unit_test(test_any_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
