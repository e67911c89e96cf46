#include "runtime/opencl/print.h"
#include "base/bits.h"
#include "base/mem.h"
#include "runtime/opencl/command.h"

enum { BUFFER_BYTES = 1 << 20, HEADER_BYTES = 8, WORD = 4 };

/* What the buffer holds before a kernel writes to it. */
static const uint32_t unwritten = 0xa5c3e197;

/* ---- one value ---- */

/* A conversion, as the format has it: %-8.3v4hlf */
struct conversion {
    char flags[32]; /* with the %, width and precision */
    unsigned lanes; /* of a vector; 0: none */
    char kind;
};

static const char *take_conversion(const char *at, struct conversion *conversion)
{
    size_t length = 1;
    *conversion = (struct conversion){.flags = "%"};
    for (at++; *at && strchr("-+ #0123456789.", *at); at++) {
        if (length < sizeof conversion->flags - 4)
            conversion->flags[length++] = *at;
    }
    if (*at == 'v') {
        for (at++; *at >= '0' && *at <= '9'; at++)
            conversion->lanes = 10 * conversion->lanes % 1000 + (unsigned)(*at - '0');
    }
    while (*at == 'h' || *at == 'l')
        at++;
    conversion->kind = *at;
    return *at ? at + 1 : at;
}

static double floating(const unsigned char *value, size_t bytes)
{
    float single = 0;
    double wide = 0;
    if (bytes >= sizeof wide)
        memcpy(&wide, value, sizeof wide);
    else
        memcpy(&single, value, min_u64(bytes, sizeof single));
    return bytes >= sizeof wide ? wide : (double)single;
}

static long long integer(const unsigned char *value, size_t bytes, bool is_signed)
{
    unsigned long long number = 0;
    bytes = min_u64(bytes, sizeof number);
    memcpy(&number, value, bytes);
    unsigned unused = (unsigned)(64 - 8 * bytes);
    if (is_signed && bytes && bytes < sizeof number)
        return (long long)(number << unused) >> unused;
    return (long long)number;
}

/* It may have no zero byte at its end. */
static void print_string(const char *format, const unsigned char *value, size_t bytes, FILE *to)
{
    char *copy = memcpy(mem_alloc(bytes + 1, 1), value, bytes);
    fprintf(to, format, copy);
    mem_free(copy);
}

static void print_value(const struct conversion *conversion, const unsigned char *value, size_t bytes,
                        FILE *to)
{
    char format[sizeof conversion->flags + 4];
    switch (conversion->kind) {
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        snprintf(format, sizeof format, "%s%c", conversion->flags, conversion->kind);
        fprintf(to, format, floating(value, bytes));
        break;
    case 's':
        snprintf(format, sizeof format, "%ss", conversion->flags);
        print_string(format, value, bytes, to);
        break;
    case 'c':
        snprintf(format, sizeof format, "%sc", conversion->flags);
        fprintf(to, format, (int)integer(value, bytes, false));
        break;
    case 'p':
        fprintf(to, "0x%llx", (unsigned long long)integer(value, bytes, false));
        break;
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        snprintf(format, sizeof format, "%sll%c", conversion->flags, conversion->kind);
        fprintf(to, format, integer(value, bytes, conversion->kind == 'd' || conversion->kind == 'i'));
        break;
    }
}

/* Vectors are printed with commas; three lanes may take the room of four. */
static void print_argument(const struct conversion *conversion, const unsigned char *value, size_t bytes,
                           FILE *to)
{
    unsigned lanes = conversion->lanes;
    if (!lanes) {
        print_value(conversion, value, bytes, to);
        return;
    }
    size_t room = lanes == 3 && bytes % 3 ? 4 : lanes;
    for (unsigned i = 0; i < lanes; i++) {
        if (i)
            fputc(',', to);
        print_value(conversion, value + i * (bytes / room), bytes / room, to);
    }
}

/* ---- strings ---- */

/* The metadata counts the zero byte behind a string, but clang does not write it where the string fills its
 * words: all that follows is then a word earlier, and the record's last word is left unwritten. So the number
 * of unwritten words at the end of a record is that of such strings. */
struct strings {
    unsigned left, cut; /* strings of more than a word that are to come; of them, without a zero byte */
};

static unsigned count_strings(const struct gcn3_print *print)
{
    const char *format = print->format;
    unsigned count = 0;
    for (uint32_t next = 0; *format && next < print->arg_count;) {
        struct conversion conversion;
        if (*format != '%' || format[1] == '%') {
            format += 1 + (*format == '%');
            continue;
        }
        format = take_conversion(format, &conversion);
        count += conversion.kind == 's' && print->arg_bytes[next] > WORD;
        next++;
    }
    return count;
}

static unsigned count_unwritten(const unsigned char *record, size_t bytes)
{
    unsigned count = 0;
    for (; bytes >= WORD && !memcmp(record + bytes - WORD, &unwritten, WORD); bytes -= WORD)
        count++;
    return count;
}

/* Whether a word can be a string's last: characters, then zeros. */
static bool is_tail(const unsigned char *word)
{
    size_t length = strnlen((const char *)word, WORD);
    for (size_t i = 0; i < WORD; i++) {
        if (i < length ? word[i] < ' ' && !strchr("\t\n\r", word[i]) : word[i])
            return false;
    }
    return length > 0 && length < WORD;
}

