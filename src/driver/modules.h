/* Internals of modules: their parts as they were loaded, and the copy of each device. */
#ifndef DRIVER_MODULES_H
#define DRIVER_MODULES_H

#include "driver/internal.h"

/* PTX text, a fatbin, a code object of AMD's, or NVIDIA's machine code. */
struct part {
    char *name;
    const void *image;
    size_t bytes;
    void *owned; /* the copy it is, or NULL */
};

struct module_copy {
    struct program *program;  /* NULL: not made yet */
    struct module_code *code; /* in its place, of a code object */
    bool tried;
    uint64_t object;    /* of a machine in another process: what it is there */
    bool uses_heap;     /* something in it calls malloc */
    enum result result; /* of the try */
    char *why;
    uint64_t *variables; /* addresses, of those that are this device's */
    size_t variable_count, variable_capacity;
};

struct managed_variable {
    uint64_t address, bytes;
};

struct function_copy {
    struct kernel *kernel; /* NULL: not looked for yet */
    const char *name;      /* for records */
    bool ready;            /* prepared */
    bool uses_heap;        /* its module does */
    int64_t max_dynamic;   /* as set; -1: not set */
    int carveout, cache, non_portable;
};

struct function {
    struct function *next; /* of the module */
    struct module *module;
    char *name;
    struct function_copy on[]; /* by device */
};

struct module {
    struct driver *driver;
    struct module *next; /* of the driver */
    pthread_mutex_t lock;
    struct part *parts;
    size_t part_count, part_capacity;
    struct names managed_names; /* managed variables are one for all devices */
    struct managed_variable *managed;
    size_t managed_capacity;
    struct function *functions;
    bool reported;           /* that it cannot be used */
    struct module_copy on[]; /* by device */
};

/* ---- module_copy.c: from parts to a program; with the module's lock held ---- */

/* Makes the copy of a device; its result is told from then on. */
enum result module_make(struct module *module, struct device *device);
void module_unmake(struct module *module, struct device *device);

/* ---- module_code.c: the same for a code object; with the module's lock held ---- */

bool module_has_code(const struct module *module);
enum result module_code_make(struct module *module, struct device *device);
void module_code_unmake(struct module_copy *copy, struct driver *driver);
enum result module_code_kernel(struct module_code *code, const char *name, struct kernel **kernel);
const char *module_code_kernel_name(const struct module_code *code, size_t index); /* NULL beyond the last */
/* The kernarg segment of a launch, from its explicit arguments. Arguments that point to LDS are not among
 * them: they have the launch's dynamic part of it. */
enum result module_code_pack(const struct kernel *kernel, const struct launch_config *config,
                             void *const *arguments, void *segment);
bool module_code_is(const struct kernel *kernel); /* of a code object */
bool module_code_symbol(const struct module_code *code, const char *name, struct symbol *symbol);

/* ---- function.c ---- */

void function_free(struct function *function);
void function_leave(struct function *function, const struct device *device);

/* The kernel's copy on the device, made ready where it can be. */
enum result function_find(struct function *function, struct device *device, struct function_copy **copy);
/* And ready to run. */
enum result function_prepare(struct function *function, struct device *device, struct function_copy **copy);

struct launch_config;
struct locality_blocks;
/* A launch of a replayed kernel (replaying.c), as a command that is not submitted yet. */
enum result function_replay(struct stream *stream, const struct function_copy *copy,
                            const struct launch_config *config, const struct locality_blocks *places,
                            struct command **command);

struct occupancy_need;
/* What the function needs of an SM, for blocks of so many threads with so much dynamic shared memory. */
void function_need(const struct function_copy *copy, uint64_t threads, uint64_t dynamic_shared,
                   struct occupancy_need *need);

/* Of one that nothing was set of. */
void function_usual_facts(const struct device *device, const struct kernel *kernel,
                          struct function_facts *facts);

#endif
