/* The kernels of a run as the page wants them: metrics by their rows, profiles with names by number. */
#include "report/page/page.h"
#include "base/bits.h"
#include "base/names.h"
#include "gpu/metrics.h"

#include <string.h>

struct names_of_run {
    struct names files, modules, instructions, functions;
};

static void put_names(struct json_writer *json, const char *name, const struct names *names)
{
    json_open_list(json, name);
    for (size_t i = 0; i < names->count; i++)
        json_put_text(json, NULL, names->at[i]);
    json_close(json);
}

/* ---- metrics ---- */

/* Values in the order of the rows; what the run does not have is null. */
static void write_metrics(const struct json_value *metrics, bool timed, struct json_writer *json)
{
    json_open_list(json, "metrics");
    for (const struct metric_row *row = metric_rows; row->name; row++) {
        double value;
        bool applies = row->section == METRIC_LAUNCH || (row->section == METRIC_TIMED) == timed;
        if (applies && json_number(json_member(metrics, row->name), &value))
            json_put_real(json, NULL, value);
        else
            json_put_null(json, NULL);
    }
    json_close(json);
}

static void write_stalls(const struct json_value *stalls, struct json_writer *json)
{
    json_open_list(json, "stalls");
    for (int i = 0; i < STALL_COUNT && stalls; i++)
        json_put_real(json, NULL, json_number_at(stalls, stall_name((enum stall)i), 0));
    json_close(json);
}

/* ---- profiles ---- */

static const char *const counters[] = {
#define X(name, help) #name,
    OP_COUNTERS(X)
#undef X
};

static void put_name(struct json_writer *json, struct names *names, const char *name)
{
    if (name)
        json_put_count(json, NULL, names_add(names, name));
    else
        json_put_null(json, NULL);
}

/* [file, line, module, place in it, instruction, function, counters..., [stall, cycles, ...]] */
static void write_place(const struct json_value *place, struct names_of_run *names, struct json_writer *json)
{
    json_open_list(json, NULL);
    put_name(json, &names->files, json_text(json_member(place, "file")));
    json_put_real(json, NULL, json_number_at(place, "line", 0));
    put_name(json, &names->modules, json_text(json_member(place, "module")));
    json_put_real(json, NULL, json_number_at(place, "ptx_line", json_number_at(place, "code_at", 0)));
    put_name(json, &names->instructions, json_text(json_member(place, "instruction")));
    put_name(json, &names->functions, json_text(json_member(place, "function")));
    for (size_t i = 0; i < COUNT_OF(counters); i++)
        json_put_real(json, NULL, json_number_at(place, counters[i], 0));
    const struct json_value *stalls = json_member(place, "stall_cycles");
    json_open_list(json, NULL);
    for (int i = 0; i < STALL_COUNT; i++) {
        double cycles = json_number_at(stalls, stall_name((enum stall)i), 0);
        if (cycles > 0) {
            json_put_count(json, NULL, (uint64_t)i);
            json_put_real(json, NULL, cycles);
        }
    }
    json_close(json);
    json_close(json);
}

static double count_steps(const struct json_value *place)
{
    double steps = 0;
    const struct json_value *units = json_member(place, "units");
    for (int i = 0; i < UNIT_COUNT; i++)
        steps += json_number_at(units, metric_unit_name((enum isa_unit)i), 0);
    return steps;
}

/* Floating-point operations of all launches, by kind. */
static void write_flops(const struct json_value *places, struct json_writer *json)
{
    static const char *const kinds[] = {"fp16", "fp32", "fp64", "tensor"};
    double sums[COUNT_OF(kinds)] = {0};
    for (size_t i = 0; i < json_length(places); i++) {
        const struct json_value *place = json_element(places, i);
        const char *kind = NULL;
        double flops = html_flops(json_text_at(place, "instruction", ""), &kind), steps = count_steps(place);
        for (size_t k = 0; k < COUNT_OF(kinds) && flops > 0 && steps > 0; k++)
            if (!strcmp(kinds[k], kind))
                sums[k] += flops * json_number_at(place, "threads", 0) / steps;
    }
    json_open_object(json, "flops");
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        json_put_real(json, kinds[k], sums[k]);
    json_close(json);
}

static void write_profile(const struct json_value *kernel, struct names_of_run *names,
                          struct json_writer *json)
{
    const struct json_value *places = json_member(kernel, "profile");
    if (!json_length(places))
        return;
    write_flops(places, json);
    json_open_list(json, "places");
    for (size_t i = 0; i < json_length(places); i++)
        write_place(json_element(places, i), names, json);
    json_close(json);
}

/* ---- kernels ---- */

