// Small kernels with one mistake each, and their correct twins. tests/cli/check.sh launches them all: a kernel bad_X must
// give exactly the findings of its line "//! bad_X CHECK WHAT", at the lines that end in "// @X 1" (the earlier access, or
// the only place) and "// @X 2" (the later one); a kernel good_X must give none.
// Each is launched with 2 blocks of 64 threads (or as its line says: BLOCKSxTHREADS). data: 4,096 zeros; fresh: 4,096 ints
// that nobody wrote; flag: zeros, as before each launch.
#include <cooperative_groups.h>

#define KERNEL(name) extern "C" __global__ void name(int *data, int *fresh, unsigned *flag)
#define CLUSTER(name) extern "C" __global__ void __cluster_dims__(2, 1, 1) name(int *data, int *fresh, unsigned *flag)
#define T threadIdx.x
#define B blockIdx.x
#define OUT data[1024 + B * 64 + T]

namespace cg = cooperative_groups;

static __device__ unsigned at_shared(const void *at)
{
    return (unsigned)__cvta_generic_to_shared(at);
}
#define copy_word(to, from) \
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at_shared(to)), "l"(from) : "memory")
#define copy_bulk(to, from, bytes, gate) \
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"( \
                     at_shared(to)), "l"(from), "r"(bytes), "r"(at_shared(gate)) : "memory")
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group " #n ";" ::: "memory")
#define barrier_init(at, count) \
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at_shared(at)), "r"(count) : "memory")
#define barrier_test(at, phase) \
    ({ unsigned done; \
       asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" \
                    : "=r"(done) : "r"(at_shared(at)), "r"(phase) : "memory"); \
       done; })

//! bad_sh_raw race "read after write" more
KERNEL(bad_sh_raw)
{
    __shared__ int s[128];
    s[T] = (int)T + 1; // @sh_raw 1
    ;
    OUT = s[T ^ 32]; // @sh_raw 2
}
KERNEL(good_sh_raw)
{
    __shared__ int s[128];
    s[T] = (int)T + 1;
    __syncthreads();
    OUT = s[T ^ 32];
}

//! bad_sh_raw_warp race "read after write"
KERNEL(bad_sh_raw_warp)
{
    __shared__ int s[128];
    s[T] = (int)T + 1; // @sh_raw_warp 1
    ;
    OUT = s[T ^ 1]; // @sh_raw_warp 2
}
KERNEL(good_sh_raw_warp)
{
    __shared__ int s[128];
    s[T] = (int)T + 1;
    __syncwarp();
    OUT = s[T ^ 1];
}

//! bad_sh_war race "write after read" more
KERNEL(bad_sh_war)
{
    __shared__ int s[128];
    s[T] = (int)T;
    __syncthreads();
    int v = s[T ^ 33]; // @sh_war 1
    ;
    s[T] = v + (int)T * 3; // @sh_war 2
}
KERNEL(good_sh_war)
{
    __shared__ int s[128];
    s[T] = (int)T;
    __syncthreads();
    int v = s[T ^ 33];
    __syncthreads();
    s[T] = v + (int)T * 3;
}

//! bad_sh_waw race "write after write"
KERNEL(bad_sh_waw)
{
    __shared__ int s[128];
    s[T & 0] = (int)T; // @sh_waw 1 // @sh_waw 2
    __syncthreads();
    OUT = s[0];
}
KERNEL(good_sh_waw)
{
    __shared__ int s[128];
    s[T] = (int)T;
    __syncthreads();
    OUT = s[0];
}

//! bad_sh_reduce race "read after write"
KERNEL(bad_sh_reduce)
{
    __shared__ int s[128];
    s[T] = data[T];
    __syncthreads();
    for (unsigned d = 32; d; d /= 2) {
        if (T < d)
            s[T] += s[T + d]; // @sh_reduce 1 // @sh_reduce 2
        ;
    }
    if (!T)
        data[1024 + B] = s[0];
}
KERNEL(good_sh_reduce)
{
    __shared__ int s[128];
    s[T] = data[T];
    __syncthreads();
    for (unsigned d = 32; d; d /= 2) {
        if (T < d)
            s[T] += s[T + d];
        __syncthreads();
    }
    if (!T)
        data[1024 + B] = s[0];
}

//! bad_sh_part_mask race "read after write"
KERNEL(bad_sh_part_mask)
{
    __shared__ int s[128];
    s[T] = (int)T; // @sh_part_mask 1
    if (T < 16)
        __syncwarp(0xffff);
    if (T < 16)
        OUT = s[T + 8]; // @sh_part_mask 2
}
KERNEL(good_sh_part_mask)
{
    __shared__ int s[128];
    s[T] = (int)T;
    if (T < 16)
        __syncwarp(0xffff);
    if (T < 16)
        OUT = s[15 - T];
}

//! bad_sh_named race "read after write" more 1x128
KERNEL(bad_sh_named)
{
    __shared__ int s[128];
    s[T] = (int)T; // @sh_named 1
    if (T < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        data[T] = s[T + 64]; // @sh_named 2
    }
}
KERNEL(good_sh_named)
{
    __shared__ int s[128];
    s[T] = (int)T;
    if (T < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        data[T] = s[63 - T];
    }
}

//! bad_sh_atomic_plain race "read after write"
KERNEL(bad_sh_atomic_plain)
{
    __shared__ int s[128];
    if (!T)
        s[0] = 0;
    __syncthreads();
    atomicAdd(&s[0], (int)T); // @sh_atomic_plain 1
    ;
    if (!T)
        data[1024 + B] = s[0]; // @sh_atomic_plain 2
}
KERNEL(good_sh_atomic_plain)
{
    __shared__ int s[128];
    if (!T)
        s[0] = 0;
    __syncthreads();
    atomicAdd(&s[0], (int)T);
    __syncthreads();
    if (!T)
        data[1024 + B] = s[0];
}

//! bad_sh_leader race "read after write"
KERNEL(bad_sh_leader)
{
    __shared__ int s[128];
    if (!T)
        s[0] = data[5]; // @sh_leader 1
    __syncwarp();
    OUT = s[0]; // @sh_leader 2
}
KERNEL(good_sh_leader)
{
    __shared__ int s[128];
    if (!T)
        s[0] = data[5];
    __syncthreads();
    OUT = s[0];
}

//! bad_sh_bytes race "read after write"
KERNEL(bad_sh_bytes)
{
    __shared__ signed char s[65];
    s[T] = (signed char)T; // @sh_bytes 1
    if (T)
        OUT = s[T - 1]; // @sh_bytes 2
}
KERNEL(good_sh_bytes)
{
    __shared__ signed char s[65];
    s[T] = (signed char)T;
    if (T)
        OUT = s[T];
}

//! bad_sh_loop race "write after read" more
KERNEL(bad_sh_loop)
{
    __shared__ int s[128];
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        s[T] = i * (int)T; // @sh_loop 2
        __syncthreads();
        sum += s[T ^ 33]; // @sh_loop 1
        ;
    }
    OUT = sum;
}
KERNEL(good_sh_loop)
{
    __shared__ int s[128];
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        s[T] = i * (int)T;
        __syncthreads();
        sum += s[T ^ 33];
        __syncthreads();
    }
    OUT = sum;
}

