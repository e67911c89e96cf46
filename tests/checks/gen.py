H='''// Small kernels with one mistake each, and their correct twins. tests/cli/check.sh launches them all: a kernel bad_X must
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
#define copy_word(to, from) \\
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at_shared(to)), "l"(from) : "memory")
#define copy_bulk(to, from, bytes, gate) \\
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"( \\
                     at_shared(to)), "l"(from), "r"(bytes), "r"(at_shared(gate)) : "memory")
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group " #n ";" ::: "memory")
#define barrier_init(at, count) \\
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at_shared(at)), "r"(count) : "memory")
#define barrier_test(at, phase) \\
    ({ unsigned done; \\
       asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" \\
                    : "=r"(done) : "r"(at_shared(at)), "r"(phase) : "memory"); \\
       done; })
'''
out=[H]
def pair(name, spec, bad, good, attr='KERNEL'):
    out.append(f"\n//! bad_{name} {spec}\n{attr}(bad_{name})\n{{\n{bad.strip(chr(10))}\n}}\n{attr}(good_{name})\n{{\n{good.strip(chr(10))}\n}}\n")
def edit(name, spec, bad, old, new, attr='KERNEL'):
    import re
    assert old in bad,(name,old)
    good=re.sub(r' *// @\w+ \d','',bad.replace(old,new,1))
    pair(name,spec,bad,good,attr)
RAW='race "read after write"'; WAR='race "write after read"'; WAW='race "write after write"'
S='    __shared__ int s[128];\n'
edit('sh_raw',RAW,S+'''    s[T] = (int)T + 1; // @sh_raw 1
    ;
    OUT = s[T ^ 32]; // @sh_raw 2''','    ;\n','    __syncthreads();\n')
edit('sh_raw_warp',RAW,S+'''    s[T] = (int)T + 1; // @sh_raw_warp 1
    ;
    OUT = s[T ^ 1]; // @sh_raw_warp 2''','    ;\n','    __syncwarp();\n')
edit('sh_war',WAR+' more',S+'''    s[T] = (int)T;
    __syncthreads();
    int v = s[T ^ 33]; // @sh_war 1
    ;
    s[T] = v + (int)T * 3; // @sh_war 2''','    ;\n','    __syncthreads();\n')
edit('sh_waw',WAW,S+'''    s[T & 0] = (int)T; // @sh_waw 1 // @sh_waw 2
    __syncthreads();
    OUT = s[0];''','s[T & 0]','s[T]')
edit('sh_reduce',RAW,S+'''    s[T] = data[T];
    __syncthreads();
    for (unsigned d = 32; d; d /= 2) {
        if (T < d)
            s[T] += s[T + d]; // @sh_reduce 1 // @sh_reduce 2
        ;
    }
    if (!T)
        data[1024 + B] = s[0];''','        ;\n','        __syncthreads();\n')
edit('sh_part_mask',RAW,S+'''    s[T] = (int)T; // @sh_part_mask 1
    if (T < 16)
        __syncwarp(0xffff);
    if (T < 16)
        OUT = s[T + 8]; // @sh_part_mask 2''','s[T + 8]','s[15 - T]')
edit('sh_named',RAW+' 1x128',S+'''    s[T] = (int)T; // @sh_named 1
    if (T < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        data[T] = s[T + 64]; // @sh_named 2
    }''','s[T + 64]','s[63 - T]')
edit('sh_atomic_plain',RAW,S+'''    if (!T)
        s[0] = 0;
    __syncthreads();
    atomicAdd(&s[0], (int)T); // @sh_atomic_plain 1
    ;
    if (!T)
        data[1024 + B] = s[0]; // @sh_atomic_plain 2''','    ;\n','    __syncthreads();\n')
edit('sh_leader',RAW,S+'''    if (!T)
        s[0] = data[5]; // @sh_leader 1
    __syncwarp();
    OUT = s[0]; // @sh_leader 2''','__syncwarp','__syncthreads')
edit('sh_bytes',RAW,'''    __shared__ signed char s[65];
    s[T] = (signed char)T; // @sh_bytes 1
    if (T)
        OUT = s[T - 1]; // @sh_bytes 2''','s[T - 1]','s[T]')
edit('sh_loop',WAR+' more',S+'''    int sum = 0;
    for (int i = 0; i < 4; i++) {
        s[T] = i * (int)T; // @sh_loop 2
        __syncthreads();
        sum += s[T ^ 33]; // @sh_loop 1
        ;
    }
    OUT = sum;''','        ;\n','        __syncthreads();\n')
