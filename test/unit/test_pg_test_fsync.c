/*-------------------------------------------------------------------------
 *
 * test_pg_test_fsync.c
 *	  Tests of src/engine/pg_test_fsync on captured reports, on such as the program's source
 *	  says that its versions print them, and on damaged ones.
 *
 * It must not: run pg_test_fsync.  To add a report, add a file in
 * test/fixtures/pg_test_fsync and a row of the first table.
 *
 *-------------------------------------------------------------------------
 */
#include "fixtures.h"

#include <stdbool.h>

#include "engine/pg_test_fsync/pg_test_fsync.h"

/* In the tables of figures: what else a line says. */
#define NONE	0.0
#define NA		-1.0
#define STAR	-2.0

#define MAX_REPORTS	8
#define NOT_UNDERSTOOD_SIZE	200

typedef struct tool_file
{
	const char *file;
	double		seconds;
	int64_t		operations;
	sp_tool_direct_io direct_io;
	int			block_kb;
	double		figures[SP_TOOL_LINES];
	const char *missing;		/* NULL: nothing */
} tool_file;

static const tool_file tool_files[] = {
	{"10_after_its_source.txt", 3, 0, SP_TOOL_NO_DIRECT_IO_HERE, 8,
		{
			NA, 758.939, 666.120, NA, 977.006, NA, 779.878, 654.355, NA, 582.471, 1079.095,
			334.843, 241.745, 115.335, 77.351, 1106.501, 709.144, 399647.209
	}, NULL},
	{"12_64kb_after_its_source.txt", 10, 0, SP_TOOL_DIRECT_IO, 64,
		{
			19.160, 25.874, 35.429, NA, 20.212, 15.329, 15.196, 32.922, NA, 19.601, 33.264,
			21.320, 6.307, 4.632, 2.120, 33.477, 29.642, 12461.700
	}, NULL},
	{"14_comma_after_its_source.txt", 5, 0, SP_TOOL_DIRECT_IO, 8,
		{
			11557.449, 7084.352, 8466.561, NA, 4485.355, 4805.968, 8342.755, 10858.880, NA,
			5287.699, 6276.764, 3543.166, 2337.305, 522.563, 480.848, 5344.387, 4936.766,
			1341490.606
	}, NULL},
	{"15_captured.txt", 1, 0, SP_TOOL_DIRECT_IO, 8,
		{
			8178.264, 9477.555, 9599.675, NA, 8914.501, 5301.539, 8381.145, 9260.305, NA,
			4910.573, 8372.665, 4807.812, 2648.674, 1250.297, 633.670, 9649.919, 9932.513,
			1291489.506
	}, NULL},
	{"16_macos_after_its_source.txt", 5, 0, SP_TOOL_DIRECT_IO, 8,
		{
			1141.410, 514.915, 611.685, 728.959, 1234.280, 261.262, 776.608, 858.633,
			1131.859, 593.676, 1227.586, 350.289, 205.942, 96.612, 77.861, 1311.958,
			585.829, 182578.787
	}, NULL},
	{"19_after_its_source.txt", 1, 0, SP_TOOL_DIRECT_IO, 8,
		{
			STAR, 0.599, 0.600, NA, STAR, STAR, 0.806, 0.891, NA, STAR, STAR, STAR, STAR,
			STAR, STAR, 0.686, 0.454, 248.116
	}, NULL},
	{"9.1_after_its_source.txt", 0, 2000, SP_TOOL_DIRECT_IO, 8,
		{
			NA, 674.045, 532.513, NA, 1035.841, NA, 468.357, 847.540, NA, 389.560, 502.199,
			453.346, 120.937, 105.035, 32.054, 531.642, 832.067, 358250.074
	}, NULL},
	{"9.2_after_its_source.txt", 2, 0, SP_TOOL_DIRECT_IO, 8,
		{
			128946.246, 149088.062, 148139.663, NA, STAR, 152439.018, 182109.421,
			205362.749, NA, STAR, STAR, STAR, STAR, STAR, STAR, 164165.469, 183232.726,
			1070274.826
	}, NULL},
	{"9.3_after_its_source.txt", 5, 0, SP_TOOL_DIRECT_IO, 8,
		{
			STAR, 931.838, 713.780, NA, STAR, STAR, 857.245, 460.464, NA, STAR, STAR, STAR,
			STAR, STAR, STAR, 503.641, 635.363, 318707.993
	}, NULL},
	{"freebsd10-zfs-12xsata-sync-disabled.txt", 5, 0, SP_TOOL_DIRECT_IO, 8,
		{
			NA, NA, 6676.001, NA, 6087.783, NA, NA, 4750.841, NA, 3065.099, 4965.249,
			3039.074, 1598.735, 1326.517, 620.992, 5422.742, 5552.278, 67460.621
	}, NULL},
	{"linux-ext4-on-zvol.txt", 5, 0, SP_TOOL_DIRECT_IO, 8,
		{
			5221.004, 4770.779, 2523.113, NA, 5527.120, 2740.871, 3774.486, 1927.523, NA,
			2747.225, 4751.333, 2729.912, 1387.512, 734.417, 364.665, 3134.067, 3486.530,
			293944.412
	}, NULL},
	{"linux-zfs-12xsata-logbias-throughput.txt", 5, 0, SP_TOOL_DIRECT_IO, 8,
		{
			STAR, 330.846, 329.942, NA, STAR, STAR, 329.407, 329.606, NA, STAR, STAR, STAR,
			STAR, STAR, STAR, 324.344, 329.272, 84914.324
	}, NULL},
	{"liteon-ssd-write-cache-off.txt", 5, 0, SP_TOOL_DIRECT_IO, 8,
		{
			527.295, 519.180, 168.596, NA, 169.740, 261.551, 517.381, 168.195, NA, 84.394,
			168.287, 84.500, 42.232, 20.911, 10.288, 170.290, 171.121, 332315.202
	}, NULL},
	{"liteon-ssd-write-cache-on.txt", 5, 0, SP_TOOL_DIRECT_IO, 8,
		{
			14640.971, 13786.079, 9384.938, NA, 9606.181, 8157.733, 10784.381, 7117.690,
			NA, 4913.559, 7361.125, 5274.986, 3099.050, 2048.264, 1225.877, 9403.945,
			9847.864, 337716.595
	}, NULL},
	{"without_usecs.txt", 2, 0, SP_TOOL_DIRECT_IO, 8,
		{
			561.422, 591.741, 922.445, NA, 1302.938, 484.696, 733.648, 1207.845, NA,
			245.962, 1222.622, 355.324, 144.957, 69.502, 45.477, 1184.514, 612.654,
			292032.044
	}, NULL},
	/* captured with other languages: what else the lines say is not understood */
	{"translated/15_de.txt", 0, 0, SP_TOOL_DIRECT_IO_UNKNOWN, 0,
		{
			2566.782, 6318.148, 4558.983, NONE, 2878.611, 3377.828, 3852.632, 5489.473,
			NONE, 2807.593, 4151.052, 2460.608, 1795.424, 548.947, 26.066, 427.164,
			151.396, 413823.533
		},
	"the seconds per test; whether open_* used O_DIRECT; the block size; "
	"the line fsync_writethrough in \"one write\"; "
	"the line fsync_writethrough in \"two writes\""},
	{"translated/15_fr.txt", 0, 0, SP_TOOL_DIRECT_IO_UNKNOWN, 0,
		{
			325.643, 470.350, 710.680, NA, 2237.340, 949.870, 1631.480, 174.126, NA,
			2849.194, 2495.193, 177.622, 733.678, 146.232, 370.881, 3492.524, 459.907,
			131783.279
		},
	"the seconds per test; whether open_* used O_DIRECT; the block size"},
	{"translated/15_ja.txt", 0, 0, SP_TOOL_DIRECT_IO_UNKNOWN, 0,
		{
			6457.425, 6562.665, 4212.386, NONE, 1090.063, 3279.389, 1572.472, 766.676,
			NONE, 671.206, 832.938, 2509.534, 2100.658, 832.657, 334.460, 2117.979,
			864.003, 844952.453
		},
	"the seconds per test; whether open_* used O_DIRECT; the block size; "
	"the line fsync_writethrough in \"one write\"; "
	"the line fsync_writethrough in \"two writes\""}
};