//! bad_sh_flag race "read after write"
KERNEL(bad_sh_flag)
{
    __shared__ int s[4];
    __shared__ volatile int ready;
    if (!T)
        ready = 0;
    __syncthreads();
    if (!T) {
        s[1] = data[7]; // @sh_flag 1
        ;
        ready = 1;
    }
    if (T == 32) {
        while (!ready)
            ;
        __threadfence_block();
        OUT = s[1]; // @sh_flag 2
    }
}
KERNEL(good_sh_flag)
{
    __shared__ int s[4];
    __shared__ volatile int ready;
    if (!T)
        ready = 0;
    __syncthreads();
    if (!T) {
        s[1] = data[7];
        __threadfence_block();
        ready = 1;
    }
    if (T == 32) {
        while (!ready)
            ;
        __threadfence_block();
        OUT = s[1];
    }
}

//! bad_sh_histogram race "write after read"
KERNEL(bad_sh_histogram)
{
    __shared__ int s[128];
    s[T] = 0;
    __syncthreads();
    s[T / 2]++; // @sh_histogram 1 // @sh_histogram 2
    __syncthreads();
    OUT = s[T];
}
KERNEL(good_sh_histogram)
{
    __shared__ int s[128];
    s[T] = 0;
    __syncthreads();
    atomicAdd(&s[T / 2], 1);
    __syncthreads();
    OUT = s[T];
}

