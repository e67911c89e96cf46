/* What the kernels of the microbenchmarks share. They have GCN3 instructions in them, so they run as the code
 * objects beside them only. */
typedef uint uint32_t;
typedef ulong uint64_t;

enum { LANES = 64 };

#define LARGE_GROUPS __attribute__((amdgpu_flat_work_group_size(1, 1024))) /* not 256 */

struct micro_time { /* of a wavefront */
    uint64_t start, end;
};

/* Cycles, when all that was begun before has ended. */
static inline uint64_t micro_clock(void)
{
    uint64_t now;
    __asm volatile("s_waitcnt vmcnt(0) lgkmcnt(0)\n\ts_memtime %0\n\ts_waitcnt lgkmcnt(0)"
                   : "=s"(now)::"memory");
    return now;
}

/* One row for each wavefront of the launch. */
static inline void micro_note(__global struct micro_time *times, uint64_t start, uint64_t end)
{
    if (get_local_id(0) % LANES == 0) {
        __global struct micro_time *row = &times[get_global_id(0) / LANES];
        row->start = start, row->end = end;
    }
}

#define REPEAT(count, text) ".rept " #count "\n\t" text "\n\t.endr"