edit('sh_flag',RAW,'''    __shared__ int s[4];
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
    }''','        ;\n        ready','        __threadfence_block();\n        ready')
edit('sh_histogram',WAR,S+'''    s[T] = 0;
    __syncthreads();
    s[T / 2]++; // @sh_histogram 1 // @sh_histogram 2
    __syncthreads();
    OUT = s[T];''','s[T / 2]++','atomicAdd(&s[T / 2], 1)')
edit('gl_waw',WAW,'''    if (!T)
        data[B & 0] = (int)B; // @gl_waw 1 // @gl_waw 2''','data[B & 0]','data[B]')
edit('gl_raw',RAW,'''    if (B == 0)
        data[T] = (int)T + 1; // @gl_raw 1
    if (B == 1)
        data[64 + T] = data[T]; // @gl_raw 2''','= data[T];','= data[128 + T];')
edit('gl_war',WAR,'''    if (B == 0)
        data[64 + T] = data[T]; // @gl_war 1
    if (B == 1)
        data[T] = 7; // @gl_war 2''','data[T] = 7','data[128 + T] = 7')
edit('gl_block',RAW,'''    data[B * 64 + T] = (int)T; // @gl_block 1
    ;
    OUT = data[B * 64 + (T ^ 32)]; // @gl_block 2''','    ;\n','    __syncthreads();\n')
edit('gl_warp',RAW+' 1x32','''    data[T] = (int)T; // @gl_warp 1
    ;
    OUT = data[T ^ 1]; // @gl_warp 2''','    ;\n','    __syncwarp();\n')
edit('gl_atomic_plain',RAW,'''    atomicAdd(&data[0], 1); // @gl_atomic_plain 1
    if (T == 63 && B == 1)
        OUT = data[0]; // @gl_atomic_plain 2''','OUT = data[0]','OUT = atomicAdd(&data[0], 0)')
LAST='''    __shared__ bool last;
    if (!T) {
        data[B] = (int)B + 1; // @%s 1
        %s;
        last = atomicAdd(flag, 1) == 1;
        __threadfence();
    }
    __syncthreads();
    if (last && T < 2)
        OUT = data[T]; // @%s 2'''
edit('gl_last',RAW,LAST%('gl_last','','gl_last'),'        ;\n','        __threadfence();\n')
edit('gl_last_block',RAW,LAST%('gl_last_block','__threadfence_block()','gl_last_block'),'__threadfence_block()','__threadfence()')
edit('gl_last_all',RAW,'''    __shared__ bool last;
    data[B * 64 + T] = (int)T + 1; // @gl_last_all 1
    __threadfence();
    ;
    if (!T)
        last = atomicAdd(flag, 1) == 1;
    __syncthreads();
    if (last)
        OUT = data[(1 - B) * 64 + T]; // @gl_last_all 2''','    ;\n','    __syncthreads();\n')
edit('gl_flag_plain',RAW,'''    if (!T && B == 0)
        *flag = 1; // @gl_flag_plain 1
    if (!T && B == 1)
        OUT = (int)*flag; // @gl_flag_plain 2''','if (!T && B == 1)\n        OUT = (int)*flag;','if (!T && B == 0)\n        OUT = (int)*flag;')
edit('gl_flag',RAW,'''    if (!T && B == 0) {
        data[0] = 5; // @gl_flag 1
        ;
        atomicExch(flag, 1);
    }
    if (!T && B == 1) {
        while (!atomicAdd(flag, 0))
            ;
        __threadfence();
        OUT = data[0]; // @gl_flag 2
    }''','        ;\n        atomicExch','        __threadfence();\n        atomicExch')
edit('gl_volatile',RAW,'''    volatile unsigned *ready = flag;
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
    }''','        ;\n        *ready','        __threadfence();\n        *ready')
edit('gl_counter',RAW+' more','''    if (!T)
        data[0] += (int)B + 1; // @gl_counter 1 // @gl_counter 2''','data[0] += (int)B + 1','atomicAdd(&data[0], (int)B + 1)')
LOCK='''    if (!T) {
        while (atomicCAS(flag, 0, 1))
            ;
        __threadfence();
        data[0] += (int)B + 1; // @%s 1 // @%s 2
        %s;
        atomicExch(flag, 0);
    }'''
edit('gl_lock',RAW+' more',LOCK%('gl_lock','gl_lock',''),'        ;\n        atomicExch','        __threadfence();\n        atomicExch')
edit('gl_scope',RAW,'''    if (!T)
        atomicAdd_block(&data[0], 1); // @gl_scope 1 // @gl_scope 2''','atomicAdd_block','atomicAdd')
