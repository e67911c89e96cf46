/* What NVIDIA's profiler measured, from its CSV: `ncu --csv --page raw`, `--page details`, or with --metrics.
 * Values are in base units (ns, byte, Hz, ...). Any bytes are safe to read. */
#ifndef NCU_NCU_H
#define NCU_NCU_H

#include "base/err.h"
#include "base/names.h"

#include <stdint.h>

struct ncu_value {
    uint32_t metric; /* number in the table's names */
    double value;
};

struct ncu_launch {
    char *kernel; /* as ncu has it: "void scale<float>(float*, int)" */
    char *id;
    struct ncu_value *values;
    size_t count, capacity;
};

struct ncu_table {
    struct names metrics;        /* "gpu__time_duration.sum" */
    struct ncu_launch *launches; /* in their order */
    size_t count, capacity;
};

/* Ends with ncu_fini. False: it is no such file, with its name and the line in err. */
bool ncu_read(struct ncu_table *table, const char *path, struct err *err);
bool ncu_read_text(struct ncu_table *table, const char *name, const char *text, size_t bytes,
                   struct err *err);
void ncu_fini(struct ncu_table *table);

/* The value of a metric of a launch; false: it was not measured. */
bool ncu_find(const struct ncu_table *table, const struct ncu_launch *launch, const char *metric,
              double *value);

/* Whether ncu's name of a kernel is that which Heddle gives (demangled, maybe with short arguments) or its
 * mangled one. */
bool ncu_same_kernel(const char *ncu, const char *name, const char *mangled);

#endif
