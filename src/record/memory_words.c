/* SPDX-License-Identifier: MIT */
/* What stands out, in words. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "profile/session.h"
#include "record/memory.h"
#include "record/short_name.h"
#include "record/text_line.h"
#include "report/count_report.h"
#include "report/json_text.h"

#define NUMBER_TEXT 40
#define FIELDS_MOST 4u

/* Writes the bytes of a line whose bits are set, as ranges. */
static void
say_bytes(uint64_t bytes, FILE *out)
{
    const char *between = "";

    for (unsigned i = 0; i < 64; i++) {
        unsigned last = i;
        if ((bytes >> i & 1) == 0)
            continue;
        while (last < 63 && (bytes >> (last + 1) & 1) != 0)
            last++;
        if (last > i)
            fprintf(out, "%s%u-%u", between, i, last);
        else
            fprintf(out, "%s%u", between, i);
        between = ", ";
        i = last;
    }
}

static void
say_number(uint64_t number, const char *one, const char *many, FILE *out)
{
    char text[NUMBER_TEXT];

    format_grouped(number, text);
    fprintf(out, "%s %s", text, number == 1 ? one : many);
}

void
memory_size_text(uint64_t bytes, char text[MEMORY_SIZE_TEXT])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    unsigned unit = 0;

    while (unit < 3 && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, MEMORY_SIZE_TEXT, "%" PRIu64 " %s", bytes, units[unit]);
}

/* Writes a name, as short as it is known by. */
static void
say_name(const char *name, FILE *out)
{
    char *const brief = short_name(name);

    fputs(brief != NULL ? brief : name, out);
    free(brief);
}

/* Writes where most of the lines of an object were driven out from. */
static void
say_driven(const struct memory *m, const struct memory_object *o, bool conflict,
           FILE *out)
{
    const struct memory_driven *most = NULL;
    uint64_t all = 0, top = 0;

    for (size_t i = 0; i < o->driven_count; i++) {
        const struct memory_driven *const d = &o->driven[i];
        const uint64_t misses = conflict ? d->conflict : d->capacity;
        all += misses;
        if (misses > top) {
            top = misses;
            most = d;
        }
    }
    if (most == NULL)
        return;
    fputs("; ", out);
    text_percent((double)top, (double)all, out);
    fputs(" of them were driven out by ", out);
    if (&m->objects[most->by] == o)
        fputs("itself", out);
    else
        say_name(m->objects[most->by].name->text, out);
    if (most->function != 0) {
        fputs(" in ", out);
        say_name(resolver_text(m->resolver, most->function), out);
    }
}

/* Writes which parts of a variable bytes of a line are, as far as that is
 * known: each once or, of more than FIELDS_MOST, the first and the last. */
static void
say_fields(const struct memory *m, const struct memory_shared *s,
           uint64_t bytes, FILE *out)
{
    const struct record_process_row *const p =
        &m->record->processes[s->process];
    const struct record_object_row *const o =
        s->object != 0 ? &p->objects[s->object - 1] : NULL;
    char *names[64];
    unsigned count = 0;

    /* Bytes of several lines are shown as those of one. */
    if (o == NULL || o->kind != RECORD_VARIABLE || s->lines != 1)
        return;
    for (unsigned i = 0; i < 64; i++) {
        char *const name =
            (bytes >> i & 1) != 0
                ? resolver_field(m->resolver, s->process, o->image,
                                 s->line * m->record->cache.line + i)
                : NULL;
        if (name != NULL && (count == 0 || strcmp(name, names[count - 1]) != 0))
            names[count++] = name;
        else
            free(name);
    }
    const bool all = count <= FIELDS_MOST;
    for (unsigned i = 0; i < count; i++) {
        if (all || i == 0 || i == count - 1) {
            fputs(i == 0 ? " of " : all ? ", " : " to ", out);
            say_name(names[i], out);
        }
        free(names[i]);
    }
}

char *
memory_member_name(const struct memory_member *member)
{
    const struct name_part *const part = &member->part;
    const char *const dot = part->path[0] != '[' ? "." : "";
    char *text;

    return (part->file != NULL
                ? asprintf(&text, "%s%s%s (%s:%u)", member->type->name, dot,
                           part->path, part->file, part->line)
                : asprintf(&text, "%s%s%s", member->type->name, dot,
                           part->path)) < 0
               ? NULL
               : text;
}

