#include "runtime/opencl/descriptors.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/info.h"

static cl_int make(cl_context context, cl_bool normalized, cl_addressing_mode addressing,
                   cl_filter_mode filter, cl_sampler *made)
{
    if (!opencl_is(context, OPENCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (addressing < CL_ADDRESS_NONE || addressing > CL_ADDRESS_MIRRORED_REPEAT ||
        (filter != CL_FILTER_NEAREST && filter != CL_FILTER_LINEAR) || normalized > CL_TRUE)
        return CL_INVALID_VALUE;
    cl_sampler sampler = *made = opencl_object_new(OPENCL_SAMPLER, sizeof *sampler);
    opencl_retain(context);
    sampler->context = context;
    sampler->normalized = normalized;
    sampler->addressing = addressing;
    sampler->filter = filter;
    return CL_SUCCESS;
}

cl_sampler API(clCreateSampler)(cl_context context, cl_bool normalized, cl_addressing_mode addressing,
                                cl_filter_mode filter, cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_sampler sampler = NULL;
    return opencl_made(errcode_ret, make(context, normalized, addressing, filter, &sampler), sampler);
}

cl_sampler API(clCreateSamplerWithProperties)(cl_context context, const cl_sampler_properties *properties,
                                              cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_sampler_properties values[3] = {CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST};
    cl_sampler sampler = NULL;
    cl_int error = CL_SUCCESS;
    for (const cl_sampler_properties *at = properties; at && *at && !error; at += 2) {
        if (*at >= CL_SAMPLER_NORMALIZED_COORDS && *at <= CL_SAMPLER_FILTER_MODE)
            values[*at - CL_SAMPLER_NORMALIZED_COORDS] = at[1];
        else
            error = CL_INVALID_VALUE;
    }
    if (!error)
        error = make(context, (cl_bool)values[0], (cl_addressing_mode)values[1], (cl_filter_mode)values[2],
                     &sampler);
    return opencl_made(errcode_ret, error, sampler);
}

void opencl_sampler_end(cl_sampler sampler)
{
    opencl_release(sampler->context);
}

cl_int API(clGetSamplerInfo)(cl_sampler sampler, cl_sampler_info name, size_t bytes, void *value,
                             size_t *needed)
{
    OPENCL_CALL;
    if (!opencl_is(sampler, OPENCL_SAMPLER))
        return CL_INVALID_SAMPLER;
    switch (name) {
        INFO(CL_SAMPLER_REFERENCE_COUNT, cl_uint, sampler->base.references)
        INFO(CL_SAMPLER_CONTEXT, cl_context, sampler->context)
        INFO(CL_SAMPLER_NORMALIZED_COORDS, cl_bool, sampler->normalized)
        INFO(CL_SAMPLER_ADDRESSING_MODE, cl_addressing_mode, sampler->addressing)
        INFO(CL_SAMPLER_FILTER_MODE, cl_filter_mode, sampler->filter)
    default:
        return CL_INVALID_VALUE;
    }
}

/* ---- for kernels ---- */

/* The words that AMD's device library has for a sampler of a program's source: filters of one kind for all
 * levels and distances, and a border of zeros. */
enum result opencl_sampler_at(cl_sampler sampler, cl_device_id device, uint64_t *address)
{
    enum { REPEAT = 0, MIRROR = 1, LAST = 2, BORDER = 6, COMPARES_AT = 12, UNNORMALIZED_AT = 15 };
    static const uint8_t wraps[] = {BORDER, LAST, BORDER, REPEAT, MIRROR}; /* from CL_ADDRESS_NONE on */
    uint32_t wrap = wraps[sampler->addressing - CL_ADDRESS_NONE];
    uint32_t unnormalized = !sampler->normalized, linear = sampler->filter == CL_FILTER_LINEAR;
    struct opencl_descriptor descriptor = {.words = {wrap | wrap << 3 | wrap << 6 | 3 << COMPARES_AT |
                                                         unnormalized << UNNORMALIZED_AT |
                                                         1u << 28, /* faces of a cube have edges */
                                                     0xfff000,     /* all levels */
                                                     linear << 20 | linear << 22}};
    return opencl_descriptor_at(sampler->context, device, &descriptor, address);
}
