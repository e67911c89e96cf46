/* Checkpoints of a machine: a file with its configuration, the journal of what the program was told, the
 * state of all parts, and the contents of memory. */
#include "base/archive.h"
#include "base/mem.h"
#include "system/contents.h"
#include "system/copies.h"
#include "system/journal.h"
#include "ranks/parts.h"
#include "system/owned.h"
#include "system/managed.h"
#include "system/managed_apart.h"
#include "system/over_ranks.h"

#include <stdio.h>

static const struct archive_kind kind = {
    .magic = "HEDDLETC", .name = "checkpoint of a timed run", .version = {16, ENGINE_MESSAGE_VERSION}};

/* ---- what must be the same: a line each ---- */

static void add_note(const struct local_machine *machine, struct text *note)
{
    const struct machine_options *options = &machine->options;
    text_add(note, "heddle = %s\n%s", HEDDLE_VERSION,
             options->checkpoint.note ? options->checkpoint.note : "");
    text_add(note, "max_cycles = %llu\ncold_caches = %d\nprofile = %d\n",
             (unsigned long long)options->wishes.max_cycles, options->wishes.cold_caches,
             options->wishes.profile);
    config_dump(&machine->system->config, note);
}

/* The first line in which two notes differ; of each the rest of it, with its length. */
static void first_difference(const char **a, const char **b, int *a_length, int *b_length)
{
    for (;;) {
        *a_length = (int)strcspn(*a, "\n");
        *b_length = (int)strcspn(*b, "\n");
        if (!**a || !**b || *a_length != *b_length || memcmp(*a, *b, (size_t)*a_length) != 0)
            return;
        *a += *a_length + ((*a)[*a_length] != 0);
        *b += *b_length + ((*b)[*b_length] != 0);
    }
}

static bool notes_fit(const char *path, const char *found, const char *own, struct err *err)
{
    int found_length, own_length;
    if (!strcmp(found, own))
        return true;
    first_difference(&found, &own, &found_length, &own_length);
    return err_set(err, "%s was written by another run: with '%.*s', where this one has '%.*s'", path,
                   found_length, found, own_length, own);
}

bool machine_check_checkpoint(const char *path, const char *note, struct err *err)
{
    struct archive archive;
    struct text found = {0};
    if (!archive_open(&archive, path, &kind, &found, err)) {
        text_fini(&found);
        return false;
    }
    archive_close(&archive);
    const char *behind_version = strchr(found.at, '\n');
    size_t length = strlen(note);
    bool good = behind_version && !strncmp(behind_version + 1, note, length);
    if (!good) { /* only what the note is about is looked at */
        const char *at = behind_version ? behind_version + 1 : "";
        int found_length, own_length;
        first_difference(&at, &note, &found_length, &own_length);
        err_set(err, "%s was written by another run: with '%.*s', where this one has '%.*s'", path,
                found_length, at, own_length, note);
    }
    text_fini(&found);
    return good;
}

/* ---- state ---- */

struct contents {
    struct contents_range *ranges;
    size_t count, capacity;
};

static void add_contents(void *user, char *host, uint64_t bytes)
{
    struct contents *contents = user;
    mem_grow(contents->ranges, contents->count, contents->capacity);
    contents->ranges[contents->count++] = (struct contents_range){host, bytes};
}

/* Of all ranks' memory: the leading one writes and reads it for all. */
static void archive_contents(struct local_machine *machine, struct archive *archive)
{
    struct contents contents = {0};
    struct ranks *ranks = machine->options.ranks;
    struct err unused; /* the next run fails where a rank was lost */
    homes_each_bytes(&machine->memory, 0, UINT64_MAX, add_contents, &contents);
    if (!archive->reading && machine_is_spread(machine))
        owned_fetch(ranks, &machine->base, 0, UINT64_MAX, &unused);
    if (machine_leads(machine))
        contents_archive(contents.ranges, contents.count, archive);
    else if (archive->reading)
        contents_skip(contents.count, archive);
    if (archive->reading && machine_is_spread(machine))
        owned_bring(ranks, &machine->base, 0, UINT64_MAX, &unused);
    mem_free(contents.ranges);
}

