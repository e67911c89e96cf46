#include "driver/ipc.h"
#include "driver/internal.h"
#include "driver/timeline.h"
#include "base/bits.h"
#include "base/mem.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BOARD_PIECES = 8192, BOARD_EVENTS = 4096, MAGIC = 0x69706331 };

/* The first bytes of the file of a GPU's memory. */
struct board {
    _Atomic uint32_t pieces[BOARD_PIECES]; /* the number of an allocation that is lent; 0: none, or freed */
    struct ipc_event events[BOARD_EVENTS];
};
_Static_assert(sizeof(struct board) <= ARENA_FIRST_BYTES, "a board has room before the first allocation");

/* What is in a handle. */
struct note {
    uint32_t magic, digest; /* of the rest, and of the machine that the process is attached to */
    int32_t process, file;
    uint64_t inode, base, file_bytes, offset, bytes;
    uint8_t device, node;
    uint16_t slot;
    uint32_t number;
};
_Static_assert(sizeof(struct note) == sizeof(struct ipc_handle), "a handle holds a note");

/* A GPU's memory of another process, mapped here. */
struct ipc_lender {
    struct ipc_lender *next;
    uint64_t inode, at, bytes;
    uint64_t users; /* allocations that are open; events keep it for good */
};

static struct board *board_at(uint64_t at)
{
    return (struct board *)(uintptr_t)at;
}

/* ---- notes ---- */

static uint32_t digest_of(const struct driver *driver, const struct note *note)
{
    struct note copy = *note;
    copy.digest = driver->memory.machine;
    return (uint32_t)digest_bytes(0, (const char *)&copy, sizeof copy);
}

static bool write_note(const struct device *device, struct note *note, struct ipc_handle *handle)
{
    const struct arena *arena = &device->arena;
    struct stat about;
    if (fstat(arena->file, &about))
        return false;
    note->magic += MAGIC; /* more of a pool's memory: its number */
    note->process = getpid();
    note->file = arena->file;
    note->inode = about.st_ino;
    note->base = arena->base;
    note->file_bytes = arena->end - arena->base;
    note->device = (uint8_t)device->index;
    note->node = (uint8_t)device->driver->node;
    note->digest = digest_of(device->driver, note);
    memcpy(handle, note, sizeof *handle);
    return true;
}

/* False: it is no handle that a process of this run has made. */
static bool read_note(const struct driver *driver, const struct ipc_handle *handle, uint32_t pool,
                      struct note *note)
{
    memcpy(note, handle, sizeof *note);
    return note->magic == MAGIC + pool && note->digest == digest_of(driver, note) &&
           note->device < driver->device_count && note->offset <= note->file_bytes &&
           note->bytes <= note->file_bytes - note->offset;
}

/* ---- what can be shared ---- */

static bool can_share(const struct driver *driver)
{
    bool is_device = driver->devices[0].arena.file_offset; /* of a guest: all programs have one file */
    return !driver->timeline || (timeline_is_elsewhere(driver) && !is_device);
}

bool driver_has_company(const struct driver *driver)
{
    return can_share(driver);
}

static enum result cannot_share(struct driver *driver)
{
    static _Atomic bool said;
    enum result result = driver_fail(RESULT_NOT_SUPPORTED,
                                     "processes that share GPU memory need one machine: heddle run --shared "
                                     "(or heddle serve; without time they need neither)");
    if (!atomic_exchange(&said, true))
        driver_report(driver, driver_detail());
    return result;
}

/* With the memory's lock held. */
static bool open_board(struct device *device)
{
    struct err err;
    return arena_share(&device->arena, device->arena.base, sizeof(struct board), &err) ||
           (driver_fail(RESULT_OUT_OF_MEMORY, "%s", err.text), false);
}

/* ---- lending memory ---- */

static bool is_busy(const struct driver *driver)
{
    for (unsigned i = 0; i < driver->device_count; i++) {
        if (driver->devices[i].busy)
            return true;
    }
    return false;
}

