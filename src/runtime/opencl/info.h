/* What the functions clGet...Info give. In a function with the parameters bytes, value and needed:
 *
 *   switch (name) {
 *       INFO(CL_QUEUE_DEVICE, cl_device_id, queue->device)
 *       INFO_TEXT(CL_PROGRAM_SOURCE, program->source)
 *       INFO_BYTES(CL_CONTEXT_DEVICES, context->devices, count * sizeof *context->devices)
 *   default:
 *       return CL_INVALID_VALUE;
 *   } */
#ifndef RUNTIME_OPENCL_INFO_H
#define RUNTIME_OPENCL_INFO_H

#include "runtime/opencl/objects.h"

/* CL_INVALID_VALUE when there is a place and it is too small. */
cl_int opencl_info(const void *from, size_t from_bytes, size_t bytes, void *value, size_t *needed);

#define INFO(name, type, ...)                                                                                \
    case name: {                                                                                             \
        type given = (type)(__VA_ARGS__);                                                                    \
        return opencl_info(&given, sizeof given, bytes, value, needed);                                      \
    }
#define INFO_TEXT(name, ...)                                                                                 \
    case name: {                                                                                             \
        const char *given = (__VA_ARGS__);                                                                   \
        return opencl_info(given ? given : "", given ? strlen(given) + 1 : 1, bytes, value, needed);         \
    }
#define INFO_BYTES(name, from, from_bytes)                                                                   \
    case name:                                                                                               \
        return opencl_info(from, from_bytes, bytes, value, needed);

#endif
