/* Gravity between all pairs of bodies, by tiles in shared memory, step by step. Sums are taken in the order
 * of the bodies, so only the GPU's reciprocal square root (2 ulp) differs from the reference's. */
#include "workload.h"

enum { NBODY_BLOCK = 64 };
#define NBODY_SOFTENING 0.01f
#define NBODY_DT        0.001f

enum { NBODY_N, NBODY_STEPS };
static const struct workload_option nbody_options[] = {
    {"n", 512, 1, 1u << 20, "bodies"},
    {"steps", 2, 1, 10000, "steps in time"},
    {0, 0, 0, 0, 0},
};

struct nbody_vector { /* as the kernel's float4; w of a body: its mass */
    float x, y, z, w;
};

static void nbody_accelerate(struct nbody_vector *a, const struct nbody_vector *me,
                             const struct nbody_vector *other)
{
    float x = other->x - me->x, y = other->y - me->y, z = other->z - me->z;
    float square = fmaf(x, x, fmaf(y, y, fmaf(z, z, NBODY_SOFTENING)));
    float inverse = (float)(1 / sqrt((double)square)), pull = other->w * inverse * inverse * inverse;
    a->x = fmaf(pull, x, a->x), a->y = fmaf(pull, y, a->y), a->z = fmaf(pull, z, a->z);
}

static void nbody_step(uint32_t n, const struct nbody_vector *bodies, struct nbody_vector *velocities,
                       struct nbody_vector *moved)
{
    for (uint32_t i = 0; i < n; i++) {
        struct nbody_vector a = {0, 0, 0, 0}, *v = &velocities[i];
        for (uint32_t j = 0; j < n; j++)
            nbody_accelerate(&a, &bodies[i], &bodies[j]);
        v->x = fmaf(a.x, NBODY_DT, v->x), v->y = fmaf(a.y, NBODY_DT, v->y), v->z = fmaf(a.z, NBODY_DT, v->z);
        moved[i].x = fmaf(v->x, NBODY_DT, bodies[i].x);
        moved[i].y = fmaf(v->y, NBODY_DT, bodies[i].y);
        moved[i].z = fmaf(v->z, NBODY_DT, bodies[i].z);
        moved[i].w = bodies[i].w;
    }
}

static void nbody_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[NBODY_N];
    size_t bytes = n * sizeof(struct nbody_vector);
    struct nbody_vector *bodies = (struct nbody_vector *)dev_host(gpu, bytes);
    struct nbody_vector *moved = (struct nbody_vector *)dev_host(gpu, bytes);
    struct nbody_vector *velocities = (struct nbody_vector *)dev_host(gpu, bytes);
    struct nbody_vector *got = (struct nbody_vector *)dev_host(gpu, bytes);
    void *device_bodies = dev_alloc(gpu, bytes), *device_moved = dev_alloc(gpu, bytes);
    void *device_velocities = dev_alloc(gpu, bytes);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++) {
        bodies[i].x = workload_unit(&seed), bodies[i].y = workload_unit(&seed);
        bodies[i].z = workload_unit(&seed), bodies[i].w = workload_unit(&seed) / (float)n;
    }
    dev_upload(gpu, device_bodies, bodies, bytes);
    dev_fill(gpu, device_velocities, 0, bytes);
    for (uint64_t step = 0; step < options[NBODY_STEPS]; step++) {
        DEV_LAUNCH(gpu, "nbody", dev_dim((n + NBODY_BLOCK - 1) / NBODY_BLOCK, 1, 1),
                   dev_dim(NBODY_BLOCK, 1, 1), 0, &n, &device_bodies, &device_velocities, &device_moved);
        nbody_step(n, bodies, velocities, moved);
        void *device_swap = device_bodies;
        struct nbody_vector *swap = bodies;
        device_bodies = device_moved, device_moved = device_swap;
        bodies = moved, moved = swap;
    }
    dev_download(gpu, got, device_bodies, bytes);
    dev_expect_floats(gpu, "bodies", &got->x, &bodies->x, n * (size_t)4, 1e-6f);
    dev_download(gpu, got, device_velocities, bytes);
    dev_expect_floats(gpu, "velocities", &got->x, &velocities->x, n * (size_t)4, 1e-6f);
}

const struct workload nbody_workload = {"nbody", "gravity between all pairs", nbody_options, nbody_run};
