#include "system/system.h"
#include "base/bits.h"
#include "base/install.h"
#include "base/mem.h"
#include "base/unit.h"
#include "net/sections.h"
#include "paging/policy.h"
#include "system/cluster.h"
#include "system/fabric.h"
#include "system/mix.h"
#include "system/parts.h"

#include <dirent.h>
#include <unistd.h>

PARAM_GROUP(system_params, "system", "what the system is made of", system_spec, SYSTEM_PARAMS);

static const struct param_group *const groups[] = {
    &gpu_params, &sm_params,         &l2_params,       &l3_params,       &dram_params,     &noc_params,
    &tlb_params, &paging_params,     &uvm_params,      &transfer_params, &dispatch_params, &fabric_params,
    &mix_params, &net_switch_params, &net_link_params, &cluster_params,  &system_params,   NULL};

static const struct config_moved moved[] = {{"gpu", "l2", "l2.bytes"}, {NULL, NULL, NULL}};

static bool ends_in_ini(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".ini") == 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_folder(struct text *path, const char *folder)
{
    if (folder)
        text_add(path, "%s", folder);
    else
        install_add_data(path, "systems");
}

bool system_names(const char *folder, char ***names, size_t *count)
{
    struct text path = {0};
    size_t capacity = 0;
    add_folder(&path, folder);
    DIR *open = opendir(path.at);
    text_fini(&path);
    *names = NULL;
    *count = 0;
    if (!open)
        return false;
    for (struct dirent *entry; (entry = readdir(open));) {
        if (!ends_in_ini(entry->d_name))
            continue;
        mem_grow(*names, *count, capacity);
        char *name = (*names)[(*count)++] = mem_text(entry->d_name);
        name[strlen(name) - 4] = 0;
    }
    closedir(open);
    if (*count)
        qsort(*names, *count, sizeof **names, by_text);
    return true;
}

/* Adds the names of the folder's descriptions to the error. */
static void add_known(const char *folder, struct err *err)
{
    char **names;
    size_t count;
    if (!system_names(folder, &names, &count)) {
        err_add(err, " (and there is no folder %s: HEDDLE_HOME says where Heddle is)", folder);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        err_add(err, "%s %s", i == 0 ? "; there are" : i + 1 == count ? " and" : ",", names[i]);
        mem_free(names[i]);
    }
    mem_free(names);
}

static bool read_named(struct system *system, const char *name, const char *folder, struct err *err)
{
    struct text path = {0};
    text_add(&path, "%s/%s.ini", folder, name);
    bool good;
    if (access(path.at, F_OK) == 0) {
        good = config_read(&system->config, path.at, err);
    } else if (strcmp(name, "h200") == 0) {
        good = true; /* the defaults: works without any file */
    } else {
        good = err_set(err, "there is no system '%.120s'", name);
        add_known(folder, err);
    }
    text_fini(&path);
    return good;
}

/* Interleaved pages are those that move, unless they are told to be larger. */
static void fill_interleave(struct system *system)
{
    struct text page = {0};
    if (system_moves_pages(system))
        unit_print(UNIT_size, system->paging.page, &page);
    config_set_default(&system->config, "system", "interleave", page.at);
    config_fill(&system->config, &system_params, "system", &system->spec);
    text_fini(&page);
}

static void fill(struct system *system)
{
    config_fill(&system->config, &gpu_params, "gpu", &system->gpu);
    config_fill(&system->config, &sm_params, "sm", &system->sm);
    config_fill(&system->config, &l2_params, "l2", &system->l2);
    config_fill(&system->config, &l3_params, "l3", &system->l3);
    config_fill(&system->config, &dram_params, "dram", &system->dram);
    config_fill(&system->config, &noc_params, "noc", &system->noc);
    config_fill(&system->config, &tlb_params, "tlb", &system->tlb);
    config_fill(&system->config, &paging_params, "paging", &system->paging);
    config_fill(&system->config, &uvm_params, "uvm", &system->uvm);
    config_fill(&system->config, &transfer_params, "copies", &system->copies);
    config_fill(&system->config, &dispatch_params, "dispatch", &system->dispatch);
    config_fill(&system->config, &fabric_params, "fabric", &system->fabric);
    config_fill(&system->config, &cluster_params, "cluster", &system->cluster);
    config_fill(&system->config, &system_params, "system", &system->spec);
    fill_interleave(system);
    shape_apply(system);
}

bool system_load(struct system *system, const char *name, const char *folder, struct err *err)
{
    *system = (struct system){0};
    config_init(&system->config, groups);
    system->config.moved = moved;
    struct text where = {0};
    add_folder(&where, folder);
    system->config.folder = where.at;
    name = name && *name ? name : "h200";
    system->inherited = strcmp(name, "h200") ? "inherited from h200" : NULL;
    bool good = strchr(name, '/') || ends_in_ini(name) ? config_read(&system->config, name, err)
                                                       : read_named(system, name, where.at, err);
    system->config.folder = NULL;
    text_fini(&where);
    if (!good) {
        system_fini(system);
        return false;
    }
    fill(system);
    good = mix_apply(system, err);
    system->described_gpus = system->spec.gpus;
    if (!good)
        system_fini(system);
    return good;
}

