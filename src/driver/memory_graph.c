#include "driver/memory_graph.h"
#include "driver/internal.h"
#include "base/bits.h"
#include "base/mem.h"

/* What a launch takes of the GPU's memory is made of such pieces, as on an H200. */
static const uint64_t piece = UINT64_C(32) << 20;

/* A part of the GPU's memory that launches use, one after another. */
struct memory_graph_block {
    struct memory_graph_block *next;
    uint64_t bytes;
    uint64_t holders;      /* allocations in it that are there when their launch has ended */
    struct stream *stream; /* whose command was the last to use it: this one */
    uint64_t number;
};

struct memory_graph {
    struct memory_graph_request request;
    uint64_t at;
    uint64_t users;                   /* commands that name it */
    struct memory_graph_block *block; /* where it is, if a launch allocated it and nobody has freed it */
    bool awake;                       /* kernels may touch it */
    size_t live;                      /* while a launch is looked at: how often it is allocated */
};

/* ---- commands ---- */

struct memory_command {
    struct command base;
    struct memory_graph *memory;
};

static struct driver *driver_of(const struct memory_graph *memory)
{
    return memory->request.device->driver;
}

/* With the lock held: its addresses go back when no graph names it and it is not there. */
static void end_if_unused(struct memory_graph *memory)
{
    struct driver *driver = driver_of(memory);
    if (memory->users || memory->block || driver->commands.stop)
        return;
    memory_end(driver, memory_start(driver, memory->at));
    mem_free(memory);
}

static void copy_command(struct command *command)
{
    struct memory_graph *memory = ((struct memory_command *)command)->memory;
    pthread_mutex_lock(&driver_of(memory)->memory.lock);
    memory->users++;
    pthread_mutex_unlock(&driver_of(memory)->memory.lock);
}

static void fini_command(struct command *command)
{
    struct memory_graph *memory = ((struct memory_command *)command)->memory;
    struct driver *driver = driver_of(memory);
    pthread_mutex_lock(&driver->memory.lock);
    memory->users--;
    end_if_unused(memory);
    pthread_mutex_unlock(&driver->memory.lock);
}

static void set_awake(struct memory_graph *memory, bool awake)
{
    struct driver *driver = driver_of(memory);
    struct allocation *allocation = memory_start(driver, memory->at);
    if (memory->awake == awake)
        return;
    if (!awake)
        memory_hide(driver, allocation);
    memory->awake = awake;
    if (awake)
        memory_show(driver, allocation);
}

static void run(struct command *command, bool awake)
{
    struct memory_graph *memory = ((struct memory_command *)command)->memory;
    pthread_mutex_lock(&driver_of(memory)->memory.lock);
    set_awake(memory, awake);
    pthread_mutex_unlock(&driver_of(memory)->memory.lock);
}

static void run_alloc(struct command *command)
{
    run(command, true);
}

static void run_free(struct command *command)
{
    run(command, false);
}

static const struct command_ops alloc_ops = {.bytes = sizeof(struct memory_command),
                                             .run = run_alloc,
                                             .copy = copy_command,
                                             .fini = fini_command,
                                             .kind = ACTION_ALLOC,
                                             .on_error = true};
static const struct command_ops free_ops = {.bytes = sizeof(struct memory_command),
                                            .run = run_free,
                                            .copy = copy_command,
                                            .fini = fini_command,
                                            .kind = ACTION_FREE,
                                            .on_error = true};

static struct command *new_command(const struct command_ops *ops, struct memory_graph *memory)
{
    struct memory_command *command = (struct memory_command *)command_new(ops);
    command->memory = memory;
    memory->users++; /* with the lock held */
    return &command->base;
}

/* The memory that a command allocates or frees; NULL: it does neither. */
static struct memory_graph *memory_of(const struct command *command, bool *allocates)
{
    *allocates = command->ops == &alloc_ops;
    return *allocates || command->ops == &free_ops ? ((const struct memory_command *)command)->memory : NULL;
}

uint64_t command_graph_address(const struct command *command)
{
    return ((const struct memory_command *)command)->memory->at;
}

/* ---- nodes ---- */

