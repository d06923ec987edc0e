/* SPDX-License-Identifier: MIT */
/*
 * A file of `perf record` (perf.data), which perf report and perf script read:
 * Linux, tools/perf/Documentation/perf.data-file-format.txt, and the records of
 * linux/perf_event.h.
 *
 * A sample is an instruction on a path of calls and an event, whose count is
 * the sample's period. Mappings have build ids. Each call of a sample's chain
 * is the address of the call itself, not of the instruction behind. A record
 * has no addresses of data: ADDR is 0. WEIGHT is the latency of all captures of
 * an event address register at the instruction, where the record has both, else
 * 0. DATA_SRC says what the event says of all its samples.
 *
 * Numbers are in the order of the host's bytes, by which perf tells the order.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "record/bytes.h"
#include "record/export.h"
#include "record/export_segments.h"

#define CHAIN_MOST 4000u /* calls of a sample; a record has at most 64 KiB */
#define ADDRESS_OF_USER UINT64_C(0xfffffffffffffe00) /* PERF_CONTEXT_USER */
#define SAMPLE_TYPE                                              \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | \
     PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD |  \
     PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC)

/* Of the file's header: the bits of what follows the data. */
enum feature { FEATURE_ARCH = 6, FEATURE_CMDLINE = 11, FEATURE_EVENT_DESC };

/* A part of the file. */
struct section {
    uint64_t offset, size;
};

struct file_header {
    char magic[8];
    uint64_t size, attr_size;
    struct section attrs, data, event_types;
    uint64_t features[4];
};

struct file_attr {
    struct perf_event_attr attr;
    struct section ids;
};

/* The file that is written. */
struct perf_data {
    const struct export_list *list;
    FILE *out; /* NULL: only the size is wanted */
    int64_t *left_out;
    struct bytes record; /* that is made */
    uint64_t size;       /* bytes of the records so far */
    uint64_t time;       /* ns, of the next sample */
    size_t latency;      /* the event with the captures' latencies, or
                            list->event_count */
    bool failed;
};

/* What an event says of all its samples. */
static const struct {
    const char *event;
    uint64_t op, level, tlb; /* PERF_MEM_* */
} sources[] = {
    {"L1-dcache-load-misses", PERF_MEM_OP_LOAD, PERF_MEM_LVL_L1, 0},
    {"L1-dcache-store-misses", PERF_MEM_OP_STORE, PERF_MEM_LVL_L1, 0},
    {"L1-icache-load-misses", PERF_MEM_OP_EXEC, PERF_MEM_LVL_L1, 0},
    {"l2-load-misses", PERF_MEM_OP_LOAD, PERF_MEM_LVL_L2, 0},
    {"l2-store-misses", PERF_MEM_OP_STORE, PERF_MEM_LVL_L2, 0},
    {"l2-fetch-misses", PERF_MEM_OP_EXEC, PERF_MEM_LVL_L2, 0},
    {"LLC-load-misses", PERF_MEM_OP_LOAD, PERF_MEM_LVL_L3, 0},
    {"LLC-store-misses", PERF_MEM_OP_STORE, PERF_MEM_LVL_L3, 0},
    {"dTLB-load-misses", PERF_MEM_OP_LOAD, 0, PERF_MEM_TLB_MISS},
    {"dTLB-store-misses", PERF_MEM_OP_STORE, 0, PERF_MEM_TLB_MISS},
    {"iTLB-load-misses", PERF_MEM_OP_EXEC, 0, PERF_MEM_TLB_MISS},
};

/* What the captures of an event address register say where they have latencies:
 * without, they are misses of a TLB. */
static const struct capture {
    const char *event;
    uint64_t op;
} captures[] = {
    {"DATA_EAR_EVENTS", PERF_MEM_OP_LOAD},
    {"L1I_EAR_EVENTS", PERF_MEM_OP_EXEC},
};

#define CAPTURE_LATENCY "ear_latency"

/* Returns the event's row of `captures`, or NULL. */
static const struct capture *
capture_of(const char *event)
{
    for (size_t i = 0; i < sizeof(captures) / sizeof(*captures); i++) {
        if (strcmp(captures[i].event, event) == 0)
            return &captures[i];
    }
    return NULL;
}

/* Returns the latency of the captures that a sample of an event stands for, or
 * 0. */
