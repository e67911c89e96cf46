/* Texture and surface references: variables of a module (.texref, .surfref) that kernels fetch by name. Such
 * a variable holds the handle of a texture object, which is made anew when what the reference is bound to, or
 * how it is read, changes. That waits for the device, as kernels that were launched before still use the old
 * one. */
#ifndef RUNTIME_CUDA_TEXREF_H
#define RUNTIME_CUDA_TEXREF_H

#include "runtime/cuda/array.h"

struct texref {
    struct texref *next;
    struct module *module; /* NULL: made by cuTexRefCreate, and of no module */
    struct device *device;
    char *name;
    bool is_surface, is_bound;
    struct texture_source source; /* the resource counts while it is bound */
    enum array_format format;     /* of linear memory that is bound, as are these */
    unsigned channels;
    unsigned flags;            /* CU_TRSF_... */
    bool by_runtime;           /* how it is read is the runtime's words: not by format and flags */
    uint64_t offset;           /* from where it is bound to the address that was given */
    unsigned long long object; /* 0: none */
    uint64_t variable;         /* address */
};

/* The module's on the current device; SYMBOL_NOT_FOUND when it has no such variable. */
cudaError_t texref_find(struct module *module, const char *name, bool is_surface, struct texref **ref);
bool texref_is_known(const struct texref *ref);
struct texref *texref_new(void); /* of no module */
void texref_free(struct texref *ref);
void texref_forget(struct module *module);     /* which is unloaded next */
void texref_lost(const struct device *device); /* which is reset: its variables and objects are gone */

/* To what source.resource says, or to nothing. */
cudaError_t texref_bind(struct texref *ref);
void texref_unbind(struct texref *ref);
/* How it is read has changed. */
void texref_change(struct texref *ref);

/* Linear memory from where textures may begin; the rest is `offset`. */
void *texref_align(struct texref *ref, const void *memory);

#endif
