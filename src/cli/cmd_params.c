/* heddle params: the documentation of every parameter, made from their rows. */
#include "cli/cli.h"
#include "bench/bench.h"
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

/* Calls `each` for every section that exists, once. */
static void for_each_group(void *user, void (*each)(const struct param_group *group, void *user))
{
    static const struct param_group *const of_systems[] = {&system_params, &gpu_params,     &l2_params,
                                                           &dram_params,   &noc_params,     &tlb_params,
                                                           &sm_params,     &dispatch_params};
    each(&engine_params, user);
    for (size_t i = 0; i < sizeof of_systems / sizeof *of_systems; i++)
        each(of_systems[i], user);
    for (size_t i = 0; benches[i]; i++) {
        for (size_t k = 0; benches[i]->groups[k]; k++)
            each(benches[i]->groups[k], user);
    }
}

static void print_group(const struct param_group *group)
{
    printf("[%s]  # %s\n", group->path, group->help);
    for (size_t i = 0; i < group->row_count; i++) {
        const struct param_row *row = &group->rows[i];
        int length = printf("  %-16s = %-12s %-7s %-22s ", row->name, *row->fallback ? row->fallback : "-",
                            type_name(row->type), row->range);
        bool fits = length + strlen(row->help) <= 160;
        printf("%s%s\n", fits ? "" : "\n      ", row->help);
    }
    putchar('\n');
}

struct wanted {
    const char *path; /* NULL: all */
    int found;
    struct nearest nearest;
};

static void visit(const struct param_group *group, void *user)
{
    struct wanted *wanted = user;
    size_t length = wanted->path ? strlen(wanted->path) : 0;
    bool inside = !wanted->path || (strncmp(group->path, wanted->path, length) == 0 &&
                                    (!group->path[length] || group->path[length] == '.'));
    if (inside) {
        print_group(group);
        wanted->found = 1;
    } else {
        nearest_try(&wanted->nearest, group->path);
    }
}

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct wanted *wanted = user;
    (void)row;
    if (wanted->path)
        return err_set(err, "params: expected one section at most, not '%.120s' too", value);
    wanted->path = value;
    return true;
}

static int run(int count, char **words)
{
    struct err err;
    struct wanted wanted = {0};
    if (!options_parse(NULL, count, words, &wanted, took, &err))
        return complain(EXIT_USAGE, &err);
    nearest_init(&wanted.nearest, wanted.path ? wanted.path : "");
    for_each_group(&wanted, visit);
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

const struct command params_command = {
    .name = "params",
    .arguments = "[SECTION]",
    .help = "describe all parameters",
    .more = "Prints each parameter with its default, type, range and meaning. They are set in descriptions\n"
            "(--config FILE, with [SECTION] and key = value lines) or by --set SECTION.KEY=VALUE.\n"
            "Sizes (256KiB), times (50ns), rates (4800GB/s) and frequencies (1980MHz) carry their units.",
    .run = run,
    .complete = complete,
};
