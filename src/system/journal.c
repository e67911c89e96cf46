#include "system/journal.h"
#include "system/over_ranks.h"
#include "base/bits.h"
#include "base/mem.h"
#include "system/contents.h"
#include "system/copies.h"

#include <string.h>

enum entry { ENTRY_BEGIN, ENTRY_WRITES, ENTRY_PASS, ENTRY_READ, ENTRY_ALL, ENTRY_COUNT };
enum { NAME_MOST = 200, PROFILE_MOST = 1 << 24, SECTOR_MOST = 32 };

struct read { /* by the host, of device memory */
    uint64_t at, bytes;
};

struct journal {
    struct archive out; /* all of it, to be gone on with */
    struct archive in;  /* what of it was not yet gone through, while replaying */
    bool replaying;
    struct err differs; /* what the program does otherwise; "" */
    uint64_t begun;     /* tasks */
    struct task **running;
    size_t running_count, running_capacity;
    struct read *reads; /* since time passed last: what was read once is the same when it is read again */
    size_t read_count, read_capacity;
    bool has_run;           /* kernels, since the host took all memory over */
    struct archive printed; /* while time passes: who printed what */
    uint64_t printed_count;
};

struct journal *journal_new(void)
{
    struct journal *journal = mem_alloc(1, sizeof *journal);
    journal->out = archive_writer();
    journal->printed = archive_writer();
    return journal;
}

void journal_free(struct journal *journal)
{
    if (!journal)
        return;
    text_fini(&journal->out.text);
    text_fini(&journal->printed.text);
    mem_free(journal->running);
    mem_free(journal->reads);
    mem_free(journal);
}

void journal_archive(struct journal *journal, struct archive *archive)
{
    archive_text(archive, &journal->out.text);
    if (archive->reading) {
        journal->in = archive_reader(journal->out.text.at, journal->out.text.length);
        journal->replaying = true;
    }
}

bool journal_is_replaying(const struct journal *journal)
{
    return journal->replaying;
}

void journal_end_replay(struct journal *journal)
{
    journal->replaying = false;
}

struct task *journal_task(const struct journal *journal, uint64_t number)
{
    for (size_t i = 0; i < journal->running_count; i++)
        if (journal->running[i]->number == number)
            return journal->running[i];
    return NULL;
}

uint64_t journal_task_count(const struct journal *journal)
{
    return journal->begun;
}

/* ---- entries: what it is, and its bytes ---- */

static void add(struct journal *journal, enum entry entry, struct archive *content)
{
    archive_number(&journal->out, entry, ENTRY_COUNT);
    archive_text(&journal->out, &content->text);
    text_fini(&content->text);
}

/* The next entry, or ENTRY_COUNT at the end; `content` is to be read. It stays the next. */
static enum entry next(struct journal *journal, struct archive *content, struct archive *behind)
{
    *behind = journal->in;
    if (behind->at == behind->end || !behind->good)
        return ENTRY_COUNT;
    uint64_t entry = archive_number(behind, 0, ENTRY_COUNT - 1);
    uint64_t bytes = archive_number(behind, 0, UINT64_MAX);
    if (!archive_check(behind, bytes <= (size_t)(behind->end - behind->at))) {
        journal->in.good = false;
        return ENTRY_COUNT;
    }
    *content = archive_reader(behind->at, bytes);
    behind->at += bytes;
    return (enum entry)entry;
}

/* The next entry, if it is such a one. */
static bool take(struct journal *journal, enum entry entry, struct archive *content)
{
    struct archive behind;
    if (next(journal, content, &behind) != entry)
        return false;
    journal->in = behind;
    return true;
}

/* All of an entry was read, and made sense. */
static void close_entry(struct journal *journal, const struct archive *content)
{
    archive_check(&journal->in, archive_at_end(content));
}

/* Reads that were made then, and are not made now, are passed over: a program may look again and again
 * whether something has come, more or less often by how fast the host is. */
static void skip_reads(struct journal *journal)
{
    struct archive content;
    while (take(journal, ENTRY_READ, &content))
        ;
}

