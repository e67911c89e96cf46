/* Functions of the device runtime (cudadevrt) that ask: attributes, limits, occupancy, texts of errors. And
 * its malloc. */
#include "ptx_run/builtin_rows.h"
#include "exec/heap.h"

enum { SUCCESS, INVALID_VALUE = 1, MEMORY_ALLOCATION = 2, INVALID_FUNCTION = 98 }; /* CUDA's */
enum { RUNTIME_VERSION = 13000 };

static int ask(struct warp *w, const struct op *op, enum device_question what, uint64_t function,
               const uint64_t asked[2], struct device_answer *answer)
{
    const struct launch *launch = w->isa.block->worker->grid->launch;
    bool of_kernel = what == DEVICE_FUNCTION || what == DEVICE_OCCUPANCY;
    const struct kernel *kernel =
        of_kernel ? ptx_kernel_at(w->isa.block->worker->grid->kernel, function) : NULL;
    *answer = (struct device_answer){0};
    if (of_kernel && !kernel)
        return INVALID_FUNCTION;
    return builtin_calls(w, op, 1)->ask(launch->calls_user, what, kernel, asked, answer);
}

/* The answer goes where the first parameter points to. */
static void tell(struct warp *w, const struct op *op, uint32_t lane, enum device_question what, uint64_t to,
                 uint64_t function, const uint64_t asked[2], uint64_t result)
{
    struct device_answer answer;
    int code = ask(w, op, what, function, asked, &answer);
    if (!code && !builtin_store(w, lane, to, answer.at, answer.bytes))
        code = INVALID_VALUE;
    builtin_write(w, lane, result, 4, (uint32_t)code);
}

/* (where the value goes, attribute, device) */
static void run_attribute(struct warp *w, const struct op *op, lanes active,
                          const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    EACH_LANE (lane, active) {
        const uint64_t asked[] = {builtin_read(w, lane, params[1], 4), builtin_read(w, lane, params[2], 4)};
        tell(w, op, lane, DEVICE_ATTRIBUTE, builtin_read(w, lane, params[0], 8), 0, asked, result);
    }
}

/* (where the value goes, limit) */
static void run_limit(struct warp *w, const struct op *op, lanes active,
                      const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    EACH_LANE (lane, active) {
        const uint64_t asked[2] = {builtin_read(w, lane, params[1], 4)};
        tell(w, op, lane, DEVICE_LIMIT, builtin_read(w, lane, params[0], 8), 0, asked, result);
    }
}

/* (where it goes, function) */
static void run_function(struct warp *w, const struct op *op, lanes active,
                         const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    const uint64_t asked[2] = {0};
    EACH_LANE (lane, active)
        tell(w, op, lane, DEVICE_FUNCTION, builtin_read(w, lane, params[0], 8),
             builtin_read(w, lane, params[1], 8), asked, result);
}

/* (where the number goes, function, threads of a block, dynamic shared memory) */
static void run_occupancy(struct warp *w, const struct op *op, lanes active,
                          const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    EACH_LANE (lane, active) {
        const uint64_t asked[] = {builtin_read(w, lane, params[2], 4), builtin_read(w, lane, params[3], 8)};
        tell(w, op, lane, DEVICE_OCCUPANCY, builtin_read(w, lane, params[0], 8),
             builtin_read(w, lane, params[1], 8), asked, result);
    }
}

static void tell_text(struct warp *w, const struct op *op, lanes active,
                      const uint64_t params[BUILTIN_PARAMS], uint64_t result, enum device_question what)
{
    EACH_LANE (lane, active) {
        const uint64_t asked[2] = {builtin_read(w, lane, params[0], 4)};
        struct device_answer answer;
        uint64_t at = 0;
        if (!ask(w, op, what, 0, asked, &answer))
            memcpy(&at, answer.at, sizeof at);
        builtin_write(w, lane, result, 8, at);
    }
}

static void run_error_name(struct warp *w, const struct op *op, lanes active,
                           const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    tell_text(w, op, active, params, result, DEVICE_ERROR_NAME);
}

static void run_error_text(struct warp *w, const struct op *op, lanes active,
                           const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    tell_text(w, op, active, params, result, DEVICE_ERROR_TEXT);
}

/* A number of 32 bits goes where the first parameter points to. */
static void tell_number(const struct warp *w, lanes active, const uint64_t params[BUILTIN_PARAMS],
                        uint64_t result, uint32_t number)
{
    EACH_LANE (lane, active) {
        bool good = builtin_store(w, lane, builtin_read(w, lane, params[0], 8), &number, sizeof number);
        builtin_write(w, lane, result, 4, good ? SUCCESS : INVALID_VALUE);
    }
}

/* (where it goes): cudaFuncCachePreferNone, cudaSharedMemBankSizeDefault */
static void run_preference(struct warp *w, const struct op *op, lanes active,
                           const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    (void)op;
    tell_number(w, active, params, result, 0);
}

static void run_version(struct warp *w, const struct op *op, lanes active,
                        const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    (void)op;
    tell_number(w, active, params, result, RUNTIME_VERSION);
}

/* (where the address goes, bytes) */
static void run_malloc(struct warp *w, const struct op *op, lanes active,
                       const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    const struct worker *worker = w->isa.block->worker;
    struct heap *heap = worker->grid->launch->heap;
    (void)op;
    EACH_LANE (lane, active) {
        uint64_t bytes = builtin_read(w, lane, params[1], 8);
        uint64_t at = heap ? heap_take(heap, worker->sm, bytes) : 0;
        bool good = builtin_store(w, lane, builtin_read(w, lane, params[0], 8), &at, sizeof at);
        builtin_write(w, lane, result, 4, !good ? INVALID_VALUE : at || !bytes ? SUCCESS : MEMORY_ALLOCATION);
    }
}

static void run_free(struct warp *w, const struct op *op, lanes active, const uint64_t params[BUILTIN_PARAMS],
                     uint64_t result)
{
    const struct worker *worker = w->isa.block->worker;
    struct heap *heap = worker->grid->launch->heap;
    (void)op;
    EACH_LANE (lane, active) {
        uint64_t at = builtin_read(w, lane, params[0], 8);
        bool good = !at || (heap && heap_give(heap, worker->sm, at));
        builtin_write(w, lane, result, 4, good ? SUCCESS : INVALID_VALUE);
    }
}

#define ASK(name, run, result, ...)                                                                          \
    {                                                                                                        \
        "__cudaCDP2" name, run, false, true, {__VA_ARGS__}, result, false                                    \
    }

const struct builtin builtin_questions[] = {
    ASK("DeviceGetAttribute", run_attribute, 4, 8, 4, 4),
    ASK("DeviceGetLimit", run_limit, 4, 8, 4),
    ASK("DeviceGetCacheConfig", run_preference, 4, 8),
    ASK("DeviceGetSharedMemConfig", run_preference, 4, 8),
    ASK("GetErrorName", run_error_name, 8, 4),
    ASK("GetErrorString", run_error_text, 8, 4),
    ASK("RuntimeGetVersion", run_version, 4, 8),
    ASK("FuncGetAttributes", run_function, 4, 8, 8),
    ASK("OccupancyMaxActiveBlocksPerMultiprocessor", run_occupancy, 4, 8, 8, 4, 8),
    ASK("OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", run_occupancy, 4, 8, 8, 4, 8, 4),
    {"__cudaCDP2Malloc", run_malloc, true, true, {8, 8}, 4, false},
    {"__cudaCDP2Free", run_free, true, true, {8}, 4, false},
    {NULL, NULL, false, false, {0}, 0, false}};
