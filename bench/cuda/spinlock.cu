#include "native.cuh"
#include "spinlock.c"

/* The work under the lock, and the lock's release. */
static __device__ void work(unsigned *lock, volatile unsigned *counter, unsigned *order)
{
    __threadfence(); /* what holders before wrote is seen */
    unsigned turn = *counter;
    order[turn] = blockIdx.x * blockDim.x + threadIdx.x;
    *counter = turn + 1;
    __threadfence(); /* before the lock is seen free */
    atomicExch(lock, 0);
}

/* state: the lock, the counter; order: who took the lock, in turn */
extern "C" __global__ void spinlock(unsigned rounds, unsigned *state, unsigned *order)
{
    for (unsigned round = 0; round < rounds; round++) {
        bool taken = false;
        while (!taken) {
            taken = atomicCAS(&state[0], 0, 1) == 0;
            if (taken)
                work(&state[0], &state[1], order);
        }
    }
}

extern "C" __global__ void spinlock_after(unsigned rounds, unsigned *state, unsigned *order)
{
    for (unsigned round = 0; round < rounds; round++) {
        while (atomicCAS(&state[0], 0, 1) != 0)
            ;
        work(&state[0], &state[1], order);
    }
}

WORKLOAD_MAIN(spinlock, KERNEL(spinlock) KERNEL(spinlock_after))
