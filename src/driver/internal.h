/* The driver's own structs. Locks, and what each keeps:
 *   commands.lock   streams, events, their commands, captures, the numbers of launches
 *   memory.lock  allocations, mappings, arenas, pools, arrays, peers, and the images' ranges
 *   module.lock  (of each module) its copies on the devices and its functions
 *   timeline.lock   the simulated machine
 * module.lock may be held when memory.lock is taken, and both, or commands.lock, when timeline.lock is;
 * no other is
 * held when commands.lock is taken. */
#ifndef DRIVER_INTERNAL_H
#define DRIVER_INTERNAL_H

#include "base/choice.h"
#include "base/names.h"
#include "driver/arena.h"
#include "paging/areas.h"
#include "driver/driver.h"
#include "driver/memory_graph.h"
#include "driver/ipc.h"
#include "driver/ledger.h"
#include "driver/commands.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

struct attach;

/* ---- memory ---- */

struct allocation {
    uint64_t at, bytes, spare_bytes;
    uint64_t place; /* of MEMORY_REGISTERED: where in the host's memory, as a home (base/address.h) */
    enum memory_kind kind;
    unsigned flags;
    struct device *device; /* NULL: of the host */
    struct memory_pool *pool;
    uint64_t id;
    const char *what;                  /* for reports of faults */
    bool read_only;                    /* for kernels */
    bool leaving;                      /* a free of it is on its way through a stream */
    struct mapping_physical *physical; /* of MEMORY_MAPPED, as are these: a bit per device */
    uint64_t readers, writers;
    struct ipc_lender *lender;  /* of memory of another process that was opened (ipc.h), as is this: */
    uint64_t opened;            /* how often */
    struct memory_graph *graph; /* of memory of a graph (memory_graph.h) */
    uint32_t lent;              /* of memory that has a handle: its slot on the board, from 1 */
};

struct mapping_physical {
    uint64_t handle, held, mapped; /* how often */
    struct mapping_physical_facts facts;
    bool counted; /* of the device's memory */
    int file;
    uint64_t offset; /* in the file */
    uint64_t place;  /* in the memory of its device, as a home */
};

struct reservation {
    uint64_t at, bytes;
};

struct mappings {
    struct mapping_physical **physical; /* by handle - 1; NULL: ended */
    size_t physical_count, physical_capacity;
    struct reservation *reserved;
    size_t reserved_count, reserved_capacity;
    uint64_t next;       /* where addresses are asked for: always new ones, so that a stale one is noticed */
    int file;            /* of all physical memory that is not shareable; -1: none yet */
    uint64_t file_bytes; /* offsets are not used again: what is freed is a hole */
};

/* Memory of a unified device that was placed on one of its members (locality.h). */
struct placed_memory {
    uint64_t at, bytes;
    const struct device *device;
    unsigned member;
    uint64_t place; /* in the memory of the member, as a home */
};

struct memory {
    pthread_mutex_t lock;
    struct allocation **table; /* by address */
    size_t count, capacity;
    uint64_t last_id;
    struct arena host;    /* pinned memory, and managed memory that does not move */
    struct arena managed; /* that which does: */
    bool moves_managed;
    struct areas areas;              /* all managed memory, by address */
    _Atomic uint64_t ranges_changed; /* counts what came or went outside of the arenas, or was placed */
    struct mappings mappings;
    struct placed_memory *placed; /* by address */
    size_t placed_count, placed_capacity;
    uint32_t shared_pools;         /* that this process has made */
    bool told_limit;               /* that the host's limit left no addresses was said */
    uint32_t machine;              /* the process that the machine is in; 0: this one */
    struct ipc_lender *lenders;    /* whose memory is mapped here */
    struct memory_range *replayed; /* memory of a trace that is in no arena (replaying.c) */
    size_t replayed_count, replayed_capacity;
};

struct memory_pool {
    struct memory_pool *next; /* of the device */
    struct device *device;
    uint64_t max_bytes; /* 0: the device's memory */
    uint64_t peers;     /* a bit per other device whose kernels may touch its memory */
    uint64_t allocations;
    bool ended;
    bool is_shared;   /* other processes may open it, and its memory */
    uint32_t process; /* whose pool it is; 0: of this one */
    uint32_t number;  /* of those of that process that are shared, from 1 */
    struct memory_pool_facts facts;
};