#define MEMBERS_MOST 3u

/* Writes which members of an object's data a thread misses because others have
 * stored to the lines; of false sharing where `apart`. Returns whether there
 * are any. */
static bool
say_members(const struct memory *m, const struct memory_object *o,
            uint32_t process, uint32_t thread, bool apart, const char *before,
            FILE *out)
{
    unsigned count = 0;

    for (size_t i = 0; i < m->thread_member_count; i++) {
        const struct memory_member *const row = &m->thread_members[i];
        const uint64_t misses =
            row->counts[apart ? MEMORY_FALSE : MEMORY_COHERENCE];
        if (&m->objects[row->object] != o || row->process != process ||
            row->thread != thread || misses == 0)
            continue;
        if (count++ == MEMBERS_MOST) {
            fputs(" and others", out);
            break;
        }
        char *const name = memory_member_name(row);
        if (count == 1)
            fprintf(out, "%sthread %" PRIu32 " misses ", before, thread);
        else
            fputs(", ", out);
        say_name(name != NULL ? name : "", out);
        free(name);
    }
    return count != 0;
}

/* Writes the type of an object's data, where its name does not tell. */
static void
say_type(const struct memory_object *o, FILE *out)
{
    if (o->type == NULL || o->name->kind == RECORD_VARIABLE)
        return;
    fputs(" (", out);
    say_name(o->type->name, out);
    fputc(')', out);
}

/* Writes which member of an object's data has most of its misses of a class. */
static void
say_worst_member(const struct memory *m, const struct memory_object *o,
                 enum memory_count class, FILE *out)
{
    const struct memory_member *worst = NULL;
    uint64_t most = 0;

    for (size_t i = 0; i < m->member_count; i++) {
        if (&m->objects[m->members[i].object] == o &&
            m->members[i].counts[class] > most) {
            worst = &m->members[i];
            most = worst->counts[class];
        }
    }
    if (worst == NULL)
        return;
    char *const name = memory_member_name(worst);
    fputs("; ", out);
    text_percent((double)most, (double)o->counts[class], out);
    fputs(" of them are of ", out);
    say_name(name != NULL ? name : "", out);
    free(name);
}

/* Writes which two threads an object has most false sharing of, where `apart`,
 * else most true sharing, and what part that is of all threads'. */
static void
say_threads(const struct memory *m, const struct memory_object *o, bool apart,
            FILE *out)
{
    const struct memory_shared *most = NULL;
    uint64_t all = 0, top = 0;

    for (size_t i = 0; i < o->shared_count; i++) {
        const struct memory_shared *const s = &o->shared[i];
        const uint64_t needless = memory_needless(s);
        const uint64_t misses =
            apart ? needless : s->same + s->other - needless;
        all += misses;
        if (misses > top) {
            top = misses;
            most = s;
        }
    }
    if (most == NULL)
        return;
    fputs("; ", out);
    text_percent((double)top, (double)all, out);
    fprintf(out,
            " of them are thread %" PRIu32 "'s, of what thread %" PRIu32
            " stores to, in ",
            most->thread, most->from);
    say_number(most->lines, "line", "lines", out);
    if (m->record->cache.line > 64)
        return;
    fputs(": bytes ", out);
    say_bytes(most->bytes, out);
    say_fields(m, most, most->bytes, out);
    fputs(", stored to are bytes ", out);
    say_bytes(most->stored, out);
    say_fields(m, most, most->stored, out);
    if (o->name->kind == RECORD_VARIABLE)
        return;
    const char *const before =
        say_members(m, o, most->process, most->thread, apart, "; ", out) ? ", "
                                                                         : "; ";
    say_members(m, o, most->process, most->from, apart, before, out);
}

/* Writes how large a cache would have most of what the L1 data cache lacks. */
static void
say_reach(const struct memory *m, const struct memory_object *o, FILE *out)
{
    const unsigned power = memory_reach(m, o);
    char size[MEMORY_SIZE_TEXT];

    if (power >= 40)
        return;
    memory_size_text(m->record->cache.line << power, size);
    fprintf(out, "; a cache of %s would have 9 of 10 of them", size);
}

/* Writes what part of all misses a finding is about. */
static void
say_part(const struct memory *m, const struct memory_finding *f, FILE *out)
{
    fputs(" (", out);
    text_percent((double)f->misses, (double)memory_misses(m->counts), out);
    fputc(')', out);
}

