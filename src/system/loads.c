#include "system/loads.h"
#include "base/file.h"
#include "base/mem.h"
#include "net/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINE "heddle load 1"
static const uint64_t UNKNOWN = UINT64_MAX;

void spread_loads_begin_file(struct text *file)
{
    text_add(file, "%s\n", FIRST_LINE);
}

void spread_loads_add_island(struct text *file, const char *name, uint64_t ns)
{
    text_add(file, "island %s %" PRIu64 "\n", name, ns);
}

void spread_loads_add_link(struct text *file, const char *name, uint64_t bytes)
{
    text_add(file, "link %s %" PRIu64 "\n", name, bytes);
}

uint64_t spread_loads_of_home(const struct home_load *home)
{
    uint64_t sum = home->rest;
    for (uint64_t i = 0; i < home->sm_count; i++)
        sum += home->sms[i];
    for (uint64_t i = 0; i < home->memory_count; i++)
        sum += home->memory[i];
    return sum;
}

/* ---- reading ---- */

struct reading {
    struct loads *load;
    const struct system *system;
    const struct net_graph *graph; /* or NULL */
};

static uint64_t *unknown(uint64_t count)
{
    uint64_t *list = mem_alloc(count + 1, sizeof *list);
    for (uint64_t i = 0; i < count; i++)
        list[i] = UNKNOWN;
    return list;
}

static void init_loads(struct loads *load, const struct system *system, const struct net_graph *graph)
{
    uint32_t members = system_members(system);
    *load = (struct loads){.home_count = system_devices(system) * members,
                           .node_count = graph ? (uint32_t)graph->node_count : 0,
                           .link_count = graph ? (uint32_t)graph->link_count : 0};
    load->homes = mem_alloc(load->home_count, sizeof *load->homes);
    load->nodes = mem_alloc(load->node_count + 1, sizeof *load->nodes);
    load->links = mem_alloc(load->link_count + 1, sizeof *load->links);
    for (uint32_t i = 0; i < load->home_count; i++) {
        const struct system *own = system_of_device(system, i / members);
        struct home_load *home = &load->homes[i];
        home->sms = unknown(home->sm_count = own->gpu.sm_count);
        home->memory = unknown(home->memory_count = own->l2.islands);
    }
}

void spread_loads_fini(struct loads *load)
{
    for (uint32_t i = 0; i < load->home_count; i++) {
        mem_free(load->homes[i].sms);
        mem_free(load->homes[i].memory);
    }
    mem_free(load->homes);
    mem_free(load->nodes);
    mem_free(load->links);
    *load = (struct loads){0};
}

/* Where the load of a part goes, such as "sm[3]"; NULL: the home has no such part. */
static uint64_t *part_of_home(struct home_load *home, const char *part)
{
    uint32_t number;
    char end;
    bool is_sm = !strncmp(part, ".sm[", 4), is_memory = !strncmp(part, ".memory[", 8);
    if ((is_sm || is_memory) && (sscanf(strchr(part, '['), "[%" SCNu32 "%c", &number, &end) != 2 ||
                                 end != ']' || number >= (is_sm ? home->sm_count : home->memory_count)))
        return NULL;
    if (is_sm)
        return &home->sms[number];
    if (is_memory)
        return &home->memory[number];
    return *part == '.' ? &home->rest : NULL;
}

/* The same of an island. */
static uint64_t *part_of(const struct reading *reading, const char *name)
{
    struct loads *load = reading->load;
    uint32_t gpu, member = 0, members = system_members(reading->system);
    int length = 0, more = 0;
    if (sscanf(name, "gpu[%" SCNu32 "]%n", &gpu, &length) == 1 && length) {
        if (sscanf(name + length, ".member[%" SCNu32 "]%n", &member, &more) != 1)
            member = 0, more = 0;
        return gpu < system_devices(reading->system) && member < members
                   ? part_of_home(&load->homes[gpu * members + member], name + length + more)
                   : NULL;
    }
    int node = reading->graph && !strncmp(name, "fabric.", 7) ? net_find(reading->graph, name + 7) : NET_NONE;
    return node != NET_NONE ? &load->nodes[node] : !strncmp(name, "host", 4) ? &load->host : NULL;
}

static uint64_t *link_of(const struct reading *reading, const char *name)
{
    for (uint32_t i = 0; i < reading->load->link_count; i++)
        if (!strcmp(reading->graph->links[i].name, name))
            return &reading->load->links[i];
    return NULL;
}

/* "island NAME NUMBER": cuts the line. */
static bool cut_line(char *line, char **kind, char **name, uint64_t *value)
{
    char *end;
    *kind = strsep(&line, " ");
    *name = line ? strsep(&line, " ") : NULL;
    if (!*name || !line || *line < '0' || *line > '9')
        return false;
    *value = strtoull(line, &end, 10);
    return !*end && (!strcmp(*kind, "island") || !strcmp(*kind, "link"));
}

static bool read_line(const struct reading *reading, char *line, const char *where, struct err *err)
{
    char *kind, *name;
    uint64_t value;
    if (!cut_line(line, &kind, &name, &value))
        return err_set(err, "%s: expected 'island NAME NANOSECONDS' or 'link NAME BYTES'", where);
    uint64_t *part = *kind == 'i' ? part_of(reading, name) : link_of(reading, name);
    if (!part)
        return err_set(err, "%s: this system has no %.100s: the load is of another one", where, name);
    *part = *part == UNKNOWN ? value : *part + value;
    return true;
}

/* Nothing may be missing that is placed by its load. */
static bool is_whole(const struct loads *load, const char *name, struct err *err)
{
    for (uint32_t h = 0; h < load->home_count; h++) {
        const struct home_load *home = &load->homes[h];
        for (uint64_t i = 0; i < home->sm_count; i++)
            if (home->sms[i] == UNKNOWN)
                return err_set(err, "%s: no load of SM %" PRIu64 " of gpu%u: it is of another system", name,
                               i, h);
        for (uint64_t i = 0; i < home->memory_count; i++)
            if (home->memory[i] == UNKNOWN)
                return err_set(err,
                               "%s: no load of memory island %" PRIu64 " of gpu%u: it is of another system",
                               name, i, h);
    }
    return true;
}

bool spread_loads_read(struct loads *load, const struct text *bytes, const char *name,
                       const struct system *system, const struct net_graph *graph, struct err *err)
{
    struct reading reading = {load, system, graph};
    char *copy = mem_text(bytes->at ? bytes->at : ""), *at = copy, *line = strsep(&at, "\n");
    bool good = !strcmp(line, FIRST_LINE) && strlen(copy) == strlen(FIRST_LINE);
    init_loads(load, system, graph);
    if (!good)
        err_set(err, "%s: expected a load that --write-load has written ('" FIRST_LINE "')", name);
    for (unsigned number = 2; good && (line = strsep(&at, "\n")); number++) {
        char where[600];
        snprintf(where, sizeof where, "%.500s:%u", name, number);
        good = !*line || read_line(&reading, line, where, err);
    }
    mem_free(copy);
    good = good && is_whole(load, name, err);
    if (!good)
        spread_loads_fini(load);
    return good;
}

bool spread_loads_read_file(struct loads *load, const char *path, const struct system *system,
                            const struct net_graph *graph, struct err *err)
{
    struct text bytes = {0};
    bool good = file_read(path, LOADS_BYTES_MOST, &bytes, err) &&
                spread_loads_read(load, &bytes, path, system, graph, err);
    text_fini(&bytes);
    return good;
}