/* What is asked for. Its device is NULL for memory of the host. */
struct memory_request {
    enum memory_kind kind;
    uint64_t bytes, alignment;
    uint64_t spare_bytes; /* of these bytes: addresses alone, that do not count as used */
    unsigned flags;
    const char *what;
    bool read_only;
    struct memory_pool *pool;
};

bool memory_init(struct driver *driver, struct err *err);
enum result memory_take(struct driver *driver, struct device *device, const struct memory_request *request,
                        uint64_t *address);
/* Ends an allocation that begins here; false when there is none. Waits for nothing. */
bool memory_give(struct driver *driver, uint64_t address);
/* The allocation that begins here, or NULL; with the lock held. */
struct allocation *memory_start(const struct driver *driver, uint64_t address);
/* The one that holds this address, or NULL; likewise. */
struct allocation *memory_holding(const struct driver *driver, uint64_t address);
bool memory_overlaps(const struct driver *driver, uint64_t at, uint64_t bytes); /* likewise */
/* The table alone, and what kernels see; with the lock held. */
void memory_insert(struct driver *driver, const struct allocation *allocation);
void memory_remove(struct driver *driver, struct allocation *allocation);
/* Whether the device has this much left; with the lock held. */
bool memory_device_has_room(const struct device *device, uint64_t bytes);
/* Whether kernels of the device may access what is there. */
bool memory_is_seen(struct driver *driver, const struct device *device, uint64_t address);
/* Whether a copy may touch all of these bytes: of an allocation, or of mappings side by side. */
bool memory_reaches(struct driver *driver, uint64_t address, uint64_t bytes, bool writes);
void memory_give_all(struct device *device);
/* With the lock held. Ends what was opened; or any, whatever it is. */
void memory_close(struct driver *driver, struct allocation *allocation);
void memory_end(struct driver *driver, struct allocation *allocation);
/* Likewise: kernels that may touch it see it, or no longer. */
void memory_show(struct driver *driver, const struct allocation *allocation);
void memory_hide(struct driver *driver, const struct allocation *allocation);
/* In simulated time: nothing of it is left in caches, as its addresses may come again, or go. */
void memory_forget(struct driver *driver, const struct allocation *allocation);
void memory_add_peer(struct device *device, struct device *peer);
void memory_remove_peer(struct device *device, struct device *peer);
void memory_set_pool_peer(struct device *device, struct memory_pool *pool, bool on);

/* Where memory is (system/machine.h), with the lock held: all of it; or what is in no arena. The caller frees
 * the list. */
struct memory_ranges {
    struct memory_range *at;
    size_t count, capacity;
};
void memory_list_ranges(struct driver *driver, struct memory_ranges *ranges);
void memory_list_apart(struct driver *driver, struct memory_ranges *ranges);

void mappings_init(struct mappings *mappings);
void mappings_leave(struct device *device); /* its physical memory ends, and what it may touch */
void mappings_fini(struct driver *driver);

/* ---- devices ---- */

struct array_entry {
    struct array_entry *next;
    struct array array;
};

struct device {
    struct driver *driver;
    unsigned index;
    const struct gpu_spec *spec;
    struct image *image;
    struct names names; /* of variables, for reports */

    struct arena arena;
    uint64_t used;      /* bytes */
    uint64_t room_told; /* what the machine knows to be free for managed memory */
    bool told_full;     /* that an allocation found no room was said */
    uint64_t peers;     /* a bit per device whose memory kernels of this one may touch */
    struct array_entry *arrays;
    struct memory_pool *pools, *default_pool, *current_pool;
    struct memory_graph_block *graph_blocks; /* what graphs use of its memory, and how much that is */
    struct memory_graph_facts graph_facts;

    struct stream *streams;          /* all that ever were */
    struct stream *busy, *last_busy; /* those with commands that are not done */
    struct stream *ended;            /* those to use again */
    struct stream *default_stream;
    struct stream_event *events, *ended_events; /* likewise */
    _Atomic int error;                          /* enum result; sticky */

    struct brood_texts *error_texts; /* for kernels that ask (brood_answer.c); or NULL */
    _Atomic uint64_t limits[LIMIT_COUNT];
    pthread_mutex_t heap_lock;
    struct heap *heap;
    uint64_t heap_at;

    pthread_mutex_t print_lock;
    struct text print; /* what kernels printed since the last wait */
};

