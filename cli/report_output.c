/* SPDX-License-Identifier: MIT */
#include "cli/report_output.h"

#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/screen.h"

static int
status_of(int error)
{
    return error == 0           ? 0
           : error == TALLY_EIO ? command_unwritten("output")
                                : command_no_memory();
}

static int
write_file(const struct report_output *o,
           int (*write)(void *user, const struct breakdown_look *look,
                        FILE *out),
           void *user)
{
    const struct breakdown_look look = {
        .color = o->color != NULL && strcmp(o->color, "always") == 0};
    struct output output;
    int status = output_open(o->path, REPLACE_WHOLE, &output);

    if (status != 0)
        return status;
    const int error = write(user, &look, output.file);
    const int unwritten = output_close(&output, error == 0);
    return status_of(error != 0 ? error : unwritten);
}

static int
write_screen(const struct report_output *o,
             int (*write)(void *user, const struct breakdown_look *look,
                          FILE *out),
             void *user)
{
    struct screen screen;
    int status = screen_open(&screen, o->color);

    if (status != 0)
        return status;
    const struct breakdown_look look = {.width = screen.width,
                                        .color = screen.color};
    const int error = write(user, &look, screen.out);
    status = screen_close(&screen);
    return error != 0 ? status_of(error) : status;
}

int
report_output_write(const struct report_output *o,
                    int (*write)(void *user, const struct breakdown_look *look,
                                 FILE *out),
                    void *user)
{
    const struct breakdown_look look = {0};

    if (o->path != NULL)
        return write_file(o, write, user);
    if (o->text)
        return write_screen(o, write, user);
    int error = write(user, &look, stdout);
    if (error == 0 && fflush(stdout) != 0)
        error = TALLY_EIO;
    return status_of(error);
}
