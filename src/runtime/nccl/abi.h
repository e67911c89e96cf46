/* NCCL's functions and numbers, as nccl.h of NCCL 2 lays them out, and how functions are written. */
#ifndef RUNTIME_NCCL_ABI_H
#define RUNTIME_NCCL_ABI_H

#include "runtime/cuda/api.h"

enum { NCCL_VERSION = 22707 }; /* 2.27.7 */

typedef int ncclResult_t;
typedef int ncclDataType_t; /* collective_type of collective.h has the same numbers */
typedef int ncclRedOp_t;
typedef struct ncclComm *ncclComm_t;

enum nccl_result {
#define ERROR(code, name, text) NCCL_##name = code,
#include "runtime/nccl/errors.def"
#undef ERROR
};

enum { NCCL_SUM, NCCL_PROD, NCCL_MAX, NCCL_MIN, NCCL_AVG, NCCL_OPS };
enum { NCCL_TYPES = 12 };
enum { NCCL_SCALAR_DEVICE, NCCL_SCALAR_HOST };
enum { NCCL_NO_COLOR = -1 };
enum { NCCL_UNDEFINED = INT32_MIN }; /* of a config */

typedef struct {
    char internal[128];
} ncclUniqueId;

/* The part that all versions have. */
typedef struct {
    size_t size;
    unsigned magic, version;
    int blocking, cgaClusterSize, minCTAs, maxCTAs;
} ncclConfig_t;
enum { NCCL_CONFIG_MAGIC = (int)0xcafebeef };

/* Every function has a second name, which begins with a p. */
#define NCCL(name, ...)                                                                                      \
    EXPORT ncclResult_t name(__VA_ARGS__);                                                                   \
    EXPORT extern __typeof__(name) p##name __attribute__((alias(#name)));                                    \
    ncclResult_t name(__VA_ARGS__)

/* Keeps words for ncclGetLastError, and gives the result back. */
ncclResult_t nccl_fail(ncclResult_t result, const char *format, ...)
    __attribute__((format(__printf__, 2, 3)));
ncclResult_t nccl_of(enum result result); /* of the driver */

#endif
