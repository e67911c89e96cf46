#include "driver/checking.h"
#include "driver/internal.h"
#include "base/demangle.h"
#include "base/mem.h"
#include "checks/checker.h"
#include "exec/heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { FREED_MOST = 4096, NOTES_MOST = 10000, PATIENCE_S = 10 };

struct freed {
    uint64_t at, bytes, id, launches;
};

struct checking {
    pthread_mutex_t launches; /* one at a time */
    pthread_mutex_t lock;     /* of the checker; taken last of all */
    struct checker *checker;
    uint32_t checks;
    struct freed *freed; /* the last ones, a circle */
    size_t freed_count;
    struct text note; /* its path, once something was found */
    size_t left;      /* findings that are in it */
};

/* The first number that no process of the run has taken. */
static FILE *open_note(const char *folder, struct text *path)
{
    FILE *stream = NULL;
    for (unsigned number = 0; !stream && number < NOTES_MOST; number++) {
        path->length = 0;
        text_add(path, "%s/check.%u", folder, number);
        stream = fopen(path->at, "wxe");
    }
    return stream;
}

/* For `heddle run`: what is known is there, however the process ends. The file is not kept open, as programs
 * may close what they did not open. */
static void leave_findings(const struct driver *driver)
{
    struct checking *own = driver->checking;
    struct text lines = {0};
    if (!driver->options.run_dir)
        return;
    FILE *stream = own->note.at ? fopen(own->note.at, "we") : open_note(driver->options.run_dir, &own->note);
    if (!stream)
        return;
    findings_write(checker_findings(own->checker), &lines);
    fputs(lines.at ? lines.at : "", stream);
    text_fini(&lines);
    fclose(stream);
}

static void unlock(const struct driver *driver)
{
    struct checking *own = driver->checking;
    size_t count = checker_findings(own->checker)->count;
    if (count > own->left) {
        own->left = count;
        leave_findings(driver);
    }
    pthread_mutex_unlock(&own->lock);
}

static void show(void *user, const char *text)
{
    struct text all = {0};
    text_add(&all, "--check %s", text);
    driver_notice(user, all.at);
    text_fini(&all);
}

bool checking_new(struct driver *driver, struct err *err)
{
    const struct driver_options *options = &driver->options;
    uint32_t checks;
    struct err why;
    if (!checks_parse(options->check, &checks, &why))
        return err_set(err, "--check: %s", why.text);
    if (options->timing.on)
        return err_set(err, "--check has no timing: use --mode functional");
    struct checking *own = mem_alloc(1, sizeof *own);
    pthread_mutex_init(&own->launches, NULL);
    pthread_mutex_init(&own->lock, NULL);
    own->checks = checks;
    own->checker = checker_new(checks);
    own->freed = mem_alloc(FREED_MOST, sizeof *own->freed);
    struct findings *findings = checker_findings(own->checker);
    findings->show = show;
    findings->user = driver;
    findings->most = options->check_show;
    driver->checking = own;
    return true;
}

/* Whether this check is on. */
static bool has(const struct checking *own, enum check check)
{
    return own && own->checks >> check & 1;
}

/* ---- launches ---- */

/* Kernels that wait for each other would hang without a word. */
static void take_turn(struct driver *driver, struct checking *own)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    if (!pthread_mutex_timedlock(&own->launches, &until))
        return;
    driver_notice(driver,
                  "--check runs launches one after another: a kernel that waits for a later one never ends");
    pthread_mutex_lock(&own->launches);
}

struct observer *checking_begin(struct driver *driver, const struct launch *launch, uint64_t number, bool all)
{
    struct checking *own = driver->checking;
    uint32_t some = 1u << CHECK_memory | 1u << CHECK_init;
    if (!own)
        return NULL;
    take_turn(driver, own);
    return checker_begin(own->checker, launch, number, all ? own->checks : own->checks & some);
}

static const struct freed *find_freed(const struct checking *own, uint64_t address)
{
    for (size_t i = 1; i <= own->freed_count && i <= FREED_MOST; i++) {
        const struct freed *one = &own->freed[(own->freed_count - i) % FREED_MOST];
        if (address - one->at < one->bytes)
            return one;
    }
    return NULL;
}