//! bad_gl_waw race "write after write"
KERNEL(bad_gl_waw)
{
    if (!T)
        data[B & 0] = (int)B; // @gl_waw 1 // @gl_waw 2
}
KERNEL(good_gl_waw)
{
    if (!T)
        data[B] = (int)B;
}

//! bad_gl_raw race "read after write"
KERNEL(bad_gl_raw)
{
    if (B == 0)
        data[T] = (int)T + 1; // @gl_raw 1
    if (B == 1)
        data[64 + T] = data[T]; // @gl_raw 2
}
KERNEL(good_gl_raw)
{
    if (B == 0)
        data[T] = (int)T + 1;
    if (B == 1)
        data[64 + T] = data[128 + T];
}

//! bad_gl_war race "write after read"
KERNEL(bad_gl_war)
{
    if (B == 0)
        data[64 + T] = data[T]; // @gl_war 1
    if (B == 1)
        data[T] = 7; // @gl_war 2
}
KERNEL(good_gl_war)
{
    if (B == 0)
        data[64 + T] = data[T];
    if (B == 1)
        data[128 + T] = 7;
}

//! bad_gl_block race "read after write" more
KERNEL(bad_gl_block)
{
    data[B * 64 + T] = (int)T; // @gl_block 1
    ;
    OUT = data[B * 64 + (T ^ 32)]; // @gl_block 2
}
KERNEL(good_gl_block)
{
    data[B * 64 + T] = (int)T;
    __syncthreads();
    OUT = data[B * 64 + (T ^ 32)];
}

//! bad_gl_warp race "read after write" 1x32
KERNEL(bad_gl_warp)
{
    data[T] = (int)T; // @gl_warp 1
    ;
    OUT = data[T ^ 1]; // @gl_warp 2
}
KERNEL(good_gl_warp)
{
    data[T] = (int)T;
    __syncwarp();
    OUT = data[T ^ 1];
}

//! bad_gl_atomic_plain race "read after write"
KERNEL(bad_gl_atomic_plain)
{
    atomicAdd(&data[0], 1); // @gl_atomic_plain 1
    if (T == 63 && B == 1)
        OUT = data[0]; // @gl_atomic_plain 2
}
KERNEL(good_gl_atomic_plain)
{
    atomicAdd(&data[0], 1);
    if (T == 63 && B == 1)
        OUT = atomicAdd(&data[0], 0);
}

//! bad_gl_last race "read after write"
KERNEL(bad_gl_last)
{
    __shared__ bool last;
    if (!T) {
        data[B] = (int)B + 1; // @gl_last 1
        ;
        last = atomicAdd(flag, 1) == 1;
        __threadfence();
    }
    __syncthreads();
    if (last && T < 2)
        OUT = data[T]; // @gl_last 2
}
KERNEL(good_gl_last)
{
    __shared__ bool last;
    if (!T) {
        data[B] = (int)B + 1;
        __threadfence();
        last = atomicAdd(flag, 1) == 1;
        __threadfence();
    }
    __syncthreads();
    if (last && T < 2)
        OUT = data[T];
}

//! bad_gl_last_block race "read after write"
KERNEL(bad_gl_last_block)
{
    __shared__ bool last;
    if (!T) {
        data[B] = (int)B + 1; // @gl_last_block 1
        __threadfence_block();
        last = atomicAdd(flag, 1) == 1;
        __threadfence();
    }
    __syncthreads();
    if (last && T < 2)
        OUT = data[T]; // @gl_last_block 2
}
KERNEL(good_gl_last_block)
{
    __shared__ bool last;
    if (!T) {
        data[B] = (int)B + 1;
        __threadfence();
        last = atomicAdd(flag, 1) == 1;
        __threadfence();
    }
    __syncthreads();
    if (last && T < 2)
        OUT = data[T];
}