static uint64_t
weight_of(const struct perf_data *f, const struct export_sample *sample,
          size_t event)
{
    if (f->latency == f->list->event_count ||
        capture_of(export_event(f->list, event)) == NULL)
        return 0;
    const int64_t weight = export_value(sample, f->latency);
    return weight > 0 ? (uint64_t)weight : 0;
}

/* Returns the source of data of an event's samples, union perf_mem_data_src.
 * `timed`: the sample has the latency of captures. */
static uint64_t
source_of(const char *event, bool timed)
{
    uint64_t op = PERF_MEM_OP_NA, level = PERF_MEM_LVL_NA;
    uint64_t tlb = PERF_MEM_TLB_NA;

    if (timed) {
        op = capture_of(event)->op;
        level = PERF_MEM_LVL_L1 | PERF_MEM_LVL_MISS;
    }
    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
        if (strcmp(sources[i].event, event) != 0)
            continue;
        op = sources[i].op;
        if (sources[i].level != 0)
            level = sources[i].level | PERF_MEM_LVL_MISS;
        if (sources[i].tlb != 0)
            tlb = sources[i].tlb;
    }
    return op << PERF_MEM_OP_SHIFT | level << PERF_MEM_LVL_SHIFT |
           (uint64_t)PERF_MEM_SNOOP_NA << PERF_MEM_SNOOP_SHIFT |
           (uint64_t)PERF_MEM_LOCK_NA << PERF_MEM_LOCK_SHIFT |
           tlb << PERF_MEM_TLB_SHIFT;
}

static void
put_u64(struct bytes *b, uint64_t value)
{
    bytes_append(b, &value, sizeof(value));
}

static void
put_u32(struct bytes *b, uint32_t value)
{
    bytes_append(b, &value, sizeof(value));
}

/* Appends a text with its NUL, and zeroes up to a multiple of `unit`. */
static void
put_text(struct bytes *b, const char *text, size_t unit)
{
    const size_t size = strlen(text) + 1;

    bytes_append(b, text, size);
    for (size_t i = size; i % unit != 0; i++)
        bytes_append_u8(b, 0);
}

/* Begins a record. */
static void
begin(struct perf_data *f, uint32_t type, uint16_t misc)
{
    const struct perf_event_header header = {type, misc, 0};

    f->record.size = 0;
    bytes_append(&f->record, &header, sizeof(header));
}

/* Writes the record, whose size it fills in. One that is too large for the
 * format is left out: a path of 64 KiB. */
static void
end(struct perf_data *f)
{
    struct perf_event_header header;

    if (f->record.failed)
        f->failed = true;
    if (f->failed || f->record.size > UINT16_MAX)
        return;
    memcpy(&header, f->record.data, sizeof(header));
    header.size = (uint16_t)f->record.size;
    memcpy(f->record.data, &header, sizeof(header));
    f->size += f->record.size;
    if (f->out != NULL)
        fwrite(f->record.data, 1, f->record.size, f->out);
}

static uint32_t
thread_of(const struct export_list *list, uint32_t process, uint32_t thread)
{
    return (uint32_t)export_pid(list, process) + thread;
}

/* Names a thread by its program. */
static void
put_thread(struct perf_data *f, uint32_t process, uint32_t thread)
{
    begin(f, PERF_RECORD_COMM, 0);
    put_u32(&f->record, (uint32_t)export_pid(f->list, process));
    put_u32(&f->record, thread_of(f->list, process, thread));
    put_text(&f->record, export_program(f->list, process), 8);
    end(f);
}

/* Writes where a process had the code of a file. */
static void
put_segment(struct perf_data *f, uint32_t process,
            const struct export_segment *s)
{
    const struct record_image *image = &f->list->record->images[s->image];
    const bool has_id = image->build_id_size != 0;
    uint8_t id[20] = {0};

    begin(f, PERF_RECORD_MMAP2,
          (uint16_t)(PERF_RECORD_MISC_USER |
                     (has_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0)));
    put_u32(&f->record, (uint32_t)export_pid(f->list, process));
    put_u32(&f->record, (uint32_t)export_pid(f->list, process));
    put_u64(&f->record, s->start);
    put_u64(&f->record, s->size);
    put_u64(&f->record, s->offset);
    const uint8_t size = image->build_id_size < sizeof(id)
                             ? image->build_id_size
                             : (uint8_t)sizeof(id);
    memcpy(id, image->build_id, size);
    put_u32(&f->record, 0);
    memcpy(f->record.data + f->record.size - 4, &size, 1);
    bytes_append(&f->record, id, sizeof(id));
    put_u32(&f->record, 5); /* PROT_READ | PROT_EXEC */
    put_u32(&f->record, 2); /* MAP_PRIVATE */
    put_text(&f->record, image->path, 8);
    end(f);
}