/* Of heaps of kernels, each part is where its SM is. */
static void archive_heaps(struct local_machine *machine, struct archive *archive)
{
    struct ranks_parts parts;
    struct archive one;
    if (!archive->reading)
        machine_spread_heaps(machine);
    machine->leads_heaps = false;
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        archive_expect(archive, machine->gpus[i].heap != NULL);
    ranks_parts_begin(&parts, machine->options.ranks, archive);
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        const struct gpu_slot *gpu = &machine->gpus[i];
        for (uint32_t part = 0; gpu->heap && part < heap_parts(gpu->heap) && archive->good; part++)
            if (ranks_part_open(&parts, archive, gpu_sm_rank(gpu->gpu, part), &one)) {
                heap_archive_part(gpu->heap, part, &one);
                ranks_part_close(&parts, archive, &one);
            }
    }
    ranks_parts_end(&parts, archive);
}

void machine_archive_memory(struct local_machine *machine, struct archive *archive)
{
    archive_heaps(machine, archive);
    archive_contents(machine, archive);
}

/* A task that runs, by its number plus one; NULL: none. */
static struct task *task_archive(const struct local_machine *machine, const struct task *task,
                                 struct archive *archive)
{
    uint64_t number =
        archive_number(archive, task ? task->number + 1 : 0, journal_task_count(machine->journal));
    struct task *found = number ? journal_task(machine->journal, number - 1) : NULL;
    archive_check(archive, !number || found);
    return found;
}

static void archive_slot(struct local_machine *machine, struct gpu_slot *gpu, struct archive *archive)
{
    const struct launch *launches[SM_KERNELS] = {0};
    for (uint32_t i = 0; i < SM_KERNELS; i++) {
        gpu->kernels[i] = task_archive(machine, gpu->kernels[i], archive);
        if (!gpu->kernels[i])
            continue;
        launches[i] = gpu->kernels[i]->launch;
        ARCHIVE_VALUE(archive, gpu->kernels[i]->start_ps);
        archive_check(archive, launches[i]);
    }
    if (archive->good)
        gpu_archive(gpu->gpu, launches, archive);
}

static void archive_waiting(struct local_machine *machine, struct archive *archive)
{
    struct task **link = &machine->waiting;
    for (uint64_t most = journal_task_count(machine->journal) + 1; most && archive->good; most--) {
        struct task *task = task_archive(machine, *link, archive);
        if (archive->reading)
            *link = task;
        if (!task)
            return;
        ARCHIVE_VALUE(archive, task->start_ps);
        ARCHIVE_VALUE(archive, task->end_ps);
        if (!task->launch && task->end_ps != TIME_NEVER)
            copies_archive(machine, task, archive);
        link = &task->next;
        if (archive->reading)
            *link = NULL;
    }
}

/* Registers and caches hold addresses: they must mean the same. */
static bool archive_ranges(const struct memory_range *ranges, uint32_t count, struct archive *archive)
{
    bool same = archive_number(archive, count, UINT32_MAX) == count;
    for (uint32_t i = 0; i < count && same && archive->good; i++) {
        struct memory_range range = ranges[i];
        ARCHIVE_VALUE(archive, range.at);
        ARCHIVE_VALUE(archive, range.bytes);
        ARCHIVE_VALUE(archive, range.to);
        ARCHIVE_VALUE(archive, range.page);
        ARCHIVE_VALUE(archive, range.homes);
        same = range.at == ranges[i].at && range.bytes == ranges[i].bytes &&
               range.to.packed == ranges[i].to.packed && range.page == ranges[i].page &&
               range.homes == ranges[i].homes;
    }
    return same;
}

static void archive_table(const struct homes *table, struct archive *archive)
{
    bool same = archive_ranges(table->ranges, table->count, archive) &&
                archive_ranges(table->spread, table->spread_count, archive);
    archive_require(archive, same, "memory is at other addresses than in this run");
}

static void archive_state(struct local_machine *machine, struct archive *archive)
{
    archive_table(&machine->memory, archive);
    ARCHIVE_VALUE(archive, machine->now);
    ARCHIVE_VALUE(archive, machine->running);
    ARCHIVE_LIST(archive, machine->passed.list, machine->passed.count, machine->passed.capacity);
    size_t ways = machine->fabric ? 2 * (size_t)network_graph(machine->fabric)->link_count : 0;
    archive_check(archive, !machine->passed.count || machine->passed.count == ways);
    archive_expect(archive, machine->gpu_count);
    for (uint32_t i = 0; i < machine->gpu_count && archive->good; i++)
        archive_slot(machine, &machine->gpus[i], archive);
    archive_waiting(machine, archive);
    machine_managed_archive(machine, archive);
    if (archive->good)
        engine_archive(machine->engine, archive);
    if (archive->good)
        machine_archive_memory(machine, archive);
    if (archive->reading)
        machine_share(machine);
    if (archive->reading)
        machine_apart_give(machine); /* they begin with no bytes */
}

/* ---- files ---- */