//! bad_gl_last_all race "read after write"
KERNEL(bad_gl_last_all)
{
    __shared__ bool last;
    data[B * 64 + T] = (int)T + 1; // @gl_last_all 1
    __threadfence();
    ;
    if (!T)
        last = atomicAdd(flag, 1) == 1;
    __syncthreads();
    if (last)
        OUT = data[(1 - B) * 64 + T]; // @gl_last_all 2
}
KERNEL(good_gl_last_all)
{
    __shared__ bool last;
    data[B * 64 + T] = (int)T + 1;
    __threadfence();
    __syncthreads();
    if (!T)
        last = atomicAdd(flag, 1) == 1;
    __syncthreads();
    if (last)
        OUT = data[(1 - B) * 64 + T];
}

//! bad_gl_flag_plain race "read after write"
KERNEL(bad_gl_flag_plain)
{
    if (!T && B == 0)
        *flag = 1; // @gl_flag_plain 1
    if (!T && B == 1)
        OUT = (int)*flag; // @gl_flag_plain 2
}
KERNEL(good_gl_flag_plain)
{
    if (!T && B == 0)
        *flag = 1;
    if (!T && B == 0)
        OUT = (int)*flag;
}

//! bad_gl_flag race "read after write"
KERNEL(bad_gl_flag)
{
    if (!T && B == 0) {
        data[0] = 5; // @gl_flag 1
        ;
        atomicExch(flag, 1);
    }
    if (!T && B == 1) {
        while (!atomicAdd(flag, 0))
            ;
        __threadfence();
        OUT = data[0]; // @gl_flag 2
    }
}
KERNEL(good_gl_flag)
{
    if (!T && B == 0) {
        data[0] = 5;
        __threadfence();
        atomicExch(flag, 1);
    }
    if (!T && B == 1) {
        while (!atomicAdd(flag, 0))
            ;
        __threadfence();
        OUT = data[0];
    }
}

//! bad_gl_volatile race "read after write"
KERNEL(bad_gl_volatile)
{
    volatile unsigned *ready = flag;
    if (!T && B == 0) {
        data[0] = 5; // @gl_volatile 1
        ;
        *ready = 1;
    }
    if (!T && B == 1) {
        while (!*ready)
            ;
        __threadfence();
        OUT = data[0]; // @gl_volatile 2
    }
}
KERNEL(good_gl_volatile)
{
    volatile unsigned *ready = flag;
    if (!T && B == 0) {
        data[0] = 5;
        __threadfence();
        *ready = 1;
    }
    if (!T && B == 1) {
        while (!*ready)
            ;
        __threadfence();
        OUT = data[0];
    }
}

//! bad_gl_counter race "read after write" more
KERNEL(bad_gl_counter)
{
    if (!T)
        data[0] += (int)B + 1; // @gl_counter 1 // @gl_counter 2
}
KERNEL(good_gl_counter)
{
    if (!T)
        atomicAdd(&data[0], (int)B + 1);
}

//! bad_gl_lock race "read after write" more
KERNEL(bad_gl_lock)
{
    if (!T) {
        while (atomicCAS(flag, 0, 1))
            ;
        __threadfence();
        data[0] += (int)B + 1; // @gl_lock 1 // @gl_lock 2
        ;
        atomicExch(flag, 0);
    }
}
KERNEL(good_gl_lock)
{
    if (!T) {
        while (atomicCAS(flag, 0, 1))
            ;
        __threadfence();
        data[0] += (int)B + 1;
        __threadfence();
        atomicExch(flag, 0);
    }
}

//! bad_gl_scope race "read after write"
KERNEL(bad_gl_scope)
{
    if (!T)
        atomicAdd_block(&data[0], 1); // @gl_scope 1 // @gl_scope 2
}
KERNEL(good_gl_scope)
{
    if (!T)
        atomicAdd(&data[0], 1);
}

//! bad_gl_grid race "read after write"
KERNEL(bad_gl_grid)
{
    data[B * 64 + T] = (int)T + 1; // @gl_grid 1
    __syncthreads();
    if (!T) {
        ;
        atomicAdd(flag, 1);
        while (atomicAdd(flag, 0) < 2)
            ;
        __threadfence();
    }
    __syncthreads();
    OUT = data[(1 - B) * 64 + T]; // @gl_grid 2
}
KERNEL(good_gl_grid)
{
    data[B * 64 + T] = (int)T + 1;
    __syncthreads();
    if (!T) {
        __threadfence();
        atomicAdd(flag, 1);
        while (atomicAdd(flag, 0) < 2)
            ;
        __threadfence();
    }
    __syncthreads();
    OUT = data[(1 - B) * 64 + T];
}

