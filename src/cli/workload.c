#include "cli/workload.h"
#include "base/unit.h"
#include "cli/cli.h"
#include "workloads/run.h"

#include <stdio.h>
#include <string.h>

static const struct option_row common[] = {
    {"--threads", "N|all", "threads of the host (1 unless told)"},
    {NULL, NULL, NULL},
};

struct request {
    const struct workload *workload;
    unsigned threads;
    uint64_t values[WORKLOAD_OPTIONS_MOST];
    char names[WORKLOAD_OPTIONS_MOST][40];
    struct option_row rows[WORKLOAD_OPTIONS_MOST + 2];
};

bool workload_is(const char *name)
{
    return workload_find(name);
}

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct request *r = user;
    if (!row)
        return err_set(err, "bench %s: unexpected word '%.120s'", r->workload->name, value);
    if (!strcmp(row->name, "--threads"))
        return threads_parse(value, &r->threads, err);
    for (size_t i = 0; r->workload->options[i].name; i++) {
        const struct workload_option *option = &r->workload->options[i];
        struct err why;
        if (strcmp(row->name, r->names[i]) != 0)
            continue;
        if (!unit_parse(UNIT_count, value, &r->values[i], &why))
            return err_set(err, "%s: %s", row->name, why.text);
        if (r->values[i] < option->least || r->values[i] > option->most)
            return err_set(err, "%s: %s is not from %llu to %llu", row->name, value,
                           (unsigned long long)option->least, (unsigned long long)option->most);
    }
    return true;
}

static void fill_rows(struct request *r)
{
    size_t i = 0;
    for (; r->workload->options[i].name; i++) {
        REQUIRE(i < WORKLOAD_OPTIONS_MOST);
        snprintf(r->names[i], sizeof r->names[i], "--%s", r->workload->options[i].name);
        r->values[i] = r->workload->options[i].value;
        r->rows[i] = (struct option_row){r->names[i], "N", r->workload->options[i].help};
    }
    memcpy(&r->rows[i], common, sizeof common);
}

void workload_nearest(struct nearest *nearest)
{
    for (size_t i = 0; workloads[i]; i++)
        nearest_try(nearest, workloads[i]->name);
}

int workload_command(int count, char **words)
{
    struct err err;
    struct request r = {.workload = workload_find(words[0]), .threads = 1};
    struct workload_result result;
    fill_rows(&r);
    if (!options_parse(r.rows, count - 1, words + 1, &r, took, &err))
        return complain(EXIT_USAGE, &err);
    catch_interrupts();
    if (!workload_run(r.workload, r.values, r.threads, &interrupted, &result, &err))
        return complain(interrupted ? EXIT_SIGNAL + interrupted : EXIT_FAILED, &err);
    const struct launch_result *counts = &result.counts;
    printf("%s: ok; %llu launch%s, %llu warp instructions, %llu thread instructions, %.3f s: %.2f million "
           "warp instructions/s\n",
           r.workload->name, (unsigned long long)result.launches, result.launches == 1 ? "" : "es",
           (unsigned long long)counts->warp_instructions, (unsigned long long)counts->thread_instructions,
           result.seconds, (double)counts->warp_instructions / result.seconds / 1e6);
    return EXIT_GOOD;
}

void workload_list(void)
{
    puts("\nCUDA workloads, checked against the CPU (--threads N|all, and their own options):");
    for (size_t i = 0; workloads[i]; i++) {
        printf("  %-26s %s\n", workloads[i]->name, workloads[i]->help);
        for (const struct workload_option *o = workloads[i]->options; o->name; o++)
            printf("  %-26s   --%s N (%llu)  %s\n", "", o->name, (unsigned long long)o->value, o->help);
    }
}

void workload_complete(const char *behind)
{
    const struct workload *workload = workload_find(behind);
    for (size_t i = 0; !workload && workloads[i]; i++)
        puts(workloads[i]->name);
    for (size_t i = 0; workload && workload->options[i].name; i++)
        printf("--%s\n", workload->options[i].name);
}