/* Takes the commands' lock; where pages may move, when no command is under way, so that none is meanwhile. */
static void stop_commands(struct driver *driver)
{
    pthread_mutex_lock(&driver->commands.lock);
    while (!driver->timeline && is_busy(driver)) {
        pthread_mutex_unlock(&driver->commands.lock);
        for (unsigned i = 0; i < driver->device_count; i++)
            device_synchronize(&driver->devices[i]);
        pthread_mutex_lock(&driver->commands.lock);
    }
}

static bool find_slot(struct device *device, struct allocation *allocation)
{
    struct board *board = board_at(device->arena.base);
    for (uint32_t i = 0; i < BOARD_PIECES && !allocation->lent; i++) {
        if (!board->pieces[i]) {
            board->pieces[i] = (uint32_t)allocation->id;
            allocation->lent = i + 1;
        }
    }
    return allocation->lent;
}

static enum result lend(struct allocation *allocation, struct ipc_handle *handle)
{
    struct device *device = allocation->device;
    struct err err;
    if (!allocation->lent && (!open_board(device) || !find_slot(device, allocation)))
        return driver_fail(RESULT_OUT_OF_MEMORY, "at most %d allocations can be shared", BOARD_PIECES);
    if (!arena_share(&device->arena, allocation->at, allocation->bytes, &err))
        return driver_fail(RESULT_OUT_OF_MEMORY, "%s", err.text);
    struct note note = {.magic = allocation->pool ? allocation->pool->number : 0,
                        .offset = allocation->at - device->arena.base,
                        .bytes = allocation->bytes,
                        .slot = (uint16_t)(allocation->lent - 1),
                        .number = (uint32_t)allocation->id};
    return write_note(device, &note, handle)
               ? RESULT_SUCCESS
               : driver_fail(RESULT_OUT_OF_MEMORY, "the file of the memory cannot be looked at");
}

static enum result export(struct driver *driver, uint64_t address, bool of_pool, struct ipc_handle *handle) {
    enum result result = RESULT_SUCCESS; if (driver->ended) return RESULT_DEINITIALIZED;
    stop_commands(driver);
    pthread_mutex_lock(&driver->memory.lock);
    struct allocation *found = memory_holding(driver, address);
    bool fits = found && (of_pool ? found->pool && found->pool->is_shared : !found->pool);
    if (!fits || found->kind != MEMORY_DEVICE || found->lender || found->graph)
        result = driver_fail(RESULT_INVALID_VALUE, "0x%llx is not of memory from %s of this process",
                             (unsigned long long)address, of_pool ? "a shared pool" : "cudaMalloc");
    else if (can_share(driver)) result = lend(found, handle);
    pthread_mutex_unlock(&driver->memory.lock);
    pthread_mutex_unlock(&driver->commands.lock);
    if (!result && !can_share(driver)) return cannot_share(driver);
    if (!result)
        timeline_tell_memory(driver); /* nothing else may make it known before another process uses it */
    return result;
}

enum result ipc_memory_export(struct driver *driver, uint64_t address, struct ipc_handle *handle)
{
    return export(driver, address, false, handle);
}

enum result ipc_pool_export(struct driver *driver, uint64_t address, struct ipc_handle *handle)
{
    return export(driver, address, true, handle);
}

bool ipc_can_share(struct driver *driver)
{
    return can_share(driver) || cannot_share(driver) == RESULT_SUCCESS;
}

/* ---- opening ---- */

static int open_file(const struct note *note)
{
    char path[64];
    struct stat about;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", note->process, note->file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && !fstat(file, &about) && about.st_ino == note->inode &&
        (uint64_t)about.st_size == note->file_bytes)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/* NULL: the process has gone, or its memory has no room here. */
static struct ipc_lender *find_lender(struct driver *driver, const struct note *note)
{
    struct ipc_lender *lender = driver->memory.lenders;
    while (lender && lender->inode != note->inode)
        lender = lender->next;
    if (lender)
        return lender;
    bool fixed = timeline_is_elsewhere(driver);
    int file = open_file(note);
    void *at = file < 0 ? MAP_FAILED
                        : mmap(fixed ? (void *)(uintptr_t)note->base : NULL, note->file_bytes,
                               PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_NORESERVE | (fixed ? MAP_FIXED_NOREPLACE : 0), file, 0);
    if (file >= 0)
        close(file);
    if (at == MAP_FAILED)
        return NULL;
    lender = mem_alloc(1, sizeof *lender);
    *lender = (struct ipc_lender){driver->memory.lenders, note->inode, (uintptr_t)at, note->file_bytes, 0};
    return driver->memory.lenders = lender;
}

