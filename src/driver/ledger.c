#include "driver/ledger.h"
#include "driver/driver.h"
#include "base/mem.h"

/* Places of a kernel by operation. They outlive its module. */
struct kernel_places {
    const char *kernel;
    uint32_t count;
    const struct code_place **at;
};

static uint64_t length_of(struct launch_span span)
{
    return span.timing ? span.timing->end_ps - span.timing->start_ps : span.numbers->thread_instructions;
}

bool ledger_is_longer(struct launch_span a, struct launch_span b)
{
    uint64_t x = length_of(a), y = length_of(b);
    int order = (x > y) - (x < y);
    for (int i = 0; i < 3 && !order; i++)
        order = (a.numbers->grid[i] > b.numbers->grid[i]) - (a.numbers->grid[i] < b.numbers->grid[i]);
    for (int i = 0; i < 3 && !order; i++)
        order = (a.numbers->block[i] > b.numbers->block[i]) - (a.numbers->block[i] < b.numbers->block[i]);
    return order ? order > 0 : a.numbers->launch < b.numbers->launch;
}

void ledger_init(struct ledger *ledger, const char *folder, uint64_t first, uint64_t end)
{
    pthread_mutex_init(&ledger->lock, NULL);
    ledger->folder = folder && *folder ? ledger_folder_new(folder, first, end) : NULL;
}

static void drop_timing(const struct launch_record *record)
{
    if (record->timing)
        gpu_kernel_stats_fini(record->timing);
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
    for (size_t i = 0; i < ledger->kernel_places_count; i++)
        mem_free(ledger->kernel_places[i].at);
    mem_free(ledger->kernel_places);
    ledger_place_list_fini(&ledger->places);
}

const char *ledger_name(struct ledger *ledger, const char *kernel)
{
    pthread_mutex_lock(&ledger->lock);
    size_t number = names_add(&ledger->kernels, kernel); /* may move `at` */
    const char *name = ledger->kernels.at[number];
    pthread_mutex_unlock(&ledger->lock);
    return name;
}

void ledger_add_sample(struct ledger *ledger, const struct series_head *head, const void *sample)
{
    pthread_mutex_lock(&ledger->lock);
    ledger_folder_add_sample(ledger->folder, head, sample);
    pthread_mutex_unlock(&ledger->lock);
}

void ledger_add_copy(struct ledger *ledger, const struct copy_record *copy)
{
    if (!ledger->folder)
        return;
    pthread_mutex_lock(&ledger->lock);
    ledger_folder_add_copy(ledger->folder, copy);
    pthread_mutex_unlock(&ledger->lock);
}

void ledger_set_links(struct ledger *ledger, const struct machine_link *links, size_t count)
{
    if (!ledger->folder)
        return;
    pthread_mutex_lock(&ledger->lock);
    ledger_folder_set_links(ledger->folder, links, count);
    pthread_mutex_unlock(&ledger->lock);
}

static const struct code_place *const *places_of(struct ledger *ledger, const struct launch_record *record)
{
    uint32_t count = record->timing->profile_count;
    for (size_t i = 0; i < ledger->kernel_places_count; i++) {
        const struct kernel_places *known = &ledger->kernel_places[i];
        if (known->kernel == record->kernel && known->count == count)
            return known->at;
    }
    const struct code_place **at = mem_alloc(count, sizeof *at);
    struct text line = {0};
    for (uint32_t i = 0; i < count; i++) {
        struct code_place place;
        line.length = 0;
        kernel_place(record->timed_kernel, i, &place);
        ledger_place_text_add(&line, &place);
        at[i] = ledger_place_list_read(&ledger->places, line.at);
    }
    text_fini(&line);
    mem_grow(ledger->kernel_places, ledger->kernel_places_count, ledger->kernel_places_capacity);
    ledger->kernel_places[ledger->kernel_places_count++] = (struct kernel_places){record->kernel, count, at};
    return at;
}

/* By number: streams may end their launches in another order, but seldom far from it. */
static void insert(struct ledger *ledger, const struct launch_record *record)
{
    mem_grow(ledger->records, ledger->count, ledger->capacity);
    size_t place = ledger->count++;
    for (; place && ledger->records[place - 1].launch > record->launch; place--)
        ledger->records[place] = ledger->records[place - 1];
    ledger->records[place] = *record;
    if (record->timing && record->timing->profile)
        ledger->records[place].places = places_of(ledger, record);
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
