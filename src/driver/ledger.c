#include "driver/ledger.h"
#include "driver/driver.h"
#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void ledger_init(struct ledger *ledger, const char *folder)
{
    pthread_mutex_init(&ledger->lock, NULL);
    ledger->folder = mem_text(folder ? folder : "");
    ledger->writing = *ledger->folder;
    ledger->file = -1;
}

void ledger_fini(struct ledger *ledger)
{
    if (ledger->file >= 0)
        close(ledger->file);
    pthread_mutex_destroy(&ledger->lock);
    names_fini(&ledger->kernels);
    mem_free(ledger->records);
    mem_free(ledger->folder);
    text_fini(&ledger->line);
}

const char *ledger_name(struct ledger *ledger, const char *kernel)
{
    pthread_mutex_lock(&ledger->lock);
    size_t number = names_add(&ledger->kernels, kernel); /* may move `at` */
    const char *name = ledger->kernels.at[number];
    pthread_mutex_unlock(&ledger->lock);
    return name;
}

/* At the first launch, not before: a program that launches nothing leaves no file. */
static bool open_file(struct ledger *ledger)
{
    struct text path = {0};
    text_add(&path, "%s/%d.launches", ledger->folder, (int)getpid());
    ledger->file = open(path.at, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (ledger->file < 0) {
        log_warn("no statistics of launches: cannot write %s: %s", path.at, strerror(errno));
        ledger->writing = false;
    }
    text_fini(&path);
    return ledger->file >= 0;
}

/* Names of kernels are identifiers: nothing in them needs escaping. */
static void format(struct text *line, const struct launch_record *record)
{
    line->length = 0;
    text_add(line, "{\"launch\":%llu,\"kernel\":\"%s\",\"device\":%u,\"stream\":%llu",
             (unsigned long long)record->launch, record->kernel, record->device,
             (unsigned long long)record->stream);
    text_add(line, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", record->grid[0], record->grid[1],
             record->grid[2], record->block[0], record->block[1], record->block[2]);
    text_add(line, ",\"registers\":%u,\"shared_bytes\":%llu,\"dynamic_shared_bytes\":%llu", record->registers,
             (unsigned long long)record->shared_bytes, (unsigned long long)record->dynamic_shared_bytes);
    text_add(line, ",\"blocks_per_sm\":%u,\"result\":%d,\"wall_seconds\":%.9f", record->blocks_per_sm,
             record->result, record->wall_seconds);
#define C(name) text_add(line, ",\"" #name "\":%llu", (unsigned long long)record->name);
    LAUNCH_COUNTS(C)
#undef C
    text_add(line, "}\n");
}

/* By number: streams may end their launches in another order, but seldom far from it. */
static void insert(struct ledger *ledger, const struct launch_record *record)
{
    mem_grow(ledger->records, ledger->count, ledger->capacity);
    size_t place = ledger->count++;
    for (; place && ledger->records[place - 1].launch > record->launch; place--)
        ledger->records[place] = ledger->records[place - 1];
    ledger->records[place] = *record;
}

void ledger_add(struct ledger *ledger, const struct launch_record *record, bool keep)
{
    if (!keep && !ledger->writing)
        return;
    pthread_mutex_lock(&ledger->lock);
    if (keep)
        insert(ledger, record);
    if (ledger->writing && (ledger->file >= 0 || open_file(ledger))) {
        format(&ledger->line, record);
        /* one write for a line, so that the file holds whole lines whatever ends the process */
        if (write(ledger->file, ledger->line.at, ledger->line.length) < 0)
            log_warn("cannot write the statistics of a launch: %s", strerror(errno));
    }
    pthread_mutex_unlock(&ledger->lock);
}