bool device_init(struct device *device, struct driver *driver, unsigned index, struct err *err);
void device_fini(struct device *device);
void device_end_heap(struct device *device); /* while the machine is there, whose SMs own parts of it */
void arrays_fini(struct device *device);
struct heap *device_heap(struct device *device);            /* made at the first launch */
void device_fail(struct device *device, enum result error); /* from now on this is its error */
void device_print_flush(struct device *device);
FILE *device_print_stream(struct device *device); /* a new one, that adds to what will be printed */

/* ---- streams ---- */

void stream_kill(struct stream *stream);             /* it is destroyed; with the commands' lock held */
void stream_end(struct stream *stream, uint64_t id); /* unless it ended, and is another's now */

/* ---- events; with the commands' lock held, where it is not at the end of all ---- */

void events_end_all(struct device *device);
void events_leave(struct device *device, const struct capture *capture); /* it is complete */
void events_fini(struct device *device);
/* What the event has recorded last, to be waited for: NULL where that is done, and nothing is noted of it. */
struct command *event_new_wait(struct stream *stream, struct stream_event *event);

/* ---- what a command was asked to do, by its kind ---- */

void command_launch_facts(const struct command *command, struct action_launch *facts);
void command_copy_facts(const struct command *command, struct copy *copy);
void command_fill_facts(const struct command *command, struct fill *fill);
void *command_host_user(const struct command *command);
uint64_t command_graph_address(const struct command *command);
struct stream_event *command_record_event(const struct command *command);

/* ---- modules ---- */

void modules_leave(struct device *device); /* their copies on it end */
void module_end(struct module *module);

/* ---- the driver ---- */

struct driver {
    uint64_t number;      /* of all drivers that ever were in this process */
    uint64_t forks;       /* that led to the process that made it */
    struct system system; /* as this driver sees it: of a node, if it is one of several */
    uint32_t node, nodes, first_gpu;
    struct driver_options options; /* its texts are not kept */
    unsigned threads;
    struct choice kernels; /* that are timed, or recorded */
    struct device *devices;
    unsigned device_count;
    struct memory memory;
    struct commands commands;
    struct ledger ledger;
    pthread_mutex_t module_lock;
    struct module *modules;
    pthread_mutex_t report_lock;
    struct tracing *tracing;   /* or NULL */
    struct itracing *itracing; /* or NULL */
    struct checking *checking; /* or NULL */
    struct picture *picture;   /* or NULL */
    struct look *onlooker;     /* or NULL */
    struct kernel *
        *replayed; /* what replaying.c made, as is the memory that copies from and to the host use */
    size_t replayed_count, replayed_capacity;
    void *replay_host;
    uint64_t replay_host_bytes;
    struct attach *attach;     /* to a machine elsewhere, until the timeline has it; or NULL */
    struct plugin_ears *ears;  /* listeners of plugins; or NULL */
    struct timeline *timeline; /* NULL: kernels run at once, and nothing has a time */
    void (*on_interrupt)(struct driver *driver); /* when a simulation was stopped; or NULL */
    const struct driver_library *library;        /* what the API knows, for kernels that ask; or NULL */
    void (*on_end)(bool good); /* when it ended with a checkpoint, or could not go on from one; or NULL */
    _Atomic uint64_t instruction_limit; /* of launches that are submitted from now on; 0: none */
    _Atomic int interrupt;              /* stops kernels */
    _Atomic bool ended;
    _Atomic bool showing; /* how far a launch without time is */
};

/* Fills driver_detail and returns the result: `return driver_fail(RESULT_INVALID_VALUE, "...")`. */
enum result driver_fail(enum result result, const char *format, ...)
    __attribute__((format(__printf__, 2, 3)));

static inline bool driver_is_interrupted(const struct driver *driver)
{
    return driver->interrupt || (driver->options.interrupt && *driver->options.interrupt);
}

/* A line on stderr of what the user asked for; nothing is wrong. */
void driver_notice(struct driver *driver, const char *text);

/* No kernel runs any more: traces of accesses get their names. */
void driver_finish_tracing(struct driver *driver);
void driver_finish_picture(struct driver *driver); /* the timeline, if there is one; once */

/* Ends a stream, if its driver is still there. */
void driver_end_stream(uint64_t driver_number, struct stream *stream, uint64_t id);

/* What every call for a device begins with: DEINITIALIZED, or the sticky error. */
enum result device_usable(struct device *device);

#endif