bool system_set(struct system *system, const char *assignment, struct err *err)
{
    if (!config_set(&system->config, assignment, err))
        return false;
    fill(system);
    return mix_apply(system, err);
}

enum param_shows system_shows(const char *assignment)
{
    const char *dot = strchr(assignment, '.'), *equals = strchr(assignment, '=');
    if (!dot || !equals || dot > equals)
        return SHOWS_ANYWHERE;
    struct text path = {0}, key = {0};
    text_add_bytes(&path, assignment, (size_t)(dot - assignment));
    text_add_bytes(&key, dot + 1, (size_t)(equals - dot - 1));
    enum param_shows shows = SHOWS_ANYWHERE;
    for (const struct param_group *const *group = groups; *group; group++) {
        for (size_t i = 0; i < (*group)->row_count && !strcmp((*group)->path, path.at); i++) {
            if (!strcmp((*group)->rows[i].name, key.at))
                shows = param_shows(*group, &(*group)->rows[i]);
        }
    }
    text_fini(&path);
    text_fini(&key);
    return shows;
}

struct gpu_config system_gpu(const struct system *system)
{
    return (struct gpu_config){.gpu = &system->gpu,
                               .sm = &system->sm,
                               .l2 = &system->l2,
                               .dram = &system->dram,
                               .noc = &system->noc,
                               .l3 = &system->l3,
                               .tlb = &system->tlb,
                               .dispatch = &system->dispatch};
}

/* Sizes that addresses are rounded to. */
static bool check_powers(const struct system *system, struct err *err)
{
    const struct gpu_spec *gpu = &system->gpu;
    const struct {
        const char *name;
        uint64_t bytes;
    } rows[] = {{"system.host_page", system->spec.host_page},
                {"paging.page", system->paging.page},
                {"paging.page_least", system->paging.page_least},
                {"system.interleave", system->spec.interleave},
                {"sm.code_line", system->sm.code_line},
                {"gpu.texture_alignment", gpu->texture_alignment},
                {"gpu.texture_pitch_alignment", gpu->texture_pitch_alignment},
                {"gpu.surface_alignment", gpu->surface_alignment}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].bytes & (rows[i].bytes - 1))
            return err_set(err, "%s: expected a power of two, and %llu bytes are not", rows[i].name,
                           (unsigned long long)rows[i].bytes);
    }
    return true;
}

/* KiB, rising. */
static bool check_carveouts(const struct gpu_spec *gpu, struct err *err)
{
    const char *at = gpu->shared_carveouts;
    unsigned long long before = 0, kib = 0;
    for (bool first = true; *at; first = false, before = kib) {
        char *end;
        kib = strtoull(at, &end, 10);
        if (end == at || *at == '-' || (*end && *end != ' ') || (!first && kib <= before))
            return err_set(
                err, "gpu.shared_carveouts: expected rising numbers of KiB, such as '0 8 16', not '%.80s'",
                gpu->shared_carveouts);
        at = end + strspn(end, " ");
    }
    return true;
}

static bool check_paging(const struct system *system, struct err *err)
{
    if (!system_moves_pages(system))
        return true;
    if (system->spec.gpus >= PAGE_HOST)
        return err_set(err, "paging.policy: pages can move between up to %d GPUs, not %llu", PAGE_HOST - 1,
                       (unsigned long long)system->spec.gpus);
    if (system->spec.interleave < system->paging.page) {
        struct text page = {0};
        unit_print(UNIT_size, system->paging.page, &page);
        err_set(
            err,
            "system.interleave cannot be less than paging.page (%s): interleaved pages are those that move",
            page.at);
        text_fini(&page);
        return false;
    }
    if (system->paging.room && system->paging.room < system->paging.page)
        return err_set(err, "paging.room cannot be less than paging.page");
    return system->paging.page_least <= system->paging.page ||
           err_set(err, "paging.page_least cannot be more than paging.page");
}

static bool check_space(const struct system *system, struct err *err)
{
    if (!system_shares_memory(system))
        return true;
    if (system->spec.unified || system->spec.gpus > SYSTEM_SHARING_DEVICES)
        return err_set(err, "system.space: up to %d GPUs can share the host's memory, and no unified one",
                       SYSTEM_SHARING_DEVICES);
    return (!system_moves_managed(system) && !system->paging.policy) ||
           err_set(err, "system.space: pages of shared memory do not move (paging.managed, paging.policy)");
}

bool system_check(const struct system *system, struct err *err)
{
    struct gpu_config config = system_gpu(system);
    return check_powers(system, err) && check_carveouts(&system->gpu, err) && shape_check(system, err) &&
           gpu_check(&config, err) && mix_check(system, err) && cluster_check(system, err) &&
           fabric_check(system, err) && check_paging(system, err) && check_space(system, err);
}

void system_fini(struct system *system)
{
    shape_fini(system);
    mix_fini(system);
    config_fini(&system->config);
}