static bool is_access(enum fault_kind kind)
{
    return kind == FAULT_ADDRESS || kind == FAULT_MISALIGNED || kind == FAULT_STACK ||
           kind == FAULT_TEXTURE || kind == FAULT_CLUSTER;
}

/* The fault itself is told as always. */
static void note_fault(struct checking *own, const struct launch_result *result)
{
    enum check check = is_access(result->fault.kind)          ? CHECK_memory
                       : result->fault.kind == FAULT_DEADLOCK ? CHECK_sync
                                                              : CHECK_COUNT;
    if (check == CHECK_COUNT || !has(own, check))
        return;
    struct text detail = {0};
    const struct freed *one = find_freed(own, result->fault.address);
    text_add(&detail, "%s", result->fault.text);
    if (one && result->fault.kind == FAULT_ADDRESS)
        text_add(&detail, "; allocation %" PRIu64 " was freed when %" PRIu64 " launches had been submitted",
                 one->id, one->launches);
    findings_note(checker_findings(own->checker),
                  &(struct finding){.check = check,
                                    .what = check == CHECK_memory ? "fault of an access"
                                                                  : "threads wait for each other",
                                    .detail = detail.at,
                                    .count = 1});
    text_fini(&detail);
}

void checking_end(struct driver *driver, struct observer *observer, const struct launch_result *result)
{
    struct checking *own = driver->checking;
    if (!own)
        return;
    pthread_mutex_lock(&own->lock);
    checker_end(own->checker, observer);
    note_fault(own, result);
    unlock(driver);
    pthread_mutex_unlock(&own->launches);
}

/* ---- allocations ---- */

static bool is_of_program(const struct allocation *allocation)
{
    return (allocation->kind == MEMORY_DEVICE || allocation->kind == MEMORY_MANAGED ||
            allocation->kind == MEMORY_HOST || allocation->kind == MEMORY_ARRAY) &&
           !allocation->lender && !allocation->graph;
}

void checking_came(struct driver *driver, const struct allocation *allocation)
{
    struct checking *own = driver->checking;
    if (!own || allocation->kind != MEMORY_DEVICE || !is_of_program(allocation))
        return;
    pthread_mutex_lock(&own->lock);
    checker_new_memory(own->checker, allocation->at, allocation->bytes);
    unlock(driver);
}

static void add_leak(struct driver *driver, const struct allocation *allocation)
{
    struct text what = {0}, detail = {0};
    text_add(&what, "%s that was never freed", allocation->what);
    text_add(&detail, "allocation %" PRIu64 ": %" PRIu64 " bytes at 0x%" PRIx64, allocation->id,
             allocation->bytes - allocation->spare_bytes, allocation->at);
    findings_add(checker_findings(driver->checking->checker),
                 &(struct finding){.check = CHECK_memory, .what = what.at, .first = detail.at, .count = 1});
    text_fini(&what);
    text_fini(&detail);
}

void checking_leaks(struct driver *driver, const struct allocation *allocation)
{
    struct checking *own = driver->checking;
    if (!has(own, CHECK_memory) || !is_of_program(allocation))
        return;
    pthread_mutex_lock(&own->lock);
    add_leak(driver, allocation);
    unlock(driver);
}

void checking_goes(struct driver *driver, const struct allocation *allocation)
{
    struct checking *own = driver->checking;
    if (!own || !is_of_program(allocation))
        return;
    pthread_mutex_lock(&own->lock);
    checker_old_memory(own->checker, allocation->at, allocation->bytes);
    own->freed[own->freed_count++ % FREED_MOST] = (struct freed){
        allocation->at, allocation->bytes, allocation->id, atomic_load(&driver->ledger.submitted)};
    unlock(driver);
}

void checking_bad_free(struct driver *driver, uint64_t address)
{
    struct checking *own = driver->checking;
    struct text detail = {0};
    if (!has(own, CHECK_memory))
        return;
    pthread_mutex_lock(&own->lock);
    const struct freed *one = find_freed(own, address);
    if (one)
        text_add(&detail,
                 "0x%" PRIx64 ", %" PRIu64 " bytes into the %" PRIu64 " bytes of allocation %" PRIu64
                 ", which was freed when %" PRIu64 " launches had been submitted",
                 address, address - one->at, one->bytes, one->id, one->launches);
    else
        text_add(&detail, "0x%" PRIx64, address);
    findings_add(checker_findings(own->checker),
                 &(struct finding){.check = CHECK_memory,
                                   .what = one && address == one->at ? "memory freed twice"
                                                                     : "free of what is no allocation",
                                   .first = detail.at,
                                   .count = 1});
    unlock(driver);
    text_fini(&detail);
}

