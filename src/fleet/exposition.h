/* SPDX-License-Identifier: MIT */
/*
 * Samples in the text format of OpenMetrics 1.0, or in that of Prometheus
 * (version 0.0.4), which is older and what node_exporter reads from files.
 *
 * A family is a metric with its type, unit and help. Its samples differ in
 * their labels, and stand together, in the order in which they were added.
 * Names, units and helps are the caller's own texts; values of labels may hold
 * any bytes but 0, and are shown by the rule of ESCAPE_LINE (base/escape.h).
 */
#ifndef TALLY_FLEET_EXPOSITION_H
#define TALLY_FLEET_EXPOSITION_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum exposition_form { EXPOSITION_OPENMETRICS, EXPOSITION_PROMETHEUS };

/* The types of content that HTTP names for the forms. */
#define EXPOSITION_OPENMETRICS_TYPE \
    "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define EXPOSITION_PROMETHEUS_TYPE "text/plain; version=0.0.4; charset=utf-8"

enum metric_kind {
    METRIC_GAUGE,
    METRIC_COUNTER, /* never falls; its samples' names end in _total */
};

/* The rows of a caller; their texts outlive the exposition. */
struct metric_family {
    const char *name; /* ends in the unit, where there is one; no "_total" */
    const char *unit; /* NULL: none */
    const char *help;
    enum metric_kind kind;
};

/* The last of a list has the name NULL. A label without a value (NULL or "") is
 * left out. */
struct metric_label {
    const char *name, *value;
};

struct exposition;

/* Makes an exposition of the families, without samples. 0 or TALLY_ENOMEM. */
int exposition_create(const struct metric_family *families, size_t count,
                      struct exposition **exposition);

/* Accepts NULL. */
void exposition_destroy(struct exposition *exposition);

/*
 * Add a sample to a family, by its number. A sample whose family and labels are
 * those of one before is left out: a reader would refuse the whole text. A real
 * value must be finite. Without memory exposition_write() fails.
 */
void exposition_add(struct exposition *exposition, size_t family,
                    const struct metric_label *labels, uint64_t value);
void exposition_add_real(struct exposition *exposition, size_t family,
                         const struct metric_label *labels, double value);

/* Writes the families that have samples. 0, TALLY_ENOMEM, or TALLY_EIO with
 * errno. */
int exposition_write(const struct exposition *exposition,
                     enum exposition_form form, FILE *out);

#endif