static void leave_lender(struct driver *driver, struct ipc_lender *lender)
{
    struct ipc_lender **link = &driver->memory.lenders;
    if (--lender->users)
        return;
    while (*link != lender)
        link = &(*link)->next;
    *link = lender->next;
    munmap((void *)(uintptr_t)lender->at, lender->bytes);
    mem_free(lender);
}

static enum result no_memory(void)
{
    return driver_fail(RESULT_INVALID_VALUE, "the handle is of no memory that a process of this run shares");
}

/* With the memory's lock held. */
static enum result borrow(struct driver *driver, const struct note *note, struct device *owner,
                          uint64_t *address)
{
    struct ipc_lender *lender = find_lender(driver, note);
    if (!lender)
        return no_memory();
    *address = lender->at + note->offset;
    struct allocation *open = memory_start(driver, *address);
    if (open) {
        open->opened++;
        return RESULT_SUCCESS;
    }
    lender->users++;
    if (note->slot >= BOARD_PIECES || board_at(lender->at)->pieces[note->slot] != note->number) {
        leave_lender(driver, lender);
        return no_memory();
    }
    timeline_open_memory(driver, *address, note->bytes);
    memory_insert(driver, &(struct allocation){.at = *address,
                                               .bytes = note->bytes,
                                               .kind = MEMORY_DEVICE,
                                               .device = owner,
                                               .what = "device memory of another process",
                                               .lender = lender,
                                               .opened = 1});
    return RESULT_SUCCESS;
}

static enum result open_note(struct device *device, const struct note *note, uint64_t *address)
{
    struct driver *driver = device->driver;
    if (!can_share(driver))
        return cannot_share(driver);
    struct device *owner = &driver->devices[note->device];
    pthread_mutex_lock(&driver->memory.lock);
    enum result result = borrow(driver, note, owner, address);
    pthread_mutex_unlock(&driver->memory.lock);
    if (!result && owner != device)
        device_enable_peer(device, owner); /* or it was before */
    return result;
}

enum result ipc_memory_open(struct device *device, const struct ipc_handle *handle, uint64_t *address)
{
    struct note note;
    if (device->driver->ended)
        return RESULT_DEINITIALIZED;
    if (!read_note(device->driver, handle, 0, &note) || note.node != device->driver->node)
        return no_memory();
    if (note.process == getpid())
        return driver_fail(RESULT_INVALID_CONTEXT, "the handle is of memory of this process itself");
    return open_note(device, &note, address);
}

enum result ipc_pool_open(struct device *device, uint32_t process, uint32_t pool,
                          const struct ipc_handle *handle, uint64_t *address)
{
    struct note note;
    bool good = read_note(device->driver, handle, pool, &note) && note.node == device->driver->node &&
                note.process == (int32_t)process && note.device == device->index;
    return good ? open_note(device, &note, address) : no_memory();
}

/* The owner may be a GPU that this process does not have: the memory counts as the kernels' own. */
enum result ipc_memory_open_far(struct device *device, const struct ipc_handle *handle, uint64_t *address)
{
    struct driver *driver = device->driver;
    struct note note;
    if (!read_note(driver, handle, 0, &note))
        return no_memory();
    pthread_mutex_lock(&driver->memory.lock);
    enum result result = borrow(driver, &note, device, address);
    pthread_mutex_unlock(&driver->memory.lock);
    return result;
}

enum result ipc_memory_close(struct driver *driver, uint64_t address)
{
    if (driver->ended)
        return RESULT_DEINITIALIZED;
    for (unsigned i = 0; i < driver->device_count; i++)
        device_synchronize(&driver->devices[i]); /* a fault of theirs is no reason to keep it open */
    pthread_mutex_lock(&driver->memory.lock);
    struct allocation *found = memory_start(driver, address);
    bool good = found && found->lender;
    if (good && !--found->opened)
        memory_close(driver, found);
    pthread_mutex_unlock(&driver->memory.lock);
    return good ? RESULT_SUCCESS
                : driver_fail(RESULT_INVALID_VALUE, "0x%llx is no memory that was opened by a handle",
                              (unsigned long long)address);
}

