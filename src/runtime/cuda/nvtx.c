/* NVTX: its header calls the library that NVTX_INJECTION64_PATH names, which `heddle run --region nvtx:...`
 * sets to this one. Ranges whose name is the region's are followed; all other functions of NVTX stay what
 * they are, empty. */
#include "runtime/cuda/api.h"
#include "driver/region.h"
#include "base/mem.h"
#include "base/text.h"

#include <string.h>
#include <wchar.h>

/* As NVTX 3 lays them out. */
enum { TABLE_OF_CALLBACKS = 1 };
enum { MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { MESSAGE_ASCII = 1, MESSAGE_UNICODE, MESSAGE_REGISTERED };
typedef void callback(void);
struct callback_table {
    size_t bytes;
    int (*module)(int module, callback ****table, unsigned *count);
};
struct event {
    uint16_t version, bytes;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *unicode;
        const struct registered *registered;
    } message;
};

/* A string that the program has registered, to name ranges by it; they live as long as the process. */
struct registered {
    bool is_range;
};
static const struct registered yes = {true}, no = {false};

static bool is_wide_range(const wchar_t *name)
{
    struct text narrow = {0};
    for (; name && *name; name++) /* what is not ASCII has no name that a pattern could be told by */
        text_add(&narrow, "%c", *name < 128 ? (char)*name : '?');
    bool found = region_is_range(narrow.at);
    text_fini(&narrow);
    return found;
}

static bool is_range(const struct event *event)
{
    switch (event ? event->message_type : 0) {
    case MESSAGE_ASCII:
        return region_is_range(event->message.ascii);
    case MESSAGE_UNICODE:
        return is_wide_range(event->message.unicode);
    case MESSAGE_REGISTERED:
        return event->message.registered && event->message.registered->is_range;
    default:
        return false;
    }
}

/* ---- ranges of a thread: a stack for each domain, here in one ---- */

struct pushed {
    const void *domain;
    bool is_range;
};
enum { PUSHED_MOST = 1024 };
static _Thread_local struct pushed *pushed;
static _Thread_local int pushed_count;

static int push(const void *domain, bool is_region)
{
    if (!pushed)
        pushed = mem_alloc(PUSHED_MOST, sizeof *pushed);
    if (pushed_count == PUSHED_MOST)
        return -1;
    pushed[pushed_count++] = (struct pushed){domain, is_region};
    if (is_region)
        region_enter();
    return pushed_count - 1;
}

static int pop(const void *domain)
{
    int at = pushed_count;
    while (at && pushed[at - 1].domain != domain)
        at--;
    if (!at)
        return -1;
    if (pushed[at - 1].is_range)
        region_leave();
    pushed_count--;
    memmove(&pushed[at - 1], &pushed[at], (size_t)(pushed_count - (at - 1)) * sizeof *pushed);
    if (!pushed_count) {
        mem_free(pushed);
        pushed = NULL;
    }
    return at - 1;
}

static int push_event(const struct event *event)
{
    return push(NULL, is_range(event));
}

static int push_ascii(const char *name)
{
    return push(NULL, region_is_range(name));
}

static int push_wide(const wchar_t *name)
{
    return push(NULL, is_wide_range(name));
}

static int pop_plain(void)
{
    return pop(NULL);
}

static int push_in(const void *domain, const struct event *event)
{
    return push(domain, is_range(event));
}

/* ---- ranges of the process: an odd number is the region's ---- */

static uint64_t start(bool is_region)
{
    static _Atomic uint64_t last;
    if (is_region)
        region_enter_all();
    return (++last << 1) | is_region;
}

static void end(uint64_t range)
{
    if (range & 1)
        region_leave_all();
}

static uint64_t start_event(const struct event *event)
{
    return start(is_range(event));
}

static uint64_t start_ascii(const char *name)
{
    return start(region_is_range(name));
}

static uint64_t start_wide(const wchar_t *name)
{
    return start(is_wide_range(name));
}

static uint64_t start_in(const void *domain, const struct event *event)
{
    (void)domain;
    return start(is_range(event));
}

static void end_in(const void *domain, uint64_t range)
{
    (void)domain;
    end(range);
}

/* ---- domains and strings ---- */

static const void *new_domain(void)
{
    static _Atomic uintptr_t last;
    return (const void *)++last;
}

static const void *create_domain(const char *name)
{
    (void)name;
    return new_domain();
}

static const void *create_domain_wide(const wchar_t *name)
{
    (void)name;
    return new_domain();
}

static const struct registered *add_string(const void *domain, const char *name)
{
    (void)domain;
    return region_is_range(name) ? &yes : &no;
}

static const struct registered *add_wide_string(const void *domain, const wchar_t *name)
{
    (void)domain;
    return is_wide_range(name) ? &yes : &no;
}

/* ---- the tables ---- */

static const struct row {
    unsigned module, number;
    callback *function;
} rows[] = {
    {MODULE_CORE, 4, (callback *)start_event},     {MODULE_CORE, 5, (callback *)start_ascii},
    {MODULE_CORE, 6, (callback *)start_wide},      {MODULE_CORE, 7, (callback *)end},
    {MODULE_CORE, 8, (callback *)push_event},      {MODULE_CORE, 9, (callback *)push_ascii},
    {MODULE_CORE, 10, (callback *)push_wide},      {MODULE_CORE, 11, (callback *)pop_plain},
    {MODULE_CORE2, 2, (callback *)start_in},       {MODULE_CORE2, 3, (callback *)end_in},
    {MODULE_CORE2, 4, (callback *)push_in},        {MODULE_CORE2, 5, (callback *)pop},
    {MODULE_CORE2, 10, (callback *)add_string},    {MODULE_CORE2, 11, (callback *)add_wide_string},
    {MODULE_CORE2, 12, (callback *)create_domain}, {MODULE_CORE2, 13, (callback *)create_domain_wide},
};

EXPORT int InitializeInjectionNvtx2(const void *(*table_of)(uint32_t number));
int InitializeInjectionNvtx2(const void *(*table_of)(uint32_t number))
{
    const struct callback_table *callbacks = table_of ? table_of(TABLE_OF_CALLBACKS) : NULL;
    callback ***table;
    unsigned count;
    if (!callbacks || !cuda_driver()) /* which knows the region */
        return 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (callbacks->module((int)rows[i].module, &table, &count) && rows[i].number < count &&
            table[rows[i].number])
            *table[rows[i].number] = rows[i].function;
    }
    return 1;
}
