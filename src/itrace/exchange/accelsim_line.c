#include "exchange/accelsim_line.h"

struct parsing {
    const struct import *import;
    const char *begin, *at, *end;
    struct err *err;
};

static bool refuse(const struct parsing *p, const char *expected)
{
    import_refuse(p->import, p->begin, p->end, expected, p->err);
    return false;
}

/* ---- words ---- */

static bool word(struct parsing *p, const char **from, size_t *length)
{
    skip_blanks(&p->at, p->end);
    *from = p->at;
    while (p->at < p->end && *p->at != ' ' && *p->at != '\t')
        p->at++;
    *length = (size_t)(p->at - *from);
    return *length;
}

static bool decimal(struct parsing *p, uint64_t *value)
{
    skip_blanks(&p->at, p->end);
    return import_decimal(&p->at, p->end, value) && (p->at == p->end || *p->at == ' ' || *p->at == '\t');
}

static bool hex(struct parsing *p, uint64_t *value)
{
    skip_blanks(&p->at, p->end);
    if (p->end - p->at > 2 && p->at[0] == '0' && (p->at[1] | 0x20) == 'x')
        p->at += 2;
    return import_hex(&p->at, p->end, value) && (p->at == p->end || *p->at == ' ' || *p->at == '\t');
}

/* With a sign, modulo 2^64. */
static bool distance(struct parsing *p, uint64_t *value)
{
    skip_blanks(&p->at, p->end);
    bool minus = p->at < p->end && *p->at == '-';
    p->at += minus;
    if (!decimal(p, value))
        return false;
    *value = minus ? -*value : *value;
    return true;
}

/* "R12", "UR4"; others, such as predicates, are no registers to us. */
static bool parse_register(struct parsing *p, uint16_t *number)
{
    const char *at;
    size_t length;
    uint64_t value = 0;
    if (!word(p, &at, &length))
        return refuse(p, "a register");
    bool uniform = length > 2 && at[0] == 'U' && at[1] == 'R';
    const char *digits = at + 1 + uniform;
    *number = SASS_NO_REGISTER;
    if (*at != 'R' && !uniform)
        return *at == 'P' || *at == 'U' || refuse(p, "a register such as R4");
    if (!import_decimal(&digits, at + length, &value) || digits != at + length ||
        value > (uniform ? 63 : SASS_ZERO))
        return refuse(p, "a register from R0 to R255");
    if (value != (uniform ? 63 : SASS_ZERO)) /* those are always zero */
        *number = (uint16_t)(value + (uniform ? SASS_UNIFORM : 0));
    return true;
}

/* ---- addresses ---- */

static bool parse_list(struct parsing *p, struct accelsim_line *line)
{
    EACH_LANE (i, line->mask)
        if (!hex(p, &line->at[i]))
            return refuse(p, "an address for each lane");
    return true;
}

static bool parse_stride(struct parsing *p, struct accelsim_line *line)
{
    uint64_t base, stride;
    if (!hex(p, &base) || !distance(p, &stride))
        return refuse(p, "an address and a distance");
    EACH_LANE (i, line->mask)
        line->at[i] = base + stride * (i - first_lane(line->mask));
    return true;
}

static bool parse_deltas(struct parsing *p, struct accelsim_line *line)
{
    uint64_t base, delta;
    if (!hex(p, &base))
        return refuse(p, "an address");
    EACH_LANE (i, line->mask) {
        if (i != first_lane(line->mask)) {
            if (!distance(p, &delta))
                return refuse(p, "a distance for each lane behind the first");
            base += delta;
        }
        line->at[i] = base;
    }
    return true;
}

static bool is_box(const struct accelsim_line *line)
{
    return line->opcode_length > 4 && (!memcmp(line->opcode, "UTMA", 4) || !memcmp(line->opcode, "UBLK", 4));
}

/* "MBARRIER IS_MULTICAST [MASK] BYTES OUTSIDE FORM ...". */
static bool parse_box(struct parsing *p, struct accelsim_line *line)
{
    uint64_t unused, multicast, bytes, form, count = 0, base = 0, delta;
    if (!hex(p, &unused) || !decimal(p, &multicast) || (multicast && !hex(p, &unused)) ||
        !decimal(p, &bytes) || !decimal(p, &unused) || !decimal(p, &form) || (form != 3 && form != 4) ||
        (form == 4 && !hex(p, &base)) || !decimal(p, &count))
        return refuse(p, "the bytes and addresses of a box");
    if (count > SASS_BOX_MOST)
        return refuse(p, "a box of at most 1024 accesses");
    for (uint64_t i = 0; i < count; i++) {
        if (form == 3 ? !hex(p, &base) : i && !distance(p, &delta))
            return refuse(p, "an address of each access");
        base += form == 4 && i ? delta : 0;
        line->boxes[i] = base;
    }
    line->box_count = (uint32_t)count;
    line->box_bytes = (uint32_t)(count ? bytes / count : 0);
    return true;
}