/* How many bytes the next string has in the record. */
static size_t string_bytes(struct strings *strings, const unsigned char *value, size_t bytes)
{
    if (bytes <= WORD)
        return bytes;
    bool cut = strings->cut && (strings->cut >= strings->left || !is_tail(value + bytes - WORD));
    strings->left--;
    strings->cut -= cut;
    return cut ? bytes - WORD : bytes;
}

/* ---- records ---- */

static void print_record(const struct gcn3_print *print, const unsigned char *record, size_t record_size,
                         FILE *to)
{
    const unsigned char *values = record + WORD;
    struct strings strings = {count_strings(print), count_unwritten(record, record_size)};
    uint32_t next = 0;
    for (const char *at = print->format; *at;) {
        struct conversion conversion;
        if (*at != '%' || at[1] == '%') {
            at += *at == '%';
            fputc(*at++, to);
            continue;
        }
        at = take_conversion(at, &conversion);
        if (next == print->arg_count)
            continue;
        size_t bytes = print->arg_bytes[next++];
        if (conversion.kind == 's')
            bytes = string_bytes(&strings, values, bytes);
        print_argument(&conversion, values, bytes, to);
        values += (bytes + WORD - 1) / WORD * WORD;
    }
}

static size_t record_bytes(const struct gcn3_print *print)
{
    size_t bytes = WORD;
    for (uint32_t i = 0; i < print->arg_count; i++)
        bytes += ((size_t)print->arg_bytes[i] + WORD - 1) / WORD * WORD;
    return bytes;
}

void opencl_print_records(const struct gcn3_object *object, const void *buffer, size_t bytes, FILE *to)
{
    const unsigned char *at = buffer;
    uint32_t used, id;
    if (bytes < HEADER_BYTES)
        return;
    memcpy(&used, at, sizeof used);
    at += HEADER_BYTES;
    for (size_t left = min_u64(used, bytes - HEADER_BYTES); left >= WORD;) {
        memcpy(&id, at, sizeof id);
        const struct gcn3_print *print = gcn3_object_print(object, id);
        size_t whole = print ? record_bytes(print) : 0;
        if (!whole || whole > left)
            return;
        print_record(print, at, whole, to);
        at += whole;
        left -= whole;
    }
}

/* ---- around a launch ---- */

/* Buffers are pinned memory of the host, as AMD's driver has them: to prepare and to read one takes the
 * device no time. They are used again. */
struct opencl_print {
    struct opencl_print *next; /* of those that no kernel has */
    cl_program program;        /* of the formats */
    unsigned char *buffer;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct opencl_print *idle;

static void fill_unwritten(unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i + WORD <= bytes; i += WORD)
        memcpy(at + i, &unwritten, WORD);
}

static size_t used_bytes(const unsigned char *buffer)
{
    uint32_t used;
    memcpy(&used, buffer, sizeof used);
    return min_u64(used, BUFFER_BYTES - HEADER_BYTES);
}

static void put_back(struct opencl_print *print)
{
    fill_unwritten(print->buffer + HEADER_BYTES, used_bytes(print->buffer));
    opencl_release(print->program);
    pthread_mutex_lock(&lock);
    print->next = idle;
    idle = print;
    pthread_mutex_unlock(&lock);
}

/* Also when the device has a fault: what was printed before it may say why. */
static void print_all(void *user, enum result result)
{
    struct opencl_print *print = user;
    (void)result;
    opencl_print_records(print->program->object, print->buffer, BUFFER_BYTES, stdout);
    fflush(stdout);
    put_back(print);
}

static struct opencl_print *take_idle(void)
{
    pthread_mutex_lock(&lock);
    struct opencl_print *print = idle;
    if (print)
        idle = print->next;
    pthread_mutex_unlock(&lock);
    return print;
}

static enum result make(struct opencl_print **print)
{
    void *buffer;
    enum result result = memory_host_alloc(opencl_platform()->driver, BUFFER_BYTES, HOST_MAPPED, &buffer);
    if (result)
        return result;
    *print = mem_alloc(1, sizeof **print);
    (*print)->buffer = buffer;
    fill_unwritten(buffer, BUFFER_BYTES);
    return RESULT_SUCCESS;
}

enum result opencl_print_begin(cl_kernel kernel, struct opencl_print **print, uint64_t *buffer)
{
    const uint32_t header[2] = {0, BUFFER_BYTES - HEADER_BYTES};
    *print = take_idle();
    enum result result = *print ? RESULT_SUCCESS : make(print);
    if (result)
        return result;
    memcpy((*print)->buffer, header, sizeof header);
    (*print)->program = kernel->program;
    opencl_retain(kernel->program);
    *buffer = (uint64_t)(uintptr_t)(*print)->buffer;
    return RESULT_SUCCESS;
}

void opencl_print_end(struct opencl_print *print, struct stream *stream)
{
    if (opencl_call_in(stream, print_all, print)) /* the device has a fault */
        print_all(print, RESULT_SUCCESS);
}