//! bad_gl_release race "read after write"
KERNEL(bad_gl_release)
{
    if (!T && B == 0) {
        data[0] = 5; // @gl_release 1
        asm volatile("st.relaxed.gpu.u32 [%0], 1;" ::"l"(flag) : "memory");
    }
    if (!T && B == 1) {
        for (unsigned got = 0; !got;)
            asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(got) : "l"(flag) : "memory");
        OUT = data[0]; // @gl_release 2
    }
}
KERNEL(good_gl_release)
{
    if (!T && B == 0) {
        data[0] = 5;
        asm volatile("st.release.gpu.u32 [%0], 1;" ::"l"(flag) : "memory");
    }
    if (!T && B == 1) {
        for (unsigned got = 0; !got;)
            asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(got) : "l"(flag) : "memory");
        OUT = data[0];
    }
}

//! bad_gl_chain race "read after write" 4x64
KERNEL(bad_gl_chain)
{
    volatile unsigned *ready = flag;
    if (!T) {
        int sum = 0;
        if (B) {
            while (!ready[B - 1])
                ;
            __threadfence();
            sum = data[B - 1]; // @gl_chain 2
        }
        data[B] = sum + 1; // @gl_chain 1
        ;
        ready[B] = 1;
    }
}
KERNEL(good_gl_chain)
{
    volatile unsigned *ready = flag;
    if (!T) {
        int sum = 0;
        if (B) {
            while (!ready[B - 1])
                ;
            __threadfence();
            sum = data[B - 1];
        }
        data[B] = sum + 1;
        __threadfence();
        ready[B] = 1;
    }
}

//! bad_gl_bytes race "read after write"
KERNEL(bad_gl_bytes)
{
    signed char *bytes = (signed char *)data;
    bytes[B * 64 + T] = 1; // @gl_bytes 1
    OUT = bytes[(B * 64 + T) ^ 1]; // @gl_bytes 2
}
KERNEL(good_gl_bytes)
{
    signed char *bytes = (signed char *)data;
    bytes[B * 64 + T] = 1;
    OUT = bytes[(B * 64 + T) ^ 0];
}

//! bad_cp_nowait race "asynchronous copy may not have written"
KERNEL(bad_cp_nowait)
{
    __shared__ int s[128];
    copy_word(&s[T], &data[T]); // @cp_nowait 1
    COMMIT;
    ;
    OUT = s[T]; // @cp_nowait 2
}
KERNEL(good_cp_nowait)
{
    __shared__ int s[128];
    copy_word(&s[T], &data[T]);
    COMMIT;
    WAIT(0);
    OUT = s[T];
}

//! bad_cp_early race "asynchronous copy may not have written"
KERNEL(bad_cp_early)
{
    __shared__ int s[128];
    copy_word(&s[T], &data[T]);
    COMMIT;
    copy_word(&s[64 + T], &data[64 + T]); // @cp_early 1
    COMMIT;
    WAIT(1);
    OUT = s[T] + s[64 + T]; // @cp_early 2
}
KERNEL(good_cp_early)
{
    __shared__ int s[128];
    copy_word(&s[T], &data[T]);
    COMMIT;
    copy_word(&s[64 + T], &data[64 + T]);
    COMMIT;
    WAIT(0);
    OUT = s[T] + s[64 + T];
}

//! bad_cp_others race "read after write" more
KERNEL(bad_cp_others)
{
    __shared__ int s[128];
    copy_word(&s[T], &data[T]); // @cp_others 1
    COMMIT;
    WAIT(0);
    ;
    OUT = s[T ^ 32]; // @cp_others 2
}
KERNEL(good_cp_others)
{
    __shared__ int s[128];
    copy_word(&s[T], &data[T]);
    COMMIT;
    WAIT(0);
    __syncthreads();
    OUT = s[T ^ 32];
}

//! bad_cp_over race "asynchronous copy may still write"
KERNEL(bad_cp_over)
{
    __shared__ int s[128];
    copy_word(&s[T], &data[T]); // @cp_over 1
    COMMIT;
    ;
    s[T] = 3; // @cp_over 2
    WAIT(0);
    OUT = s[T];
}
KERNEL(good_cp_over)
{
    __shared__ int s[128];
    copy_word(&s[T], &data[T]);
    COMMIT;
    WAIT(0);
    s[T] = 3;
    WAIT(0);
    OUT = s[T];
}

