/*-------------------------------------------------------------------------
 *
 * test_simulation.c
 *	  How often the rules of src/engine/verdict err, by simulations with a fixed seed.
 *
 * Here the entries are drawn as the intervals assume them.  Whole runs of the engine on a
 * disk that is not so kind are in test_runs.c.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <string.h>

#include "engine/verdict/verdict.h"

#define MARGIN		0.05
#define RUNS		1000

#define METHODS		4			/* the current one and three others */
#define MAX_ROUNDS	128

typedef struct simulation
{
	const char *name;
	double		speed[METHODS];	/* true, in both regimes */
	double		sd;				/* of log(current / method) per round */
	int			max_rounds;
	bool		gives_up;		/* stops when projected to stay undecided, as a probe
								 * does */
} simulation;

/* The rounds of a run: of every method, and of the control after them. */
typedef double run_times[SP_REGIMES][METHODS + 1][MAX_ROUNDS];

static void
simulate_round(const simulation *sim, run_times us, int round, uint64_t *seed)
{
	for (int r = 0; r < SP_REGIMES; r++)
	{
		/* the state of the disk, which all share in this round */
		double		common = 300 * exp(0.5 * random_normal(seed));

		for (int m = 0; m <= METHODS; m++)
			us[r][m][round] = common / sim->speed[m < METHODS ? m : 0] *
				exp(sim->sd / sqrt(2) * random_normal(seed));
	}
}

/* Compare the methods after so many rounds, as an interim analysis does. */
static sp_comparison
compare_run(run_times us, int rounds, int analysis)
{
	static const char *const names[METHODS] = {
		"fdatasync", "fsync", "open_sync", "open_datasync"
	};
	sp_comparison comparison = {
		.count = METHODS,.margin = MARGIN,.pace = {NAN, NAN, NAN}
	};
	double		workspace[MAX_ROUNDS];

	for (int m = 0; m < METHODS; m++)
	{
		comparison.contenders[m].name = names[m];
		for (int r = 0; r < SP_REGIMES; r++)
			comparison.contenders[m].speed[r] =
				sp_speed_interval(us[r][0], us[r][m == 0 ? METHODS : m], rounds,
								  sp_analysis_alpha(analysis), m == 0 ? 1 : METHODS - 1,
								  workspace);
	}
	sp_classify(&comparison);
	return comparison;
}

/* One run with its interim analyses until the verdict is settled; returns its rounds. */
static int
simulate_run(const simulation *sim, uint64_t *seed, sp_judgement *judgement)
{
	static run_times us;
	int			rounds = 0;

	for (int analysis = 1; sp_analysis_entries(analysis) <= sim->max_rounds; analysis++)
	{
		sp_comparison comparison;

		while (rounds < sp_analysis_entries(analysis))
			simulate_round(sim, us, rounds++, seed);
		comparison = compare_run(us, rounds, analysis);
		sp_judge(&comparison, judgement);
		if (sp_judgement_settled(&comparison, judgement))
			break;
		if (sim->gives_up && rounds >= 45 && rounds < sim->max_rounds)
		{
			/* a probe projects that either regime gets all the remaining time */
			double		growth = 1 + 2.0 * (sim->max_rounds - rounds) / rounds;

			if (!sp_projection_settles(&comparison, (double[]) {growth, growth}))
				break;
		}
	}
	return rounds;
}

/* How many of the runs end with this verdict, and this method recommended. */
static int
simulate(const simulation *sim, sp_verdict verdict, int recommended)
{
	int			verdicts[SP_UNSAFE + 1] = {0};
	int			wanted = 0;
	int64_t		rounds = 0;
	uint64_t	seed = 15;

	for (int run = 0; run < RUNS; run++)
	{
		sp_judgement judgement;

		rounds += simulate_run(sim, &seed, &judgement);
		verdicts[judgement.verdict]++;
		if (judgement.verdict == verdict &&
			(recommended < 0 || judgement.recommended == recommended))
			wanted++;
	}
	print_message("# %s: switch %d, keep %d, tie %d, undecided %d of %d runs, "
				  "%.0f rounds each; counted %d\n",
				  sim->name, verdicts[SP_SWITCH], verdicts[SP_KEEP], verdicts[SP_TIE],
				  verdicts[SP_UNDECIDED], RUNS, (double) rounds / RUNS, wanted);
	return wanted;
}

static void
seldom_switches_without_a_difference(void **state)
{
	static const simulation sim = {"no difference, sd 10 %", {1, 1, 1, 1}, 0.10, 64, false};

	(void) state;
	assert_uint_in_range(simulate(&sim, SP_SWITCH, -1), 0, RUNS * 25 / 1000);
}

static void
finds_what_is_faster(void **state)
{
	static const simulation sim = {"one 20 % faster, sd 10 %", {1, 1, 1.2, 1}, 0.10, 32, false};

	(void) state;
	assert_uint_in_range(simulate(&sim, SP_SWITCH, 2), RUNS * 95 / 100, RUNS);
}

static void
calls_equals_a_tie(void **state)
{
	static const simulation sim = {"all within 1 %, sd 5 %", {1, 0.99, 1, 1.01}, 0.05, 64, false};

	(void) state;
	assert_uint_in_range(simulate(&sim, SP_TIE, 0), RUNS * 90 / 100, RUNS);
}

/* Stopping by projection must not cost more than a few verdicts. */
static void
gives_up_seldom_in_vain(void **state)
{
	static const simulation rows[] = {
		{"one 20 % faster, sd 20 %", {1, 1, 1.2, 1}, 0.20, 128, false},
		{"one 10 % faster, sd 10 %", {1, 1, 1.1, 1}, 0.10, 128, false},
		{"all within 1 %, sd 5 %", {1, 0.99, 1, 1.01}, 0.05, 64, false},
		{"all within 1 %, sd 8 %", {1, 0.99, 1, 1.01}, 0.08, 128, false},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		simulation	sim = rows[i];
		int			undecided = simulate(&sim, SP_UNDECIDED, -1);

		sim.gives_up = true;
		assert_uint_in_range(simulate(&sim, SP_UNDECIDED, -1), 0, undecided + RUNS * 3 / 100);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seldom_switches_without_a_difference),
		cmocka_unit_test(finds_what_is_faster),
		cmocka_unit_test(calls_equals_a_tie),
		cmocka_unit_test(gives_up_seldom_in_vain),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("simulation", tests, NULL, NULL);
}