/* How many lines of a file have a figure or say that there is none? */
static int
lines_of(const tool_file *file)
{
	int			lines = 0;

	for (int i = 0; i < SP_TOOL_LINES; i++)
		lines += file->figures[i] != NONE;
	return lines;
}

/* Reads all reports of a text, and returns their number.  text is copied to its exact length. */
static int
read_reports(const char *text, size_t length, sp_tool_report *reports, char *not_understood)
{
	char	   *copy = copy_bytes(text, length);
	sp_tool_reader reader;
	sp_tool_step step;
	int			count = 0;

	sp_tool_reader_init(&reader, copy, length);
	do
	{
		sp_tool_report report;

		step = sp_tool_read_line(&reader, &report);
		if (step == SP_TOOL_STEP_REPORT)
		{
			assert_uint_in_range(count, 0, MAX_REPORTS - 1);
			reports[count++] = report;
		}
	} while (step != SP_TOOL_STEP_END);
	if (not_understood != NULL)
	{
		not_understood[0] = '\0';
		(void) sp_copy_slice(reader.not_understood, not_understood, NOT_UNDERSTOOD_SIZE);
	}
	free(copy);
	return count;
}

/* The single report of a text. */
static sp_tool_report
read_report(const char *text)
{
	sp_tool_report reports[MAX_REPORTS];

	assert_int_equal(read_reports(text, strlen(text), reports, NULL), 1);
	return reports[0];
}

static double
value_of(const sp_tool_figure *figure)
{
	switch (figure->status)
	{
		case SP_TOOL_OK:
			return figure->ops_per_sec;
		case SP_TOOL_UNSUPPORTED:
			return NA;
		case SP_TOOL_NO_DIRECT_IO:
			return STAR;
		case SP_TOOL_MISSING:
			break;
	}
	return NONE;
}