//! bad_bulk race "asynchronous copy may not have written"
KERNEL(bad_bulk)
{
    __shared__ __align__(16) int s[64];
    __shared__ unsigned long long there;
    if (!T)
        barrier_init(&there, 1);
    __syncthreads();
    if (!T) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(at_shared(&there)) : "memory");
        copy_bulk(s, data, 256, &there); // @bulk 1
    }
    __syncthreads();
    ;
    OUT = s[T]; // @bulk 2
}
KERNEL(good_bulk)
{
    __shared__ __align__(16) int s[64];
    __shared__ unsigned long long there;
    if (!T)
        barrier_init(&there, 1);
    __syncthreads();
    if (!T) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(at_shared(&there)) : "memory");
        copy_bulk(s, data, 256, &there);
    }
    __syncthreads();
    while (!barrier_test(&there, 0))
        ;
    OUT = s[T];
}

//! bad_cl_read race "read after write" more
CLUSTER(bad_cl_read)
{
    __shared__ int s[64];
    s[T] = (int)T + 1; // @cl_read 1
    ;
    int *far = cg::this_cluster().map_shared_rank(s, B ^ 1);
    OUT = far[T]; // @cl_read 2
    cg::this_cluster().sync();
}
CLUSTER(good_cl_read)
{
    __shared__ int s[64];
    s[T] = (int)T + 1;
    cg::this_cluster().sync();
    int *far = cg::this_cluster().map_shared_rank(s, B ^ 1);
    OUT = far[T];
    cg::this_cluster().sync();
}

//! bad_cl_write race "read after write" more
CLUSTER(bad_cl_write)
{
    __shared__ int s[64];
    int *far = cg::this_cluster().map_shared_rank(s, B ^ 1);
    cg::this_cluster().sync();
    far[T] = (int)T + 1; // @cl_write 1
    __syncthreads();
    OUT = s[T]; // @cl_write 2
    cg::this_cluster().sync();
}
CLUSTER(good_cl_write)
{
    __shared__ int s[64];
    int *far = cg::this_cluster().map_shared_rank(s, B ^ 1);
    cg::this_cluster().sync();
    far[T] = (int)T + 1;
    cg::this_cluster().sync();
    OUT = s[T];
    cg::this_cluster().sync();
}

//! bad_in_global init "read of memory that was never written"
KERNEL(bad_in_global)
{
    ;
    OUT = fresh[B * 64 + T]; // @in_global 1
}
KERNEL(good_in_global)
{
    fresh[B * 64 + T] = 1;
    OUT = fresh[B * 64 + T];
}

//! bad_in_tail init "read of memory that was never written"
KERNEL(bad_in_tail)
{
    if (T < 63)
        fresh[128 + B * 64 + T] = 1;
    OUT = fresh[128 + B * 64 + T]; // @in_tail 1
}
KERNEL(good_in_tail)
{
    if (T < 64)
        fresh[128 + B * 64 + T] = 1;
    OUT = fresh[128 + B * 64 + T];
}

//! bad_in_shared init "read of memory that was never written"
KERNEL(bad_in_shared)
{
    __shared__ int s[128];
    ;
    OUT = s[T]; // @in_shared 1
}
KERNEL(good_in_shared)
{
    __shared__ int s[128];
    s[T] = 4;
    OUT = s[T];
}

//! bad_in_part init "read of memory that was never written"
KERNEL(bad_in_part)
{
    __shared__ int s[128];
    if (T < 32)
        s[T] = 4;
    __syncthreads();
    OUT = s[63 - T]; // @in_part 1
}
KERNEL(good_in_part)
{
    __shared__ int s[128];
    if (T < 64)
        s[T] = 4;
    __syncthreads();
    OUT = s[63 - T];
}

//! bad_in_byte init "read of memory that was never written"
KERNEL(bad_in_byte)
{
    signed char *bytes = (signed char *)&fresh[256 + B * 64 + T];
    for (int i = 0; i < 3; i++)
        bytes[i] = 1;
    OUT = *(volatile int *)bytes; // @in_byte 1
}
KERNEL(good_in_byte)
{
    signed char *bytes = (signed char *)&fresh[256 + B * 64 + T];
    for (int i = 0; i < 4; i++)
        bytes[i] = 1;
    OUT = *(volatile int *)bytes;
}

