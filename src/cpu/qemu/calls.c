/* Calls of the system. Futexes are modelled here: a thread sleeps in the callback before the call, until
 * heddle lets it on, and finds the word changed when the call is made at last. So who sleeps and wakes
 * follows from simulated time. Clocks give simulated time: what the call has written is replaced, or what it
 * returns (imports.c). */
#include "cpu/qemu/plugin.h"
#include "cpu/runs/magic.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

/* ---- numbers ---- */

enum call_kind {
    CALL_PLAIN,
    CALL_FUTEX,
    CALL_CLONE,
    CALL_CLONE_TLS_FIRST, /* with its last two arguments in the other order */
    CALL_NANOSLEEP,
    CALL_CLOCK_NANOSLEEP,
    CALL_CLOCK,
    CALL_TIME_OF_DAY,
    CALL_TIME,
    CALL_YIELD,
    CALL_EXEC,
    CALL_FILE, /* may wait, by what its first argument is */
    CALL_WAITS,
};

struct call_row {
    int64_t number;
    enum call_kind kind;
};

static const struct call_row calls_x86_64[] = {
    {202, CALL_FUTEX}, {56, CALL_CLONE},       {35, CALL_NANOSLEEP}, {230, CALL_CLOCK_NANOSLEEP},
    {228, CALL_CLOCK}, {96, CALL_TIME_OF_DAY}, {24, CALL_YIELD},     {59, CALL_EXEC},
    {322, CALL_EXEC},  {0, CALL_FILE},         {1, CALL_FILE},       {19, CALL_FILE},
    {20, CALL_FILE},   {7, CALL_WAITS},        {23, CALL_WAITS},     {270, CALL_WAITS},
    {271, CALL_WAITS}, {232, CALL_WAITS},      {281, CALL_WAITS},    {43, CALL_WAITS},
    {288, CALL_WAITS}, {42, CALL_WAITS},       {45, CALL_WAITS},     {47, CALL_WAITS},
    {44, CALL_WAITS},  {46, CALL_WAITS},       {61, CALL_WAITS},     {247, CALL_WAITS},
    {34, CALL_WAITS},  {130, CALL_WAITS},      {128, CALL_WAITS},    {73, CALL_WAITS},
    {65, CALL_WAITS},  {220, CALL_WAITS},      {201, CALL_TIME},     {-1, CALL_PLAIN},
};

static const struct call_row calls_generic[] = {
    /* riscv64, aarch64 */
    {98, CALL_FUTEX},      {220, CALL_CLONE_TLS_FIRST},
    {101, CALL_NANOSLEEP}, {115, CALL_CLOCK_NANOSLEEP},
    {113, CALL_CLOCK},     {169, CALL_TIME_OF_DAY},
    {124, CALL_YIELD},     {221, CALL_EXEC},
    {281, CALL_EXEC},      {63, CALL_FILE},
    {64, CALL_FILE},       {65, CALL_FILE},
    {66, CALL_FILE},       {73, CALL_WAITS},
    {72, CALL_WAITS},      {22, CALL_WAITS},
    {202, CALL_WAITS},     {242, CALL_WAITS},
    {203, CALL_WAITS},     {207, CALL_WAITS},
    {212, CALL_WAITS},     {206, CALL_WAITS},
    {211, CALL_WAITS},     {260, CALL_WAITS},
    {95, CALL_WAITS},      {133, CALL_WAITS},
    {137, CALL_WAITS},     {-1, CALL_PLAIN},
};

enum { NUMBERS = 512 };
static uint8_t kinds[NUMBERS];

static enum call_kind kind_of(int64_t number)
{
    return number >= 0 && number < NUMBERS ? (enum call_kind)kinds[number] : CALL_PLAIN;
}

/* ---- the program's memory, which is at the same addresses here; it may be none ---- */

bool tap_read_memory(uint64_t from, void *to, size_t bytes)
{
    struct iovec own = {to, bytes}, other = {(void *)(uintptr_t)from, bytes};
    return from && process_vm_readv(getpid(), &own, 1, &other, 1, 0) == (ssize_t)bytes;
}

static void write_memory(uint64_t to, const void *from, size_t bytes)
{
    struct iovec own = {(void *)(uintptr_t)from, bytes}, other = {(void *)(uintptr_t)to, bytes};
    if (to)
        process_vm_writev(getpid(), &own, 1, &other, 1, 0);
}

static bool read_ns(uint64_t at, uint64_t *ns)
{
    struct timespec time;
    if (!tap_read_memory(at, &time, sizeof time) || time.tv_sec < 0)
        return false;
    *ns = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    return true;
}

