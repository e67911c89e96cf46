/* heddle params: the documentation of every parameter, made from their rows. */
#include "cli/cli.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "cpu/spec.h"
#include "net/sections.h"
#include "study/campaign/campaign.h"
#include "system/system.h"

#include <stdio.h>
#include <string.h>

static const char *type_name(enum param_type type)
{
    static const char *const names[] = {
#define T(type, ctype) #type,
        PARAM_TYPES(T)
#undef T
    };
    return names[type];
}

static void for_each_group_of_systems(void *user, void (*each)(const struct param_group *group, void *user))
{
    static const struct param_group *const of_systems[] = {
        &system_params,   &mix_params,    &gpu_params,      &l2_params,     &l3_params,
        &dram_params,     &noc_params,    &tlb_params,      &paging_params, &uvm_params,
        &transfer_params, &sm_params,     &dispatch_params, &fabric_params, &net_switch_params,
        &net_link_params, &cluster_params};
    for (size_t i = 0; i < sizeof of_systems / sizeof *of_systems; i++)
        each(of_systems[i], user);
}

/* Calls `each` for every section that exists, once. */
static void for_each_group(void *user, void (*each)(const struct param_group *group, void *user))
{
    each(&bench_engine_params, user);
    for_each_group_of_systems(user, each);
    for (size_t i = 0; cpu_groups[i]; i++)
        each(cpu_groups[i], user);
    each(&campaign_study_params, user);
    each(&campaign_workload_params, user);
    each(&campaign_figure_params, user);
    for (size_t i = 0; benches[i]; i++) {
        for (size_t k = 0; benches[i]->groups[k]; k++)
            each(benches[i]->groups[k], user);
    }
}

struct wanted {
    const char *path; /* NULL: all */
    const char *name; /* of a system, whose values are shown; NULL: defaults */
    struct system system;
    int found;
    struct nearest nearest;
};

/* The value that the system has; what its description does not say is marked. */
static void add_value(const struct wanted *wanted, const struct param_group *group,
                      const struct param_row *row, const void *spec, struct text *value)
{
    param_print(row, (const char *)spec + row->offset, value);
    if (!value->length)
        text_add(value, "-");
    if (wanted->system.inherited && !config_is_set(&wanted->system.config, group->path, row))
        text_add(value, " ; %s", wanted->system.inherited);
}

static void print_group(const struct wanted *wanted, const struct param_group *group)
{
    void *spec = mem_alloc(1, group->spec_bytes);
    printf("[%s]  # %s\n", group->path, group->help);
    if (wanted->name)
        config_fill(&wanted->system.config, group, group->path, spec);
    for (size_t i = 0; i < group->row_count; i++) {
        const struct param_row *row = &group->rows[i];
        struct text value = {0}, range = {0};
        param_print_range(row, &range);
        if (wanted->name)
            add_value(wanted, group, row, spec, &value);
        else
            text_add(&value, "%s", *row->fallback ? row->fallback : "-");
        int length = printf("  %-16s = %-*s %-7s %-22s ", row->name, wanted->name ? 34 : 12, value.at,
                            type_name(row->type), range.at);
        bool fits = length + strlen(row->help) <= 160;
        printf("%s%s\n", fits ? "" : "\n      ", row->help);
        text_fini(&value);
        text_fini(&range);
    }
    putchar('\n');
    mem_free(spec);
}

static void visit(const struct param_group *group, void *user)
{
    struct wanted *wanted = user;
    size_t length = wanted->path ? strlen(wanted->path) : 0;
    bool inside = !wanted->path || (strncmp(group->path, wanted->path, length) == 0 &&
                                    (!group->path[length] || group->path[length] == '.'));
    if (inside) {
        print_group(wanted, group);
        wanted->found = 1;
    } else {
        nearest_try(&wanted->nearest, group->path);
    }
}

static const struct option_row options[] = {
    {"--system", "NAME|FILE", "show the values of this system, and which it inherited, not the defaults"},
    {NULL, NULL, NULL},
};

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct wanted *wanted = user;
    if (row) {
        wanted->name = value;
        return true;
    }
    if (wanted->path)
        return err_set(err, "params: expected one section at most, not '%.120s' too", value);
    wanted->path = value;
    return true;
}

static int run(int count, char **words)
{
    struct err err;
    struct wanted wanted = {0};
    if (!options_parse(options, count, words, &wanted, took, &err) ||
        (wanted.name && !system_load(&wanted.system, wanted.name, NULL, &err)))
        return complain(EXIT_USAGE, &err);
    nearest_init(&wanted.nearest, wanted.path ? wanted.path : "");
    if (wanted.name) {
        for_each_group_of_systems(&wanted, visit);
        system_fini(&wanted.system);
    } else {
        for_each_group(&wanted, visit);
    }
    return wanted.found ? EXIT_GOOD : complain_unknown("section", wanted.path, wanted.nearest.best, "params");
}

static void complete_one(const struct param_group *group, void *user)
{
    (void)user;
    puts(group->path);
}

static void complete(const char *behind)
{
    (void)behind;
    for_each_group(NULL, complete_one);
}

const struct cmd cmd_params = {
    .name = "params",
    .arguments = "[--system NAME|FILE] [SECTION]",
    .help = "describe all parameters",
    .more =
        "Prints each parameter with its default, type, range and meaning. They are set in descriptions\n"
        "(--config FILE, with [SECTION] and key = value lines) or by --set SECTION.KEY=VALUE.\n"
        "With --system, the sections are those of a system, and what its description leaves out is marked\n"
        "as inherited.\n"
        "Sizes (256KiB), times (50ns), rates (4800GB/s) and frequencies (1980MHz) carry their units.",
    .options = options,
    .run = run,
    .complete = complete,
};