bool checkpoint_init(struct local_machine *machine, struct err *err)
{
    const struct checkpoint_options *options = &machine->options.checkpoint;
    struct clock_domain clock;
    uint64_t first = options->at_cycles ? options->at_cycles : options->every_cycles;
    clock_init(&clock, machine->system->gpu.clock);
    machine->checkpoint_ps = options->write && first ? clock_time(&clock, first) : TIME_NEVER;
    if (!options->write && !options->resume)
        return true;
    machine->journal = journal_new();
    if (!options->resume)
        return true;
    if (!machine_leads(machine)) { /* it was looked at by the leading rank */
        machine->resuming = mem_alloc(1, sizeof *machine->resuming);
        *machine->resuming = archive_reader(options->resumed->at, options->resumed->length);
        journal_archive(machine->journal, machine->resuming);
        return machine->resuming->good || err_set(err, "the journal of a checkpoint does not fit");
    }
    struct text found = {0}, own = {0};
    struct archive *archive = machine->resuming = mem_alloc(1, sizeof *archive);
    add_note(machine, &own);
    bool good = archive_open(archive, options->resume, &kind, &found, err) &&
                notes_fit(options->resume, found.at, own.at, err);
    if (good) {
        journal_archive(machine->journal, archive);
        good = archive->good || err_set(err, "%s is damaged: its journal does not fit", options->resume);
    }
    text_fini(&found);
    text_fini(&own);
    return good;
}

void checkpoint_next(struct local_machine *machine)
{
    uint64_t every = machine->options.checkpoint.every_cycles;
    struct clock_domain clock;
    clock_init(&clock, machine->system->gpu.clock);
    machine->checkpoint_ps = every && machine->checkpoint_ps != TIME_NEVER
                                 ? machine->checkpoint_ps + clock_time(&clock, every)
                                 : TIME_NEVER;
}

static void end_resuming(struct local_machine *machine)
{
    if (machine->resuming)
        archive_close(machine->resuming);
    mem_free(machine->resuming);
    machine->resuming = NULL;
}

void checkpoint_fini(struct local_machine *machine)
{
    end_resuming(machine);
    journal_free(machine->journal);
}

bool machine_read_checkpoint(const char *path, struct text *bytes, struct err *err)
{
    struct archive archive;
    if (!archive_open(&archive, path, &kind, NULL, err))
        return false;
    text_add_bytes(bytes, archive.at, (size_t)(archive.end - archive.at));
    archive_close(&archive);
    return true;
}

/* Whether all ranks are. */
static bool all_good(const struct local_machine *machine, bool good)
{
    uint64_t bad = !good;
    ranks_most(machine->options.ranks, &bad, 1);
    return !bad;
}

/* The parts of a rank that does not lead go to the one that does. */
static bool write_part(struct local_machine *machine, struct err *err)
{
    struct archive archive = archive_writer();
    archive_state(machine, &archive);
    text_fini(&archive.text);
    return all_good(machine, true) || err_set(err, "the leading rank could not write the checkpoint");
}

bool checkpoint_write(struct local_machine *machine, struct err *err)
{
    if (!machine_leads(machine))
        return write_part(machine, err);
    struct archive archive;
    struct text note = {0};
    add_note(machine, &note);
    machine_managed_note_writes(machine);
    journal_note_writes(machine->journal, machine);
    bool good = archive_create(&archive, machine->options.checkpoint.write, &kind, note.at, err);
    struct archive nowhere = archive_writer(); /* the others send their parts all the same */
    if (good)
        journal_archive(machine->journal, &archive);
    if (good || machine_is_spread(machine))
        archive_state(machine, good ? &archive : &nowhere);
    if (good)
        good = archive_commit(&archive, err);
    text_fini(&nowhere.text);
    text_fini(&note);
    return all_good(machine, good);
}

bool checkpoint_load(struct local_machine *machine, struct err *err)
{
    const char *path = machine->options.checkpoint.resume;
    struct archive *archive = machine->resuming;
    journal_replay_writes(machine->journal, machine);
    journal_end_replay(machine->journal);
    archive_state(machine, archive);
    bool good = archive_at_end(archive), all = all_good(machine, good);
    if (good && !all)
        archive->why = "it does not fit the machine on another rank";
    good &= all;
    while (machine->options.checkpoint.every_cycles && machine->checkpoint_ps <= machine->now)
        checkpoint_next(machine);
    if (!good)
        err_set(err, "%s cannot be gone on from: %s", path,
                archive->why ? archive->why : "its content does not fit the machine");
    end_resuming(machine);
    return good;
}