edit('gl_grid',RAW,'''    data[B * 64 + T] = (int)T + 1; // @gl_grid 1
    __syncthreads();
    if (!T) {
        ;
        atomicAdd(flag, 1);
        while (atomicAdd(flag, 0) < 2)
            ;
        __threadfence();
    }
    __syncthreads();
    OUT = data[(1 - B) * 64 + T]; // @gl_grid 2''','        ;\n        atomicAdd','        __threadfence();\n        atomicAdd')
edit('gl_release',RAW,'''    if (!T && B == 0) {
        data[0] = 5; // @gl_release 1
        asm volatile("st.relaxed.gpu.u32 [%0], 1;" ::"l"(flag) : "memory");
    }
    if (!T && B == 1) {
        for (unsigned got = 0; !got;)
            asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(got) : "l"(flag) : "memory");
        OUT = data[0]; // @gl_release 2
    }''','st.relaxed','st.release')
edit('gl_chain',RAW+' 4x64','''    volatile unsigned *ready = flag;
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
    }''','        ;\n        ready[B]','        __threadfence();\n        ready[B]')
edit('gl_bytes',RAW,'''    signed char *bytes = (signed char *)data;
    bytes[B * 64 + T] = 1; // @gl_bytes 1
    OUT = bytes[(B * 64 + T) ^ 1]; // @gl_bytes 2''','^ 1]','^ 0]')
AR='race "asynchronous copy may not have written"'; AW='race "asynchronous copy may still write"'
edit('cp_nowait',AR,S+'''    copy_word(&s[T], &data[T]); // @cp_nowait 1
    COMMIT;
    ;
    OUT = s[T]; // @cp_nowait 2''','    ;\n    OUT','    WAIT(0);\n    OUT')
edit('cp_early',AR,S+'''    copy_word(&s[T], &data[T]);
    COMMIT;
    copy_word(&s[64 + T], &data[64 + T]); // @cp_early 1
    COMMIT;
    WAIT(1);
    OUT = s[T] + s[64 + T]; // @cp_early 2''','WAIT(1)','WAIT(0)')
edit('cp_others',RAW,S+'''    copy_word(&s[T], &data[T]); // @cp_others 1
    COMMIT;
    WAIT(0);
    ;
    OUT = s[T ^ 32]; // @cp_others 2''','    ;\n    OUT','    __syncthreads();\n    OUT')
edit('cp_over',AW,S+'''    copy_word(&s[T], &data[T]); // @cp_over 1
    COMMIT;
    ;
    s[T] = 3; // @cp_over 2
    WAIT(0);
    OUT = s[T];''','    ;\n    s[T]','    WAIT(0);\n    s[T]')
BULK='''    __shared__ __align__(16) int s[64];
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
    OUT = s[T]; // @bulk 2'''
edit('bulk',AR,BULK,'    ;\n    OUT','    while (!barrier_test(&there, 0))\n        ;\n    OUT')
edit('cl_read',RAW,'''    __shared__ int s[64];
    s[T] = (int)T + 1; // @cl_read 1
    ;
    int *far = cg::this_cluster().map_shared_rank(s, B ^ 1);
    OUT = far[T]; // @cl_read 2
    cg::this_cluster().sync();''','    ;\n','    cg::this_cluster().sync();\n','CLUSTER')
edit('cl_write',RAW,'''    __shared__ int s[64];
    int *far = cg::this_cluster().map_shared_rank(s, B ^ 1);
    cg::this_cluster().sync();
    far[T] = (int)T + 1; // @cl_write 1
    __syncthreads();
    OUT = s[T]; // @cl_write 2
    cg::this_cluster().sync();''','    __syncthreads();\n','    cg::this_cluster().sync();\n','CLUSTER')
IN='init "read of memory that was never written"'
edit('in_global',IN,'''    ;
    OUT = fresh[B * 64 + T]; // @in_global 1''','    ;\n','    fresh[B * 64 + T] = 1;\n')
edit('in_tail',IN,'''    if (T < 63)
        fresh[128 + B * 64 + T] = 1;
    OUT = fresh[128 + B * 64 + T]; // @in_tail 1''','T < 63','T < 64')
edit('in_shared',IN,S+'''    ;
    OUT = s[T]; // @in_shared 1''','    ;\n','    s[T] = 4;\n')