bool journal_is_at_end(const struct journal *journal)
{
    struct journal ahead = *journal;
    struct archive content, behind;
    for (enum entry entry; (entry = next(&ahead, &content, &behind)) != ENTRY_COUNT; ahead.in = behind)
        if (entry != ENTRY_READ && entry != ENTRY_WRITES)
            return false;
    return ahead.in.good && !*journal->differs.text;
}

/* The first thing that is not as it was is told. */
static void differ(struct journal *journal, const char *does, const char *did)
{
    if (!*journal->differs.text)
        err_set(&journal->differs,
                "the program does something else than when the checkpoint was written: it %s, where it %s",
                does, did);
}

/* ---- tasks ---- */

struct begun {
    uint64_t is_kernel, gpu, copy_bytes, direction;
    uint32_t grid[3], block[3], shared_bytes, blocks_per_sm;
    char name[NAME_MOST];
};

static struct begun begun_of(const struct task *task)
{
    struct begun begun = {.is_kernel = task->launch != NULL, .gpu = task->gpu};
    const struct launch *launch = task->launch;
    if (!launch) {
        begun.copy_bytes = task->width * task->height * task->depth;
        begun.direction = task->direction;
        return begun;
    }
    memcpy(begun.grid, launch->grid, sizeof begun.grid);
    memcpy(begun.block, launch->block, sizeof begun.block);
    begun.shared_bytes = launch->shared_bytes;
    begun.blocks_per_sm = task->blocks_per_sm;
    snprintf(begun.name, sizeof begun.name, "%s", kernel_facts(launch->kernel)->name);
    return begun;
}

static void describe(const struct begun *begun, const char *verb, struct text *text)
{
    if (begun->is_kernel)
        text_add(text, "%s kernel %.*s with %u x %u x %u blocks of %u x %u x %u threads", verb, NAME_MOST,
                 begun->name, begun->grid[0], begun->grid[1], begun->grid[2], begun->block[0],
                 begun->block[1], begun->block[2]);
    else
        text_add(text, "%s a copy of %llu bytes", verb, (unsigned long long)begun->copy_bytes);
}

static void differ_at_begin(struct journal *journal, const struct begun *now, const struct begun *then)
{
    struct text does = {0}, did = {0};
    describe(now, "begins", &does);
    if (then)
        describe(then, "began", &did);
    else
        text_add(&did, "waited, or read memory");
    differ(journal, does.at, did.at);
    text_fini(&does);
    text_fini(&did);
}

void journal_begin(struct journal *journal, struct task *task)
{
    struct begun now = begun_of(task), then;
    task->number = journal->begun++;
    if (task->state == TASK_RUNNING) {
        mem_grow(journal->running, journal->running_count, journal->running_capacity);
        journal->running[journal->running_count++] = task;
    }
    journal->has_run |= now.is_kernel;
    struct archive content = archive_writer();
    if (!journal->replaying) {
        ARCHIVE_VALUE(&content, now);
        add(journal, ENTRY_BEGIN, &content);
        return;
    }
    skip_reads(journal);
    if (!take(journal, ENTRY_BEGIN, &content)) {
        differ_at_begin(journal, &now, NULL);
        return;
    }
    ARCHIVE_VALUE(&content, then);
    close_entry(journal, &content);
    then.name[NAME_MOST - 1] = 0;
    if (memcmp(&now, &then, sizeof now) != 0)
        differ_at_begin(journal, &now, &then);
}

/* What came of a task. */
static void archive_ended(const struct local_machine *machine, struct task *task, struct archive *archive)
{
    struct gpu_kernel_stats stats = task->stats;
    stats.profile = NULL;
    task->state = (enum task_state)archive_number(archive, task->state, TASK_FAILED);
    ARCHIVE_VALUE(archive, task->start_ps);
    ARCHIVE_VALUE(archive, task->end_ps);
    ARCHIVE_VALUE(archive, task->result);
    ARCHIVE_VALUE(archive, stats);
    task->result.fault.text[sizeof task->result.fault.text - 1] = 0;
    uint64_t count = archive_number(archive, task->stats.profile ? stats.profile_count : 0, PROFILE_MOST);
    stats.profile = task->stats.profile;
    if (archive->reading) {
        stats.profile = count ? mem_alloc(count, sizeof *stats.profile) : NULL;
        stats.profile_count = (uint32_t)count;
    }
    task->stats = stats;
    archive_bytes(archive, task->stats.profile, count * sizeof *task->stats.profile);
    if (!task->launch && task->state == TASK_DONE)
        copies_archive_ended(machine, task, archive);
}