//! bad_in_atomic init "read of memory that was never written"
KERNEL(bad_in_atomic)
{
    if (!T)
        ;
    if (!T)
        OUT = atomicAdd(&fresh[512 + B], 1); // @in_atomic 1
}
KERNEL(good_in_atomic)
{
    if (!T)
        fresh[512 + B] = 0;
    if (!T)
        OUT = atomicAdd(&fresh[512 + B], 1);
}

//! bad_in_copy init "read of memory that was never written"
KERNEL(bad_in_copy)
{
    __shared__ int s[128];
    copy_word(&s[T], &fresh[600 + B * 64 + T]); // @in_copy 1
    COMMIT;
    WAIT(0);
    OUT = s[T];
}
KERNEL(good_in_copy)
{
    __shared__ int s[128];
    copy_word(&s[T], &data[600 + B * 64 + T]);
    COMMIT;
    WAIT(0);
    OUT = s[T];
}

//! bad_in_cluster init "read of memory that was never written"
CLUSTER(bad_in_cluster)
{
    __shared__ int s[64];
    ;
    cg::this_cluster().sync();
    OUT = cg::this_cluster().map_shared_rank(s, B ^ 1)[T]; // @in_cluster 1
    cg::this_cluster().sync();
}
CLUSTER(good_in_cluster)
{
    __shared__ int s[64];
    s[T] = 1;
    cg::this_cluster().sync();
    OUT = cg::this_cluster().map_shared_rank(s, B ^ 1)[T];
    cg::this_cluster().sync();
}

//! bad_sy_divergent sync "not all threads of the warp reach together"
KERNEL(bad_sy_divergent)
{
    if (T % 32 < 16)
        __syncthreads(); // @sy_divergent 1
    OUT = 1;
}
KERNEL(good_sy_divergent)
{
    if (T < 64)
        __syncthreads();
    OUT = 1;
}

//! bad_sy_lanes sync "not all threads of the warp reach together"
KERNEL(bad_sy_lanes)
{
    if (T & 1) {
        __syncthreads(); // @sy_lanes 1
        OUT = 1;
    } else {
        OUT = 2;
        __syncthreads(); // @sy_lanes 2
    }
}
KERNEL(good_sy_lanes)
{
    if (T < 64) {
        __syncthreads();
        OUT = 1;
    } else {
        OUT = 2;
        __syncthreads();
    }
}

//! bad_sy_warps sync "at different barriers"
KERNEL(bad_sy_warps)
{
    if (T < 32) {
        __syncthreads(); // @sy_warps 1
        OUT = 1;
    } else {
        OUT = 2;
        __syncthreads(); // @sy_warps 2
    }
}
KERNEL(good_sy_warps)
{
    if (T < 64) {
        __syncthreads();
        OUT = 1;
    } else {
        OUT = 2;
        __syncthreads();
    }
}

//! bad_sy_missing sync "waits for lanes which never come"
KERNEL(bad_sy_missing)
{
    if (T % 32 < 16)
        __syncwarp(); // @sy_missing 1
    OUT = 1;
    __syncthreads();
}
KERNEL(good_sy_missing)
{
    if (T % 32 < 16)
        __syncwarp(0xffff);
    OUT = 1;
    __syncthreads();
}

//! bad_sy_ballot sync "waits for lanes which never come"
KERNEL(bad_sy_ballot)
{
    if (T % 32 < 16)
        OUT = (int)__ballot_sync(0xffffffff, T & 1); // @sy_ballot 1
    __syncthreads();
}
KERNEL(good_sy_ballot)
{
    if (T % 32 < 16)
        OUT = (int)__ballot_sync(0xffff, T & 1);
    __syncthreads();
}

//! bad_sy_outside sync "its mask does not name"
KERNEL(bad_sy_outside)
{
    __syncwarp(0xffff); // @sy_outside 1
    OUT = 1;
}
KERNEL(good_sy_outside)
{
    __syncwarp(0xffffffff);
    OUT = 1;
}

