/* SPDX-License-Identifier: MIT */
/* Records what the model does for each access, branch or block of a part of a
 * run (source/steps.h), for `tally teach`. */
#ifndef TALLY_PROFILE_STEPS_RECORDER_H
#define TALLY_PROFILE_STEPS_RECORDER_H

#include "profile/session.h"

/* Records the steps that session_options.steps asks for. */
extern const struct session_recorder steps_recorder;

#endif