static int
put_process(struct perf_data *f, uint32_t process)
{
    struct export_segment *segments;
    size_t count;
    const int error =
        export_segments(f->list->record, process, &segments, &count);

    put_thread(f, process, 0);
    for (size_t i = 0; error == 0 && i < count; i++)
        put_segment(f, process, &segments[i]);
    free(segments);
    return error;
}

/* Appends the addresses of a sample's calls, innermost first, behind its own;
 * calls that are not known end them. */
static void
put_chain(struct perf_data *f, const struct export_sample *sample, uint64_t ip)
{
    uint64_t chain[CHAIN_MOST + 2];
    uint64_t count = 0;

    chain[count++] = ADDRESS_OF_USER;
    chain[count++] = ip;
    for (const struct export_call *c = sample->caller;
         c != NULL && count < CHAIN_MOST &&
         c->frames[0].address != EXPORT_NOWHERE;
         c = c->caller)
        chain[count++] = c->frames[0].address;
    put_u64(&f->record, count);
    bytes_append(&f->record, chain, count * sizeof(*chain));
}

static void
put_sample(struct perf_data *f, const struct export_sample *sample,
           size_t event, uint64_t value)
{
    const uint64_t address = sample->frames[0].address;
    const uint64_t ip = address != EXPORT_NOWHERE ? address : 0;

    const uint64_t weight = weight_of(f, sample, event);

    begin(f, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    put_u64(&f->record, event + 1);
    put_u64(&f->record, ip);
    put_u32(&f->record, (uint32_t)export_pid(f->list, sample->process));
    put_u32(&f->record, thread_of(f->list, sample->process, sample->thread));
    put_u64(&f->record, f->time);
    put_u64(&f->record, 0); /* the address of the data */
    put_u64(&f->record, value);
    put_chain(f, sample, ip);
    put_u64(&f->record, weight);
    put_u64(&f->record, source_of(export_event(f->list, event), weight != 0));
    end(f);
    f->time += 1000;
}

/* Writes the samples: of those of one thread, its name first. */
static void
put_samples(struct perf_data *f)
{
    for (size_t i = 0; i < f->list->sample_count; i++) {
        const struct export_sample *s = &f->list->samples[i];
        if (s->process != EXPORT_NO_PROCESS && s->thread != 0 &&
            (i == 0 || s[-1].process != s->process ||
             s[-1].thread != s->thread))
            put_thread(f, s->process, s->thread);
        for (uint32_t v = 0; v < s->value_count; v++) {
            const size_t e = s->events[v];
            if (s->values[v] > 0)
                put_sample(f, s, e, (uint64_t)s->values[v]);
            else
                f->left_out[e] = export_add(f->left_out[e], s->values[v]);
        }
    }
}

static struct perf_event_attr
attr_of(size_t event)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_RAW,
        .size = sizeof(struct perf_event_attr),
        .config = event + 1,
        .sample_period = 1,
        .sample_type = SAMPLE_TYPE,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .build_id = 1,
    };
}

/* Appends a text as features have it, behind its length. */
static void
put_feature_text(struct bytes *b, const char *text)
{
    put_u32(b, (uint32_t)((strlen(text) + 1 + 63) / 64 * 64));
    put_text(b, text, 64);
}

/* Makes the contents of a feature. */
static void
make_feature(const struct export_list *list, enum feature feature,
             struct bytes *b)
{
    const struct record *r = list->record;
    uint32_t words = 0;

