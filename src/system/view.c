#include "system/view.h"
#include "base/clock.h"
#include "base/demangle.h"
#include "system/parts.h"
#include "system/traffic.h"

enum { WAITS_MOST = 200, WHERE_MOST = 4, LINKS_MOST = 512 };

static void add_count(struct text *json, const char *name, uint64_t value)
{
    text_add(json, "\"%s\":%llu,", name, (unsigned long long)value);
}

static void add_text(struct text *json, const char *name, const char *value)
{
    text_add(json, "\"%s\":", name);
    text_add_quoted(json, value);
    text_add(json, ",");
}

/* Ends a list or an object, whose last member has a comma behind it. */
static void close(struct text *json, const char *end)
{
    if (json->at[json->length - 1] == ',')
        json->at[--json->length] = 0;
    text_add(json, "%s,", end);
}

/* ---- the parts ---- */

static void show_kernel(struct text *json, const struct local_machine *machine, uint32_t gpu, uint32_t slot)
{
    const struct task *task = machine->gpus[gpu].kernels[slot];
    struct gpu_kernel_view view;
    if (!task || !gpu_look_at_kernel(machine->gpus[gpu].gpu, slot, &view))
        return;
    struct text where = {0};
    gpu_where(machine->gpus[gpu].gpu, slot, &where);
    text_add(json, "{");
    add_text(json, "name", demangled(task->launch->kernel->facts.name));
    add_text(json, "where", where.at ? where.at : "");
    add_count(json, "gpu", gpu);
    add_count(json, "task", task->number);
    add_count(json, "blocks", view.blocks);
    add_count(json, "begun", view.begun);
    add_count(json, "ended", view.ended);
    add_count(json, "start_ps", task->start_ps);
    add_count(json, "instructions", view.instructions);
    text_add(json, "\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],", task->launch->grid[0], task->launch->grid[1],
             task->launch->grid[2], task->launch->block[0], task->launch->block[1], task->launch->block[2]);
    close(json, "}");
    text_fini(&where);
}

static void show_kernels(struct text *json, const struct local_machine *machine)
{
    text_add(json, "\"kernels\":[");
    for (uint32_t gpu = 0; gpu < machine->gpu_count; gpu++)
        for (uint32_t slot = 0; slot < SM_KERNELS; slot++)
            show_kernel(json, machine, gpu, slot);
    close(json, "]");
    text_add(json, "\"waiting\":[");
    for (const struct task *task = machine->waiting; task; task = task->next) {
        text_add(json, "{");
        add_text(json, "name", task->launch ? demangled(task->launch->kernel->facts.name) : "copy");
        add_count(json, "task", task->number);
        add_count(json, "gpu", task->gpu);
        add_count(json, "bytes", task->launch ? 0 : task->width * task->height * task->depth);
        close(json, "}");
    }
    close(json, "]");
}

static void show_sms(struct text *json, const struct gpu *gpu)
{
    struct sm_view view;
    text_add(json, "\"sms\":[");
    for (uint32_t i = 0; gpu_look_at_sm(gpu, i, &view); i++) {
        text_add(json, "{");
        add_count(json, "blocks", view.blocks);
        add_count(json, "warps", view.warps);
        add_count(json, "most", view.warps_most);
        add_count(json, "instructions", view.instructions);
        text_add(json, "\"why\":[");
        for (int why = 0; why < STALL_COUNT; why++)
            text_add(json, "%u,", view.by_reason[why]);
        close(json, "]");
        close(json, "}");
    }
    close(json, "]");
}

static void show_slices(struct text *json, const struct memsys *mem)
{
    struct slice_view view;
    text_add(json, "\"slices\":[");
    for (uint32_t i = 0; memsys_look_at_slice(mem, i, &view); i++) {
        text_add(json, "{");
        add_text(json, "part", view.island);
        add_count(json, "busy", view.busy);
        add_count(json, "blocked", view.blocked);
        add_count(json, "waiting", view.waiting);
        add_count(json, "sectors", view.sectors);
        close(json, "}");
    }
    close(json, "]");
}

static void show_links(struct text *json, const struct machine *machine)
{
    struct machine_link links[LINKS_MOST];
    size_t count = min_u64(machine_links(machine, links, LINKS_MOST), LINKS_MOST);
    text_add(json, "\"links\":[");
    for (size_t i = 0; i < count; i++) {
        text_add(json, "{");
        add_text(json, "name", links[i].name);
        text_add(json, "\"bytes\":[%llu,%llu],\"busy_ps\":[%llu,%llu],",
                 (unsigned long long)links[i].bytes[0], (unsigned long long)links[i].bytes[1],
                 (unsigned long long)links[i].busy_ps[0], (unsigned long long)links[i].busy_ps[1]);
        close(json, "}");
    }
    close(json, "]");
}

struct waits {
    struct text *json;
    size_t count;
};

static void show_wait(void *user, const char *who, const char *what)
{
    struct waits *waits = user;
    if (waits->count++ >= WAITS_MOST)
        return;
    text_add(waits->json, "{");
    add_text(waits->json, "who", who);
    add_text(waits->json, "what", what);
    close(waits->json, "}");
}

/* The reasons that counts are of, in their order. */
static void show_reasons(struct text *json)
{
    static const char *const reasons[][2] = {
#define X(name, help, words) {#name, help},
        STALLS(X)
#undef X
    };
    text_add(json, "\"reasons\":[");
    for (size_t i = 0; i < COUNT_OF(reasons); i++) {
        text_add(json, "{");
        add_text(json, "name", reasons[i][0]);
        add_text(json, "help", reasons[i][1]);
        close(json, "}");
    }
    close(json, "]");
}

