/* A kernel is made of statements, nested at random: straight pieces (generate_ops.h), branches, loops, calls.
 * Two things are known at every place, and decide what may stand there: whether all threads of the block come
 * here together (then there may be barriers), and in which register each lane has the set of the lanes of its
 * warp that come here together (then there may be votes and shuffles).
 *
 * Numbers are drawn one at a time, each in a statement of its own: the order in which C evaluates operands is
 * the compiler's. */
#include "generate.h"
#include "generate_ops.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { R = 8, Q = 4, F = 4, G = 3, P = 4, FUNCTIONS = 3 };

struct maker {
    struct rng rng;
    struct text *body;
    unsigned labels, masks, branches, counters; /* how many there are of labels and of these registers */
    unsigned last;                              /* number drawn for a pattern */
    unsigned room;                              /* statements that may still be made */
    unsigned functions;                         /* that can be called from here */
    uint32_t threads;                           /* of a block */
    bool in_function;
    bool counts;  /* has barriers that count threads, so that none may end before them */
    bool careful; /* generate.h */
};

struct place {
    unsigned mask;  /* the number of the register; 0: not known who is here */
    unsigned depth; /* how many statements stand around */
    unsigned loop;  /* the label of the loop that may be left from here, and 1; 0: none */
    bool uniform;   /* the whole block comes here */
    bool leaves;    /* the kernel or function may be left from here: nobody counts on those who do */
};

static unsigned draw(struct maker *maker, unsigned n)
{
    return (unsigned)rng_below(&maker->rng, n);
}

static void say(struct maker *maker, const char *format, ...) __attribute__((format(__printf__, 2, 3)));
static void say(struct maker *maker, const char *format, ...)
{
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text_add(maker->body, "%s\n", line);
}

/* --- straight pieces
 * ---------------------------------------------------------------------------------------------- */

static void fill_number(struct maker *maker, char what)
{
    if (what == 's') {
        maker->last = draw(maker, 32);
    } else if (what == 'k') {
        maker->last = 1 + draw(maker, 7);
    } else if (what == 'i') {
        bool small = draw(maker, 2);
        maker->last = small ? draw(maker, 40) : (unsigned)rng_next(&maker->rng);
    }
    text_add(maker->body, "%d", (int)maker->last);
}