/* Writes at which line of source most of an object's misses are, and how the
 * addresses follow each other there. */
static void
say_worst(const struct memory *m, const struct memory_object *o, FILE *out)
{
    const struct memory_line *const l = &o->worst;

    if (memory_misses(l->counts) == 0 || l->function == 0)
        return;
    fputs("; ", out);
    text_percent((double)memory_misses(l->counts),
                 (double)memory_misses(o->counts), out);
    fputs(" of its misses are in ", out);
    say_name(resolver_text(m->resolver, l->function), out);
    if (l->file != 0) {
        fputs(" (", out);
        say_name(path_base(resolver_text(m->resolver, l->file)), out);
        fprintf(out, ":%" PRIu32 ")", l->line);
    }
    if (l->pattern != MEMORY_UNKNOWN)
        fprintf(out, ", %s", memory_pattern_name(l->pattern));
}

/* Writes how often threads may take the lines of an object from each other. */
static void
say_at_once(const struct memory *m, const struct memory_object *o, FILE *out)
{
    if ((m->record->varies & SESSION_BESIDE) != 0)
        return;
    fputs("; threads that run at once may take its lines from each other at "
          "each of its ",
          out);
    say_number(o->counts[MEMORY_LOADS] + o->counts[MEMORY_STORES], "access",
               "accesses", out);
}

/* Writes at how many turns of their threads lines came over. */
static void
say_steady(const struct memory_object *o, FILE *out)
{
    const struct memory_steady *const s = &o->steady;
    char turns[NUMBER_TEXT];

    if (s->misses == 0)
        return;
    format_grouped(s->turns, turns);
    fputs("; threads took its lines over ", out);
    say_number(s->misses, "time", "times", out);
    fprintf(out, " in %s turns, on average ", turns);
    say_number(s->ran / s->misses, "instruction", "instructions", out);
    fputs(" after a turn began", out);
}

/* Writes what helps against capacity misses of an object. */
static void
say_order(const struct memory_object *o, FILE *out)
{
    switch (o->worst.pattern) {
    case MEMORY_CHASE:
        fputs(": put what follows each other side by side, as in an array, or "
              "make it smaller",
              out);
        break;
    case MEMORY_IRREGULAR:
        fputs(": ask in the order of addresses, or make what is asked for "
              "smaller",
              out);
        break;
    default:
        fputs(": do more with a line before the next, as by working in blocks",
              out);
        break;
    }
}

/* Writes how lines were parted, and what that has done to coherence misses. */
static void
say_parts(const struct memory_trial *t, FILE *out)
{
    const struct moves *const m = &t->moves;
    char text[NUMBER_TEXT];
    uint64_t lines = 0;

    for (uint32_t i = 0; i < m->part_count; i++)
        lines += (m->parts[i].last - m->parts[i].first + 1) / m->line;
    fputs("with each thread's bytes of ", out);
    say_number(lines, "line", "lines", out);
    fputs(" in a line for themselves, the program has ", out);
    say_number(t->shared_after, "coherence miss", "coherence misses", out);
    format_grouped(t->shared_before, text);
    fprintf(out, " in place of %s, and ", text);
}

/* Writes what a change would save that was tried. */
static void
say_trial(const struct memory_finding *f, FILE *out)
{
    const struct moves *const m = &f->trial.moves;
    const uint64_t before = f->trial.before, after = f->trial.after;

    if (f->trial.end == MEMORY_DIFFERS)
        fprintf(out, "; what a gap would save is not known: %s",
                memory_untried(&f->trial));
    if (f->trial.end == MEMORY_REFUSED)
        fprintf(out, "; not tried: %s", memory_untried(&f->trial));
    if (f->trial.end != MEMORY_TRIED)
        return;
    fputs("; tried: ", out);
    if (m->line != 0) {
        say_parts(&f->trial, out);
    } else if (m->every == 0) {
        say_number(m->gap, "byte", "bytes", out);
        fputs(" further on, ", out);
    } else {
        fputs("with a gap of ", out);
        say_number(m->gap, "byte", "bytes", out);
        fputs(" after each ", out);
        say_number(m->every, "byte", "bytes", out);
        fputs(", ", out);
    }
    if (memory_was_vain(f)) {
        say_number(after, "miss", "misses", out);
        fputs(" in place of ", out);
        say_number(before, "", "", out);
        fputs("of the program, which does not help", out);
    } else {
        say_number(before - after, "of the program's", "of the program's", out);
        fputc(' ', out);
        say_number(before, "miss goes away", "misses go away", out);
        fputs(" (", out);
        text_percent((double)(before - after), (double)before, out);
        fputc(')', out);
    }
}

