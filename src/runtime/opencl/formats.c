#include "runtime/opencl/formats.h"
#include "base/bits.h"
#include "exec/number.h"

enum conversion { SNORM, UNORM, SIGNED, UNSIGNED, FLOATING };

static const struct channel_type {
    cl_channel_type type;
    size_t bytes;
    enum conversion conversion;
    uint32_t number;
} types[] = {
#define CHANNEL_TYPE(name, bytes, conversion, number) {name, bytes, conversion, number},
#define CHANNEL_ORDER(name, count, which, most, read, number)
#include "runtime/opencl/formats.def"
#undef CHANNEL_TYPE
#undef CHANNEL_ORDER
};

static const struct channel_order {
    cl_channel_order order;
    unsigned count;
    const char *which;
    size_t most;
    const char *read;
    uint32_t number;
} orders[] = {
#define CHANNEL_TYPE(name, bytes, conversion, number)
#define CHANNEL_ORDER(name, count, which, most, read, number) {name, count, which, most, read, number},
#include "runtime/opencl/formats.def"
#undef CHANNEL_TYPE
#undef CHANNEL_ORDER
};

static const struct channel_type *find_type(cl_channel_type type)
{
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (types[i].type == type)
            return &types[i];
    }
    return NULL;
}

static const struct channel_order *find_order(cl_channel_order order)
{
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        if (orders[i].order == order)
            return &orders[i];
    }
    return NULL;
}

size_t opencl_format_bytes(const cl_image_format *format)
{
    const struct channel_type *type = find_type(format->image_channel_data_type);
    const struct channel_order *order = find_order(format->image_channel_order);
    return type && order && type->bytes <= order->most ? type->bytes * order->count : 0;
}

cl_int opencl_format_check(const cl_image_format *format)
{
    if (!format || format->image_channel_order < CL_R || format->image_channel_order > CL_ABGR ||
        format->image_channel_data_type < CL_SNORM_INT8 ||
        format->image_channel_data_type > CL_UNORM_INT_101010_2)
        return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    return opencl_format_bytes(format) ? CL_SUCCESS : CL_IMAGE_FORMAT_NOT_SUPPORTED;
}

bool opencl_format_at(size_t index, cl_image_format *format)
{
    for (size_t i = 0; i < COUNT_OF(orders) * COUNT_OF(types); i++) {
        *format = (cl_image_format){orders[i / COUNT_OF(types)].order, types[i % COUNT_OF(types)].type};
        if (opencl_format_bytes(format) && !index--)
            return true;
    }
    return false;
}

static uint32_t integer(int64_t value, int64_t low, int64_t high)
{
    return (uint32_t)(value < low ? low : value > high ? high : value);
}

/* A number from -1 or 0 to 1, as a fraction of the largest integer. */
static uint32_t normalized(float value, int64_t low, int64_t high)
{
    double scaled = rint((double)value * (double)high);
    return isnan(value) ? 0 : integer((int64_t)fmin(fmax(scaled, (double)low), (double)high), low, high);
}

static uint32_t channel(const struct channel_type *type, const void *colour, unsigned index)
{
    float number = ((const float *)colour)[index];
    int32_t signed_value = ((const int32_t *)colour)[index];
    uint32_t bits = ((const uint32_t *)colour)[index];
    int64_t most = (INT64_C(1) << (8 * type->bytes)) - 1, half = most >> 1;
    switch (type->conversion) {
    case SNORM:
        return normalized(number, -half, half);
    case UNORM:
        return normalized(number, 0, most);
    case SIGNED:
        return integer(signed_value, -half - 1, half);
    case UNSIGNED:
        return integer(bits, 0, most);
    default:
        return type->bytes == 2 ? f16_f32(number) : bits;
    }
}

void opencl_format_element(const cl_image_format *format, const void *colour, void *element)
{
    const struct channel_type *type = find_type(format->image_channel_data_type);
    const struct channel_order *order = find_order(format->image_channel_order);
    for (unsigned i = 0; i < order->count; i++) {
        unsigned index = (unsigned)(strchr("rgba", order->which[i]) - "rgba");
        uint32_t value = channel(type, colour, index);
        memcpy((char *)element + i * type->bytes, &value, type->bytes);
    }
}

/* The manual's numbers of data formats, by channels and their bytes; of number formats, by conversions; and
 * of what a component selects: a constant, or a channel. */
static uint32_t data_format(unsigned channels, size_t bytes)
{
    static const uint8_t formats[3][3] = {{1, 2, 4}, {3, 5, 11}, {10, 12, 14}};
    return formats[channels / 2][bytes / 2];
}

static uint32_t number_format(enum conversion conversion)
{
    static const uint8_t formats[] = {[SNORM] = 1, [UNORM] = 0, [SIGNED] = 5, [UNSIGNED] = 4, [FLOATING] = 7};
    return formats[conversion];
}

static uint32_t selection(const struct channel_order *order)
{
    enum { FIRST_CHANNEL = 4 };
    uint32_t selects = 0;
    for (unsigned i = 0; i < 4; i++) {
        const char *channel = strchr(order->which, order->read[i]);
        uint32_t one = channel ? FIRST_CHANNEL + (uint32_t)(channel - order->which) : order->read[i] == '1';
        selects |= one << 3 * i;
    }
    return selects;
}

struct opencl_native_format opencl_format_native(const cl_image_format *format)
{
    const struct channel_type *type = find_type(format->image_channel_data_type);
    const struct channel_order *order = find_order(format->image_channel_order);
    return (struct opencl_native_format){.data = data_format(order->count, type->bytes),
                                         .number = number_format(type->conversion),
                                         .select = selection(order),
                                         .type_known_as = type->number,
                                         .order_known_as = order->number};
}