static void
assert_figures(const sp_tool_report *report, const double *figures)
{
	for (int i = 0; i < SP_TOOL_LINES; i++)
	{
		/* the same double, not a near one */
		if (value_of(&report->figures[i]) != figures[i])
			fail_msg("line %d: %.17g, expected %.17g", i, value_of(&report->figures[i]),
					 figures[i]);
	}
}

static void
assert_report(const sp_tool_report *report, const tool_file *expected)
{
	assert_figures(report, expected->figures);
	assert_true(report->seconds == expected->seconds);
	assert_int_equal(report->operations, expected->operations);
	assert_int_equal(report->direct_io, expected->direct_io);
	assert_int_equal(report->block_size, expected->block_kb * 1024);
}

static void
test_files(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(tool_files); i++)
	{
		const tool_file *expected = &tool_files[i];
		sp_tool_report reports[MAX_REPORTS];
		char		missing[SP_TOOL_MISSING_SIZE];
		char		not_understood[NOT_UNDERSTOOD_SIZE];
		size_t		length;
		char	   *text = read_fixture("pg_test_fsync", expected->file, &length, 0);

		assert_int_equal(read_reports(text, length, reports, not_understood), 1);
		assert_report(&reports[0], expected);
		assert_true(sp_tool_missing(&reports[0], missing, sizeof(missing)) ==
					(expected->missing != NULL));
		assert_string_equal(missing, expected->missing != NULL ? expected->missing : "");
		assert_true((not_understood[0] == '\0') == (expected->missing == NULL));
		assert_int_equal(sp_tool_count(&reports[0]), lines_of(expected));
		free(text);
	}
}

/* ------------------------------------------------------- text that was changed */

typedef void (*change_line) (char *to, const char *line);

static void
crlf(char *to, const char *line)
{
	sprintf(to, "%s\r\n", line);
}

static void
quoted(char *to, const char *line)
{
	sprintf(to, "> >> \t%s\n", line);
}

static void
in_a_table(char *to, const char *line)
{
	sprintf(to, " | %s  \n", line);
}

/* As web pages do: one blank for many. */
static void
collapsed(char *to, const char *line)
{
	while (*line == ' ')
		line++;
	for (; *line != '\0'; line++)
	{
		if (line[0] != ' ' || line[1] != ' ')
			*to++ = *line;
	}
	strcpy(to, "\n");
}

static void
tabbed(char *to, const char *line)
{
	for (; *line != '\0'; line++)
		*to++ = *line == ' ' ? '\t' : *line;
	strcpy(to, "\n");
}

static void
without_empty_lines(char *to, const char *line)
{
	if (line[0] == '\0')
		*to = '\0';
	else
		sprintf(to, "%s\n", line);
}

static void
commented(char *to, const char *line)
{
	sprintf(to, "%s%s\n", line, strstr(line, "ops/sec") != NULL ? "   <- slow?" : "");
}

static char *
changed(const char *text, size_t length, change_line change, size_t *changed_length)
{
	char	   *result = calloc(1, 4 * length + 1);
	char	   *copy = calloc(1, length + 1);
	char	   *rest = copy;
	char	   *line;

	assert_non_null(result);
	assert_non_null(copy);
	memcpy(copy, text, length);
	*changed_length = 0;
	while (*rest != '\0' && (line = strsep(&rest, "\n")) != NULL)
	{
		change(result + *changed_length, line);
		*changed_length += strlen(result + *changed_length);
	}
	free(copy);
	return result;
}

static void
test_changed_files(void **state)
{
	static const change_line changes[] = {
		crlf, quoted, in_a_table, collapsed, tabbed, without_empty_lines, commented
	};

	(void) state;
	for (size_t i = 0; i < lengthof(tool_files); i++)
	{
		size_t		length;
		char	   *text = read_fixture("pg_test_fsync", tool_files[i].file, &length, 0);

		for (size_t c = 0; c < lengthof(changes); c++)
		{
			sp_tool_report reports[MAX_REPORTS];
			size_t		new_length;
			char	   *new_text = changed(text, length, changes[c], &new_length);

			assert_int_equal(read_reports(new_text, new_length, reports, NULL), 1);
			assert_report(&reports[0], &tool_files[i]);
			free(new_text);
		}
		free(text);
	}
}

/* ------------------------------------------------------------- damaged text */

/*
 * Each figure that is read from a piece of a file is that of the file, and in its place.
 * Returns how many there are.
 */
static int
check_piece(const tool_file *file, const char *text, size_t length)
{
	sp_tool_report reports[MAX_REPORTS];
	int			found = 0;
	int			count = read_reports(text, length, reports, NULL);

	for (int r = 0; r < count; r++)
	{
		for (int i = 0; i < SP_TOOL_LINES; i++)
		{
			double		value = value_of(&reports[r].figures[i]);

			if (value == NONE)
				continue;
			if (value != file->figures[i])
				fail_msg("%s, %zu bytes: line %d is %.17g", file->file, length, i, value);
			found++;
		}
	}
	return found;
}

