#include "trace/csv.h"

#include <string.h>

static char *put_hex(char *to, uint64_t number)
{
    unsigned digits = number ? (67 - (unsigned)__builtin_clzll(number)) / 4 : 1;
    for (unsigned i = digits; i--;)
        *to++ = "0123456789abcdef"[number >> 4 * i & 15];
    return to;
}

static char *put_decimal(char *to, uint64_t number)
{
    char digits[20];
    unsigned count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (count)
        *to++ = digits[--count];
    return to;
}

static char *put_text(char *to, const char *text)
{
    size_t length = strlen(text);
    memcpy(to, text, length);
    return to + length;
}

size_t trace_csv_rows(const struct trace_access *accesses, size_t count, char *text)
{
    char *to = text;
    for (size_t i = 0; i < count; i++) {
        to = put_hex(put_text(to, "0x"), accesses[i].address);
        to = put_text(to, trace_writes(accesses[i]) ? ",write," : ",read,");
        to = put_decimal(to, trace_bytes(accesses[i]));
        *to++ = ',';
        to = put_decimal(to, trace_instruction(accesses[i]));
        *to++ = '\n';
    }
    return (size_t)(to - text);
}