static void fill_word(struct maker *maker, char what)
{
    static const char *const integers[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    static const char *const floats[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                         "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
    static const char *const roundings[] = {"rn", "rz", "rm", "rp"};
    if (what == 'c')
        text_add(maker->body, "%s", integers[draw(maker, COUNT_OF(integers))]);
    else if (what == 'd')
        text_add(maker->body, "%s", floats[draw(maker, COUNT_OF(floats))]);
    else
        text_add(maker->body, "%s", roundings[draw(maker, COUNT_OF(roundings))]);
}

static void fill_in(struct maker *maker, char what, const struct place *place)
{
    static const char registers[] = "rqfgp";
    static const uint8_t counts[] = {R, Q, F, G, P};
    const char *found = strchr(registers, what);
    if (found)
        text_add(maker->body, "%%%c%u", what, draw(maker, counts[found - registers]));
    else if (strchr("isk=", what))
        fill_number(maker, what);
    else if (strchr("cdn", what))
        fill_word(maker, what);
    else if (what == 'm')
        text_add(maker->body, "%%m%u", place->mask);
    else
        text_add(maker->body, "%u",
                 what == 'l'   ? 4 * draw(maker, 16)
                 : what == 'L' ? 8 * draw(maker, 8)
                               : 16 * draw(maker, 4));
}

/* A single instruction may have a guard. */
static void pattern(struct maker *maker, const char *text, const struct place *place)
{
    bool single = strchr(text, ';') == text + strlen(text) - 1 && !strstr(text, ".sync");
    if (single && draw(maker, 4) == 0) {
        unsigned guard = draw(maker, P), negated = draw(maker, 2);
        text_add(maker->body, "@%s%%p%u ", negated ? "!" : "", guard);
    }
    for (; *text; text++)
        if (*text == '$')
            fill_in(maker, *++text, place);
        else
            text_add_bytes(maker->body, text, 1);
    text_add(maker->body, "\n");
}

#define ANY_OF(maker, list, place) pattern(maker, list[draw(maker, COUNT_OF(list))], place)

/* Sets a new predicate and returns its number. */
static unsigned condition(struct maker *maker, const struct place *place)
{
    static const char *const conditions[] = {
        "setp.$c.s32 %z0, $r, $r;",
        "and.b32 %t0, $r, $k; setp.ne.u32 %z0, %t0, 0;",
        "setp.$d.f32 %z0, $f, $f;",
        "setp.$c.s64 %z0, $q, $q;",
        "mov.u32 %t0, %laneid; setp.$c.u32 %z0, %t0, $s;",
        "mov.pred %z0, $p;",
    };
    unsigned number = maker->branches++;
    const char *text = conditions[draw(maker, COUNT_OF(conditions))];
    for (; *text; text++)
        if (*text == '$')
            fill_in(maker, *++text, place);
        else
            text_add_bytes(maker->body, text, 1);
    say(maker, " mov.pred %%b%u, %%z0;", number);
    return number;
}

/* Brings lanes together that are to do something together. */
static void gather(struct maker *maker, unsigned mask)
{
    if (maker->careful && mask)
        say(maker, "bar.warp.sync %%m%u;", mask);
}

static const char *barrier(const struct maker *maker)
{
    return maker->careful ? "barrier" : "bar";
}

/* Of the lanes that are here, those for which the predicate holds; a new register. */
static unsigned ballot(struct maker *maker, unsigned predicate, unsigned mask)
{
    unsigned number = maker->masks++;
    gather(maker, mask);
    say(maker, "vote.sync.ballot.b32 %%m%u, %%b%u, %%m%u;", number, predicate, mask);
    return number;
}

/* --- statements
 * ----------------------------------------------------------------------------------------------------- */

static void statements(struct maker *maker, struct place place, unsigned count);

/* A place in a statement of this one, where only some of the threads come. */
static struct place inside(struct place place, unsigned mask)
{
    return (struct place){.mask = mask,
                          .depth = place.depth + 1,
                          .loop = mask ? 0 : place.loop,
                          .leaves = place.leaves && !place.mask};
}

static void make_if(struct maker *maker, struct place place)
{
    unsigned label = maker->labels++, test = condition(maker, &place), then = 0, other = 0;
    if (place.mask) {
        then = ballot(maker, test, place.mask);
        other = maker->masks++;
        say(maker, "xor.b32 %%m%u, %%m%u, %%m%u;", other, place.mask, then);
    }
    bool has_else = draw(maker, 2);
    say(maker, "@!%%b%u bra ELSE_%u;", test, label);
    statements(maker, inside(place, then), 1 + draw(maker, 4));
    if (has_else)
        say(maker, "bra END_%u;", label);
    say(maker, "ELSE_%u:", label);
    if (has_else)
        statements(maker, inside(place, other), 1 + draw(maker, 4));
    say(maker, "END_%u:", label);
}

/* Two tests that lead to the same place: who is there is not known. */
static void make_short_circuit(struct maker *maker, struct place place)
{
    unsigned label = maker->labels++, first = condition(maker, &place);
    say(maker, "@%%b%u bra ELSE_%u;", first, label);
    statements(maker, inside(place, 0), 1);
    unsigned second = condition(maker, &place);
    say(maker, "@!%%b%u bra ELSE_%u;", second, label);
    statements(maker, inside(place, 0), 1 + draw(maker, 3));
    bool skips = draw(maker, 2);
    if (skips)
        say(maker, "bra END_%u;", label);
    say(maker, "ELSE_%u:", label);
    statements(maker, inside(place, 0), 1 + draw(maker, 2));
    say(maker, "END_%u:", label);
}

/* Some leave the loop: those who stay know it. */
static void make_break(struct maker *maker, unsigned label, unsigned loop_mask, struct place *place)
{
    unsigned test = condition(maker, place);
    if (loop_mask) {
        unsigned left = ballot(maker, test, loop_mask);
        say(maker, "@!%%b%u xor.b32 %%m%u, %%m%u, %%m%u;", test, loop_mask, loop_mask, left);
    }
    say(maker, "@%%b%u bra END_%u;", test, label);
}

/* Some go on to the next round: the others know it, until they meet again. */
static void make_continue(struct maker *maker, unsigned label, struct place *place)
{
    unsigned test = condition(maker, place);
    if (place->mask) {
        unsigned left = ballot(maker, test, place->mask), rest = maker->masks++;
        say(maker, "xor.b32 %%m%u, %%m%u, %%m%u;", rest, place->mask, left);
        place->mask = rest;
    }
    say(maker, "@%%b%u bra NEXT_%u;", test, label);
}

/* Of up to 7 rounds, by lane. Where nobody keeps track of who is in it, it can be left from anywhere. */
static void make_loop(struct maker *maker, struct place place)
{
    unsigned label = maker->labels++, counter = maker->counters++, test = maker->branches++, mask = 0;
    unsigned from = draw(maker, R), most = draw(maker, 2) ? 7 : 3;
    bool loose = draw(maker, 3) == 0;
    struct place body = inside(place, 0);
    say(maker, "and.b32 %%c%u, %%r%u, %u;", counter, from, most);
    if (!place.mask || loose) {
        bool outer = draw(maker, 3) == 0 && place.loop;
        body.loop = outer ? place.loop : label + 1;
    } else {
        body.mask = mask = maker->masks++;
        say(maker, "mov.b32 %%m%u, %%m%u;", mask, place.mask);
    }
    say(maker, "LOOP_%u:", label);
    say(maker, "setp.gt.s32 %%b%u, %%c%u, 0;", test, counter);
    gather(maker, mask);
    if (mask)
        say(maker, "vote.sync.ballot.b32 %%m%u, %%b%u, %%m%u;", mask, test, mask);
    say(maker, "@!%%b%u bra END_%u;", test, label);
    statements(maker, body, 1 + draw(maker, 2));
    if (draw(maker, 3) == 0) {
        make_break(maker, label, mask, &body);
        statements(maker, body, 1);
    }
    if (draw(maker, 3) == 0) {
        make_continue(maker, label, &body);
        statements(maker, body, 1);
    }
    say(maker, "NEXT_%u:", label);
    say(maker, "sub.s32 %%c%u, %%c%u, 1;", counter, counter);
    say(maker, "bra LOOP_%u;", label);
    say(maker, "END_%u:", label);
}

/* The test is at the end: each comes through at least once. */
static void make_do_loop(struct maker *maker, struct place place)
{
    unsigned label = maker->labels++, counter = maker->counters++, test = maker->branches++, mask = 0;
    unsigned from = draw(maker, R);
    struct place body = inside(place, 0);
    say(maker, "and.b32 %%c%u, %%r%u, 3;", counter, from);
    if (place.mask) {
        body.mask = mask = maker->masks++;
        say(maker, "mov.b32 %%m%u, %%m%u;", mask, place.mask);
    }
    say(maker, "LOOP_%u:", label);
    statements(maker, body, 1 + draw(maker, 3));
    say(maker, "setp.gt.s32 %%b%u, %%c%u, 0;", test, counter);
    say(maker, "sub.s32 %%c%u, %%c%u, 1;", counter, counter);
    gather(maker, mask);
    if (mask)
        say(maker, "vote.sync.ballot.b32 %%m%u, %%b%u, %%m%u;", mask, test, mask);
    say(maker, "@%%b%u bra LOOP_%u;", test, label);
}

/* By the number of the block: all its threads go the same way. */
static void make_uniform(struct maker *maker, struct place place)
{
    unsigned label = maker->labels++, counter = maker->counters++, test = maker->branches++;
    unsigned most = draw(maker, 2) ? 3 : 1;
    struct place body = place;
    body.depth++;
    say(maker, "add.u32 %%c%u, %%block, %u;", counter, draw(maker, 4));
    say(maker, "and.b32 %%c%u, %%c%u, %u;", counter, counter, most);
    say(maker, "LOOP_%u:", label);
    say(maker, "setp.eq.u32 %%b%u, %%c%u, 0;", test, counter);
    say(maker, "@%%b%u bra END_%u;", test, label);
    say(maker, "sub.u32 %%c%u, %%c%u, 1;", counter, counter);
    statements(maker, body, 1 + draw(maker, 4));
    say(maker, "bra%s LOOP_%u;", draw(maker, 2) ? ".uni" : "", label);
    say(maker, "END_%u:", label);
}

/* A table of places to go to. Some cases run on into the next one: who is there is not known then. */
static void make_switch(struct maker *maker, struct place place)
{
    unsigned label = maker->labels++, from = draw(maker, R), cases = 2 + draw(maker, 4), mask = 0;
    bool falls = draw(maker, 3) == 0;
    say(maker, "rem.u32 %%t0, %%r%u, %u;", from, cases);
    if (place.mask && !falls) {
        gather(maker, place.mask);
        mask = maker->masks++;
        say(maker, "match.any.sync.b32 %%m%u, %%t0, %%m%u;", mask, place.mask);
    }
    text_add(maker->body, "TABLE_%u: .branchtargets", label);
    for (unsigned i = 0; i < cases; i++)
        text_add(maker->body, "%s CASE_%u_%u", i ? "," : "", label, i);
    say(maker, ";");
    say(maker, "brx.idx %%t0, TABLE_%u;", label);
    for (unsigned i = 0; i < cases; i++) {
        say(maker, "CASE_%u_%u:", label, i);
        statements(maker, inside(place, mask), 1 + draw(maker, 2));
        if (!falls || draw(maker, 2))
            say(maker, "bra END_%u;", label);
    }
    say(maker, "END_%u:", label);
}

/* Words go from thread to thread through shared memory. */
static void make_exchange(struct maker *maker, struct place place)
{
    unsigned from = draw(maker, R), to = draw(maker, R), away = draw(maker, maker->threads);
    (void)place;
    say(maker, "st.shared.b32 [%%slot], %%r%u;", from);
    say(maker, "%s.sync 0;", barrier(maker));
    say(maker, "add.u32 %%t0, %%thread, %u; rem.u32 %%t0, %%t0, %u;", away, maker->threads);
    say(maker, "shl.b32 %%t0, %%t0, 3; add.u32 %%t0, %%t0, %%slots; ld.shared.b32 %%r%u, [%%t0];", to);
    say(maker, "%s.sync 0;", barrier(maker));
}

/* What the atomic operations made of the pool, or one of its words. */
static void make_pool_read(struct maker *maker, struct place place)
{
    unsigned to = draw(maker, R), word = draw(maker, 9);
    (void)place;
    say(maker, "%s.sync 0;", barrier(maker));
    say(maker, "ld.shared.b32 %%r%u, [%%pool+%u];", to, word < 8 ? 8 * word : 68);
    say(maker, "barrier.sync 0;");
}

/* The two ways meet at the same barrier, at different instructions. */
static void make_parted_barrier(struct maker *maker, struct place place)
{
    unsigned label = maker->labels++, test = condition(maker, &place), from = draw(maker, R),
             to = draw(maker, R);
    unsigned away = draw(maker, maker->threads);
    say(maker, "st.shared.b32 [%%slot], %%r%u;", from);
    say(maker, "add.u32 %%c0, %%thread, %u; rem.u32 %%c0, %%c0, %u;", away, maker->threads);
    say(maker, "shl.b32 %%c0, %%c0, 3; add.u32 %%c0, %%c0, %%slots;");
    say(maker, "@%%b%u bra ELSE_%u;", test, label);
    statements(maker, inside(place, 0), 1);
    say(maker, "barrier.sync 1;");
    say(maker, "ld.shared.b32 %%r%u, [%%c0];", to);
    say(maker, "bra END_%u;", label);
    say(maker, "ELSE_%u:", label);
    statements(maker, inside(place, 0), 1);
    say(maker, "barrier.sync 1;");
    say(maker, "END_%u:", label);
    say(maker, "barrier.sync 0;");
}

static void make_barrier_vote(struct maker *maker, struct place place)
{
    unsigned from = draw(maker, P), to = draw(maker, R), kind = draw(maker, 3);
    (void)place;
    if (kind == 0)
        say(maker, "%s.red.popc.u32 %%r%u, 0, %%p%u;", barrier(maker), to, from);
    else
        say(maker, "%s.red.%s.pred %%p%u, 0, %s%%p%u;", barrier(maker), kind == 1 ? "and" : "or", to % P,
            to & 1 ? "!" : "", from);
}

/* Warps in part of the block wait for each other, or one for what the other has done. */
static void make_counted_barrier(struct maker *maker, struct place place)
{
    unsigned label = maker->labels++, test = maker->branches++, from = draw(maker, R), to = draw(maker, R);
    unsigned warps = 1 + draw(maker, maker->threads / 32), away = draw(maker, 32);
    (void)place;
    say(maker, "st.shared.b32 [%%slot], %%r%u;", from);
    say(maker, "setp.ge.u32 %%b%u, %%thread, %u;", test, 32 * warps);
    say(maker, "@%%b%u bra END_%u;", test, label);
    if (warps == 2) {
        say(maker, "setp.ge.u32 %%b%u, %%thread, 32;", test);
        say(maker, "@%%b%u bra ELSE_%u;", test, label);
        say(maker, "%s.sync 3, 64;", barrier(maker));
    } else {
        say(maker, "%s.sync 2, %u;", barrier(maker), 32 * warps);
    }
    say(maker, "add.u32 %%t0, %%thread, %u; rem.u32 %%t0, %%t0, 32;", away);
    if (warps == 2)
        say(maker, "add.u32 %%t0, %%t0, 32;");
    say(maker, "shl.b32 %%t0, %%t0, 3; add.u32 %%t0, %%t0, %%slots; ld.shared.b32 %%r%u, [%%t0];", to);
    say(maker, "bra END_%u;", label);
    say(maker, "ELSE_%u:", label);
    if (warps == 2)
        say(maker, "%s.arrive 3, 64;", barrier(maker));
    say(maker, "END_%u:", label);
    say(maker, "%s.sync 0;", barrier(maker));
}

/* Out of loops, functions, the kernel, from any depth. */
static void make_leave(struct maker *maker, struct place place)
{
    unsigned test = condition(maker, &place);
    bool out = place.leaves && (!place.loop || draw(maker, 2));
    if (!out) {
        say(maker, "@%%b%u bra %s_%u;", test, draw(maker, 2) ? "END" : "NEXT", place.loop - 1);
    } else if (maker->in_function) {
        unsigned result = draw(maker, R);
        say(maker, "st.param.b32 [result], %%r%u;", result);
        say(maker, "@%%b%u ret;", test);
    } else {
        say(maker, "@%%b%u %s;", test, draw(maker, 2) ? "exit" : "bra FINISH");
    }
}

/* The same for a place where the others keep track of who is there. */
static void make_return(struct maker *maker, struct place place)
{
    unsigned test = condition(maker, &place), result = draw(maker, R), gone = ballot(maker, test, place.mask);
    say(maker, "st.param.b32 [result], %%r%u;", result);
    say(maker, "@%%b%u ret;", test);
    say(maker, "xor.b32 %%m%u, %%m%u, %%m%u;", place.mask, place.mask, gone);
}

/* Some threads end, at once or through the kernel's end. */
static void make_exit(struct maker *maker, struct place place)
{
    static const char *const ways[] = {"exit", "ret", "bra FINISH"};
    unsigned test = condition(maker, &place), way = draw(maker, COUNT_OF(ways)), keep = draw(maker, 8);
    say(maker, "mov.u32 %%t0, %%laneid; and.b32 %%t0, %%t0, 7; setp.eq.and.u32 %%b%u, %%t0, %u, %%b%u;", test,
        keep, test);
    unsigned gone = ballot(maker, test, place.mask);
    say(maker, "@%%b%u %s;", test, ways[way]);
    say(maker, "xor.b32 %%m%u, %%m%u, %%m%u;", place.mask, place.mask, gone);
}

/* A word changed by compare and swap, again and again until nobody came in between. */
static void make_swap_loop(struct maker *maker, struct place place)
{
    unsigned label = maker->labels++, test = maker->branches++, value = draw(maker, R);
    bool shared = draw(maker, 2);
    const char *space = shared ? "shared" : "global", *cell = shared ? "%pool+56" : "%cells+192";
    (void)place;
    say(maker, "ld.volatile.%s.u32 %%t0, [%s];", space, cell);
    say(maker, "LOOP_%u:", label);
    say(maker, "mov.b32 %%t1, %%t0; add.u32 %%t2, %%t1, %%r%u;", value);
    say(maker, "atom.%s.cas.b32 %%t0, [%s], %%t1, %%t2;", space, cell);
    say(maker, "setp.ne.u32 %%b%u, %%t0, %%t1;", test);
    say(maker, "@%%b%u bra LOOP_%u;", test, label);
}

/* One after the other, under a lock that lanes of the same warp hold and wait for. */
static void make_locked(struct maker *maker, struct place place)
{
    unsigned label = maker->labels++, test = maker->branches++, value = draw(maker, R);
    (void)place;
    say(maker, "LOOP_%u:", label);
    say(maker, "atom.shared.cas.b32 %%t0, [%%pool+64], 0, 1;");
    say(maker, "setp.ne.u32 %%b%u, %%t0, 0;", test);
    say(maker, "@%%b%u bra NEXT_%u;", test, label);
    say(maker, "ld.volatile.shared.u32 %%t1, [%%pool+68]; add.u32 %%t1, %%t1, %%r%u;", value);
    say(maker, "st.volatile.shared.u32 [%%pool+68], %%t1; membar.cta;");
    say(maker, "atom.shared.exch.b32 %%t2, [%%pool+64], 0;");
    say(maker, "NEXT_%u:", label);
    say(maker, "@%%b%u bra LOOP_%u;", test, label);
}

/* --- calls
 * ------------------------------------------------------------------------------------------------------------
 */

/* Arguments: two registers, who comes along, and where memory is. The result is a register. */
#define SIGNATURE "(.param .b32 a, .param .b64 b, .param .b32 m, .param .b64 i, .param .b64 c, .param .b64 o)"
#define PROTOTYPE                                                                                            \
    "(.param .b32 _) _ (.param .b32 _, .param .b64 _, .param .b32 _, .param .b64 _, .param .b64 _, .param "  \
    ".b64 _)"

static void make_call(struct maker *maker, const char *guard, const char *function, const char *prototype,
                      unsigned mask)
{
    unsigned a = draw(maker, R), b = draw(maker, Q), to = draw(maker, R);
    say(maker, "{ .param .b32 got; .param .b32 to_a; .param .b64 to_b; .param .b32 to_m;");
    say(maker, ".param .b64 to_i; .param .b64 to_c; .param .b64 to_o;");
    say(maker, "st.param.b32 [to_a], %%r%u; st.param.b64 [to_b], %%q%u;", a, b);
    if (mask)
        say(maker, "st.param.b32 [to_m], %%m%u;", mask);
    else
        say(maker, "st.param.b32 [to_m], 0;");
    say(maker, "st.param.b64 [to_i], %%in; st.param.b64 [to_c], %%cells; st.param.b64 [to_o], %%own;");
    say(maker, "%scall (got), %s, (to_a, to_b, to_m, to_i, to_c, to_o)%s;", guard, function, prototype);
    say(maker, "ld.param.b32 %%t0, [got]; }");
    say(maker, "%smov.b32 %%r%u, %%t0;", guard, to);
}

/* Functions come in two kinds, told by the last letter: t uses the mask, s has none. */
static void make_direct_call(struct maker *maker, struct place place)
{
    char name[16], guard[16] = "";
    if (!maker->functions)
        return;
    unsigned which = draw(maker, maker->functions);
    if (draw(maker, 4) == 0) {
        unsigned test = condition(maker, &place);
        snprintf(guard, sizeof guard, "@%%b%u ", test);
        place.mask = place.mask ? ballot(maker, test, place.mask) : 0;
    }
    snprintf(name, sizeof name, "f%u%c", which, place.mask ? 't' : 's');
    make_call(maker, guard, name, "", place.mask);
}

/* Through a table: those who call the same function are those with the same entry. */
static void make_indirect_call(struct maker *maker, struct place place)
{
    char prototype[24];
    unsigned label = maker->labels++, from = draw(maker, R), mask = 0;
    if (!maker->functions)
        return;
    say(maker, "rem.u32 %%t0, %%r%u, %u;", from, maker->functions);
    if (place.mask) {
        gather(maker, place.mask);
        mask = maker->masks++;
        say(maker, "match.any.sync.b32 %%m%u, %%t0, %%m%u;", mask, place.mask);
    }
    say(maker, "mul.wide.u32 %%w0, %%t0, 8; mov.u64 %%w1, table_%c; add.u64 %%w0, %%w0, %%w1;",
        mask ? 't' : 's');
    say(maker, "ld.global.u64 %%w0, [%%w0];");
    say(maker, "PROTOTYPE_%u: .callprototype " PROTOTYPE ";", label);
    snprintf(prototype, sizeof prototype, ", PROTOTYPE_%u", label);
    make_call(maker, "", "%w0", prototype, mask);
}

/* --- which statement
 * -------------------------------------------------------------------------------------------------- */

enum needs {
    ANYWHERE,
    NEEDS_MASK,
    NEEDS_BLOCK,
    NEEDS_ALL,
    NEEDS_COUNTS,
    NEEDS_FUNCTION,
    NEEDS_WAY_OUT,
    NEEDS_PARTS
};

static void make_plain(struct maker *maker, struct place place)
{
    for (unsigned count = 1 + draw(maker, 5); count; count--)
        ANY_OF(maker, ops_plain, &place);
}

static void make_long(struct maker *maker, struct place place)
{
    ANY_OF(maker, ops_long, &place);
}

static void make_memory(struct maker *maker, struct place place)
{
    ANY_OF(maker, ops_memory, &place);
}

static void make_atomic(struct maker *maker, struct place place)
{
    ANY_OF(maker, ops_atomic, &place);
}

static void make_together(struct maker *maker, struct place place)
{
    ANY_OF(maker, ops_together, &place);
}

/* With a guard, by those for whom it holds. */
static void make_guarded(struct maker *maker, struct place place)
{
    unsigned test = condition(maker, &place);
    place.mask = ballot(maker, test, place.mask);
    text_add(maker->body, "@%%b%u ", test);
    ANY_OF(maker, ops_guarded, &place);
}

static const struct {
    unsigned weight;
    enum needs needs;
    bool nests;
    void (*make)(struct maker *maker, struct place place);
} kinds[] = {
    {24, ANYWHERE, false, make_plain},
    {1, ANYWHERE, false, make_long},
    {10, ANYWHERE, false, make_memory},
    {5, ANYWHERE, false, make_atomic},
    {8, NEEDS_MASK, false, make_together},
    {9, ANYWHERE, true, make_if},
    {3, ANYWHERE, true, make_short_circuit},
    {5, ANYWHERE, true, make_loop},
    {3, ANYWHERE, true, make_do_loop},
    {3, ANYWHERE, true, make_switch},
    {4, NEEDS_BLOCK, true, make_uniform},
    {4, NEEDS_BLOCK, false, make_exchange},
    {2, NEEDS_BLOCK, false, make_pool_read},
    {2, NEEDS_BLOCK, true, make_parted_barrier},
    {2, NEEDS_BLOCK, false, make_barrier_vote},
    {2, NEEDS_ALL, false, make_exit},
    {2, NEEDS_COUNTS, false, make_counted_barrier},
    {3, NEEDS_MASK, false, make_guarded},
    {5, NEEDS_WAY_OUT, false, make_leave},
    {5, NEEDS_FUNCTION, false, make_return},
    {1, ANYWHERE, false, make_swap_loop},
    {1, ANYWHERE, false, make_locked},
    {3, ANYWHERE, false, make_direct_call},
    {2, NEEDS_PARTS, false, make_indirect_call},
};

static bool fits(const struct maker *maker, size_t kind, const struct place *place)
{
    if (kinds[kind].nests && (place->depth >= 4 || maker->room <= 4))
        return false;
    switch (kinds[kind].needs) {
    case NEEDS_MASK:
        return place->mask;
    case NEEDS_BLOCK:
        return place->uniform;
    case NEEDS_ALL: /* and a kernel that may lose threads */
        return place->uniform && place->mask && !maker->counts;
    case NEEDS_COUNTS:
        return place->uniform && place->mask && maker->counts && maker->threads >= 32;
    case NEEDS_FUNCTION:
        return place->leaves && place->mask && maker->in_function;
    case NEEDS_WAY_OUT:
        return !place->mask && (place->loop || place->leaves);
    case NEEDS_PARTS: /* or a mask: aligned barriers stand only where the lanes are together */
        return place->mask || !place->uniform;
    case ANYWHERE:
        break;
    }
    return true;
}

static void statement(struct maker *maker, struct place place)
{
    unsigned total = 0;
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        total += fits(maker, i, &place) ? kinds[i].weight : 0;
    unsigned chosen = draw(maker, total);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        unsigned weight = fits(maker, i, &place) ? kinds[i].weight : 0;
        if (chosen < weight) {
            kinds[i].make(maker, place);
            return;
        }
        chosen -= weight;
    }
}

static void statements(struct maker *maker, struct place place, unsigned count)
{
    for (; count && maker->room; count--) {
        maker->room--;
        statement(maker, place);
        gather(maker, place.mask);
    }
}

/* --- functions and the kernel
 * --------------------------------------------------------------------------------------- */

static void declare_registers(const struct maker *maker, struct text *text)
{
    text_add(text,
             ".reg .b32 %%r<%d>, %%t<4>, %%m<%u>, %%c<%u>, %%thread, %%block, %%slot, %%slots, %%pool;\n"
             ".reg .b64 %%q<%d>, %%w<2>, %%in, %%cells, %%own, %%array;\n"
             ".reg .b16 %%h<3>;\n.reg .f32 %%f<%d>, %%x0;\n.reg .f64 %%g<%d>;\n"
             ".reg .pred %%p<%d>, %%z<2>, %%b<%u>;\n.local .align 16 .b8 array[64];\n",
             R, maker->masks, maker->counters + 1, Q, F, G, P, maker->branches + 1);
}

/* Registers get values that differ between threads, from %r0 and %q0. */
static void start_registers(struct maker *maker)
{
    for (unsigned i = 1; i < R; i++)
        say(maker, "mad.lo.u32 %%r%u, %%r%u, %u, %u;", i, i - 1, 2654435761u + 2 * i, draw(maker, 1000));
    for (unsigned i = 1; i < Q; i++)
        say(maker, "mad.wide.u32 %%q%u, %%r%u, %u, %%q%u;", i, i, 40503 + i, i - 1);
    for (unsigned i = 0; i < F; i++)
        say(maker, "shr.s32 %%t0, %%r%u, %u; cvt.rn.f32.s32 %%f%u, %%t0;", i, 4 + 6 * i, i);
    for (unsigned i = 0; i < G; i++)
        say(maker, "cvt.rn.f64.s64 %%g%u, %%q%u;", i, i);
    for (unsigned i = 0; i < P; i++)
        say(maker, "and.b32 %%t0, %%r%u, %u; setp.ne.u32 %%p%u, %%t0, 0;", i, 1u << (3 * i), i);
    say(maker, "mov.u64 %%array, array; mov.u32 %%pool, pool;");
    for (unsigned i = 0; i < 8; i++)
        say(maker, "st.local.b64 [%%array+%u], %%q%u;", 8 * i, i % Q);
}

/* The recursive function goes up to three calls deep, by lane: the last bits of its argument count them. */
static void make_recursion(struct maker *maker, const char *name, struct place place)
{
    unsigned test = maker->branches++, label = maker->labels++, mask = 0;
    say(maker, "and.b32 %%t0, %%depth, 3; setp.ne.u32 %%b%u, %%t0, 0;", test);
    if (place.mask)
        mask = ballot(maker, test, place.mask);
    say(maker, "@!%%b%u bra END_%u;", test, label);
    say(maker, "sub.u32 %%t0, %%depth, 1;");
    for (unsigned i = 0; i < R; i++) /* whichever register is passed on */
        say(maker, "and.b32 %%r%u, %%r%u, -4; or.b32 %%r%u, %%r%u, %%t0;", i, i, i, i);
    make_call(maker, "", name, "", mask);
    say(maker, "END_%u:", label);
}

static void begin_body(struct maker *maker, struct text *body, unsigned functions, unsigned room)
{
    maker->body = body;
    maker->labels = maker->branches = 0;
    maker->counters = 1; /* the first is make_parted_barrier's */
    maker->masks = 2;    /* the first is none, the second all who come in */
    maker->functions = functions;
    maker->room = room;
}

static void make_function(struct maker *maker, unsigned number, bool masked, struct text *text)
{
    struct text body = {0};
    struct place place = {.mask = masked ? 1 : 0, .depth = 2, .leaves = true};
    char name[16];
    unsigned room = 4 + draw(maker, 5);
    snprintf(name, sizeof name, "f%u%c", number, masked ? 't' : 's');
    begin_body(maker, &body, number, room);
    say(maker,
        "ld.param.b32 %%r0, [a]; ld.param.b64 %%q0, [b]; ld.param.b32 %%m1, [m]; mov.b32 %%depth, %%r0;");
    say(maker, "ld.param.b64 %%in, [i]; ld.param.b64 %%cells, [c]; ld.param.b64 %%own, [o];");
    start_registers(maker);
    statements(maker, place, room);
    if (number == FUNCTIONS - 1)
        make_recursion(maker, name, place);
    say(maker, "xor.b32 %%t0, %%r0, %%r1; add.u32 %%t0, %%t0, %%r2; st.param.b32 [result], %%t0;");
    say(maker, "ret;");
    text_add(text, ".func (.param .b32 result) %s" SIGNATURE "\n{\n", name);
    declare_registers(maker, text);
    text_add(text, ".reg .b32 %%depth;\n%s}\n", body.at);
    text_fini(&body);
}

static void make_functions(struct maker *maker, struct text *text)
{
    for (unsigned i = 0; i < 2 * FUNCTIONS; i++)
        text_add(text, ".func (.param .b32 result) f%u%c" SIGNATURE ";\n", i / 2, i & 1 ? 't' : 's');
    for (unsigned masked = 0; masked < 2; masked++) {
        char kind = masked ? 't' : 's';
        text_add(text, ".global .align 8 .u64 table_%c[%d] = {", kind, FUNCTIONS);
        for (unsigned i = 0; i < FUNCTIONS; i++)
            text_add(text, "%sf%u%c", i ? ", " : "", i, kind);
        text_add(text, "};\n");
    }
    maker->in_function = true;
    for (unsigned i = 0; i < 2 * FUNCTIONS; i++)
        make_function(maker, i / 2, i & 1, text);
    maker->in_function = false;
}

/* Who the thread is, and who is in its warp. */
static void start_kernel(struct maker *maker, uint64_t seed)
{
    say(maker, "ld.param.u64 %%in, [in]; ld.param.u64 %%cells, [out];");
    say(maker, "mov.u32 %%t0, %%tid.z; mov.u32 %%t1, %%ntid.y; mov.u32 %%t2, %%tid.y;");
    say(maker, "mad.lo.u32 %%t0, %%t0, %%t1, %%t2; mov.u32 %%t1, %%ntid.x; mov.u32 %%t2, %%tid.x;");
    say(maker, "mad.lo.u32 %%thread, %%t0, %%t1, %%t2;");
    say(maker, "mov.u32 %%t0, %%ctaid.z; mov.u32 %%t1, %%nctaid.y; mov.u32 %%t2, %%ctaid.y;");
    say(maker, "mad.lo.u32 %%t0, %%t0, %%t1, %%t2; mov.u32 %%t1, %%nctaid.x; mov.u32 %%t2, %%ctaid.x;");
    say(maker, "mad.lo.u32 %%block, %%t0, %%t1, %%t2;");
    say(maker, "mad.lo.u32 %%r0, %%block, %u, %%thread;", maker->threads);
    say(maker, "mad.wide.u32 %%own, %%r0, %d, %%cells; add.u64 %%own, %%own, %d;", KERNEL_THREAD_BYTES,
        8 * KERNEL_CELLS);
    say(maker,
        "and.b32 %%t0, %%thread, -32; sub.u32 %%t0, %u, %%t0; shl.b32 %%m1, 1, %%t0; sub.u32 %%m1, %%m1, 1;",
        maker->threads);
    say(maker, "mov.u32 %%slots, slots; mad.lo.u32 %%slot, %%thread, 8, %%slots;");
    say(maker, "mad.lo.u32 %%r0, %%r0, 747796405, %u; cvt.u64.u32 %%q0, %%r0; mul.lo.u64 %%q0, %%q0, %llu;",
        (unsigned)(seed * 2891336453u), (unsigned long long)UINT64_C(6364136223846793005));
    start_registers(maker);
    say(maker, "st.shared.b64 [%%slot], %%q1; setp.eq.u32 %%z0, %%thread, 0;");
    for (unsigned i = 0; i < 10; i++)
        say(maker, "@%%z0 st.shared.b64 [%%pool+%u], %llu;", 8 * i, i < 8 ? 1000003ull * (i + 1) : 0);
    say(maker, "%s.sync 0;", barrier(maker));
}

static void finish_kernel(struct maker *maker)
{
    say(maker, "FINISH:");
    for (unsigned i = 0; i < R; i += 4)
        say(maker, "st.global.v4.b32 [%%own+%u], {%%r%u, %%r%u, %%r%u, %%r%u};", 4 * i, i, i + 1, i + 2,
            i + 3);
    for (unsigned i = 0; i < Q; i += 2)
        say(maker, "st.global.v2.b64 [%%own+%u], {%%q%u, %%q%u};", 32 + 8 * i, i, i + 1);
    for (unsigned i = 0; i < F; i++) /* which NaN it is may depend on the order of operands */
        say(maker,
            "setp.nan.f32 %%z0, %%f%u, %%f%u; selp.f32 %%x0, 0f7FFFFFFF, %%f%u, %%z0; "
            "st.global.f32 [%%own+%u], %%x0;",
            i, i, i, 64 + 4 * i);
    for (unsigned i = 0; i < G; i++)
        say(maker,
            "setp.nan.f64 %%z0, %%g%u, %%g%u; mov.b64 %%w0, %%g%u; selp.b64 %%w0, -1, %%w0, %%z0; "
            "st.global.b64 [%%own+%u], %%w0;",
            i, i, i, 80 + 8 * i);
    for (unsigned i = 0; i < P; i++)
        say(maker, "selp.u32 %%t%u, %u, 0, %%p%u;", i, 1u << i, i);
    say(maker, "or.b32 %%t0, %%t0, %%t1; or.b32 %%t2, %%t2, %%t3; or.b32 %%t0, %%t0, %%t2;");
    say(maker, "st.global.b32 [%%own+104], %%t0;");
    say(maker, "ret;");
}

static void choose_sizes(struct maker *maker, struct generated *generated)
{
    static const uint32_t blocks[][3] = {{37, 1, 1}, {8, 5, 3},   {64, 1, 1}, {33, 3, 1},
                                         {1, 1, 1},  {150, 1, 1}, {16, 8, 1}, {7, 11, 1},
                                         {96, 2, 1}, {32, 1, 1},  {3, 3, 13}, {31, 2, 1}};
    static const uint32_t grids[][3] = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {2, 2, 1},
                                        {1, 3, 1}, {1, 1, 2}, {5, 1, 1}};
    memcpy(generated->block, blocks[draw(maker, COUNT_OF(blocks))], sizeof generated->block);
    memcpy(generated->grid, grids[draw(maker, COUNT_OF(grids))], sizeof generated->grid);
    maker->threads = generated->block[0] * generated->block[1] * generated->block[2];
    uint32_t count = maker->threads * generated->grid[0] * generated->grid[1] * generated->grid[2];
    generated->out_bytes = 8 * KERNEL_CELLS + (size_t)count * KERNEL_THREAD_BYTES;
}