static bool parse_addresses(struct parsing *p, struct accelsim_line *line)
{
    uint64_t form;
    if (!decimal(p, &form))
        return refuse(p, "the form of addresses, 0 to 2");
    switch (form) {
    case 0:
        return parse_list(p, line);
    case 1:
        return parse_stride(p, line);
    case 2:
        return parse_deltas(p, line);
    default:
        return refuse(p, "the form of addresses, 0 to 2");
    }
}

/* "NoVal", or "Val" and what nobody needs here. */
static bool skip_values(struct parsing *p)
{
    const char *at;
    size_t length;
    if (!word(p, &at, &length) ||
        !((length == 3 && !memcmp(at, "Val", 3)) || (length == 5 && !memcmp(at, "NoVal", 5))))
        return refuse(p, "Val or NoVal at the end of the line");
    p->at = p->end;
    return true;
}

static bool parse_immediates(struct parsing *p, bool values, struct accelsim_line *line)
{
    line->immediate_count = 0;
    for (;;) {
        uint64_t value;
        skip_blanks(&p->at, p->end);
        if (p->at == p->end || line->immediate_count == 2 || (values && (*p->at == 'V' || *p->at == 'N')))
            break;
        if (!distance(p, &value))
            return refuse(p, "an immediate number, or the end of the line");
        line->immediates[line->immediate_count++] = value;
    }
    if (values && p->at < p->end)
        return skip_values(p);
    return p->at == p->end || refuse(p, "the end of the line");
}

/* ---- the line ---- */

int accelsim_line_begin(const struct import *import, const struct accelsim_form *form, const char *begin,
                        const char **at, const char *end, struct accelsim_line *line, struct err *err)
{
    struct parsing p = {import, begin, *at, end, err};
    uint64_t pc, mask, unused;
    bool good = true;
    for (int i = 0; i < (form->leads ? 4 : 0) + form->line_numbers && good; i++)
        good = decimal(&p, &unused);
    if (!good || !hex(&p, &pc) || !hex(&p, &mask) || mask > UINT32_MAX || pc > UINT32_MAX)
        return refuse(&p, "an instruction: its address, its lanes, ...") ? 0 : IMPORT_BAD;
    line->pc = (uint32_t)pc;
    line->mask = (uint32_t)mask;
    *at = p.at;
    return 0;
}

int accelsim_line_rest(const struct import *import, const struct accelsim_form *form, const char *begin,
                       const char *at, const char *end, struct accelsim_line *line, struct err *err)
{
    struct parsing p = {import, begin, at, end, err};
    uint64_t count, width;
    skip_blanks(&p.at, p.end);
    line->what = p.at;
    line->to = SASS_NO_REGISTER;
    line->box_count = 0;
    bool good = (decimal(&p, &count) && count <= 1) || refuse(&p, "0 or 1 destination");
    good = good && (!count || parse_register(&p, &line->to));
    good = good && (word(&p, &line->opcode, &line->opcode_length) || refuse(&p, "an opcode"));
    good = good && ((decimal(&p, &count) && count <= SASS_SOURCES) || refuse(&p, "0 to 5 sources"));
    line->from_count = good ? (uint32_t)count : 0;
    for (uint32_t i = 0; i < line->from_count && good; i++)
        good = parse_register(&p, &line->from[i]);
    line->what_length = (size_t)(p.at - line->what);
    if (good && form->two && memmem(line->opcode, line->opcode_length, "GMMA", 4))
        good = decimal(&p, &count) || refuse(&p, "the flag of a GMMA");
    good =
        good && ((decimal(&p, &width) && width <= INT32_MAX) || refuse(&p, "the bytes of a lane's access"));
    line->width = good ? (uint32_t)width : 0;
    if (good && width)
        good = is_box(line) ? parse_box(&p, line) : parse_addresses(&p, line);
    return good && parse_immediates(&p, form->values, line) ? 0 : IMPORT_BAD;
}