/* Writes what a finding says. */
static void
say_finding(const struct memory *m, const struct memory_finding *f, FILE *out)
{
    const struct memory_object *const o = &m->objects[f->object];
    const uint64_t line = m->record->cache.line;

    say_name(o->name->text, out);
    say_type(o, out);
    fputs(": ", out);
    switch (f->advice) {
    case MEMORY_SEPARATE:
        say_number(f->misses, "miss", "misses", out);
        say_part(m, f, out);
        fputs(" of false sharing", out);
        say_threads(m, o, true, out);
        say_worst(m, o, out);
        say_steady(o, out);
        say_at_once(m, o, out);
        if (f->few)
            fputs("; with shorter turns, as by --quantum 1000, it may show "
                  "more",
                  out);
        if (!memory_was_vain(f))
            fprintf(out,
                    ": put what different threads store to %" PRIu64
                    " bytes apart",
                    line);
        break;
    case MEMORY_SHARE:
        say_number(f->misses, "miss", "misses", out);
        say_part(m, f, out);
        fputs(" of true sharing: a thread uses what another has stored to, "
              "as a lock or what the lock protects",
              out);
        if (o->beside > f->misses / 10) {
            fputs("; ", out);
            text_percent((double)o->beside, (double)f->misses, out);
            fputs(" of them are of false sharing beside that", out);
        }
        say_threads(m, o, false, out);
        say_worst(m, o, out);
        say_at_once(m, o, out);
        fputs(": hand over less often, or collect in each thread first", out);
        break;
    case MEMORY_SPREAD:
        say_number(f->misses, "conflict miss", "conflict misses", out);
        say_part(m, f, out);
        if (o->sets != NULL)
            fprintf(out, ", 9 of 10 in %" PRIu64 " of %" PRIu64 " sets",
                    memory_crowded(m, o->sets), m->set_count);
        say_worst_member(m, o, MEMORY_CONFLICT, out);
        say_driven(m, o, true, out);
        if (!memory_was_vain(f))
            fputs(memory_is_own_conflict(m, o)
                      ? ": change the distance of what is used together, as by "
                        "rows a line longer"
                      : ": move one of the two, as by other data between them",
                  out);
        break;
    case MEMORY_BLOCK:
        say_number(f->misses, "capacity miss", "capacity misses", out);
        say_part(m, f, out);
        say_reach(m, o, out);
        say_worst_member(m, o, MEMORY_CAPACITY, out);
        say_driven(m, o, false, out);
        say_worst(m, o, out);
        say_order(o, out);
        break;
    case MEMORY_PACK:
        text_percent((double)o->name->used.touched,
                     (double)o->name->used.fetched, out);
        fputs(" of the bytes that its ", out);
        say_number(f->misses, "miss brings", "misses bring", out);
        fputs(" in are used: put together what is used together, or go through "
              "it in the order of addresses",
              out);
        break;
    case MEMORY_STREAM:
        say_number(f->misses, "line", "lines", out);
        fputs(" (", out);
        text_percent((double)f->misses, (double)memory_misses(m->counts), out);
        fputs(" of all misses) asked for the first time", out);
        fputs(": smaller data help, or reading ahead", out);
        break;
    }
    say_trial(f, out);
}

void
memory_set_cache(json_t *o, const struct memory *m)
{
    static const char *const names[2][3] = {
        {"cache_bytes", "cache_line", "cache_ways"},
        {"l1d_bytes", "l1d_line", "l1d_ways"},
    };
    const struct record_cache *const c = &m->record->cache;
    const uint64_t values[3] = {c->size, c->line, c->ways};

    json_object_set_new(o, "level", json_string(tally_caches[c->level].name));
    for (unsigned i = 0; i <= (c->level == CACHE_L1D); i++) {
        for (unsigned k = 0; k < 3; k++)
            json_object_set_new(o, names[i][k], report_json_number(values[k]));
    }
}

char *
memory_finding_text(const struct memory *m, const struct memory_finding *f)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    say_finding(m, f, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