edit('in_part',IN,S+'''    if (T < 32)
        s[T] = 4;
    __syncthreads();
    OUT = s[63 - T]; // @in_part 1''','T < 32','T < 64')
edit('in_byte',IN,'''    signed char *bytes = (signed char *)&fresh[256 + B * 64 + T];
    for (int i = 0; i < 3; i++)
        bytes[i] = 1;
    OUT = *(volatile int *)bytes; // @in_byte 1''','i < 3','i < 4')
edit('in_atomic',IN,'''    if (!T)
        ;
    if (!T)
        OUT = atomicAdd(&fresh[512 + B], 1); // @in_atomic 1''','        ;\n','        fresh[512 + B] = 0;\n')
edit('in_copy',IN,S+'''    copy_word(&s[T], &fresh[600 + B * 64 + T]); // @in_copy 1
    COMMIT;
    WAIT(0);
    OUT = s[T];''','&fresh[600','&data[600')
edit('in_cluster',IN,'''    __shared__ int s[64];
    ;
    cg::this_cluster().sync();
    OUT = cg::this_cluster().map_shared_rank(s, B ^ 1)[T]; // @in_cluster 1
    cg::this_cluster().sync();''','    ;\n','    s[T] = 1;\n','CLUSTER')
edit('sy_divergent','sync "not all threads of the warp reach together"','''    if (T % 32 < 16)
        __syncthreads(); // @sy_divergent 1
    OUT = 1;''','T % 32 < 16','T < 64')
edit('sy_lanes','sync "not all threads of the warp reach together"','''    if (T & 1) {
        __syncthreads(); // @sy_lanes 1
        OUT = 1;
    } else {
        OUT = 2;
        __syncthreads(); // @sy_lanes 2
    }''','T & 1','T < 64')
edit('sy_warps','sync "at different barriers"','''    if (T < 32) {
        __syncthreads(); // @sy_warps 1
        OUT = 1;
    } else {
        OUT = 2;
        __syncthreads(); // @sy_warps 2
    }''','T < 32','T < 64')
edit('sy_missing','sync "waits for lanes which never come"','''    if (T % 32 < 16)
        __syncwarp(); // @sy_missing 1
    OUT = 1;
    __syncthreads();''','__syncwarp()','__syncwarp(0xffff)')
edit('sy_ballot','sync "waits for lanes which never come"','''    if (T % 32 < 16)
        OUT = (int)__ballot_sync(0xffffffff, T & 1); // @sy_ballot 1
    __syncthreads();''','0xffffffff','0xffff')
edit('sy_outside','sync "its mask does not name"','''    __syncwarp(0xffff); // @sy_outside 1
    OUT = 1;''','0xffff','0xffffffff')
edit('sy_shuffle','sync "shuffle from a lane that takes no part"','''    if (T % 32 < 16)
        OUT = __shfl_sync(0xffff, (int)T, 20); // @sy_shuffle 1''','20)','3)')
edit('sy_shuffle_down','sync "shuffle from a lane that takes no part"','''    if (T % 32 < 16)
        OUT = __shfl_down_sync(0xffff, (int)T, 8); // @sy_shuffle_down 1''','8)','8, 16)')
edit('sy_count','sync "no multiple of the warp"','''    asm volatile("bar.sync 1, %0;" ::"r"(48 + data[9]) : "memory"); // @sy_count 1
    OUT = 1;''','48','64')
edit('sy_toomany','sync "more threads than the block has left"','''    asm volatile("bar.arrive 1, 128;" ::: "memory"); // @sy_toomany 1
    OUT = 1;''','bar.arrive 1, 128','bar.sync 1, 64')
MB='    __shared__ unsigned long long gate;\n'
edit('sy_uninit','sync "was not initialized"',MB+'''    if (!T)
        ;
    __syncthreads();
    OUT = (int)barrier_test(&gate, 0); // @sy_uninit 1''','        ;\n','        barrier_init(&gate, 64);\n')
edit('sy_twice','sync "that is in use"',MB+'''    if (!T) {
        barrier_init(&gate, 64);
        ;
        barrier_init(&gate, 1); // @sy_twice 1
    }''','        ;\n','        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at_shared(&gate)) : "memory");\n')
edit('sy_ended','sync "was not initialized"',MB+'''    if (!T) {
        barrier_init(&gate, 64);
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at_shared(&gate)) : "memory");
        ;
        OUT = (int)barrier_test(&gate, 0); // @sy_ended 1
    }''','        ;\n','        barrier_init(&gate, 8);\n')
open('kernels.cu','w').write(''.join(out))