static void
test_any_cut(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(tool_files); i++)
	{
		size_t		length;
		char	   *text = read_fixture("pg_test_fsync", tool_files[i].file, &length, 0);
		int			before = 0;

		for (size_t cut = 0; cut <= length; cut++)
		{
			int			found = check_piece(&tool_files[i], text, cut);

			/* a longer text never says less */
			assert_true(found >= before);
			before = found;
			(void) check_piece(&tool_files[i], text + cut, length - cut);
		}
		assert_int_equal(before, lines_of(&tool_files[i]));
		free(text);
	}
}

static void
test_any_line_missing(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(tool_files); i++)
	{
		size_t		length;
		char	   *text = read_fixture("pg_test_fsync", tool_files[i].file, &length, 0);

		for (size_t from = 0; from < length;)
		{
			const char *newline = memchr(text + from, '\n', length - from);
			size_t		end = (size_t) (newline - text) + 1;
			char	   *piece = copy_bytes(text, length);

			memmove(piece + from, piece + end, length - end);
			/* of all lines but the headings no more than this one is missing */
			if (check_piece(&tool_files[i], piece, length - (end - from)) <
				lines_of(&tool_files[i]) - 1)
				assert_non_null(memmem(text + from, end - from, "Compare file sync", 17));
			free(piece);
			from = end;
		}
		free(text);
	}
}

/* -------------------------------------------------------------- single lines */

#define HEAD "5 seconds per test\n" \
	"O_DIRECT supported on this platform for open_datasync and open_sync.\n"
#define ONE "Compare file sync methods using one 8kB write:\n"
#define TWO "Compare file sync methods using two 8kB writes:\n"
#define SIZES "Compare open_sync with different write sizes:\n"

/* The line of fdatasync in a text, and what becomes of it. */
static const struct
{
	const char *line;
	double		ops_per_sec;
	double		mean_us;		/* 0: 1e6 / ops_per_sec */
}			single_lines[] =
{
	{"fdatasync 519.180 ops/sec 1926 usecs/op\n", 519.180, 0},
	{"fdatasync 519.180 ops/sec 1926 usecs/op", 519.180, 0},
	{"fdatasync 519.180 ops/sec\n", 519.180, 0},
	{"fdatasync 519.180 ops/sec", 519.180, 0},
	{"fdatasync 519.180 ops/sec 19", 519.180, 0},
	{"fdatasync 519.180 ops/sec 1926\nusecs/op\n", 519.180, 0},
	{"fdatasync 519.180 ops/se", NONE, 0},
	{"fdatasync 519.180 ops/se\n", NONE, 0},
	{"fdatasync 519.180", NONE, 0},
	{"fdatasync 519.180\n", NONE, 0},
	{"fdatasync 519.1", NONE, 0},
	{"fdatasync", NONE, 0},
	{"fdatasync \n", NONE, 0},
	{"fdatasync ^C\n", NONE, 0},
	{"fdatasync write failed: Invalid argument\n", NONE, 0},
	{"fdatasync519.180 ops/sec\n", NONE, 0},
	{"fdatasync 519.180ops/sec\n", NONE, 0},
	{"fdatasync 519.180 ops/second\n", NONE, 0},
	{"fdatasync n/a\n", NA, 0},
	{"fdatasync n/a", NONE, 0},		/* may have been n/a* */
	{"fdatasync n/a*", STAR, 0},
	{"fdatasync n/a*\n", STAR, 0},
	{"fdatasync n/a**\n", NONE, 0},
	{"fdatasync n/", NONE, 0},
	/* a decimal comma, but no thousands */
	{"fdatasync 519,180 ops/sec 1926 usecs/op\n", 519.180, 0},
	{"fdatasync 519,180 ops/sec\n", NONE, 0},
	{"fdatasync 14,640 ops/sec 68 usecs/op\n", NONE, 0},
	{"fdatasync 14,640.971 ops/sec 68 usecs/op\n", NONE, 0},
	{"fdatasync 519,18 ops/sec 1926 usecs/op\n", NONE, 0},
	{"fdatasync 1.519,180 ops/sec 1926 usecs/op\n", NONE, 0},
	/* numbers that contradict each other: a digit was lost */
	{"fdatasync 51.180 ops/sec 1926 usecs/op\n", NONE, 0},
	{"fdatasync 519.180 ops/sec 926 usecs/op\n", NONE, 0},
	{"fdatasync 519.180 ops/sec 19260 usecs/op\n", NONE, 0},
	/* units in other languages, if both numbers agree */
	{"fdatasync 519,180 Op./s  1926 \xc2\xb5s/Op.\n", 519.180, 0},
	{"fdatasync 519.180 Op./s  1926 \xc2\xb5s/Op.", 519.180, 0},
	{"fdatasync 519.180 a b c  1926 d e\n", 519.180, 0},
	{"fdatasync 519.180 Op./s  1926\n", NONE, 0},
	{"fdatasync 519.180 Op./s  192", NONE, 0},
	{"fdatasync 519.180 Op./s  1926 7\n", NONE, 0},
	{"fdatasync 519.180 Op./s1926 us\n", NONE, 0},
	{"fdatasync 519.180 Op./s  926 us\n", NONE, 0},
	{"fdatasync 519.18 Op./s  1926 us\n", NONE, 0},
	{"fdatasync 519.180 1926 us\n", NONE, 0},
	{"fdatasync 519.180 Op./s\n", NONE, 0},
	{"fdatasync entf.\n", NONE, 0},
	/* where the first number has few digits, the second says more */
	{"fdatasync 0.012 ops/sec 83210123 usecs/op\n", 0.012, 83210123},
	{"fdatasync 0.012 ops/sec 93210123 usecs/op\n", NONE, 0},
	{"fdatasync 337716.595 ops/sec 3 usecs/op\n", 337716.595, 0},
	{"fdatasync 9000000.500 ops/sec 0 usecs/op\n", 9000000.5, 0},
	{"fdatasync 0.000 ops/sec inf usecs/op\n", NONE, 0},
	{"fdatasync 0.000 ops/sec\n", NONE, 0},
	{"fdatasync -519.180 ops/sec\n", NONE, 0},
	{"fdatasync inf ops/sec 0 usecs/op\n", NONE, 0},
	{"fdatasync nan ops/sec nan usecs/op\n", NONE, 0},
	{"fdatasync 1e3 ops/sec\n", NONE, 0},
	{"fdatasync 0x10 ops/sec\n", NONE, 0},
	{"fdatasync .5 ops/sec\n", NONE, 0},
	{"fdatasync 5. ops/sec\n", NONE, 0},
	{"fdatasync 519 ops/sec\n", 519, 0},
	{"fdatasync 999999999.999 ops/sec 0 usecs/op\n", 999999999.999, 0},
	{"fdatasync 1000000000.000 ops/sec 0 usecs/op\n", NONE, 0},
	{"fdatasync 519.1800 ops/sec\n", NONE, 0},
	{"fdatasync 99999999999999999999999999999999999999999999999999 ops/sec\n", NONE, 0},
	{"fdatasynchronous 519.180 ops/sec\n", NONE, 0},
	{"my fdatasync 519.180 ops/sec\n", NONE, 0},
};

