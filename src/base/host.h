/* The host's clock, cores and memory: for reports and for the number of threads, never for a result. */
#ifndef BASE_HOST_H
#define BASE_HOST_H

#include <stdint.h>

double host_seconds(void);
unsigned host_cores(void);  /* that this process may use */
uint64_t host_memory(void); /* bytes, in all */

/* A counter that goes on at some steady rate, and is read in an instant: for shares of time. */
static inline uint64_t host_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return (uint64_t)(host_seconds() * 1e9);
#endif
}

/* In a loop that waits for another core. */
static inline void host_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Asks for the cache line for this core alone, which is about to change it. */
static inline void host_prefetch_to_write(const void *at)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0"
                     :
                     : "m"(*(const char *)at)); /* the builtin only asks for a copy to read */
#else
    __builtin_prefetch(at, 1);
#endif
}

#endif