uint64_t machine_shown_cycle(struct machine *base)
{
    const struct local_machine *machine = machine_local(base);
    struct clock_domain clock;
    clock_init(&clock, machine->system->gpu.clock);
    return clock_cycle(&clock, machine_shown_ps(machine));
}

void machine_show_state(struct machine *base, struct text *json)
{
    const struct local_machine *machine = machine_local(base);
    struct waits waits = {.json = json};
    add_count(json, "time_ps", machine_shown_ps(machine));
    add_count(json, "cycle", machine_shown_cycle(base));
    add_count(json, "events", engine_events(machine->engine));
    add_count(json, "windows", engine_windows(machine->engine));
    add_count(json, "checkpoints", machine->options.checkpoint.write != NULL);
    show_reasons(json);
    show_kernels(json, machine);
    text_add(json, "\"gpus\":[");
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        text_add(json, "{");
        show_sms(json, machine->gpus[i].gpu);
        text_add(json, "\"l2\":[");
        for (uint32_t member = 0; member < machine->members; member++) {
            text_add(json, "{");
            show_slices(json, gpu_mem(machine->gpus[i].gpu, member));
            close(json, "}");
        }
        close(json, "]");
        close(json, "}");
    }
    close(json, "]");
    show_links(json, base);
    text_add(json, "\"waits\":[");
    engine_each_wait(machine->engine, show_wait, &waits);
    close(json, "]");
}

/* ---- a component ---- */

static const struct component *find(const struct local_machine *machine, const char *name)
{
    for (size_t i = 0; i < engine_component_count(machine->engine); i++) {
        const struct component *component = engine_component_at(machine->engine, i);
        if (!strcmp(component_name(component), name))
            return component;
    }
    return NULL;
}

static void show_counter(struct text *json, const struct stat_row *row, uint64_t value)
{
    text_add(json, "{");
    add_text(json, "name", row->name);
    add_text(json, "unit", row->unit);
    add_text(json, "help", row->help);
    add_count(json, "value", value);
    close(json, "}");
}

static void show_counters(struct text *json, const struct component *component)
{
    const struct stat_table *table = component_type(component)->stats;
    text_add(json, "\"counters\":[");
    for (size_t i = 0; table && i < table->count; i++)
        show_counter(json, &table->rows[i], stat_value(&table->rows[i], component_state(component)));
    close(json, "]");
}

static void show_ports(struct text *json, const struct component *component)
{
    text_add(json, "\"ports\":[");
    for (uint32_t i = 0; i < component_ports(component); i++) {
        text_add(json, "{");
        add_count(json, "number", i);
        add_count(json, "holds", port_fill(component_port(component, i)));
        close(json, "}");
    }
    close(json, "]");
}

STAT_TABLE(sm_rows, sm_counters, SM_COUNTERS);

/* What kernels that are there have done on it. */
static void show_sm_counters(struct text *json, struct sm *sm)
{
    uint64_t sums[COUNT_OF(sm_rows_rows)] = {0};
    for (uint32_t slot = 0; slot < SM_KERNELS; slot++)
        if (sm_kernel(sm, slot)->team)
            stat_add(&sm_rows, &sm_kernel(sm, slot)->counters, sums);
    text_add(json, "\"counters\":[");
    for (size_t i = 0; i < sm_rows.count; i++)
        show_counter(json, &sm_rows.rows[i], sums[i]);
    close(json, "]");
}

static void show_sm(struct text *json, struct sm *sm)
{
    struct sm_view view;
    uint32_t at = 0;
    sm_look(sm, &view);
    show_sm_counters(json, sm);
    text_add(json, "\"blocks\":%u,\"warps\":%u,\"why\":[", view.blocks, view.warps);
    for (int why = 0; why < STALL_COUNT; why++)
        text_add(json, "%u,", view.by_reason[why]);
    close(json, "]");
    text_add(json, "\"where\":[");
    for (int i = 0; i < WHERE_MOST; i++) {
        struct text where = {0};
        bool some = sm_where_any(sm, &at, &where);
        if (some) {
            text_add_quoted(json, where.at ? where.at : "");
            text_add(json, ",");
        }
        text_fini(&where);
        if (!some)
            break;
    }
    close(json, "]");
}

bool machine_show_component(struct machine *base, const char *name, struct text *json, struct err *err)
{
    const struct local_machine *machine = machine_local(base);
    const struct component *component = find(machine, name);
    if (!component)
        return err_set(err, "there is no component '%.200s'", name);
    text_add(json, "{");
    add_text(json, "name", name);
    add_text(json, "type", component_type(component)->type);
    if (component_is_here(component)) {
        if (component_type(component) != &sm_ops)
            show_counters(json, component);
        show_ports(json, component);
    }
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        struct sm *sm = gpu_sm_of(machine->gpus[i].gpu, component);
        if (sm)
            show_sm(json, sm);
    }
    close(json, "}");
    json->at[--json->length] = 0;
    return true;
}

bool machine_wish_checkpoint(struct machine *base, bool in_window, struct err *err)
{
    struct local_machine *machine = machine_local(base);
    if (!machine->options.checkpoint.write)
        return err_set(err, "checkpoints need --checkpoint FILE from the beginning of the run");
    if (machine->broken || machine_is_replaying(base))
        return err_set(err, "there is nothing to save now");
    if (in_window)
        machine->wishes_checkpoint = true;
    else
        machine_save(machine, err);
    return true;
}