static struct memory_graph *find(const struct driver *driver, uint64_t address)
{
    const struct allocation *found = memory_start(driver, address);
    return found ? found->graph : NULL;
}

/* Whether the last that this capture does with the memory is to free it. */
static bool ends_free(const struct capture *capture, const struct memory_graph *memory)
{
    bool allocates;
    size_t count;
    struct command *const *commands = capture_commands(capture, &count);
    for (size_t i = count; i-- > 0;) {
        if (memory_of(commands[i], &allocates) == memory)
            return !allocates;
    }
    return false;
}

/* Memory of this size that the capture has allocated and freed; or NULL. */
static struct memory_graph *freed_before(const struct capture *capture,
                                         const struct memory_graph_request *request)
{
    bool allocates;
    size_t count;
    struct command *const *commands = capture_commands(capture, &count);
    for (size_t i = 0; i < count; i++) {
        struct memory_graph *memory = memory_of(commands[i], &allocates);
        if (memory && memory->request.bytes == request->bytes && memory->request.device == request->device &&
            memory->request.peers == request->peers && ends_free(capture, memory))
            return memory;
    }
    return NULL;
}

static struct memory_graph *reserve(const struct memory_graph_request *request)
{
    struct device *device = request->device;
    uint64_t at = request->bytes <= device->spec->memory ? arena_take(&device->arena, request->bytes, 0) : 0;
    if (!at)
        return NULL;
    struct memory_graph *made = mem_alloc(1, sizeof *made);
    *made = (struct memory_graph){.request = *request, .at = at};
    memory_insert(device->driver, &(struct allocation){.at = at,
                                                       .bytes = request->bytes,
                                                       .kind = MEMORY_DEVICE,
                                                       .device = device,
                                                       .what = "memory of a graph",
                                                       .graph = made});
    return made;
}

enum result memory_graph_alloc(struct stream *stream, const struct memory_graph_request *request,
                               uint64_t *address)
{
    struct driver *driver = request->device->driver;
    struct command *command = NULL;
    *address = 0;
    pthread_mutex_lock(&driver->commands.lock);
    pthread_mutex_lock(&driver->memory.lock);
    struct memory_graph *memory = request->again    ? find(driver, request->again)
                                  : stream->capture ? freed_before(stream->capture, request)
                                                    : NULL;
    if (!memory && request->bytes)
        memory = reserve(request);
    if (memory) {
        command = new_command(&alloc_ops, memory);
        *address = memory->at;
    }
    pthread_mutex_unlock(&driver->memory.lock);
    pthread_mutex_unlock(&driver->commands.lock);
    return command ? commands_submit(stream, command, false, NULL)
                   : driver_fail(RESULT_OUT_OF_MEMORY, "a graph asks for %llu bytes, and the device has %llu",
                                 (unsigned long long)request->bytes,
                                 (unsigned long long)request->device->spec->memory);
}

enum result memory_graph_free(struct stream *stream, uint64_t address)
{
    struct driver *driver = stream->device->driver;
    struct command *command = NULL;
    pthread_mutex_lock(&driver->commands.lock);
    pthread_mutex_lock(&driver->memory.lock);
    struct memory_graph *memory = find(driver, address);
    if (memory && !(stream->capture && ends_free(stream->capture, memory)))
        command = new_command(&free_ops, memory);
    pthread_mutex_unlock(&driver->memory.lock);
    pthread_mutex_unlock(&driver->commands.lock);
    return command
               ? commands_submit(stream, command, false, NULL)
               : driver_fail(RESULT_INVALID_VALUE,
                             "0x%llx is not the start of memory that a graph allocates, or was freed before",
                             (unsigned long long)address);
}

bool memory_graph_find(struct driver *driver, uint64_t address, struct memory_graph_request *made)
{
    pthread_mutex_lock(&driver->memory.lock);
    const struct memory_graph *memory = find(driver, address);
    if (memory)
        *made = memory->request;
    pthread_mutex_unlock(&driver->memory.lock);
    return memory;
}

/* ---- of the GPU's memory; all with the lock held ---- */

