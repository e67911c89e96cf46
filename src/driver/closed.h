/* NVIDIA's libraries of kernels that come without PTX: their names, and what to use instead. */
#ifndef DRIVER_CLOSED_H
#define DRIVER_CLOSED_H

struct closed_library {
    const char *file;   /* how its file's name begins */
    const char *name;   /* "cuBLAS" */
    const char *remedy; /* "use ..." */
};

/* The library that this file is of, or NULL. */
const struct closed_library *closed_find(const char *path);

#endif
