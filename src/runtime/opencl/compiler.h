/* From OpenCL C to code objects: clang as a process of its own, with AMD's device libraries, and a cache of
 * what it made.
 *
 * A program is compiled to an object (LLVM's bitcode), and objects are linked to an executable (a code
 * object) or a library (bitcode again). Building does both. */
#ifndef RUNTIME_OPENCL_COMPILER_H
#define RUNTIME_OPENCL_COMPILER_H

#include "base/text.h"
#include "runtime/opencl/objects.h"

/* Whether there is a clang that can be used. */
bool opencl_compiler_is_there(void);

struct opencl_words { /* a list of options; ends in NULL once one was added */
    char **at;
    size_t count, capacity;
};

/* What options mean to the steps of a build. */
struct opencl_options {
    struct opencl_words words; /* for the compiler */
    bool unsafe_math, finite_only, correct_sqrt;
    bool creates_library; /* of a link */
};

/* False for an option that is not known, which `log` then names. */
bool opencl_options_parse(struct opencl_options *options, const char *text, bool is_link, struct text *log);
void opencl_options_fini(struct opencl_options *options);
void opencl_words_add(struct opencl_words *words, const char *format, ...)
    __attribute__((format(__printf__, 2, 3)));
void opencl_words_fini(struct opencl_words *words);

struct opencl_header {
    const char *name, *text;
};

struct opencl_bytes {
    const void *at;
    size_t bytes;
};

enum opencl_built { OPENCL_BUILT = 0, OPENCL_BUILD_FAILED, OPENCL_NO_COMPILER };

/* The code object of a source. What the compiler says goes to `log`, also when it is content. */
enum opencl_built opencl_build(const char *source, const char *target, const struct opencl_options *options,
                               struct text *made, struct text *log);

/* The object of a source, which may include these headers. */
enum opencl_built opencl_compile(const char *source, const struct opencl_header *headers, size_t header_count,
                                 const char *target, const struct opencl_options *options, struct text *made,
                                 struct text *log);

/* The code object, or library, of objects and libraries. */
enum opencl_built opencl_link(const struct opencl_bytes *objects, size_t count, const char *target,
                              const struct opencl_options *options, struct text *made, struct text *log);

/* What was made of the same input before. */
struct opencl_cache_key {
    uint64_t words[2];
};
void opencl_cache_add(struct opencl_cache_key *key, const void *bytes, size_t count);
bool opencl_cache_get(const struct opencl_cache_key *key, struct text *made, struct text *log);
void opencl_cache_put(const struct opencl_cache_key *key, const struct text *made, const struct text *log);

#endif
