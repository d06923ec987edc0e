/* SPDX-License-Identifier: MIT */
/* The names of the machine and of the events that this process counts, for its
 * dumps and for the file of its buffers. */
#include "lib/profiler_state.h"

#include <stdlib.h>
#include <string.h>

#include "table/items.h"

/* Copies the item `index` of a list of `count`, without braces around the list;
 * an empty text where the list has not so many items. */
static void
copy_asked(const char *list, unsigned index, unsigned count,
           char asked[DUMP_NAME])
{
    const bool host = strcmp(profiler.machine, "host") == 0;
    char text[PROFILER_EVENTS];
    size_t found = 0;

    asked[0] = '\0';
    if (*list == '{')
        list++;
    strcpy(text, list);
    if (text[0] != '\0' && text[strlen(text) - 1] == '}')
        text[strlen(text) - 1] = '\0';
    for (const char *item = text; *item != '\0';) {
        const size_t length = item_length(item, host);
        if (found == index && length < DUMP_NAME) {
            memcpy(asked, item, length);
            asked[length] = '\0';
        }
        found++;
        item += length + (item[length] == ',');
    }
    if (found != count)
        asked[0] = '\0';
}

static void
keep_name(struct call_file *file, const struct dump_event *event)
{
    char text[DUMP_LINE_SIZE];

    if (file->head != NULL)
        call_file_text(file, text,
                       dump_write_event(DUMP_FORM_TABLE, event, text));
}

/* Adds the event to the list, behind the last, unless it is there. */
static int
add_name(const struct dump_event *event)
{
    _Atomic(struct profiler_name *) *at = &profiler.names;
    struct profiler_name *name;

    while ((name = atomic_load(at)) != NULL) {
        if (name->event.group == event->group &&
            name->event.code == event->code)
            return 0;
        at = &name->next;
    }
    name = calloc(1, sizeof(*name));
    if (name == NULL)
        return TALLY_ENOMEM;
    name->event = *event;
    atomic_store(at, name);
    keep_name(&profiler.file, event);
    return 0;
}

int
profiler_name_events(const struct profiler_source *source, unsigned group,
                     const uint64_t codes[2],
                     const struct profiler_chosen *chosen)
{
    const struct profiler_set *const set = &chosen->set;
    int error = 0;

    if (source->name == NULL)
        return 0;
    lock_take(&profiler.lock);
    for (unsigned i = 0; i < set->events && error == 0; i++) {
        struct dump_event e = {.group = group, .code = codes[i]};
        const char *const name = source->name(set, i);
        if (strlen(name) < sizeof(e.name))
            strcpy(e.name, name);
        copy_asked(chosen->events, i, set->events, e.asked);
        if (strcmp(e.asked, e.name) == 0)
            e.asked[0] = '\0';
        error = add_name(&e);
    }
    lock_give(&profiler.lock);
    return error == 0 ? 0
                      : tally_fail(&profiler.log, TALLY_ENOMEM,
                                   "no room for the name of an event");
}

void
profiler_keep_names(struct call_file *file)
{
    char text[DUMP_LINE_SIZE];

    call_file_text(file, text,
                   dump_write_machine(DUMP_FORM_TABLE, profiler.machine, text));
    for (const struct profiler_name *name = atomic_load(&profiler.names);
         name != NULL; name = atomic_load(&name->next))
        keep_name(file, &name->event);
}
