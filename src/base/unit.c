#include "base/unit.h"
#include "base/bits.h"

#include <ctype.h>
#include <inttypes.h>

static const struct {
    const char *called, *example;
} kinds[] = {
#define U(id, called, example) {called, example},
    UNIT_KINDS(U)
#undef U
};

#define KILO           UINT64_C(1000)
#define KIBI           UINT64_C(1024)
#define FINEST_DIVISOR UINT64_C(1000000000000000)

enum { MOST_DIGITS = 21 }; /* UINT64_MAX has 20; with any scale the product stays far inside 128 bits */

/* Within a kind, larger units first, and of equal rank the one that unit_print prefers. */
static const struct unit {
    enum unit_kind kind;
    const char *name;
    uint64_t scale;
} units[] = {
    {UNIT_count, "", 1}, /* printed without a unit, always */
    {UNIT_count, "G", KILO *KILO *KILO},
    {UNIT_count, "M", KILO *KILO},
    {UNIT_count, "k", KILO},
    {UNIT_size, "TiB", KIBI *KIBI *KIBI *KIBI},
    {UNIT_size, "GiB", KIBI *KIBI *KIBI},
    {UNIT_size, "MiB", KIBI *KIBI},
    {UNIT_size, "KiB", KIBI},
    {UNIT_size, "TB", KILO *KILO *KILO *KILO},
    {UNIT_size, "GB", KILO *KILO *KILO},
    {UNIT_size, "MB", KILO *KILO},
    {UNIT_size, "KB", KILO},
    {UNIT_size, "kB", KILO},
    {UNIT_size, "B", 1},
    {UNIT_time, "s", KILO *KILO *KILO *KILO},
    {UNIT_time, "ms", KILO *KILO *KILO},
    {UNIT_time, "us", KILO *KILO},
    {UNIT_time, "ns", KILO},
    {UNIT_time, "ps", 1},
    {UNIT_rate, "TB/s", KILO *KILO *KILO *KILO},
    {UNIT_rate, "GB/s", KILO *KILO *KILO},
    {UNIT_rate, "MB/s", KILO *KILO},
    {UNIT_rate, "TiB/s", KIBI *KIBI *KIBI *KIBI},
    {UNIT_rate, "GiB/s", KIBI *KIBI *KIBI},
    {UNIT_rate, "MiB/s", KIBI *KIBI},
    {UNIT_rate, "KiB/s", KIBI},
    {UNIT_rate, "KB/s", KILO},
    {UNIT_rate, "B/s", 1},
    {UNIT_freq, "THz", KILO *KILO *KILO *KILO},
    {UNIT_freq, "GHz", KILO *KILO *KILO},
    {UNIT_freq, "MHz", KILO *KILO},
    {UNIT_freq, "kHz", KILO},
    {UNIT_freq, "Hz", 1},
};

const char *unit_called(enum unit_kind kind)
{
    return kinds[kind].called;
}

static bool refused(enum unit_kind kind, const char *text, struct err *err)
{
    return err_set(err, "expected %s, such as %s, not '%.80s'", kinds[kind].called, kinds[kind].example,
                   text);
}

bool unit_parse(enum unit_kind kind, const char *text, uint64_t *value, struct err *err)
{
    const char *at = text;
    unsigned __int128 digits = 0;
    uint64_t divisor = 1;
    int seen = 0, point = 0;
    for (; isdigit((unsigned char)*at) || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = 1;
            continue;
        }
        if (++seen > MOST_DIGITS || (point && divisor == FINEST_DIVISOR))
            return err_set(err, "'%.80s' has more digits than Heddle counts", text);
        digits = digits * 10 + (unsigned)(*at - '0');
        divisor *= point ? 10 : 1;
    }
    if (!seen || at[-1] == '.')
        return refused(kind, text, err);
    while (*at == ' ')
        at++;
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        bool zero_without_unit = !*at && !digits;
        if (units[i].kind != kind || (strcmp(at, units[i].name) && !zero_without_unit))
            continue;
        unsigned __int128 scaled = digits * units[i].scale;
        if (scaled % divisor)
            return err_set(err,
                           "'%.80s' is finer than Heddle counts (bytes, picoseconds, B/s, Hz, whole numbers)",
                           text);
        scaled /= divisor;
        if (scaled > UINT64_MAX)
            return err_set(err, "'%.80s' is too large", text);
        *value = (uint64_t)scaled;
        return true;
    }
    return refused(kind, text, err);
}

void unit_print(enum unit_kind kind, uint64_t value, struct text *text)
{
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (units[i].kind == kind && value % units[i].scale == 0 && (value || units[i].scale == 1)) {
            text_add(text, "%" PRIu64 "%s", value / units[i].scale, units[i].name);
            return;
        }
    }
}