static void
test_single_lines(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(single_lines); i++)
	{
		const char *line = single_lines[i].line;
		char		text[500];
		sp_tool_report report;
		const sp_tool_figure *figure;
		/* in memory: clang keeps more than a double of what x87 has computed */
		volatile double mean_us = single_lines[i].mean_us;

		snprintf(text, sizeof(text), HEAD ONE "open_datasync 1.000 ops/sec\n%s", line);
		report = read_report(text);
		figure = &report.figures[1];
		if (value_of(figure) != single_lines[i].ops_per_sec)
			fail_msg("%s: %.17g", line, value_of(figure));
		if (mean_us == 0)
			mean_us = 1e6 / figure->ops_per_sec;
		if (figure->status == SP_TOOL_OK && figure->mean_us != mean_us)
			fail_msg("%s: %.17g us", line, figure->mean_us);
	}
}

/* A line that is too long says nothing, and ends nothing. */
static void
test_long_line(void **state)
{
	static const struct
	{
		int			comment;
		double		ops_per_sec;
	}			lengths[] = {{900, 7.5}, {1100, NONE}};

	(void) state;
	for (size_t i = 0; i < lengthof(lengths); i++)
	{
		char		text[2000];
		sp_tool_report report;

		snprintf(text, sizeof(text), HEAD ONE "fdatasync 7.500 ops/sec %0*d\nfsync 8.500 ops/sec\n",
				 lengths[i].comment, 0);
		report = read_report(text);
		assert_true(value_of(&report.figures[1]) == lengths[i].ops_per_sec);
		assert_true(value_of(&report.figures[2]) == 8.5);
	}
}

/* The line before the headings. */
static const struct
{
	const char *line;
	double		seconds;
}			heads[] =
{
	{"5 seconds per test", 5},
	{"1 second per test", 1},
	{"0.05 seconds per test", 0.05},
	{"4294 seconds per test", 4294},
	{"0 seconds per test", 0},
	{"-1 seconds per test", 0},
	{"0,5 seconds per test", 0},
	{"0.055 seconds per test", 0},
	{"99999999999999999999 seconds per test", 0},
	{"about 5 seconds per test", 0},
	{"5 seconds per test and more", 0},
	{"5 Sekunden pro Test", 0},
	{"\xef\xbb\xbf" "5 seconds per test", 5},
};