/* ---- clocks ---- */

static const uint64_t epoch_ns = UINT64_C(1577836800) * 1000000000; /* 2020-01-01: programs see it as today */
enum { NS = 1000 };                                                 /* picoseconds */

static bool counts_from_epoch(uint64_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

static uint64_t now_ns(struct tap_thread *thread)
{
    return tap_ask(thread, tap_op(CPURUN_TIME, 0)) / NS;
}

/* ---- futexes ---- */

enum { OPERATION = 127, BY_REALTIME = 256 };

/* How long a futex is waited for, in ns from now. */
static uint64_t patience(struct tap_thread *thread, uint64_t operation, uint64_t timeout)
{
    uint64_t ns, now;
    if (!read_ns(timeout, &ns))
        return CPURUN_FOREVER;
    if ((operation & OPERATION) == FUTEX_WAIT)
        return ns < CPURUN_FOREVER ? ns : CPURUN_FOREVER - 1;
    now = now_ns(thread) + (operation & BY_REALTIME ? epoch_ns : 0);
    return ns > now ? ns - now : 0;
}

static void sleep_on(struct tap_thread *thread, const uint64_t *a)
{
    uint32_t word, expected = (uint32_t)a[2];
    uint64_t ns = patience(thread, a[1], a[3]), from = ns == CPURUN_FOREVER ? 0 : now_ns(thread),
             end = from + ns;
    while (tap_read_memory(a[0], &word, sizeof word) && word == expected) {
        uint64_t left = ns == CPURUN_FOREVER ? ns : end > from ? end - from : 0;
        from = tap_ask_with(thread, tap_op(CPURUN_SLEEP, left), a[0]) / NS;
        if (atomic_load(&thread->lane->timed_out))
            return;
    }
}

static void wake(struct tap_thread *thread, uint64_t address, uint64_t count)
{
    tap_word(thread, tap_op(CPURUN_WAKE, count > INT_MAX ? INT_MAX : count));
    tap_word(thread, address);
}

/* By a thread whose words nobody reads. */
static void post_wake(uint64_t address, uint64_t count)
{
    struct cpurun_wakes *wakes = &tap_shared->wakes;
    while (atomic_exchange(&wakes->lock, 1))
        ;
    uint32_t number = atomic_load(&wakes->posted);
    if (number - atomic_load(&wakes->taken) < CPURUN_WAKES) {
        wakes->futexes[number % CPURUN_WAKES] = address;
        wakes->counts[number % CPURUN_WAKES] = count > INT_MAX ? INT_MAX : count;
        atomic_store(&wakes->posted, number + 1);
    }
    atomic_store(&wakes->lock, 0);
    atomic_fetch_add(&tap_shared->posted, 1);
    cpurun_wake(&tap_shared->posted);
}

static void tell_wakes(int64_t number, const uint64_t *a)
{
    uint64_t operation = a[1] & OPERATION;
    if (!tap_is_child() && kind_of(number) == CALL_FUTEX &&
        (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET))
        post_wake(a[0], a[2]);
}

static bool waits_on_futex(int64_t number, const uint64_t *a)
{
    uint64_t operation = a[1] & OPERATION;
    return kind_of(number) == CALL_FUTEX && (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET);
}

static void futex(struct tap_thread *thread, const uint64_t *a, uint64_t other)
{
    switch (a[1] & OPERATION) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        sleep_on(thread, a);
        break;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
        wake(thread, a[0], a[2]);
        break;
    case FUTEX_WAKE_OP:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE: /* the fourth argument is a number; those who need not wake sleep again */
        wake(thread, a[0], INT_MAX);
        wake(thread, other, INT_MAX);
        break;
    }
}

/* ---- others ---- */

enum { CLONE_CLEARS = 0x00200000 };

uint64_t tap_cleared_by(const struct tap_thread *creator)
{
    return creator->arguments[0] & CLONE_CLEARS ? creator->clears : 0;
}

static bool file_may_wait(uint64_t file)
{
    struct stat info;
    return fstat((int)file, &info) || S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) ||
           !(info.st_mode & S_IFMT);
}

static void pause_for(struct tap_thread *thread, uint64_t ns)
{
    tap_ask(thread, tap_op(CPURUN_PAUSE, ns < CPURUN_FOREVER ? ns : CPURUN_FOREVER - 1));
}