/* ---- copies ---- */

void checking_copied(struct driver *driver, uint64_t to, uint64_t from, uint64_t bytes, bool to_host,
                     bool from_host)
{
    struct checking *own = driver->checking;
    if (!has(own, CHECK_init))
        return;
    struct memory_facts facts = {0};
    if (to_host && !from_host)
        memory_find(driver, from, &facts);
    pthread_mutex_lock(&own->lock);
    uint64_t written = from_host ? bytes : checker_written_from(own->checker, from, bytes);
    if (to_host && written < bytes) {
        struct text first = {0}, detail = {0};
        text_add(&first, "allocation %" PRIu64 ": %" PRIu64 " bytes at 0x%" PRIx64, facts.id, facts.bytes,
                 facts.base);
        text_add(&detail, "of the %" PRIu64 " bytes from 0x%" PRIx64 " on, byte %" PRIu64 " and maybe others",
                 bytes, from, written);
        findings_add(checker_findings(own->checker),
                     &(struct finding){.check = CHECK_init,
                                       .what = "copy to the host of memory that was never written",
                                       .first = first.at,
                                       .detail = detail.at,
                                       .count = 1});
        text_fini(&first);
        text_fini(&detail);
    }
    if (from_host || written == bytes)
        checker_written(own->checker, to, bytes);
    else if (!to_host)
        checker_copied(own->checker, to, from, bytes);
    unlock(driver);
}

void checking_filled(struct driver *driver, uint64_t to, uint64_t bytes)
{
    struct checking *own = driver->checking;
    if (!has(own, CHECK_init))
        return;
    pthread_mutex_lock(&own->lock);
    checker_written(own->checker, to, bytes);
    unlock(driver);
}

/* ---- the end ---- */

static void add_leaks(struct driver *driver)
{
    struct memory *memory = &driver->memory;
    for (size_t i = 0; i < memory->count; i++)
        if (is_of_program(memory->table[i]))
            add_leak(driver, memory->table[i]);
}

static void add_heap_leaks(struct driver *driver)
{
    for (unsigned i = 0; i < driver->device_count; i++) {
        struct heap *heap = driver->devices[i].heap;
        uint64_t pieces, bytes;
        struct text detail = {0};
        if (!heap)
            continue;
        heap_taken(heap, &pieces, &bytes);
        text_add(&detail, "%" PRIu64 " pieces, %" PRIu64 " bytes", pieces, bytes);
        if (pieces)
            findings_add(checker_findings(driver->checking->checker),
                         &(struct finding){.check = CHECK_memory,
                                           .what = "memory of malloc in kernels that was never freed",
                                           .first = detail.at,
                                           .count = pieces});
        text_fini(&detail);
    }
}

/* Whether a fault keeps the program from freeing what it has. */
static bool has_failed(const struct driver *driver)
{
    bool failed = false;
    for (unsigned i = 0; i < driver->device_count; i++)
        failed |= driver->devices[i].error != RESULT_SUCCESS;
    return failed;
}

void checking_finish(struct driver *driver)
{
    struct checking *own = driver->checking;
    struct text summary = {0};
    if (!own)
        return;
    if (has(own, CHECK_memory) && !has_failed(driver)) {
        add_leaks(driver);
        add_heap_leaks(driver);
    }
    findings_summarize(checker_findings(own->checker), own->checks, &summary);
    for (char *at = summary.at, *line; (line = strsep(&at, "\n"));)
        driver_notice(driver, line);
    text_fini(&summary);
    leave_findings(driver);
    driver->checking = NULL;
    text_fini(&own->note);
    checker_free(own->checker);
    pthread_mutex_destroy(&own->launches);
    pthread_mutex_destroy(&own->lock);
    mem_free(own->freed);
    mem_free(own);
}