static void
test_heads(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(heads); i++)
	{
		char		text[500];
		sp_tool_report report;

		snprintf(text, sizeof(text), "%s\n" ONE "fsync 7.5 ops/sec\n", heads[i].line);
		report = read_report(text);
		if (report.seconds != heads[i].seconds)
			fail_msg("%s: %g", heads[i].line, report.seconds);
		assert_int_equal(report.direct_io, SP_TOOL_DIRECT_IO_UNKNOWN);
	}
}

/* The heading before a line of fsync, and the block size in kB; -1: it is no heading. */
static const struct
{
	const char *heading;
	int			block_kb;
}			headings[] =
{
	{"Compare file sync methods using one 1kB write:", 1},
	{"Compare file sync methods using one 64kB write:", 64},
	{"Compare file sync methods using one 1024kB write:", 1024},
	{"Compare file sync methods using one write:", 0},
	{"Compare  file sync methods using one  8kB  write:", 8},
	{"Compare file sync methods using one 0kB write:", -1},
	{"Compare file sync methods using one 1025kB write:", -1},
	{"Compare file sync methods using one 99999999999999999999kB write:", -1},
	{"Compare file sync methods using one 8MB write:", -1},
	{"Compare file sync methods using one 8kB write", -1},
	{"Compare file sync methods using one 8kB write: (copy)", -1},
	{"compare file sync methods using one 8kB write:", -1},
};

static void
test_headings(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(headings); i++)
	{
		sp_tool_report reports[MAX_REPORTS];
		char		text[500];
		int			count;

		snprintf(text, sizeof(text), "%s\nfsync 7.5 ops/sec\n", headings[i].heading);
		count = read_reports(text, strlen(text), reports, NULL);
		assert_int_equal(count, headings[i].block_kb >= 0 ? 1 : 0);
		if (count > 0)
			assert_int_equal(reports[0].block_size, headings[i].block_kb * 1024);
	}
}

/* Headings of the last section as versions and web pages have it. */
static void
test_unsynced_headings(void **state)
{
	static const char *const texts[] = {
		"Non-Sync'ed 64kB writes:\nwrite 10.000 ops/sec\n",
		"Non-sync'ed 64kB writes:\nwrite 10.000 ops/sec\n",
		"Non-sync\xe2\x80\x99" "ed 64kB writes:\nwrite 10.000 ops/sec\n",
		"Non-sync\x92" "ed 64kB writes:\nwrite 10.000 ops/sec\n",
	};

	(void) state;
	for (size_t i = 0; i < lengthof(texts); i++)
	{
		sp_tool_report report = read_report(texts[i]);

		assert_true(report.figures[17].ops_per_sec == 10);
		assert_int_equal(report.block_size, 64 * 1024);
	}
}

/* ----------------------------------------------------- what belongs together */

/*
 * Texts, and the figures of their reports: "2=7.5,4=*;" is a report with 7.5 in line 2, n/a* in
 * line 4, and no other line.
 */
