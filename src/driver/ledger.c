#include "driver/ledger.h"
#include "driver/driver.h"
#include "base/mem.h"

void ledger_init(struct ledger *ledger, const char *folder, uint64_t first, uint64_t end)
{
    pthread_mutex_init(&ledger->lock, NULL);
    ledger->folder = folder && *folder ? ledger_folder_new(folder, first, end) : NULL;
}

static void drop_timing(const struct launch_record *record)
{
    if (record->timing)
        kernel_stats_fini(record->timing);
    mem_free(record->timing);
}

void ledger_fini(struct ledger *ledger)
{
    ledger_folder_free(ledger->folder);
    pthread_mutex_destroy(&ledger->lock);
    names_fini(&ledger->kernels);
    for (size_t i = 0; i < ledger->count; i++)
        drop_timing(&ledger->records[i]);
    mem_free(ledger->records);
}

const char *ledger_name(struct ledger *ledger, const char *kernel)
{
    pthread_mutex_lock(&ledger->lock);
    size_t number = names_add(&ledger->kernels, kernel); /* may move `at` */
    const char *name = ledger->kernels.at[number];
    pthread_mutex_unlock(&ledger->lock);
    return name;
}

void ledger_add_copy(struct ledger *ledger, const struct copy_record *copy)
{
    if (!ledger->folder)
        return;
    pthread_mutex_lock(&ledger->lock);
    ledger_folder_add_copy(ledger->folder, copy);
    pthread_mutex_unlock(&ledger->lock);
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

void ledger_begin(struct ledger *ledger, double now_s)
{
    if (!ledger->folder)
        return;
    pthread_mutex_lock(&ledger->lock);
    ledger_folder_begin(ledger->folder, now_s);
    pthread_mutex_unlock(&ledger->lock);
}

void ledger_add(struct ledger *ledger, const struct launch_record *record, bool keep, double now_s)
{
    pthread_mutex_lock(&ledger->lock);
    if (ledger->folder)
        ledger_folder_add(ledger->folder, record, now_s);
    if (keep)
        insert(ledger, record);
    else
        drop_timing(record);
    pthread_mutex_unlock(&ledger->lock);
}