static void write_kernel(const struct json_value *kernel, bool timed, struct names_of_run *names,
                         struct json_writer *json)
{
    static const char *const as_they_are[] = {"name",
                                              "kernel",
                                              "launches",
                                              "launches_failed",
                                              "failed",
                                              "grid",
                                              "block",
                                              "why",
                                              "launches_interrupted",
                                              "active_lanes",
                                              "causes",
                                              "instructions_by_unit"};
    json_open_object(json, NULL);
    for (size_t i = 0; i < COUNT_OF(as_they_are); i++)
        json_put_value(json, as_they_are[i], json_member(kernel, as_they_are[i]));
    write_metrics(json_member(kernel, "metrics"), timed && json_member(kernel, "stall_cycles"), json);
    write_stalls(json_member(kernel, "stall_cycles"), json);
    write_profile(kernel, names, json);
    json_close(json);
}

void html_kernels_write(const struct runfile *run, struct json_writer *json)
{
    struct names_of_run names = {0};
    const struct json_value *kernels = json_member(run->json, "kernels");
    json_open_list(json, "kernels");
    for (size_t i = 0; i < json_length(kernels); i++)
        write_kernel(json_element(kernels, i), runfile_is_timed(run), &names, json);
    json_close(json);
    put_names(json, "files", &names.files);
    put_names(json, "modules", &names.modules);
    put_names(json, "instructions", &names.instructions);
    put_names(json, "functions", &names.functions);
    names_fini(&names.files);
    names_fini(&names.modules);
    names_fini(&names.instructions);
    names_fini(&names.functions);
}

/* ---- launches: a list for each member ---- */

/* Metrics of each launch; of those that are many, the page shows the first. */
static const char *const of_launches[] = {
    "gpu__time_duration.sum",
    "gpc__cycles_elapsed.max",
    "launch__grid_size",
    "launch__block_size",
    "smsp__inst_executed.sum",
    "sm__inst_executed.avg.per_cycle_active",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "l1tex__t_sector_hit_rate.pct",
    "lts__t_sector_hit_rate.pct",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "heddle__page_bytes.sum",
    "heddle__pages_received.sum",
    "heddle__managed_faults.sum",
    "heddle__managed_bytes_in.sum",
    "heddle__peer_bytes.sum",
    "heddle__host_bytes.sum",
};
enum { MOST_LAUNCHES = 5000 };

static size_t find_kernel(const struct json_value *kernels, const struct json_value *launch)
{
    const char *name = json_text_at(launch, "kernel", "");
    bool timed = json_member(launch, "stall_cycles");
    for (size_t i = 0; i < json_length(kernels); i++) {
        const struct json_value *kernel = json_element(kernels, i);
        if (!strcmp(json_text_at(kernel, "kernel", ""), name) &&
            timed == !!json_member(kernel, "stall_cycles"))
            return i;
    }
    return 0;
}

static void write_column(const struct json_value *launches, size_t count, const char *member,
                         struct json_writer *json)
{
    json_open_list(json, member);
    for (size_t i = 0; i < count; i++)
        json_put_real(json, NULL, json_number_at(json_element(launches, i), member, 0));
    json_close(json);
}

/* A metric that is 0 everywhere has nothing to say. */
static void write_metric(const struct json_value *launches, size_t count, const char *name,
                         struct json_writer *json)
{
    bool some = false;
    for (size_t i = 0; i < count && !some; i++)
        some = json_number_at(json_member(json_element(launches, i), "metrics"), name, 0) != 0;
    if (!some)
        return;
    json_open_list(json, name);
    for (size_t i = 0; i < count; i++)
        json_put_real(json, NULL, json_number_at(json_member(json_element(launches, i), "metrics"), name, 0));
    json_close(json);
}

void html_launches_write(const struct runfile *run, struct json_writer *json)
{
    const struct json_value *launches = json_member(run->json, "launches"),
                            *kernels = json_member(run->json, "kernels");
    size_t count = min_u64(json_length(launches), MOST_LAUNCHES);
    json_open_object(json, "launches");
    json_put_count(json, "count", json_length(launches));
    json_open_list(json, "kernel");
    for (size_t i = 0; i < count; i++)
        json_put_count(json, NULL, find_kernel(kernels, json_element(launches, i)));
    json_close(json);
    write_column(launches, count, "device", json);
    write_column(launches, count, "stream", json);
    write_column(launches, count, "start_ps", json);
    write_column(launches, count, "end_ps", json);
    write_column(launches, count, "error", json);
    json_open_object(json, "metrics");
    for (size_t i = 0; i < COUNT_OF(of_launches); i++)
        write_metric(launches, count, of_launches[i], json);
    json_close(json);
    json_close(json);
}