static const struct
{
	const char *name;
	const char *text;
	const char *figures;
	const char *not_understood;
}			texts[] =
{
	{"empty", "", "", ""},
	{"blank", " \n\r\n\t\n", "", ""},
	{"a head alone", HEAD ONE, "", ""},
	{"something else", "> SELECT 1;\nand more\n", "", "SELECT 1;"},
	{"without a newline", "hello", "", "hello"},
	{"a translated one", "5 Sekunden pro Test\n        fsync     7,500 Op./s\n", "",
	"5 Sekunden pro Test"},
	{"a line without its heading", "fsync 7.500 ops/sec\n", "", ""},
	{"a prompt and a command", "$ pg_test_fsync -f /x/y\n" HEAD ONE "fsync 7.500 ops/sec\n$ \n",
		"2=7.5;", "$ pg_test_fsync -f /x/y"},
	{"two reports",
		HEAD ONE "fsync 1.000 ops/sec\n" HEAD ONE "fsync 2.000 ops/sec\n", "2=1;2=2;", ""},
	{"two reports without heads",
		ONE "fsync 1.000 ops/sec\n" ONE "fsync 2.000 ops/sec\n", "2=1;2=2;", ""},
	{"two block sizes",
		ONE "fsync 1.000 ops/sec\nCompare file sync methods using two 16kB writes:\n"
		"fsync 2.000 ops/sec\n", "2=1;7=2;", ""},
	{"the second begins with its second section",
		ONE "fsync 1.000 ops/sec\n" TWO "fsync 2.000 ops/sec\n" TWO "fsync 3.000 ops/sec\n",
	"2=1,7=2;7=3;", ""},
	{"a line twice is of another report",
		ONE "fsync 1.000 ops/sec\nfsync 2.000 ops/sec\n" TWO "fsync 3.000 ops/sec\n",
	"2=1;2=2,7=3;", ""},
	{"the beginning of the second is cut",
		SIZES "1 * 16kB open_sync write 1.000 ops/sec\nfsync 2.000 ops/sec\n" TWO
	"fsync 3.000 ops/sec\n", "10=1;2=2,7=3;", ""},
	{"before the second heading is the first section",
		"fsync 2.000 ops/sec\nopen_sync n/a*\n" TWO "fsync 3.000 ops/sec\n", "2=2,4=*,7=3;", ""},
	{"before the third heading is the second section",
		"fsync 2.000 ops/sec\n" SIZES "1 * 16kB open_sync write n/a\n", "7=2,10=-;", ""},
	{"lines with figures alone",
		"fsync 1.000 ops/sec\nfsync 2.000 ops/sec\n1 * 16kB open_sync write 3.000 ops/sec\n"
	"write, close, fsync 4.000 ops/sec\nwrite 5.000 ops/sec\n", "2=1,7=2,10=3,16=4,17=5;", ""},
	{"three groups: the first is of another report",
		"fsync 9.000 ops/sec\nfsync 1.000 ops/sec\nfsync 2.000 ops/sec\n" SIZES
	"1 * 16kB open_sync write 3.000 ops/sec\n", "7=2,10=3;", ""},
	{"what comes after nothing that is known",
		"fsync 1.000 ops/sec\nwrite, close, fsync 4.000 ops/sec\n", "16=4;", ""},
	{"a section lost its order",
		"write, close, fsync 4.000 ops/sec\nwrite 5.000 ops/sec\n"
	"write, fsync, close 3.000 ops/sec\n", "16=4,17=5;15=3;", ""},
	{"the end of a translated label",
		"open_sync 9.000 ops/sec 111111 usecs/op\n"
		"2 * 8 Ko, ecriture avec open_sync 10.000 ops/sec 100000 usecs/op\n", "11=10;", ""},
	{"the end of another label", "write 5.000 ops/sec\n2 * 8kB open_sync writes 2.000 ops/sec\n",
	"11=2;", ""},
	{"sizes of no version", SIZES "3 * 16kB open_sync write 1.000 ops/sec\n"
		"1 * 8kB open_sync write 1.000 ops/sec\n2 * 8kB open_sync writes 2.000 ops/sec\n", "11=2;",
	"3 * 16kB open_sync write 1.000 ops/sec"},
	{"sizes in another language",
		"fsync 1.000 ops/sec 1000000 usecs/op\nfsync 2.000 ops/sec\n"
		"1 * 16 Ko, ecriture 10.000 ops/sec 100000 usecs/op\n"
		"3 * 1 Ko, ecriture 10.000 ops/sec 100000 usecs/op\n", "2=1,7=2,10=10;",
	"3 * 1 Ko, ecriture 10.000 ops/sec 100000 usecs/op"},
	{"a head between",
		ONE "fsync 1.000 ops/sec\nO_DIRECT supported on this platform for all.\n" ONE
	"fsync 2.000 ops/sec\n", "2=1;2=2;", ""},
};

/* Writes the figures of a report as in the table. */
static void
describe(const sp_tool_report *report, char *to)
{
	const char *separator = "";

	for (int i = 0; i < SP_TOOL_LINES; i++)
	{
		double		value = value_of(&report->figures[i]);

		if (value == NONE)
			continue;
		to += sprintf(to, "%s%d=", separator, i);
		to += value == NA ? sprintf(to, "-") : value == STAR ? sprintf(to, "*") :
			sprintf(to, "%g", value);
		separator = ",";
	}
	strcpy(to, ";");
}

static void
test_texts(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(texts); i++)
	{
		sp_tool_report reports[MAX_REPORTS];
		char		found[1000] = "";
		char		not_understood[NOT_UNDERSTOOD_SIZE];
		int			count = read_reports(texts[i].text, strlen(texts[i].text), reports,
										 not_understood);

		for (int r = 0; r < count; r++)
			describe(&reports[r], found + strlen(found));
		if (strcmp(found, texts[i].figures) != 0)
			fail_msg("%s: %s", texts[i].name, found);
		if (strcmp(not_understood, texts[i].not_understood) != 0)
			fail_msg("%s: not understood: %s", texts[i].name, not_understood);
	}
}

/* ------------------------------------------------------------------ missing */

