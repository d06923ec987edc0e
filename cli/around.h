/* SPDX-License-Identifier: MIT */
/* What is done before and after each counted run: --sync, --pre and --post. */
#ifndef TALLY_CLI_AROUND_H
#define TALLY_CLI_AROUND_H

#include "cli/count_request.h"

/* Each returns 0, or TALLY_ESYSTEM after telling which command failed and how.
 */
int around_before(const struct count_request *request);
int around_after(const struct count_request *request);

#endif