static void drop_running(struct journal *journal, size_t place)
{
    journal->running_count--;
    memmove(&journal->running[place], &journal->running[place + 1],
            (journal->running_count - place) * sizeof *journal->running);
}

static void note_ended(struct journal *journal, const struct local_machine *machine, struct archive *out)
{
    uint64_t count = 0;
    for (size_t i = 0; i < journal->running_count; i++)
        count += journal->running[i]->state != TASK_RUNNING;
    archive_number(out, count, UINT64_MAX);
    for (size_t i = 0; i < journal->running_count;) {
        struct task *task = journal->running[i];
        if (task->state == TASK_RUNNING) {
            i++;
            continue;
        }
        archive_number(out, task->number, UINT64_MAX);
        archive_ended(machine, task, out);
        drop_running(journal, i);
    }
}

static void replay_ended(struct journal *journal, const struct local_machine *machine, struct archive *in)
{
    for (uint64_t count = archive_number(in, 0, UINT64_MAX); count && in->good; count--) {
        uint64_t number = archive_number(in, 0, UINT64_MAX);
        size_t place = 0;
        while (place < journal->running_count && journal->running[place]->number != number)
            place++;
        if (!archive_check(in, place < journal->running_count))
            return;
        archive_ended(machine, journal->running[place], in);
        drop_running(journal, place);
    }
}

/* ---- what kernels printed ---- */

void journal_printed(void *user, const struct launch *launch, const char *text, size_t bytes)
{
    struct journal *journal = ((struct local_machine *)user)->journal;
    uint64_t number = UINT64_MAX;
    for (size_t i = 0; i < journal->running_count; i++)
        if (journal->running[i]->launch == launch)
            number = journal->running[i]->number;
    if (launch->print)
        fwrite(text, 1, bytes, launch->print);
    archive_number(&journal->printed, number, UINT64_MAX);
    struct text flat = {.at = (char *)(uintptr_t)text, .length = bytes};
    archive_text(&journal->printed, &flat);
    journal->printed_count++;
}

static void note_printed(struct journal *journal, struct archive *out)
{
    archive_number(out, journal->printed_count, UINT64_MAX);
    archive_bytes(out, journal->printed.text.at, journal->printed.text.length);
    journal->printed.text.length = journal->printed_count = 0;
}

static void replay_printed(struct journal *journal, struct archive *in)
{
    struct text text = {0};
    for (uint64_t n = archive_number(in, 0, UINT64_MAX); n && in->good; n--) {
        const struct task *task = journal_task(journal, archive_number(in, 0, UINT64_MAX));
        archive_text(in, &text);
        if (task && task->launch && task->launch->print)
            fwrite(text.at, 1, text.length, task->launch->print);
    }
    text_fini(&text);
}

/* ---- the host's memory ---- */

static void note_write(void *user, const char *at, uint32_t bytes)
{
    struct archive *out = user;
    archive_number(out, (uintptr_t)at, UINT64_MAX);
    archive_number(out, bytes, SECTOR_MOST);
    archive_bytes(out, (char *)(uintptr_t)at, bytes);
}

void journal_note_writes(struct journal *journal, struct local_machine *machine)
{
    struct archive content = archive_writer();
    hostmem_writes(machine->host, note_write, &content);
    if (content.text.length)
        add(journal, ENTRY_WRITES, &content);
}

void journal_replay_writes(struct journal *journal, const struct local_machine *machine)
{
    struct archive in;
    skip_reads(journal);
    while (take(journal, ENTRY_WRITES, &in)) {
        while (in.at != in.end && in.good) {
            char bytes[SECTOR_MOST];
            uint64_t at = archive_number(&in, 0, UINT64_MAX), count = archive_number(&in, 0, SECTOR_MOST);
            archive_bytes(&in, bytes, count);
            if (archive_check(&in, homes_keeps(&machine->memory, at, count)) && machine_leads(machine))
                memcpy((void *)(uintptr_t)at, bytes, count);
        }
        close_entry(journal, &in);
    }
}

