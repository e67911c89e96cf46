#include "runtime/opencl/objects.h"
#include "base/mem.h"
#include "runtime/opencl/descriptors.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/info.h"
#include "runtime/opencl/svm.h"

bool opencl_context_has(cl_context context, cl_device_id device)
{
    for (cl_uint i = 0; i < context->device_count; i++) {
        if (context->devices[i] == device)
            return true;
    }
    return false;
}

/* Pairs of a name and a value, then 0. */
static cl_int check_properties(const cl_context_properties *properties, size_t *bytes)
{
    const cl_context_properties *at = properties;
    *bytes = 0;
    if (!properties)
        return CL_SUCCESS;
    for (bool platform = false; *at; at += 2) {
        if (*at == CL_CONTEXT_PLATFORM) {
            if (platform)
                return CL_INVALID_PROPERTY;
            platform = true;
            if (!opencl_is((void *)at[1], OPENCL_PLATFORM))
                return CL_INVALID_PLATFORM;
        } else if (*at != CL_CONTEXT_INTEROP_USER_SYNC)
            return CL_INVALID_PROPERTY;
    }
    *bytes = (size_t)(at + 1 - properties) * sizeof *at;
    return CL_SUCCESS;
}

/* Kernels of each device may access buffers whose home is another one. */
static void let_devices_share(cl_context context)
{
    for (cl_uint i = 0; i < context->device_count; i++) {
        for (cl_uint j = 0; j < context->device_count; j++) {
            struct device *a = context->devices[i]->device, *b = context->devices[j]->device;
            if (a != b && device_can_access_peer(a, b))
                device_enable_peer(a, b); /* which another context may have done already */
        }
    }
}

static cl_int make(const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
                   opencl_notify *notify, void *user, cl_context *made)
{
    size_t property_bytes;
    cl_int error = check_properties(properties, &property_bytes);
    if (error)
        return error;
    if (!count || !devices || (!notify && user))
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++) {
        if (!opencl_is(devices[i], OPENCL_DEVICE))
            return CL_INVALID_DEVICE;
    }
    cl_context context = opencl_object_new(OPENCL_CONTEXT, sizeof *context);
    context->devices = mem_alloc(count, sizeof *devices);
    for (cl_uint i = 0; i < count; i++) {
        if (!opencl_context_has(context, devices[i]))
            context->devices[context->device_count++] = devices[i];
    }
    context->property_bytes = property_bytes;
    context->properties = mem_alloc(property_bytes + 1, 1);
    if (property_bytes)
        memcpy(context->properties, properties, property_bytes);
    context->notify = notify;
    context->user = user;
    context->descriptors = opencl_descriptors_new();
    let_devices_share(context);
    *made = context;
    return CL_SUCCESS;
}

cl_context API(clCreateContext)(const cl_context_properties *properties, cl_uint count,
                                const cl_device_id *devices, opencl_notify *notify, void *user,
                                cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_context context = NULL;
    return opencl_made(errcode_ret, make(properties, count, devices, notify, user, &context), context);
}

cl_context API(clCreateContextFromType)(const cl_context_properties *properties, cl_device_type type,
                                        opencl_notify *notify, void *user, cl_int *errcode_ret)
{
    OPENCL_CALL;
    enum { DEVICES_MOST = 64 };
    cl_device_id devices[DEVICES_MOST];
    cl_context context = NULL;
    cl_uint count;
    cl_int error = API(clGetDeviceIDs)(NULL, type, DEVICES_MOST, devices, &count);
    if (!error)
        error = make(properties, count, devices, notify, user, &context);
    return opencl_made(errcode_ret, error, context);
}

void opencl_context_end(cl_context context)
{
    for (struct opencl_callback *next, *one = context->destructors; one; one = next) {
        next = one->next;
        ((void(CL_CALLBACK *)(cl_context, void *))one->function)(context, one->user);
        mem_free(one);
    }
    opencl_svm_end_all(context);
    opencl_descriptors_free(context->descriptors);
    mem_free(context->devices);
    mem_free(context->properties);
}

cl_int API(clSetContextDestructorCallback)(cl_context context,
                                           void(CL_CALLBACK *function)(cl_context, void *), void *user)
{
    OPENCL_CALL;
    if (!opencl_is(context, OPENCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (!function)
        return CL_INVALID_VALUE;
    struct opencl_callback *one = mem_alloc(1, sizeof *one);
    *one = (struct opencl_callback){context->destructors, (void *)(uintptr_t)function, user};
    context->destructors = one;
    return CL_SUCCESS;
}

cl_int API(clGetContextInfo)(cl_context context, cl_context_info name, size_t bytes, void *value,
                             size_t *needed)
{
    OPENCL_CALL;
    if (!opencl_is(context, OPENCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    switch (name) {
        INFO(CL_CONTEXT_REFERENCE_COUNT, cl_uint, context->base.references)
        INFO(CL_CONTEXT_NUM_DEVICES, cl_uint, context->device_count)
        INFO_BYTES(CL_CONTEXT_DEVICES, context->devices, context->device_count * sizeof(cl_device_id))
        INFO_BYTES(CL_CONTEXT_PROPERTIES, context->properties, context->property_bytes)
    default:
        return CL_INVALID_VALUE;
    }
}