static void take_off(struct device *device, struct memory_graph_block **link)
{
    struct memory_graph_block *block = *link;
    *link = block->next;
    device->used -= block->bytes;
    device->graph_facts.used -= block->bytes;
    mem_free(block);
}

static bool is_idle(const struct memory_graph_block *block)
{
    return !block->holders && (!block->stream || atomic_load(&block->stream->done) >= block->number);
}

static void trim(struct device *device)
{
    for (struct memory_graph_block **link = &device->graph_blocks; *link;) {
        if (is_idle(*link))
            take_off(device, link);
        else
            link = &(*link)->next;
    }
}

static struct memory_graph_block *add_block(struct device *device, uint64_t bytes)
{
    if (!memory_device_has_room(device, bytes))
        trim(device);
    if (!memory_device_has_room(device, bytes))
        return NULL;
    struct memory_graph_block *block = mem_alloc(1, sizeof *block);
    *block = (struct memory_graph_block){.next = device->graph_blocks, .bytes = bytes};
    device->graph_blocks = block;
    device->used += bytes;
    struct memory_graph_facts *facts = &device->graph_facts;
    facts->used += bytes;
    facts->used_high = max_u64(facts->used_high, facts->used);
    facts->reserved_high = max_u64(facts->reserved_high, facts->used);
    return block;
}

/* One that was used last in this stream, or by nobody any more; or a new one. NULL: there is no room. */
static struct memory_graph_block *take_block(struct device *device, uint64_t bytes,
                                             const struct stream *stream)
{
    bytes = (bytes + piece - 1) / piece * piece;
    for (struct memory_graph_block *block = device->graph_blocks; block; block = block->next) {
        if (block->bytes >= bytes && !block->holders && (block->stream == stream || is_idle(block)))
            return block;
    }
    return add_block(device, bytes);
}

void memory_graph_facts(struct device *device, struct memory_graph_facts *facts)
{
    pthread_mutex_lock(&device->driver->memory.lock);
    *facts = device->graph_facts;
    pthread_mutex_unlock(&device->driver->memory.lock);
}

void memory_graph_reset_high(struct device *device, bool reserved)
{
    pthread_mutex_lock(&device->driver->memory.lock);
    struct memory_graph_facts *facts = &device->graph_facts;
    *(reserved ? &facts->reserved_high : &facts->used_high) = facts->used;
    pthread_mutex_unlock(&device->driver->memory.lock);
}

void memory_graph_trim(struct device *device)
{
    pthread_mutex_lock(&device->driver->memory.lock);
    trim(device);
    pthread_mutex_unlock(&device->driver->memory.lock);
}

void memory_graph_fini(struct device *device)
{
    while (device->graph_blocks)
        take_off(device, &device->graph_blocks);
}

/* ---- launches; all with the lock held ---- */

struct graph_launch {
    const struct command *const *commands;
    size_t count;
    struct stream *stream;
};

typedef bool visit_fn(void *user, struct memory_graph *memory, bool allocates);

static bool visit(const struct graph_launch *launch, visit_fn *call, void *user)
{
    for (size_t i = 0; i < launch->count; i++) {
        bool allocates;
        struct memory_graph *memory = memory_of(launch->commands[i], &allocates);
        if (memory && !call(user, memory, allocates))
            return false;
    }
    return true;
}

static bool forget_live(void *user, struct memory_graph *memory, bool allocates)
{
    (void)user, (void)allocates;
    memory->live = 0;
    return true;
}

/* What a device needs while the graph runs. */
struct need {
    const struct device *device;
    uint64_t now, most;
};

static bool add_need(void *user, struct memory_graph *memory, bool allocates)
{
    struct need *need = user;
    bool mine = memory->request.device == need->device;
    if (!allocates && !memory->live)
        return memory->block != NULL; /* what another launch allocated goes */
    memory->live = allocates;
    if (mine)
        need->now += allocates ? memory->request.bytes : -memory->request.bytes;
    need->most = max_u64(need->most, need->now);
    return true;
}

static bool leave_block(struct memory_graph *memory)
{
    if (!memory->block)
        return false;
    memory->block->holders--;
    memory->block = NULL;
    return true;
}

