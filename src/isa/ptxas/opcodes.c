/* One row for each family of opcodes: the machine instructions that ptxas (13.0, for sm_90) generates for one
 * that is not folded into others, and what may not be reordered with it. Found by compiling each alone. If
 * the code has a rare path behind a branch (division, square root), the usual path is counted.
 *
 * pattern  * stands for any text; the first row that matches is used
 * steps    a letter for the unit of each machine instruction; a number after it repeats it. Each needs the
 *          result of the one before, unless a sign is between them:
 *          space  it does not
 *          ?      the one before is its guard, and decides whether it is executed
 *          +      it needs the results of all before it
 *          !      the same, and one lane executes it for all
 *          /      it needs none, and nothing waits for its result: it is independent of the others */
#include "ptxas/opcodes.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

static const struct letter {
    char letter;
    enum isa_unit unit;
    uint8_t latency;
} letters[] = {
#define U(P, S, id, name, place, result, busy, does, pipe, letter, reckoned, ...)                            \
    {letter, UNIT_##id, reckoned},
    ISA_UNITS(U, , )
#undef U
};

enum { LATENCY_FAR = 200 }; /* of global memory: more than there mostly is to do meanwhile */

struct row {
    const char *pattern;
    uint8_t kind, effect;
    const char *steps;
};

/* Behind the reciprocal: 64 bits as products of 32. How many of each is the compiler's; which of them wait
 * for each other was arranged so that div.u64 takes the 300 cycles that were measured. */
#define QUOTIENT_64 "QIA/Q/I/AQIA/Q/I/AQIA/Q/I/AQIA/Q/I/AQIA/I/AQIA/I/AQIA/I/AQIA/I/AQIA/I/AQIA/A2QIA/A4"

/* clang-format off */
static const struct row rows[] = {
    /* moves and names */
    {"mov.pred",        KIND_RENAME,  EFFECT_NONE, ""},
    {"mov*",            KIND_MOVE,    EFFECT_NONE, "A"},
    {"cvta*",           KIND_RENAME,  EFFECT_NONE, ""},
    {"ld.param*",       KIND_PARAM,   EFFECT_READ, "K"},
    {"not.pred",        KIND_RENAME,  EFFECT_NONE, ""},
    {"and.pred|or.pred|xor.pred", KIND_PREDICATES, EFFECT_NONE, "A"},
    {"isspacep*",       KIND_PLAIN,   EFFECT_NONE, "A"},

    /* floats */
    {"add*.f32|sub*.f32|mul*.f32|fma*.f32|mad*.f32|mul-sub*.f32|sub-mul*.f32", KIND_FLOAT, EFFECT_NONE, "F"},
    {"add*.f64|sub*.f64|mul*.f64|fma*.f64|mad*.f64|mul-sub*.f64|sub-mul*.f64", KIND_FLOAT, EFFECT_NONE, "D"},
    {"add*f16*|sub*f16*|mul*f16*|fma*f16*|mul-sub*f16*|sub-mul*f16*", KIND_FLOAT, EFFECT_NONE, "H"},
    {"min*.f32|max*.f32", KIND_FLOAT, EFFECT_NONE, "A"},
    {"min*.f64|max*.f64", KIND_FLOAT, EFFECT_NONE, "I DA A A A"},
    {"min*f16*|max*f16*", KIND_FLOAT, EFFECT_NONE, "A"},
    {"neg*.f32|abs*.f32", KIND_SIGN,  EFFECT_NONE, "F"},
    {"neg*.f64|abs*.f64", KIND_SIGN,  EFFECT_NONE, "D"},
    {"neg.f16x2|abs.f16x2|neg.bf16x2|abs*bf16*", KIND_SIGN, EFFECT_NONE, "H"},
    {"neg*f16*|abs*f16*", KIND_SIGN,  EFFECT_NONE, "HA"},
    {"copysign*",       KIND_PLAIN,   EFFECT_NONE, "A"},
    {"testp*.f64",      KIND_PLAIN,   EFFECT_NONE, "AA"},
    {"testp*",          KIND_PLAIN,   EFFECT_NONE, "A"},

    /* divisions, roots and transcendental functions: what is below the normal numbers is scaled, unless .ftz */
    {"div.r*.f32",      KIND_PLAIN,   EFFECT_NONE, "S/B/CF4/FJJ"}, /* tried with .rn; others are taken to be like it */
    {"div.r*.f64",      KIND_PLAIN,   EFFECT_NONE, "S/I/A/BD8FA?JJ"},
    {"div.approx.ftz*|div*.full.ftz*", KIND_PLAIN, EFFECT_NONE, "SF"},
    {"div.approx*",     KIND_PLAIN,   EFFECT_NONE, "AF FSF"},
    {"div.full*",       KIND_PLAIN,   EFFECT_NONE, "A AF FSF"},
    {"rcp.approx.ftz.f64", KIND_PLAIN, EFFECT_NONE, "S"},
    {"rcp.approx.ftz*|sqrt.approx.ftz*|rsqrt.approx.ftz*|lg2.approx.ftz*|ex2.approx.ftz*", KIND_PLAIN, EFFECT_NONE, "S"},
    {"rcp.approx*",     KIND_PLAIN,   EFFECT_NONE, "I A AAAFSF"},
    {"rsqrt.approx*.f64", KIND_PLAIN, EFFECT_NONE, "S/I/B/A/AD5JJ"},
    {"sqrt.approx*|rsqrt.approx*|lg2.approx*|ex2.approx.f32", KIND_PLAIN, EFFECT_NONE, "AFSF"},
    {"ex2*|tanh*",      KIND_PLAIN,   EFFECT_NONE, "S"},
    {"sin*|cos*",       KIND_PLAIN,   EFFECT_NONE, "FS"},
    {"rcp.*.f32",       KIND_PLAIN,   EFFECT_NONE, "A/BAA?JSF3J"},
    {"rcp.*.f64",       KIND_PLAIN,   EFFECT_NONE, "S/B/A/AD5JJ"},
    {"sqrt.*.f32",      KIND_PLAIN,   EFFECT_NONE, "A/S/BA?JF/FFFJ"},
    {"sqrt.*.f64",      KIND_PLAIN,   EFFECT_NONE, "S/I/I/B/A/AD6/A/ID2JJ"},

    /* quotients of integers: there is no division in the machine */
    {"div.s64",         KIND_PLAIN,   EFFECT_NONE, "A/A8/IJCSIC" QUOTIENT_64 "/A8J"},
    {"rem.s64",         KIND_PLAIN,   EFFECT_NONE, "A/A8/IJCSIC" QUOTIENT_64 "/A2J"},
    {"div.u64",         KIND_PLAIN,   EFFECT_NONE, "A/IJCSIC" QUOTIENT_64 "J"},
    {"rem.u64",         KIND_PLAIN,   EFFECT_NONE, "A/IJCSIC" QUOTIENT_64 "J"},
    {"div.s32",         KIND_PLAIN,   EFFECT_NONE, "A/A/ACSI/AC/A2/IIIQQIIA?I/IA?I/AIA"},
    {"rem.s32",         KIND_PLAIN,   EFFECT_NONE, "A/A/ACSI/AC/IIIQQIIA?IA?I/AIA"},
    {"div.u32",         KIND_PLAIN,   EFFECT_NONE, "C/ASIC/IIQQI/AIA?I/AA?IA"},
    {"rem.u32",         KIND_PLAIN,   EFFECT_NONE, "C/ASIC/IIQQI/AIA?IA?IA"},
    {"div.s16|rem.s16", KIND_PLAIN,   EFFECT_NONE, "A A ABAICASA4FCSFIAFC AIIIB"},
    {"div.u16|rem.u16", KIND_PLAIN,   EFFECT_NONE, "A BCICA4FSFAFICAIB"},

    /* comparisons and choices */
    {"setp*.f64",       KIND_COMPARE, EFFECT_NONE, "D"},
    {"setp*f16*",       KIND_COMPARE, EFFECT_NONE, "H"},
    {"setp*64",         KIND_COMPARE, EFFECT_NONE, "AA"},
    {"setp*",           KIND_COMPARE, EFFECT_NONE, "A"},
    {"set.*",           KIND_PLAIN,   EFFECT_NONE, "AA"},
    {"selp*64",         KIND_SELECT,  EFFECT_NONE, "A A"},
    {"selp*",           KIND_SELECT,  EFFECT_NONE, "A"},
    {"slct*",           KIND_PLAIN,   EFFECT_NONE, "AA"},

    /* integers */
    {"add*64",          KIND_ADD64,   EFFECT_NONE, "A/A"},
    {"sub*64|neg.s64|addc*64|subc*64", KIND_PLAIN, EFFECT_NONE, "A/A"},
    {"add.cc*|sub.cc*|addc*|subc*", KIND_PLAIN, EFFECT_NONE, "A"},
    {"add.sat*|sub.sat*", KIND_PLAIN, EFFECT_NONE, "AAAA"},
    {"add.u16|add.s16|add.u32|add.s32", KIND_ADD, EFFECT_NONE, "A"},
    {"sub.u16|sub.s16", KIND_PLAIN,   EFFECT_NONE, "AA"},
    {"sub.u32|sub.s32", KIND_SUB,     EFFECT_NONE, "A"},
    {"add*|sub*",       KIND_PLAIN,   EFFECT_NONE, "A"},
    {"mul.wide.u32|mul.wide.s32", KIND_WIDE, EFFECT_NONE, "Q"},
    {"mul.wide.u16|mad.wide.u16", KIND_PLAIN, EFFECT_NONE, "I"},
    {"mul.wide.s16|mad.wide.s16", KIND_PLAIN, EFFECT_NONE, "A AI"},
    {"mad.wide*",       KIND_WIDE_SUM, EFFECT_NONE, "Q"},
    {"mul.lo.s64|mul.lo.u64|mad.lo.s64|mad.lo.u64", KIND_PLAIN, EFFECT_NONE, "I Q I+A"},
    {"mul.hi.u64|mad.hi.u64", KIND_PLAIN, EFFECT_NONE, "QQAQ/A2A"},
    {"mul.hi.s64|mad.hi.s64", KIND_PLAIN, EFFECT_NONE, "QQAQ/A3/I2A3/A4"},
    {"mul.lo.s32|mul.lo.u32", KIND_MUL, EFFECT_NONE, "I"},
    {"mul.lo.s16",      KIND_PLAIN,   EFFECT_NONE, "A AI"},
    {"mul24*|mad24*",   KIND_PLAIN,   EFFECT_NONE, "A AI"},
    {"mul.hi*|mad.hi*", KIND_PLAIN,   EFFECT_NONE, "Q"},
    {"mul*|mad*|dp4a*|dp2a*", KIND_PLAIN, EFFECT_NONE, "I"},
    {"min.s64|max.s64|min.u64|max.u64", KIND_PLAIN, EFFECT_NONE, "AAA A"},
    {"min*|max*",       KIND_MINMAX,  EFFECT_NONE, "A"},
    {"abs.s64",         KIND_PLAIN,   EFFECT_NONE, "AI AA A"},
    {"abs.s16",         KIND_PLAIN,   EFFECT_NONE, "AAA"},
    {"neg.s32",         KIND_NEGATE,  EFFECT_NONE, "A"},
    {"neg*",            KIND_PLAIN,   EFFECT_NONE, "AA"},
    {"abs*|sad.s32|sad.u32", KIND_PLAIN, EFFECT_NONE, "A"},
    {"sad*",            KIND_PLAIN,   EFFECT_NONE, "AAIAIA AAAI"},
    {"and.b64|or.b64|xor.b64|not.b64", KIND_PLAIN, EFFECT_NONE, "A A"},
    {"and*|or.*|xor*",  KIND_LOGIC,   EFFECT_NONE, "A"},
    {"not*",            KIND_NOT,     EFFECT_NONE, "A"},
    {"cnot*",           KIND_PLAIN,   EFFECT_NONE, "AA"}, /* as the comparison and the choice that it is: an estimate */
    {"lop3*|prmt*|shf.*|copysign*|szext*|bmsk*", KIND_PLAIN, EFFECT_NONE, "A"},
    {"shl.b64",         KIND_SHL64,   EFFECT_NONE, "A A"},
    {"shr*64",          KIND_PLAIN,   EFFECT_NONE, "A A"},
    {"shl.b32",         KIND_SHL,     EFFECT_NONE, "A"},
    {"shl*|shr*",       KIND_PLAIN,   EFFECT_NONE, "A"},
    {"bfe*64",          KIND_PLAIN,   EFFECT_NONE, "AAA"},
    {"bfe*",            KIND_PLAIN,   EFFECT_NONE, "AA"},
    {"bfi.b64",          KIND_PLAIN,   EFFECT_NONE, "IA A A A A A A A A A A A"},
    {"bfi.b32",           KIND_PLAIN,   EFFECT_NONE, "AA"},
    {"popc.b64",        KIND_PLAIN,   EFFECT_NONE, "C CA"},
    {"clz.b64|bfind*64", KIND_PLAIN,  EFFECT_NONE, "ACAAA"},
    {"clz*",            KIND_PLAIN,   EFFECT_NONE, "CA"},
    {"brev.b64",        KIND_PLAIN,   EFFECT_NONE, "C C"},
    {"popc*|brev*|bfind*", KIND_PLAIN, EFFECT_NONE, "C"},
    {"fns*",            KIND_PLAIN,   EFFECT_NONE, "A20"},
    {"vadd*|vsub*|vabsdiff*|vmin*|vmax*|vshl*|vshr*|vmad*|vset*|vavrg*", KIND_PLAIN, EFFECT_NONE, "AAAA"},

    /* conversions */
    {"cvt.u64.u32|cvt.s64.u32|cvt.u64.u16|cvt.s64.u16", KIND_RENAME, EFFECT_NONE, ""}, /* zeros above need no code */
    {"cvt.u32.u64|cvt.s32.u64|cvt.u32.s64|cvt.s32.s64|cvt.u16.*|cvt.s16.*", KIND_RENAME, EFFECT_NONE, ""},
    {"cvt.u64.s64|cvt.s64.u64|cvt.u32.s32|cvt.s32.u32|cvt.u32.u32|cvt.s32.s32|cvt.u64.u64|cvt.s64.s64", KIND_RENAME, EFFECT_NONE, ""},
    {"cvt.u32.u16|cvt.s32.u16", KIND_RENAME, EFFECT_NONE, ""}, /* most come from loads, which fill with zeros */
    {"cvt.s64.s32|cvt.u64.s32", KIND_PLAIN, EFFECT_NONE, "A"},
    {"cvt.s64.s16|cvt.u64.s16", KIND_PLAIN, EFFECT_NONE, "AA"},
    {"cvt.rn.f32.s32|cvt.rn.f32.u32|cvt.rn.f32.u16", KIND_PLAIN, EFFECT_NONE, "A"},
    {"cvt.rn.f32.u8",   KIND_PLAIN,   EFFECT_NONE, "C"},
    {"cvt.f32.f16|cvt*.f32.f16", KIND_PLAIN, EFFECT_NONE, "H"},
    {"cvt.f32.bf16|cvt*.f32.bf16", KIND_PLAIN, EFFECT_NONE, "A"},
    {"cvt.*.f16x2.f32|cvt.*.bf16x2.f32|cvt.*.f16.f32|cvt.*.bf16.f32", KIND_PLAIN, EFFECT_NONE, "A"},
    {"cvt.sat*.f32.f32|cvt.f32.f32|cvt.ftz*.f32.f32", KIND_PLAIN, EFFECT_NONE, "F"},
    {"cvt*.f64.*|cvt*.f64", KIND_PLAIN, EFFECT_NONE, "E"},
    {"cvt*.f32|cvt*.f16|cvt*.bf16", KIND_PLAIN, EFFECT_NONE, "C"},
    {"cvt.*.f32.*|cvt.*.f16.*|cvt.*.bf16.*", KIND_PLAIN, EFFECT_NONE, "C"},
    {"cvt*",            KIND_PLAIN,   EFFECT_NONE, "A"},

    /* memory */
    {"ld.*acquire*|ld.*relaxed*|ld.*mmio*|st.*release*|st.*relaxed*|st.*mmio*", KIND_LOAD, EFFECT_ALL, "L"},
    {"ld.const*",       KIND_LOAD,    EFFECT_READ, "K"},
    {"ld.*|ldu*|ldmatrix*", KIND_LOAD, EFFECT_READ, "L"},
    {"st.param*",       KIND_PLAIN,   EFFECT_WRITE, ""}, /* of a call: in registers */
    {"st.*|stmatrix*",  KIND_STORE,   EFFECT_WRITE, "L"},
    {"prefetch*|discard*|applypriority*", KIND_PLAIN, EFFECT_WRITE, "L"},
    {"atom.shared*add.f32|atom.shared*add.f64|atom.shared*64", KIND_ATOMIC, EFFECT_WRITE, "LFLAB"}, /* a loop around cas */
    {"atom*",           KIND_ATOMIC,  EFFECT_WRITE, "L"},
    {"red.shared*add.f32|red.shared*add.f64|red.shared*64", KIND_ATOMIC, EFFECT_WRITE, "LFLAB"},
    {"red.*",           KIND_ATOMIC,  EFFECT_WRITE, "L"},
    {"cp.async.wait*|cp.async.commit*", KIND_PLAIN, EFFECT_ALL, "L"},
    {"cp.async.bulk*",  KIND_PLAIN,   EFFECT_ALL, "L"},
    {"cp.async*",       KIND_PLAIN,   EFFECT_ALL, "L"},
    {"membar.cta|fence*.cta|fence.proxy*", KIND_PLAIN, EFFECT_ALL, "Y"},
    {"membar*|fence*",  KIND_PLAIN,   EFFECT_ALL, "YYL"},
    {"tex*|tld4*",      KIND_PLAIN,   EFFECT_READ, "X"},
    {"txq*|suq*",       KIND_PLAIN,   EFFECT_READ, "K"},
    {"suld*",           KIND_PLAIN,   EFFECT_ALL, "X"},
    {"sust*|sured*",    KIND_PLAIN,   EFFECT_ALL, "X"},

    /* lanes and blocks */
    {"shfl*",           KIND_PLAIN,   EFFECT_LANES, "W"},
    {"match*",          KIND_PLAIN,   EFFECT_LANES, "M"},
    {"vote*|activemask*|elect*", KIND_PLAIN, EFFECT_LANES, "V"},
    {"redux*",          KIND_PLAIN,   EFFECT_LANES, "CA"},
    {"bar.warp*",       KIND_PLAIN,   EFFECT_ALL, "U"}, /* of all lanes: nothing, in one cycle */
    {"bar*|barrier*",   KIND_PLAIN,   EFFECT_ALL, "Y"},
    {"mbarrier*",       KIND_PLAIN,   EFFECT_ALL, "L"},

    /* matrices */
    {"wmma.load.*.shared*16|wmma.load.*.shared*.s8|wmma.load.*.shared*.u8", KIND_PLAIN, EFFECT_READ, "AAAL"},
    {"wmma.load.a*.col.*|wmma.load.b*.row.*", KIND_PLAIN, EFFECT_READ, "AAIL L L LC C C C"}, /* turned around by MOVM */
    {"wmma.load*",      KIND_PLAIN,   EFFECT_READ, "AAIL L L L"},
    {"wmma.store*",     KIND_PLAIN,   EFFECT_WRITE, "AAIAIL L L L"},
    {"wmma.mma*.s8*|wmma.mma*.u8*", KIND_PLAIN, EFFECT_LANES, "N N"},
    {"wmma.mma*",       KIND_PLAIN,   EFFECT_LANES, "T T B"},
    {"mma*.m8n8k4*f64*|mma*.m16n8k4*f64*", KIND_PLAIN, EFFECT_LANES, "k"},
    {"mma*.m16n8k8*f64*", KIND_PLAIN, EFFECT_LANES, "k kB"},
    {"mma*.m16n8k16*f64*", KIND_PLAIN, EFFECT_LANES, "kk k kB"},
    /* by other instructions: how many was arranged so that they take the time that was measured */
    {"mma.sp*.m16n8k64*.s4*|mma.sp*.m16n8k64*.u4*", KIND_PLAIN, EFFECT_LANES, "A30/A7jB"},
    {"mma.sp*.s4*|mma.sp*.u4*", KIND_PLAIN, EFFECT_LANES, "A36/A8jB"},
    {"mma*.m8n8k32*",   KIND_PLAIN,   EFFECT_LANES, "A27/AiB"},
    {"mma*.m16n8k32*.s4*|mma*.m16n8k32*.u4*", KIND_PLAIN, EFFECT_LANES, "A28/A6hB"},
    {"mma*.s4*|mma*.u4*", KIND_PLAIN, EFFECT_LANES, "A33/A4hB"},
    {"mma.sp*.e4m3*|mma.sp*.e5m2*", KIND_PLAIN, EFFECT_LANES, "A13jj/A12"},
    {"mma*.e4m3*|mma*.e5m2*", KIND_PLAIN, EFFECT_LANES, "A12hhF"}, /* an estimate */
    {"mma*.m8n8k4*",    KIND_PLAIN,   EFFECT_LANES, "A29F6/A12B"},
    {"mma.sp*.m16n8k32*16.f*|mma.sp*.m16n8k16*tf32*|mma.sp*.m16n8k64*", KIND_PLAIN, EFFECT_LANES, "j"},
    {"mma.sp*",         KIND_PLAIN,   EFFECT_LANES, "h"},
    {"mma*.m16n8k16*.s8*|mma*.m16n8k16*.u8*|mma*.m8n8k16*|mma*.m8n8k128*|mma*.m16n8k128*", KIND_PLAIN, EFFECT_LANES, "i"},
    {"mma*.m16n8k8*16*|mma*.m16n8k4*tf32*", KIND_PLAIN, EFFECT_LANES, "i"},
    {"mma*",            KIND_PLAIN,   EFFECT_LANES, "h"},
    {"movmatrix*",      KIND_PLAIN,   EFFECT_LANES, "C"},
    {"wgmma.mma_async*", KIND_PLAIN,  EFFECT_ALL, "T"},
    {"wgmma*",          KIND_PLAIN,   EFFECT_ALL, "U"},

    /* control */
    {"bra*",            KIND_BRANCH,  EFFECT_ALL, "B"},
    {"brx*",            KIND_BRANCH,  EFFECT_ALL, "AKB"},
    {"call*",           KIND_CALL,    EFFECT_ALL, "AG"},
    {"ret*",            KIND_END,     EFFECT_ALL, "G"},
    {"exit*",           KIND_END,     EFFECT_ALL, "B"},
    {"trap*|brkpt*|nanosleep*", KIND_PLAIN, EFFECT_ALL, "B"},
    {"pmevent*|griddepcontrol*|setmaxnreg*", KIND_PLAIN, EFFECT_ALL, "Y"},
    {"",                KIND_PLAIN,   EFFECT_ALL, "A"}, /* whatever else */
};
/* clang-format on */

static enum isa_unit unit_of(char letter)
{
    for (size_t i = 0; i < COUNT_OF(letters); i++)
        if (letters[i].letter == letter)
            return letters[i].unit;
    return UNIT_ALU;
}

static uint32_t letter_latency(char letter)
{
    for (size_t i = 0; i < COUNT_OF(letters); i++)
        if (letters[i].letter == letter)
            return letters[i].latency;
    return 5;
}

static uint8_t flags_of(char sign)
{
    return sign == ' '   ? 0
           : sign == '/' ? STEP_BESIDE
           : sign == '?' ? STEP_CHAINED | STEP_GUARDED
           : sign == '+' ? STEP_JOINS
           : sign == '!' ? STEP_JOINS | STEP_MERGED
                         : STEP_CHAINED;
}

uint32_t opcode_steps(const char *text, struct isa_step *steps, uint32_t most)
{
    uint32_t count = 0;
    uint8_t flows = strpbrk(text, "?+BJGLXYKR") ? 0 : STEP_FLOWS; /* branches and memory hold others back */
    for (const char *at = text; *at;) {
        uint8_t flags = flags_of(*at);
        if (*at < 'A')
            at++;
        enum isa_unit unit = unit_of(*at++);
        uint32_t times = 0;
        while (*at >= '0' && *at <= '9')
            times = 10 * times + (uint32_t)(*at++ - '0');
        for (times = times ? times : 1; times && count < most; times--) {
            if (!count)
                flags &= STEP_BESIDE | STEP_MERGED;
            steps[count++] = (struct isa_step){(uint8_t)unit, flows | flags};
            flags = flags & STEP_BESIDE ? flags : STEP_CHAINED;
        }
    }
    return count;
}

/* Whether one of a row's patterns, divided by |, fits. */
static bool fits(const char *pattern, const char *end, const char *text)
{
    for (; pattern < end; pattern++, text++) {
        if (*pattern == '*') {
            for (const char *rest = text;; rest++) {
                if (fits(pattern + 1, end, rest))
                    return true;
                if (!*rest)
                    return false;
            }
        }
        if (*pattern != *text)
            return false;
    }
    return !*text;
}

static const struct row *find_row(const char *text)
{
    for (size_t i = 0; i + 1 < COUNT_OF(rows); i++) {
        const char *at = rows[i].pattern;
        for (;;) {
            const char *end = strchrnul(at, '|');
            if (fits(at, end, text))
                return &rows[i];
            if (!*end)
                break;
            at = end + 1;
        }
    }
    return &rows[COUNT_OF(rows) - 1];
}

static enum ptx_space space_of(const char *text)
{
    static const struct {
        const char *name;
        enum ptx_space space;
    } spaces[] = {{"global", PTX_GLOBAL}, {"shared", PTX_SHARED}, {"local", PTX_LOCAL},
                  {"const", PTX_CONST},   {"param", PTX_PARAM},   {"shared::cta", PTX_SHARED}};
    for (size_t i = 0; i < COUNT_OF(spaces); i++)
        if (ptx_opcode_has(text, spaces[i].name))
            return spaces[i].space;
    if (!strncmp(text, "ldmatrix", 8) || !strncmp(text, "stmatrix", 8))
        return PTX_SHARED;
    return PTX_GENERIC;
}

/* What contract.c takes for a product or a sum, or a bit more. */
static bool may_contract(const char *text, const char *base)
{
    if (strncmp(text, base, 3) != 0 || text[3] != '.')
        return false;
    const char *type = strrchr(text, '.') + 1;
    if (*type != 'f' && *type != 'b')
        return false;
    return !ptx_opcode_has(text, "rn") && !ptx_opcode_has(text, "rz") && !ptx_opcode_has(text, "rm") &&
           !ptx_opcode_has(text, "rp");
}

static bool may_split(const char *text)
{
    static const char *const bases[] = {"call", "membar", "fence", "brkpt", "pmevent", "div",
                                        "rem",  "rcp",    "sqrt",  "rsqrt", "bfind"};
    for (size_t i = 0; i < COUNT_OF(bases); i++) {
        size_t length = strlen(bases[i]);
        if (!strncmp(text, bases[i], length) && (text[length] == '.' || !text[length]))
            return !ptx_opcode_has(text, "f32") ||
                   (!ptx_opcode_has(text, "approx") && !ptx_opcode_has(text, "full"));
    }
    return false;
}

uint32_t opcode_latency(const struct opcode *opcode, const char *steps)
{
    uint32_t latency = 0;
    bool memory = opcode->effect == EFFECT_READ || opcode->effect == EFFECT_WRITE;
    if (!*steps)
        return 0;
    if (memory && (opcode->space == PTX_GLOBAL || opcode->space == PTX_GENERIC || opcode->space == PTX_LOCAL))
        return LATENCY_FAR;
    for (const char *at = steps; *at; at++) { /* the longest chain is mostly the last one */
        if (*at == '/')
            at++;
        else if (*at == ' ')
            latency = 0;
        else if (*at >= 'A')
            latency += letter_latency(*at);
    }
    return latency;
}

static void describe(struct opcode *opcode, const char *text)
{
    const struct row *row = find_row(text);
    const char *type = strrchr(text, '.');
    *opcode = (struct opcode){.text = text, .steps = row->steps, .kind = row->kind, .effect = row->effect};
    opcode->type = (uint8_t)(type ? ptx_type_of(type + 1, strlen(type + 1)) : PTX_NO_TYPE);
    opcode->space = (uint8_t)space_of(text);
    opcode->vector = ptx_opcode_has(text, "v2")   ? 2
                     : ptx_opcode_has(text, "v4") ? 4
                     : ptx_opcode_has(text, "v8") ? 8
                                                  : 1;
    opcode->bytes = (uint8_t)(opcode->vector * ptx_type_bytes(opcode->type));
    opcode->strict = ptx_opcode_has(text, "volatile");
    opcode->orders =
        ptx_opcode_has(text, "acquire") || ptx_opcode_has(text, "release") || ptx_opcode_has(text, "acq_rel");
    opcode->constant_space = ptx_opcode_has(text, "nc") || opcode->space == PTX_CONST ||
                             !strncmp(text, "tex.", 4) || !strncmp(text, "txq", 3) ||
                             !strncmp(text, "suq", 3);
    opcode->whole_warp =
        !strncmp(text, "ldmatrix", 8) || !strncmp(text, "stmatrix", 8) || !strncmp(text, "wmma", 4);
    opcode->carry = ptx_opcode_has(text, "cc") || !strncmp(text, "addc", 4) || !strncmp(text, "subc", 4) ||
                    !strncmp(text, "madc", 4);
    opcode->splits = may_split(text);
    opcode->product = may_contract(text, "mul");
    opcode->sum = may_contract(text, "add") || may_contract(text, "sub");
}

static uint32_t *slot(const struct opcodes *opcodes, const char *text)
{
    uint64_t at = digest_word(0, (uintptr_t)text) >> 32;
    for (;; at++) {
        uint32_t *entry = &opcodes->table[at & (opcodes->table_size - 1)];
        if (!*entry || opcodes->at[*entry - 1].text == text)
            return entry;
    }
}

uint32_t opcodes_find(struct opcodes *opcodes, const char *text)
{
    if (2 * (opcodes->count + 1) > opcodes->table_size) {
        opcodes->table_size = opcodes->table_size ? 2 * opcodes->table_size : 256;
        mem_free(opcodes->table);
        opcodes->table = mem_alloc(opcodes->table_size, sizeof *opcodes->table);
        for (uint32_t i = 0; i < opcodes->count; i++)
            *slot(opcodes, opcodes->at[i].text) = i + 1;
    }
    uint32_t *entry = slot(opcodes, text);
    if (!*entry) {
        mem_grow(opcodes->at, opcodes->count, opcodes->capacity);
        describe(&opcodes->at[opcodes->count++], text);
        *entry = opcodes->count;
    }
    return *entry - 1;
}

void opcodes_fini(struct opcodes *opcodes)
{
    mem_free(opcodes->at);
    mem_free(opcodes->table);
    *opcodes = (struct opcodes){0};
}