static void magic(struct tap_thread *thread, uint64_t what, uint64_t value)
{
    uint64_t time;
    switch (what) {
    case CPURUN_ASK_TIME:
        tap_mute(thread, false);
        time = tap_ask(thread, tap_op(CPURUN_TIME, 0));
        write_memory(value, &time, sizeof time);
        break;
    case CPURUN_SET_TIME:
        tap_mute(thread, false);
        tap_ask_with(thread, tap_op(CPURUN_AT, 0), value);
        break;
    case CPURUN_MUTE:
        tap_mute(thread, true);
        break;
    case CPURUN_UNMUTE:
        tap_mute(thread, false);
        break;
    }
}

/* ---- callbacks ---- */

static void on_call(plugin_id id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c,
                    uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
    struct tap_thread *thread = tap_threads[cpu];
    uint64_t arguments[4] = {a, b, c, d}, ns = 0;
    (void)id, (void)f, (void)g, (void)h;
    tap_runs(thread);
    if (!thread->lane) {
        tell_wakes(number, arguments);
        return;
    }
    tap_wait(thread, false);
    memcpy(thread->arguments, arguments, sizeof arguments);
    thread->away = false;
    if (number == CPURUN_MAGIC) {
        magic(thread, a, b);
        return;
    }
    if (thread->muted) {
        tell_wakes(number, arguments);
        atomic_store(&thread->lane->stuck, waits_on_futex(number, arguments));
        atomic_store(&thread->lane->excused, 1);
        return;
    }
    tap_word(thread, tap_op(CPURUN_CALL, (uint64_t)number));
    switch (kind_of(number)) {
    case CALL_FUTEX:
        futex(thread, arguments, e);
        break;
    case CALL_CLONE:
        thread->clears = d;
        break;
    case CALL_CLONE_TLS_FIRST:
        thread->clears = e;
        break;
    case CALL_NANOSLEEP:
        if (read_ns(a, &ns))
            pause_for(thread, ns);
        break;
    case CALL_CLOCK_NANOSLEEP:
        if (read_ns(c, &ns)) {
            uint64_t now = b & TIMER_ABSTIME ? now_ns(thread) + (counts_from_epoch(a) ? epoch_ns : 0) : 0;
            pause_for(thread, ns > now ? ns - now : 0);
        }
        break;
    case CALL_YIELD:
        if (!tap_is_alone())
            tap_ask(thread, tap_op(CPURUN_YIELD, 1));
        break;
    case CALL_TIME:
        tap_answer_time((epoch_ns + now_ns(thread)) / 1000000000);
        break;
    case CALL_EXEC:
        atomic_store(&tap_shared->became_another, 1);
        break;
    case CALL_FILE:
    case CALL_WAITS:
        thread->away = !tap_is_alone() && (kind_of(number) == CALL_WAITS || file_may_wait(a));
        if (thread->away)
            tap_word(thread, tap_op(CPURUN_AWAY, 0));
        break;
    default:;
    }
    tap_show(thread);
    atomic_store(&thread->lane->excused, 1);
}

static void put_time(struct tap_thread *thread, enum call_kind kind)
{
    const uint64_t *a = thread->arguments;
    uint64_t ns = now_ns(thread);
    if (kind == CALL_CLOCK) {
        ns += counts_from_epoch(a[0]) ? epoch_ns : 0;
        struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
        write_memory(a[1], &time, sizeof time);
    } else {
        ns += epoch_ns;
        struct timeval time = {(time_t)(ns / 1000000000), (suseconds_t)(ns % 1000000000 / 1000)};
        write_memory(a[0], &time, sizeof time);
    }
}

static void on_return(plugin_id id, unsigned cpu, int64_t number, int64_t result)
{
    struct tap_thread *thread = tap_threads[cpu];
    enum call_kind kind = kind_of(number);
    (void)id;
    if (!thread->lane)
        return;
    atomic_store(&thread->lane->excused, 0);
    atomic_store(&thread->lane->stuck, 0);
    if (thread->muted || number == CPURUN_MAGIC)
        return;
    if (thread->away)
        tap_ask(thread, tap_op(CPURUN_BACK, 0));
    thread->away = false;
    if (kind == CALL_EXEC)
        atomic_store(&tap_shared->became_another, 0); /* it failed */
    if (!result && (kind == CALL_CLOCK || kind == CALL_TIME_OF_DAY))
        put_time(thread, kind);
}

void tap_watch_calls(plugin_id id, const char *target)
{
    const struct call_row *row = !strcmp(target, "x86_64") ? calls_x86_64 : calls_generic;
    for (; row->number >= 0; row++)
        kinds[row->number] = (uint8_t)row->kind;
    qemu_plugin_register_vcpu_syscall_cb(id, on_call);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
}
