/* SPDX-License-Identifier: MIT */
/* How a session draws a curve of misses (machine/curve.h). */
#ifndef TALLY_PROFILE_CURVE_RECORDER_H
#define TALLY_PROFILE_CURVE_RECORDER_H

#include "profile/session.h"

/* Draws session_options.curve on a machine with the options' parameters, but
 * for those that the curve is over. No other component of the model runs than
 * the curve needs: of the dynamic signals of events those of no other level
 * count. Of a curve with parts session_options.record takes what each class has
 * of each instruction, once, when the program has ended. */
extern const struct session_recorder curve_recorder;

#endif