void ipc_memory_leave(struct driver *driver, struct allocation *allocation)
{
    if (allocation->lent)
        board_at(allocation->device->arena.base)->pieces[allocation->lent - 1] = 0;
    if (!allocation->lender)
        return;
    timeline_close_memory(driver, allocation->at);
    leave_lender(driver, allocation->lender);
}

void ipc_fini(struct driver *driver)
{
    for (struct ipc_lender *next, *lender = driver->memory.lenders; lender; lender = next) {
        next = lender->next;
        munmap((void *)(uintptr_t)lender->at, lender->bytes);
        mem_free(lender);
    }
}

/* ---- events ---- */

struct ipc_event *ipc_event_new(struct device *device)
{
    struct driver *driver = device->driver;
    struct ipc_event *found = NULL;
    if (!can_share(driver))
        return NULL;
    pthread_mutex_lock(&driver->memory.lock);
    struct board *board = open_board(device) ? board_at(device->arena.base) : NULL;
    for (uint32_t i = 0; board && i < BOARD_EVENTS && !found; i++) {
        if (!board->events[i].used)
            found = &board->events[i];
    }
    if (found) {
        found->first = atomic_load(&found->records);
        found->used = ++driver->memory.last_id;
    }
    pthread_mutex_unlock(&driver->memory.lock);
    return found;
}

void ipc_event_free(struct ipc_event *event)
{
    event->used = 0;
}

void ipc_event_end(struct ipc_event *event, uint64_t record)
{
    _Atomic uint64_t *done = &event->done[record % IPC_EVENT_RECORDS];
    uint64_t before = *done;
    while (before < record && !atomic_compare_exchange_weak(done, &before, record))
        ;
}

bool ipc_event_is_done(const struct ipc_event *event, uint64_t record)
{
    return record <= event->first || event->done[record % IPC_EVENT_RECORDS] >= record;
}

enum result ipc_event_lend(struct device *device, const struct ipc_event *event, struct ipc_handle *handle)
{
    const struct board *board = board_at(device->arena.base);
    if (!can_share(device->driver))
        return cannot_share(device->driver);
    if (!event)
        return driver_fail(RESULT_OUT_OF_MEMORY, "at most %d events can be shared", BOARD_EVENTS);
    struct note note = {.slot = (uint16_t)(event - board->events), .number = (uint32_t)event->used};
    return write_note(device, &note, handle)
               ? RESULT_SUCCESS
               : driver_fail(RESULT_OUT_OF_MEMORY, "the file of the event cannot be looked at");
}

/* With the memory's lock held. What waits for an event may outlive it, so its lender stays mapped. */
static struct ipc_event *find_event(struct driver *driver, const struct note *note)
{
    struct ipc_lender *lender = note->slot < BOARD_EVENTS ? find_lender(driver, note) : NULL;
    if (!lender)
        return NULL;
    lender->users++;
    struct ipc_event *event = &board_at(lender->at)->events[note->slot];
    if ((uint32_t)event->used == note->number)
        return event;
    leave_lender(driver, lender);
    return NULL;
}

enum result ipc_event_borrow(struct driver *driver, const struct ipc_handle *handle, struct ipc_event **event)
{
    struct note note;
    bool known = read_note(driver, handle, 0, &note) && note.node == driver->node && !note.bytes;
    *event = NULL;
    if (driver->ended)
        return RESULT_DEINITIALIZED;
    if (known && note.process == getpid())
        return driver_fail(RESULT_INVALID_CONTEXT, "the handle is of an event of this process itself");
    if (known && !can_share(driver))
        return cannot_share(driver);
    pthread_mutex_lock(&driver->memory.lock);
    *event = known ? find_event(driver, &note) : NULL;
    pthread_mutex_unlock(&driver->memory.lock);
    return *event ? RESULT_SUCCESS
                  : driver_fail(RESULT_MAP_FAILED,
                                "the handle is of no event that a process of this run shares");
}