/* Lines of a complete report that are taken out, from and to; and the words for that. */
static const struct
{
	int			from[3];		/* the first of each gap, from 1; 0: no more */
	int			to[3];
	double		seconds;
	sp_tool_direct_io direct_io;
	int			block_size;
	const char *missing;
}			gaps[] =
{
	{{0}, {0}, 5, SP_TOOL_DIRECT_IO, 8192, ""},
	{{0}, {0}, 5, SP_TOOL_NO_DIRECT_IO_HERE, 8192, ""},
	{{0}, {0}, 0, SP_TOOL_DIRECT_IO, 8192, "the seconds per test"},
	{{0}, {0}, 0, SP_TOOL_DIRECT_IO_UNKNOWN, 8192,
	"the seconds per test; whether open_* used O_DIRECT"},
	{{18}, {18}, 5, SP_TOOL_DIRECT_IO, 8192,
	"the end, after write, close, fsync in \"fsync on non-write file descriptor\""},
	{{6}, {18}, 5, SP_TOOL_DIRECT_IO, 8192, "the end, after open_sync in \"one 8kB write\""},
	{{9}, {18}, 5, SP_TOOL_DIRECT_IO, 65536, "the end, after fsync in \"two 64kB writes\""},
	{{9}, {18}, 5, SP_TOOL_DIRECT_IO, 0,
	"the block size; the end, after fsync in \"two writes\""},
	{{1}, {16}, 0, SP_TOOL_DIRECT_IO, 0,
		"the beginning, before write, close, fsync in \"fsync on non-write file descriptor\"; "
	"the block size"},
	{{1}, {2}, 0, SP_TOOL_DIRECT_IO_UNKNOWN, 8192,
	"the beginning, before fsync in \"one 8kB write\""},
	{{1}, {17}, 0, SP_TOOL_DIRECT_IO_UNKNOWN, 8192,
	"the beginning, before \"Non-sync'ed 8kB writes\""},
	{{1, 6}, {2, 18}, 0, SP_TOOL_DIRECT_IO_UNKNOWN, 8192,
		"the beginning, before fsync in \"one 8kB write\"; "
	"the end, after open_sync in \"one 8kB write\""},
	/* with a head, the beginning is there */
	{{1}, {2}, 5, SP_TOOL_DIRECT_IO, 8192,
	"the line open_datasync in \"one 8kB write\"; the line fdatasync in \"one 8kB write\""},
	{{6}, {10}, 5, SP_TOOL_DIRECT_IO, 8192, "the section \"two 8kB writes\""},
	{{1}, {5}, 5, SP_TOOL_DIRECT_IO, 8192, "the section \"one 8kB write\""},
	{{10}, {11}, 5, SP_TOOL_DIRECT_IO, 8192, "the line open_sync in \"two 8kB writes\"; "
	"the line 1 * 16kB open_sync write in \"open_sync with different write sizes\""},
	{{2, 11, 18}, {2, 15, 18}, 5, SP_TOOL_DIRECT_IO, 8192,
		"the line fdatasync in \"one 8kB write\"; "
		"the section \"open_sync with different write sizes\"; "
	"the end, after write, close, fsync in \"fsync on non-write file descriptor\""},
	{{5, 16}, {6, 17}, 5, SP_TOOL_DIRECT_IO, 8192,
		"the line open_sync in \"one 8kB write\"; the line open_datasync in \"two 8kB writes\"; "
	"the section \"fsync on non-write file descriptor\""},
};

static void
test_missing(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(gaps); i++)
	{
		sp_tool_report report = {
			.seconds = gaps[i].seconds, .direct_io = gaps[i].direct_io,
			.block_size = gaps[i].block_size
		};
		char		missing[SP_TOOL_MISSING_SIZE];

		for (int line = 0; line < SP_TOOL_LINES; line++)
			report.figures[line] = (sp_tool_figure) {SP_TOOL_OK, 1, 1e6};
		for (int g = 0; g < 3 && gaps[i].from[g] > 0; g++)
		{
			for (int line = gaps[i].from[g]; line <= gaps[i].to[g]; line++)
				report.figures[line - 1].status = SP_TOOL_MISSING;
		}
		assert_true(sp_tool_missing(&report, missing, sizeof(missing)) ==
					(gaps[i].missing[0] != '\0'));
		assert_string_equal(missing, gaps[i].missing);
	}
}

/* The words fit, whatever is missing. */
static void
test_longest_missing(void **state)
{
	size_t		longest = 0;

	(void) state;
	for (uint32_t lines = 1; lines < (UINT32_C(1) << SP_TOOL_LINES); lines++)
	{
		sp_tool_report report = {.block_size = 1024 * 1024};
		char		missing[SP_TOOL_MISSING_SIZE];

		for (int line = 0; line < SP_TOOL_LINES; line++)
		{
			if (lines & (UINT32_C(1) << line))
				report.figures[line] = (sp_tool_figure) {SP_TOOL_OK, 1, 1e6};
		}
		assert_true(sp_tool_missing(&report, missing, sizeof(missing)));
		if (strlen(missing) > longest)
			longest = strlen(missing);
	}
	assert_uint_in_range(longest, 100, SP_TOOL_MISSING_SIZE - 2);
}

/* The table of lines is that of the suite: five sections, in order. */
static void
test_lines(void **state)
{
	(void) state;
	for (int i = 0; i < SP_TOOL_LINES; i++)
	{
		const sp_tool_line *line = &sp_tool_lines[i];

		assert_true(i == 0 || line->section >= sp_tool_lines[i - 1].section);
		assert_non_null(sp_tool_tests[line->section]);
		if (line->section == SP_TOOL_OPEN_SYNC_SIZES)
			assert_int_equal(line->write_size * line->writes_per_sync, 16 * 1024);
		else
			assert_int_equal(line->write_size, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_changed_files),
		cmocka_unit_test(test_any_cut),
		cmocka_unit_test(test_any_line_missing),
		cmocka_unit_test(test_single_lines),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_headings),
		cmocka_unit_test(test_unsynced_headings),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_longest_missing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