void generate(uint64_t seed, bool careful, struct generated *generated)
{
    struct maker maker = {.careful = careful};
    struct text *text = &generated->ptx, body = {0};
    *generated = (struct generated){0};
    rng_init(&maker.rng, seed, "kernels");
    choose_sizes(&maker, generated);
    text_add(text,
             ".version 8.0\n.target sm_90\n.address_size 64\n"
             ".shared .align 16 .b8 slots[%u];\n.shared .align 16 .b8 pool[80];\n",
             8 * maker.threads);
    make_functions(&maker, text);
    unsigned room = 12 + draw(&maker, 24), tail = draw(&maker, 10);
    maker.counts = draw(&maker, 4) == 0;
    begin_body(&maker, &body, FUNCTIONS, room);
    start_kernel(&maker, seed);
    statements(&maker, (struct place){.mask = 1, .uniform = true}, room);
    maker.room = tail; /* from here on nobody knows who is left */
    statements(&maker, (struct place){.uniform = true, .leaves = true}, tail);
    finish_kernel(&maker);
    text_add(text, ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n");
    declare_registers(&maker, text);
    text_add(text, "%s}\n", body.at);
    text_fini(&body);
}

void generated_fini(struct generated *generated)
{
    text_fini(&generated->ptx);
}

void generate_memory(uint64_t seed, uint64_t *in, uint64_t *cells)
{
    struct rng rng;
    rng_init(&rng, seed, "memory");
    for (unsigned i = 0; i < KERNEL_IN_BYTES / 8; i++)
        in[i] = rng_next(&rng);
    for (unsigned i = 0; i < KERNEL_CELLS; i++)
        cells[i] = rng_next(&rng);
}
