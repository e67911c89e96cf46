#include "base/zone.h"
#include "base/err.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { ZONES_MOST = 4 };
static const size_t owner_bytes = (size_t)256 << 20; /* of addresses; pages are there when they are touched */

struct zone {
    char *from;
    uint32_t owners;
    size_t *used;
    void (*touched)(void *user, uint32_t owner);
    void *user;
};

static struct zone *_Atomic zones[ZONES_MOST];
static _Atomic unsigned zone_count;
static _Thread_local struct zone *own_zone;
static _Thread_local uint32_t own_owner;

static struct zone *zone_of(const void *memory)
{
    if (!atomic_load_explicit(&zone_count, memory_order_relaxed))
        return NULL;
    for (unsigned i = 0; i < ZONES_MOST; i++) {
        struct zone *zone = atomic_load(&zones[i]);
        if (zone && (uintptr_t)memory - (uintptr_t)zone->from < zone->owners * owner_bytes)
            return zone;
    }
    return NULL;
}

static void on_segv(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    const struct zone *zone = zone_of(info->si_addr);
    if (zone && zone->touched)
        zone->touched(zone->user, (uint32_t)((size_t)((char *)info->si_addr - zone->from) / owner_bytes));
    signal(signal_number, SIG_DFL); /* not ours, or told: it happens again, for good */
}

struct zone *zone_new(uint32_t owners)
{
    struct zone *zone = calloc(1, sizeof *zone);
    size_t *used = calloc(owners + 1, sizeof *used);
    void *from = mmap(NULL, owners * owner_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!zone || !used || from == MAP_FAILED)
        BUG("no room for memory of %u owners", owners);
    *zone = (struct zone){.from = from, .owners = owners, .used = used};
    sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO | SA_NODEFER},
              NULL);
    for (unsigned i = 0; i < ZONES_MOST; i++) {
        struct zone *none = NULL;
        if (atomic_compare_exchange_strong(&zones[i], &none, zone)) {
            atomic_fetch_add(&zone_count, 1);
            return zone;
        }
    }
    BUG("more than %d zones", ZONES_MOST);
}

uint32_t zone_owners(const struct zone *zone)
{
    return zone->owners;
}

void zone_on_touch(struct zone *zone, void (*touched)(void *user, uint32_t owner), void *user)
{
    zone->user = user;
    zone->touched = touched;
}

void zone_free(struct zone *zone)
{
    if (!zone)
        return;
    for (unsigned i = 0; i < ZONES_MOST; i++)
        if (atomic_load(&zones[i]) == zone) {
            atomic_fetch_sub(&zone_count, 1);
            atomic_store(&zones[i], NULL);
        }
    munmap(zone->from, zone->owners * owner_bytes);
    free(zone->used);
    free(zone);
}

void zone_own(struct zone *zone, uint32_t owner)
{
    own_zone = owner == ZONE_NOBODY ? NULL : zone;
    own_owner = owner;
}

struct zone_pause zone_pause(void)
{
    struct zone_pause pause = {own_zone, own_owner};
    own_zone = NULL;
    return pause;
}

void zone_go_on(struct zone_pause pause)
{
    own_zone = pause.zone;
    own_owner = pause.owner;
}

static void protect(char *from, size_t bytes, int how)
{
    if (mprotect(from, bytes, how))
        BUG("memory cannot be protected");
}

void zone_close(struct zone *zone)
{
    protect(zone->from, zone->owners * owner_bytes, PROT_NONE);
}

void zone_open(struct zone *zone)
{
    protect(zone->from, zone->owners * owner_bytes, PROT_READ | PROT_WRITE);
}

void zone_open_one(struct zone *zone, uint32_t owner)
{
    protect(zone->from + owner * owner_bytes, owner_bytes, PROT_READ | PROT_WRITE);
}

bool zone_is_owned(void)
{
    return own_zone;
}

void *zone_alloc(size_t bytes, size_t alignment)
{
    size_t *used = &own_zone->used[own_owner];
    size_t at = (*used + alignment - 1) / alignment * alignment;
    if (bytes > owner_bytes || at > owner_bytes - bytes)
        return NULL;
    *used = at + bytes;
    return own_zone->from + own_owner * owner_bytes + at;
}

bool zone_has(const void *memory)
{
    return zone_of(memory);
}
