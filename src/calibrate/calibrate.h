/* SPDX-License-Identifier: MIT */
/*
 * The figures of `tally calibrate`: each is the median of several repetitions
 * of a few probes, with its spread. Parameters of host-model follow from some
 * of them. Cycles are of the clock that a chain of additions shows just before
 * each sample.
 */
#ifndef TALLY_CALIBRATE_CALIBRATE_H
#define TALLY_CALIBRATE_CALIBRATE_H

#include "base/error.h"
#include "calibrate/calibrate_host.h"
#include "calibrate/probe.h"
#include "source/calibration.h"

#define CALIBRATE_REPETITIONS 15u
#define CALIBRATE_ATTEMPTS 8u    /* at a figure that is too noisy */
#define CALIBRATE_SPREAD_MOST 20 /* per cent */
#define CALIBRATE_FIGURES 48
#define CALIBRATE_NAME 40

struct calibrate_figure {
    char name[CALIBRATE_NAME];
    const char *unit; /* "cycles", "GHz", "a cycle", "pages", "" */
    double value;     /* the median; NAN: there is none */
    /* Half of the range that the middle half of the repetitions takes, in per
     * cent of the median. */
    double spread;
    bool needed; /* a parameter follows from it */
    bool
        absent; /* of a TLB: as many pages as are tried fit, or there is none */
};

struct calibrate_result {
    struct calibrate_figure figures[CALIBRATE_FIGURES];
    size_t count;
    struct calibration calibration; /* without date, processor and kernel */
};

/* Hears which figure is measured now, and how far all are; `again`: it was too
 * noisy. */
struct calibrate_listener {
    void (*hear)(void *user, const char *figure, unsigned done, unsigned all,
                 bool again);
    void *user;
};

/*
 * Measures all figures, and again those that are too noisy for a parameter. A
 * TLB that is not found is warned of, and leaves its parameters out. 0; or
 * TALLY_ERANGE, logged, where another figure that a parameter follows from
 * stays too noisy, or the parameter would be beyond its limits.
 */
int
calibrate_run(const struct calibrate_host *host, const struct prober *prober,
              const struct calibrate_listener *listener,
              const struct tally_log *log, struct calibrate_result *result);

/* Writes the figures as a table [figure] of the file of tally calibrate. */
void calibrate_write_figures(const struct calibrate_result *result, FILE *out);

#endif