    switch (feature) {
    case FEATURE_ARCH:
        put_feature_text(b, r->isa);
        return;
    case FEATURE_CMDLINE:
        while (r->argv[words] != NULL)
            words++;
        put_u32(b, words);
        for (uint32_t i = 0; i < words; i++)
            put_feature_text(b, r->argv[i]);
        return;
    case FEATURE_EVENT_DESC:
        put_u32(b, (uint32_t)list->event_count);
        put_u32(b, sizeof(struct perf_event_attr));
        for (size_t e = 0; e < list->event_count; e++) {
            const struct perf_event_attr attr = attr_of(e);
            bytes_append(b, &attr, sizeof(attr));
            put_u32(b, 1);
            put_feature_text(b, export_event(list, e));
            put_u64(b, e + 1);
        }
        return;
    }
}

/* Writes the features behind the data: where each is, then their contents. */
static int
put_features(const struct export_list *list, FILE *out, uint64_t at)
{
    static const enum feature features[] = {FEATURE_ARCH, FEATURE_CMDLINE,
                                            FEATURE_EVENT_DESC};
    enum { FEATURES = sizeof(features) / sizeof(*features) };
    struct section sections[FEATURES];
    struct bytes all = {0};

    for (size_t i = 0; i < FEATURES; i++) {
        const size_t before = all.size;
        make_feature(list, features[i], &all);
        sections[i] =
            (struct section){at + sizeof(sections) + before, all.size - before};
    }
    const int error = all.failed ? TALLY_ENOMEM : 0;
    if (error == 0) {
        fwrite(sections, 1, sizeof(sections), out);
        fwrite(all.data, 1, all.size, out);
    }
    bytes_finish(&all);
    return error;
}

/* Writes the header, and the events with their numbers. */
static void
put_head(const struct export_list *list, FILE *out, uint64_t data_size)
{
    const uint64_t ids = sizeof(struct file_header);
    const uint64_t attrs = ids + list->event_count * sizeof(uint64_t);
    const uint64_t attrs_size = list->event_count * sizeof(struct file_attr);
    const struct file_header header = {
        .magic = "PERFILE2",
        .size = sizeof(header),
        .attr_size = sizeof(struct file_attr),
        .attrs = {attrs, attrs_size},
        .data = {attrs + attrs_size, data_size},
        .features = {UINT64_C(1) << FEATURE_ARCH |
                     UINT64_C(1) << FEATURE_CMDLINE |
                     UINT64_C(1) << FEATURE_EVENT_DESC},
    };

    fwrite(&header, 1, sizeof(header), out);
    for (uint64_t e = 1; e <= list->event_count; e++)
        fwrite(&e, 1, sizeof(e), out);
    for (size_t e = 0; e < list->event_count; e++) {
        const struct file_attr attr = {
            attr_of(e), {ids + e * sizeof(uint64_t), sizeof(uint64_t)}};
        fwrite(&attr, 1, sizeof(attr), out);
    }
}

/* Writes the data. 0 or an error. */
static int
put_data(struct perf_data *f)
{
    int error = 0;

    f->latency = 0;
    while (f->latency < f->list->event_count &&
           strcmp(export_event(f->list, f->latency), CAPTURE_LATENCY) != 0)
        f->latency++;
    for (size_t i = 0; error == 0 && i < f->list->record->process_count; i++)
        error = put_process(f, (uint32_t)i);
    if (error == 0)
        put_samples(f);
    bytes_finish(&f->record);
    return error == 0 && f->failed ? TALLY_ENOMEM : error;
}

/* Finds the size of the data, which the header has before them: all records are
 * made, and made again to be written. */
static int
size_data(const struct export_list *list, uint64_t *size)
{
    int64_t *unused = calloc(list->event_count + 1, sizeof(*unused));
    struct perf_data f = {.list = list, .left_out = unused};
    const int error = unused != NULL ? put_data(&f) : TALLY_ENOMEM;

    free(unused);
    *size = f.size;
    return error;
}

int
export_perf_data(const struct export_list *list, FILE *out, int64_t *left_out)
{
    struct perf_data f = {.list = list, .out = out, .left_out = left_out};
    uint64_t size = 0;
    int error = size_data(list, &size);

    if (error == 0) {
        put_head(list, out, size);
        error = put_data(&f);
    }
    if (error == 0)
        error =
            put_features(list, out,
                         sizeof(struct file_header) +
                             list->event_count *
                                 (sizeof(uint64_t) + sizeof(struct file_attr)) +
                             size);
    return error == 0 && ferror(out) ? TALLY_EIO : error;
}
