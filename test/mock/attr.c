/* SPDX-License-Identifier: MIT */
/*
 * Fields in the order of perf 6.1, those that are zero left out (size never
 * is). Checked against perf itself in test/host_mock.py.
 */
#include "attr.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct out {
    char *text;
    size_t size, length;
};

static void __attribute__((format(printf, 2, 3)))
put(struct out *out, const char *format, ...)
{
    if (out->length >= out->size)
        return;
    va_list arguments;
    va_start(arguments, format);
    const int added = vsnprintf(out->text + out->length,
                                out->size - out->length, format, arguments);
    va_end(arguments);
    if (added > 0)
        out->length += (size_t)added;
    if (out->length > out->size)
        out->length = out->size;
}

static void
put_number(struct out *out, const char *name, unsigned long long value)
{
    if (value)
        put(out, "  %-32s %llu\n", name, value);
}

static void
put_hex(struct out *out, const char *name, unsigned long long value)
{
    if (value)
        put(out, "  %-32s %#llx\n", name, value);
}

static void
put_bits(struct out *out, const char *name, unsigned long long value,
         const char *const *names, size_t count)
{
    bool first = true;

    if (!value)
        return;
    put(out, "  %-32s ", name);
    for (size_t bit = 0; bit < count; bit++) {
        if (!(value >> bit & 1))
            continue;
        put(out, "%s%s", first ? "" : "|", names[bit]);
        first = false;
    }
    put(out, "\n");
}

static void
put_head(struct out *out, const struct perf_event_attr *attr)
{
    static const char *const samples[] = {"IP",
                                          "TID",
                                          "TIME",
                                          "ADDR",
                                          "READ",
                                          "CALLCHAIN",
                                          "ID",
                                          "CPU",
                                          "PERIOD",
                                          "STREAM_ID",
                                          "RAW",
                                          "BRANCH_STACK",
                                          "REGS_USER",
                                          "STACK_USER",
                                          "WEIGHT",
                                          "DATA_SRC",
                                          "IDENTIFIER",
                                          "TRANSACTION",
                                          "REGS_INTR",
                                          "PHYS_ADDR",
                                          "AUX",
                                          "CGROUP",
                                          "DATA_PAGE_SIZE",
                                          "CODE_PAGE_SIZE",
                                          "WEIGHT_STRUCT"};
    static const char *const formats[] = {
        "TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP", "LOST"};

    put_number(out, "type", attr->type);
    put_number(out, "size", attr->size);
    put_hex(out, "config", attr->config);
    put_number(out, "{ sample_period, sample_freq }", attr->sample_period);
    put_bits(out, "sample_type", attr->sample_type, samples,
             sizeof(samples) / sizeof(samples[0]));
    put_bits(out, "read_format", attr->read_format, formats,
             sizeof(formats) / sizeof(formats[0]));
}

#define FLAG(name) put_number(out, #name, attr->name)

static void
put_flags(struct out *out, const struct perf_event_attr *attr)
{
    FLAG(disabled);
    FLAG(inherit);
    FLAG(pinned);
    FLAG(exclusive);
    FLAG(exclude_user);
    FLAG(exclude_kernel);
    FLAG(exclude_hv);
    FLAG(exclude_idle);
    FLAG(mmap);
    FLAG(comm);
    FLAG(freq);
    FLAG(inherit_stat);
    FLAG(enable_on_exec);
    FLAG(task);
    FLAG(watermark);
    FLAG(precise_ip);
    FLAG(mmap_data);
    FLAG(sample_id_all);
    FLAG(exclude_host);
    FLAG(exclude_guest);
    FLAG(exclude_callchain_kernel);
    FLAG(exclude_callchain_user);
    FLAG(mmap2);
    FLAG(comm_exec);
    FLAG(use_clockid);
    FLAG(context_switch);
    FLAG(write_backward);
    FLAG(namespaces);
    FLAG(ksymbol);
    FLAG(bpf_event);
    FLAG(aux_output);
    FLAG(cgroup);
    FLAG(text_poke);
    FLAG(build_id);
    FLAG(inherit_thread);
    FLAG(remove_on_exec);
    FLAG(sigtrap);
}

static void
put_tail(struct out *out, const struct perf_event_attr *attr)
{
    put_number(out, "{ wakeup_events, wakeup_watermark }", attr->wakeup_events);
    FLAG(bp_type);
    put_hex(out, "{ bp_addr, config1 }", attr->bp_addr);
    put_hex(out, "{ bp_len, config2 }", attr->bp_len);
    put_hex(out, "branch_sample_type", attr->branch_sample_type);
    put_hex(out, "sample_regs_user", attr->sample_regs_user);
    FLAG(sample_stack_user);
    if (attr->clockid)
        put(out, "  %-32s %d\n", "clockid", attr->clockid);
    put_hex(out, "sample_regs_intr", attr->sample_regs_intr);
    FLAG(aux_watermark);
    FLAG(sample_max_stack);
    FLAG(aux_sample_size);
    FLAG(sig_data);
}

static const char dashes[] =
    "------------------------------------------------------------";

size_t
attr_print(const struct perf_event_attr *attr, char *text, size_t size)
{
    struct out out = {.text = text, .size = size};

    put(&out, "%s\nperf_event_attr:\n", dashes);
    put_head(&out, attr);
    put_flags(&out, attr);
    put_tail(&out, attr);
    put(&out, "%s\n", dashes);
    return out.length;
}

size_t
attr_print_call(pid_t pid, int cpu, int group, unsigned long flags, int result,
                char *text, size_t size)
{
    struct out out = {.text = text, .size = size};

    put(&out, "sys_perf_event_open: pid %d  cpu %d  group_fd %d  flags %#lx",
        pid, cpu, group, flags);
    if (result >= 0)
        put(&out, " = %d\n", result);
    else
        put(&out, "\nsys_perf_event_open failed, error %d\n", result);
    return out.length;
}
