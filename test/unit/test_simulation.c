/*-------------------------------------------------------------------------
 *
 * test_simulation.c
 *	  How often the rules of src/engine/verdict err, by simulations with a fixed seed.
 *
 * Here the samples are drawn as the intervals assume them.  Whole runs of the engine on a
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
#define MAX_SAMPLES	400

typedef struct simulation
{
	const char *name;
	double		speed[METHODS];	/* true */
	double		sd;				/* of log(current / method) per sample */
	int			samples;		/* at the last look */
	bool		stops_early;
} simulation;

/* The samples of a run: of every method, and of the control after them. */
typedef double run_times[METHODS + 1][MAX_SAMPLES];

static void
simulate_sample(const simulation *sim, run_times us, int sample, uint64_t *seed)
{
	/* the state of the disk, which all share in this sample */
	double		common = 300 * exp(0.5 * random_normal(seed));

	for (int m = 0; m <= METHODS; m++)
		us[m][sample] = common / sim->speed[m < METHODS ? m : 0] *
			exp(sim->sd / sqrt(2) * random_normal(seed));
}

/* Compare the methods after so many samples; fsync is of the kind in use. */
static void
compare_run(run_times us, int samples, double alpha, sp_comparison *comparison)
{
	static const char *const names[METHODS] = {
		"fdatasync", "fsync", "open_sync", "open_datasync"
	};
	double		workspace[MAX_SAMPLES];

	*comparison = (sp_comparison) {.count = METHODS,.margin = MARGIN};
	for (int m = 0; m < METHODS; m++)
	{
		comparison->candidates[m].name = names[m];
		comparison->candidates[m].other_kind = m >= 2;
		comparison->candidates[m].speed =
			sp_speed_interval(us[0], us[m == 0 ? METHODS : m], samples, alpha,
							  m == 0 ? 1 : METHODS - 1, workspace);
	}
}

/* One run with its looks until the verdict is settled; returns its samples. */
static int
simulate_run(const simulation *sim, uint64_t *seed, sp_judgement *judgement)
{
	static run_times us;
	int			looks = 0;

	for (int sample = 1; sample <= sim->samples; sample++)
	{
		bool		last = sample == sim->samples;
		int			due = last ? SP_LOOKS : sp_looks_due(sample, sim->samples);
		sp_comparison comparison;

		simulate_sample(sim, us, sample - 1, seed);
		if (due <= looks || !(last || sim->stops_early))
			continue;
		looks = due;
		compare_run(us, sample, sim->stops_early ? sp_look_alpha(looks) : SP_ALPHA, &comparison);
		sp_judge(&comparison, judgement);
		if (sp_is_settled(&comparison, judgement))
			return sample;
	}
	return sim->samples;
}

/* How many of the runs end with this verdict, and this method recommended. */
static int
simulate(const simulation *sim, sp_verdict verdict, int recommended)
{
	int			verdicts[SP_UNSAFE + 1] = {0};
	int			wanted = 0;
	int64_t		samples = 0;
	uint64_t	seed = 15;

	for (int run = 0; run < RUNS; run++)
	{
		sp_judgement judgement;

		samples += simulate_run(sim, &seed, &judgement);
		verdicts[judgement.verdict]++;
		if (judgement.verdict == verdict &&
			(recommended < 0 || judgement.recommended == recommended))
			wanted++;
	}
	print_message("# %s, %s: switch %d, keep %d, undecided %d of %d runs, "
				  "%.0f of %d samples each; counted %d\n",
				  sim->name, sim->stops_early ? "three looks" : "one look", verdicts[SP_SWITCH],
				  verdicts[SP_KEEP], verdicts[SP_UNDECIDED], RUNS, (double) samples / RUNS,
				  sim->samples, wanted);
	return wanted;
}

/* The worst case of a difference that is no reason: just the margin. */
static void
errs_at_the_margin_as_promised(void **state)
{
	(void) state;
	for (int early = 0; early < 2; early++)
	{
		simulation	sim = {
			"all faster by the margin, sd 10 %", {1, 1.05, 1.05, 1.05}, 0.10, 128, early
		};

		assert_uint_in_range(simulate(&sim, SP_SWITCH, -1), 0, RUNS * 25 / 1000);
	}
}

/* No interval reaches above the margin, and a switch is no less wrong with many samples. */
static void
keeps_what_is_as_good(void **state)
{
	static const simulation sims[] = {
		{"no difference, sd 10 %", {1, 1, 1, 1}, 0.10, 400, true},
		{"all within 1 %, sd 5 %", {1, 0.99, 1, 1.01}, 0.05, 128, true},
		{"all slower by 5 %, sd 10 %", {1, 0.95, 0.95, 0.95}, 0.10, 128, true},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(sims); i++)
		assert_uint_in_range(simulate(&sims[i], SP_KEEP, 0), RUNS * 95 / 100, RUNS);
}

/* A keep is wrong if one gains more than the margin: all upper ends must be wrong for it. */
static void
seldom_keeps_what_is_worse(void **state)
{
	(void) state;
	for (int early = 0; early < 2; early++)
	{
		simulation	sim = {
			"one 6 % faster, sd 10 %", {1, 1.06, 1, 1}, 0.10, 200, early
		};

		assert_uint_in_range(simulate(&sim, SP_KEEP, 0), 0, RUNS * 25 / 1000);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errs_at_the_margin_as_promised),
		cmocka_unit_test(keeps_what_is_as_good),
		cmocka_unit_test(seldom_keeps_what_is_worse),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("simulation", tests, NULL, NULL);
}
