/* SPDX-License-Identifier: MIT */
/*
 * The file of `tally calibrate`: parameters of host-model that were measured on
 * this computer. doc/calibrate.md describes the form, a small part of TOML:
 *
 *     date = "2026-11-29T04:30:00Z"
 *     processor = "Some CPU, family 25, model 17, stepping 1"
 *     kernel = "Linux 6.1.0"
 *
 *     [parameter]
 *     "time.l2" = { value = 10, spread = 1.2 }
 *     "dtlb.entries" = { value = 72, source = "cpuid" }
 *
 *     [figure]
 *     "load from 16K" = { value = 4.03, unit = "cycles", spread = 0.4 }
 *
 * The file is not trusted. Values have the limits that --set has.
 */
#ifndef TALLY_SOURCE_CALIBRATION_H
#define TALLY_SOURCE_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "table/table.h"

#define CALIBRATION_TEXT 160 /* bytes of a text of the file, with its end */

struct calibration {
    /* YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ; "" before a file is read. */
    char date[CALIBRATION_TEXT];
    char processor[CALIBRATION_TEXT];
    char kernel[CALIBRATION_TEXT];
    struct calibrated {
        bool known;
        bool measured;   /* with `spread`; otherwise `source` tells the value */
        double spread;   /* per cent */
        char source[16]; /* "cpuid" or "system" */
        uint64_t value;
    } params[PARAM_COUNT];
};

/* Returns whether `tally calibrate` gives the parameter. */
bool calibration_gives(enum param_id id);

/*
 * Reads the text of a file; `path` is its name in messages. 0, or TALLY_ESYNTAX
 * or TALLY_ERANGE, logged as "path:line: what is wrong and what would be
 * right"; `c` is then not to be used.
 */
int calibration_parse(const char *text, size_t size, const char *path,
                      const struct tally_log *log, struct calibration *c);

/* Writes date, processor, kernel and parameters. The figures may follow. */
void calibration_write(const struct calibration *c, FILE *out);

/* Returns whether $TALLY_HOST_MODEL is set and empty: host-model then has the
 * values of its own file alone, whatever computer it is on, but for what /sys
 * tells. */
bool calibration_is_off(void);

/* Writes where the file is: $TALLY_HOST_MODEL or, where that is not set,
 * tally/host-model.toml in $XDG_CONFIG_HOME or ~/.config, by paths that begin
 * at the root. False: nowhere, as $TALLY_HOST_MODEL is empty, or $HOME is no
 * such path. */
bool calibration_path(char *path, size_t size);

/* Writes which processor this is, from /proc/cpuinfo or a file like it: the
 * first processor's name, family, model and stepping, or on Arm implementer,
 * part, variant and revision. False: the file does not say. */
bool calibration_processor(const char *cpuinfo, char *text, size_t size);

/*
 * Reads the file where calibration_path() says. Returns whether there is one
 * and it is of this processor. Otherwise `c->date` is "". A file that is of
 * another processor or is wrong is warned of in one line.
 */
bool calibration_find(const struct tally_log *log, struct calibration *c);

#endif
