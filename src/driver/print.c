/* Output of kernels: kept until the program waits for the device, as in CUDA. */
#include "driver/internal.h"

/* Without losing any: what is more than the limit goes out at once. */
static void write_out(struct device *device)
{
    FILE *to = device->driver->options.print ? device->driver->options.print : stdout;
    fwrite(device->print.at, 1, device->print.length, to);
    device->print.length = 0;
}

static ssize_t keep(void *user, const char *bytes, size_t count)
{
    struct device *device = user;
    if (driver_is_forked(
            device->driver)) /* the child's exit flushes its copy of the stream; the parent prints the text */
        return (ssize_t)count;
    pthread_mutex_lock(&device->print_lock);
    text_add_bytes(&device->print, bytes, count);
    if (device->print.length > device->limits[LIMIT_PRINTF_FIFO_SIZE])
        write_out(device);
    pthread_mutex_unlock(&device->print_lock);
    return (ssize_t)count;
}

FILE *device_print_stream(struct device *device)
{
    FILE *stream = fopencookie(device, "w", (cookie_io_functions_t){.write = keep});
    if (!stream)
        BUG("no stream for what kernels print");
    return stream;
}

void device_print_flush(struct device *device)
{
    pthread_mutex_lock(&device->print_lock);
    if (device->print.length)
        write_out(device);
    pthread_mutex_unlock(&device->print_lock);
}