/* ---- device memory that the host reads ---- */

static bool same_read(const struct read *a, const struct read *b)
{
    return a->at == b->at && a->bytes == b->bytes;
}

/* Since time passed last. From now on it was. */
static bool was_read(struct journal *journal, const struct read *read)
{
    for (size_t i = 0; i < journal->read_count; i++)
        if (same_read(&journal->reads[i], read))
            return true;
    mem_grow(journal->reads, journal->read_count, journal->read_capacity);
    journal->reads[journal->read_count++] = *read;
    return false;
}

static void archive_bytes_of(void *archive, char *host, uint64_t bytes)
{
    archive_sparse(archive, host, bytes);
}

/* What of the range is memory of GPUs. */
static void archive_read(const struct local_machine *machine, const struct read *read,
                         struct archive *archive)
{
    homes_each_bytes(&machine->memory, read->at, read->bytes, archive_bytes_of, archive);
}

static void replay_read(struct journal *journal, const struct local_machine *machine, struct read *read)
{
    struct archive content;
    struct read found = {0};
    struct text does = {0};
    if (take(journal, ENTRY_READ, &content))
        ARCHIVE_VALUE(&content, found);
    if (same_read(&found, read)) {
        archive_read(machine, read, &content);
        close_entry(journal, &content);
        return;
    }
    text_add(&does, "reads %llu bytes at 0x%llx", (unsigned long long)read->bytes,
             (unsigned long long)read->at);
    differ(journal, does.at, "did not");
    text_fini(&does);
}

void journal_read(struct journal *journal, struct local_machine *machine, uint64_t at, uint64_t bytes)
{
    struct read read = {.at = at, .bytes = bytes};
    struct archive content = archive_writer();
    if (was_read(journal, &read))
        return;
    if (journal->replaying) {
        replay_read(journal, machine, &read);
        return;
    }
    if (!machine_leads(machine)) /* nobody reads its journal */
        return;
    ARCHIVE_VALUE(&content, read);
    archive_read(machine, &read, &content);
    add(journal, ENTRY_READ, &content);
}

void journal_take_over(struct journal *journal, struct local_machine *machine)
{
    struct archive content = archive_writer();
    if (!journal->has_run)
        return;
    journal->has_run = false;
    if (!journal->replaying) {
        machine_archive_memory(machine, &content);
        add(journal, ENTRY_ALL, &content);
        return;
    }
    skip_reads(journal);
    if (!take(journal, ENTRY_ALL, &content)) {
        differ(journal, "runs a kernel without timing", "did not");
        return;
    }
    machine_archive_memory(machine, &content);
    close_entry(journal, &content);
}

/* ---- time ---- */

void journal_passed(struct journal *journal, struct local_machine *machine, uint64_t ps, bool result)
{
    struct archive content = archive_writer();
    journal->read_count = 0;
    journal_note_writes(journal, machine);
    archive_number(&content, ps, UINT64_MAX);
    archive_number(&content, machine->now, UINT64_MAX);
    archive_number(&content, result, 1);
    note_printed(journal, &content);
    note_ended(journal, machine, &content);
    add(journal, ENTRY_PASS, &content);
}

static void replay_pass(struct journal *journal, struct local_machine *machine, uint64_t ps, bool *result)
{
    struct archive content;
    journal_replay_writes(journal, machine);
    if (!take(journal, ENTRY_PASS, &content)) {
        differ(journal, "waits", "began another copy or kernel");
        return;
    }
    if (archive_number(&content, 0, UINT64_MAX) != ps)
        differ(journal, "lets another time pass", "waited");
    machine->now = archive_number(&content, 0, UINT64_MAX);
    *result = archive_number(&content, 0, 1);
    replay_printed(journal, &content);
    replay_ended(journal, machine, &content);
    close_entry(journal, &content);
}

bool journal_pass(struct journal *journal, struct local_machine *machine, uint64_t ps, bool *result,
                  struct err *err)
{
    journal->read_count = 0;
    if (!*journal->differs.text)
        replay_pass(journal, machine, ps, result);
    if (!journal->in.good)
        return err_set(err, "what the checkpoint knows of the program does not fit");
    return !*journal->differs.text || err_set(err, "%s", journal->differs.text);
}