//! bad_sy_shuffle sync "shuffle from a lane that takes no part"
KERNEL(bad_sy_shuffle)
{
    if (T % 32 < 16)
        OUT = __shfl_sync(0xffff, (int)T, 20); // @sy_shuffle 1
}
KERNEL(good_sy_shuffle)
{
    if (T % 32 < 16)
        OUT = __shfl_sync(0xffff, (int)T, 3);
}

//! bad_sy_shuffle_down sync "shuffle from a lane that takes no part"
KERNEL(bad_sy_shuffle_down)
{
    if (T % 32 < 16)
        OUT = __shfl_down_sync(0xffff, (int)T, 8); // @sy_shuffle_down 1
}
KERNEL(good_sy_shuffle_down)
{
    if (T % 32 < 16)
        OUT = __shfl_down_sync(0xffff, (int)T, 8, 16);
}

//! bad_sy_count sync "no multiple of the warp"
KERNEL(bad_sy_count)
{
    asm volatile("bar.sync 1, %0;" ::"r"(48 + data[9]) : "memory"); // @sy_count 1
    OUT = 1;
}
KERNEL(good_sy_count)
{
    asm volatile("bar.sync 1, %0;" ::"r"(64 + data[9]) : "memory");
    OUT = 1;
}

//! bad_sy_toomany sync "more threads than the block has left"
KERNEL(bad_sy_toomany)
{
    asm volatile("bar.arrive 1, 128;" ::: "memory"); // @sy_toomany 1
    OUT = 1;
}
KERNEL(good_sy_toomany)
{
    asm volatile("bar.sync 1, 64;" ::: "memory");
    OUT = 1;
}

//! bad_sy_uninit sync "was not initialized"
KERNEL(bad_sy_uninit)
{
    __shared__ unsigned long long gate;
    if (!T)
        ;
    __syncthreads();
    OUT = (int)barrier_test(&gate, 0); // @sy_uninit 1
}
KERNEL(good_sy_uninit)
{
    __shared__ unsigned long long gate;
    if (!T)
        barrier_init(&gate, 64);
    __syncthreads();
    OUT = (int)barrier_test(&gate, 0);
}

//! bad_sy_twice sync "that is in use"
KERNEL(bad_sy_twice)
{
    __shared__ unsigned long long gate;
    if (!T) {
        barrier_init(&gate, 64);
        ;
        barrier_init(&gate, 1); // @sy_twice 1
    }
}
KERNEL(good_sy_twice)
{
    __shared__ unsigned long long gate;
    if (!T) {
        barrier_init(&gate, 64);
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at_shared(&gate)) : "memory");
        barrier_init(&gate, 1);
    }
}

//! bad_sy_ended sync "was not initialized"
KERNEL(bad_sy_ended)
{
    __shared__ unsigned long long gate;
    if (!T) {
        barrier_init(&gate, 64);
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at_shared(&gate)) : "memory");
        ;
        OUT = (int)barrier_test(&gate, 0); // @sy_ended 1
    }
}
KERNEL(good_sy_ended)
{
    __shared__ unsigned long long gate;
    if (!T) {
        barrier_init(&gate, 64);
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at_shared(&gate)) : "memory");
        barrier_init(&gate, 8);
        OUT = (int)barrier_test(&gate, 0);
    }
}

//! bad_me_shared memory "beyond its array in shared memory"
KERNEL(bad_me_shared)
{
    __shared__ int s[64], other[64];
    other[T] = 5;
    s[T] = (int)T;
    __syncthreads();
    OUT = s[T + 1] + other[T]; // @me_shared 1
}
KERNEL(good_me_shared)
{
    __shared__ int s[64], other[64];
    other[T] = 5;
    s[T] = (int)T;
    __syncthreads();
    OUT = s[T ^ 1] + other[T];
}

//! bad_me_loop memory "beyond its array in shared memory" more
KERNEL(bad_me_loop)
{
    __shared__ int s[60], other[68];
    for (unsigned i = T; i < 64; i += 32)
        s[i] = (int)i; // @me_loop 1
    other[T] = 3;
    __syncthreads();
    OUT = s[T % 60] + other[T];
}
KERNEL(good_me_loop)
{
    __shared__ int s[64], other[64];
    for (unsigned i = T; i < 64; i += 32)
        s[i] = (int)i;
    other[T] = 3;
    __syncthreads();
    OUT = s[T % 60] + other[T];
}