/* What an earlier launch left there goes before this one, whose stream comes after. */
static bool free_there(void *user, struct memory_graph *memory, bool allocates)
{
    (void)user;
    if (allocates && memory->live)
        leave_block(memory);
    return true;
}

static bool count_there(void *user, struct memory_graph *memory, bool allocates)
{
    uint64_t *there = user;
    *there += allocates && memory->live && memory->block;
    return true;
}

struct hold {
    const struct device *device;
    struct memory_graph_block *block;
};

/* Memory that stays when the launch has ended gets its block; what another one allocated and this one frees,
 * loses it. */
static bool hold(void *user, struct memory_graph *memory, bool allocates)
{
    struct hold *hold = user;
    if (memory->request.device != hold->device)
        return true;
    if (allocates && memory->live && !memory->block) {
        memory->block = hold->block;
        hold->block->holders++;
    } else if (!allocates && !memory->live && memory->block) {
        memory->block->holders--;
        memory->block = NULL;
    }
    return true;
}

static bool place(const struct graph_launch *launch, struct device *device)
{
    struct need need = {.device = device};
    visit(launch, forget_live, NULL);
    visit(launch, add_need, &need);
    struct hold taken = {device, NULL};
    if (need.most && !(taken.block = take_block(device, need.most, launch->stream)))
        return false;
    if (taken.block) {
        taken.block->stream = launch->stream;
        taken.block->number = UINT64_MAX; /* until its commands are submitted */
    }
    visit(launch, hold, &taken);
    return true;
}

enum result memory_graph_launch(const struct command *const *commands, size_t count, struct stream *stream,
                                bool auto_free)
{
    struct driver *driver = stream->device->driver;
    struct graph_launch launch = {commands, count, stream};
    struct need need = {0};
    uint64_t there = 0;
    bool room = true;
    pthread_mutex_lock(&driver->memory.lock);
    visit(&launch, forget_live, NULL);
    bool good = visit(&launch, add_need, &need);
    visit(&launch, count_there, &there);
    good = good && (auto_free || !there);
    if (good && auto_free)
        visit(&launch, free_there, NULL);
    for (unsigned i = 0; i < driver->device_count && good && room; i++)
        room = place(&launch, &driver->devices[i]);
    pthread_mutex_unlock(&driver->memory.lock);
    if (good)
        return room ? RESULT_SUCCESS : driver_fail(RESULT_OUT_OF_MEMORY, "a graph's memory has no room");
    return driver_fail(RESULT_INVALID_VALUE,
                       "the graph allocates memory that is there already, or frees some that is not");
}

void memory_graph_submitted(struct stream *stream)
{
    struct driver *driver = stream->device->driver;
    pthread_mutex_lock(&driver->commands.lock);
    uint64_t number = stream->submitted;
    pthread_mutex_unlock(&driver->commands.lock);
    pthread_mutex_lock(&driver->memory.lock);
    for (unsigned i = 0; i < driver->device_count; i++) {
        for (struct memory_graph_block *block = driver->devices[i].graph_blocks; block; block = block->next) {
            if (block->stream == stream && block->number == UINT64_MAX)
                block->number = number;
        }
    }
    pthread_mutex_unlock(&driver->memory.lock);
}

/* ---- what memory.c asks; all with the lock held ---- */

bool memory_graph_is_there(const struct memory_graph *memory)
{
    return memory->block;
}

bool memory_graph_is_awake(const struct memory_graph *memory)
{
    return memory->awake;
}

bool memory_graph_lets(const struct memory_graph *memory, const struct device *device)
{
    return memory->request.peers >> device->index & 1;
}

bool memory_graph_give(struct memory_graph *memory)
{
    if (!leave_block(memory))
        return false;
    set_awake(memory, false);
    end_if_unused(memory);
    return true;
}

struct command *memory_graph_leaving(struct memory_graph *memory, struct stream *stream)
{
    struct memory_graph_block *block = memory->block;
    if (!leave_block(memory))
        return NULL;
    block->stream = stream;
    block->number = UINT64_MAX; /* until the command is submitted */
    return new_command(&free_ops, memory);
}
