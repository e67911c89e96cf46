/* Names of kernels: ncu's beside Heddle's. */
#include "report/ncu/ncu.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

/* Without the type of what it returns, parameters, blanks, casts in arguments ("(int)8") and suffixes of
 * numbers. */
static void simplify(const char *name, struct text *simple)
{
    int depth = 0, round = 0;
    const char *from = name;
    for (const char *at = name; *at && *at != '('; at++) { /* behind the last blank outside of arguments */
        depth += *at == '<';
        depth -= *at == '>';
        if (*at == ' ' && !depth)
            from = at + 1;
    }
    depth = 0;
    text_add(simple, "%s", "");
    for (const char *at = from; *at; at++) {
        depth += *at == '<';
        depth -= *at == '>';
        if (*at == '(' && !depth)
            break;
        round += *at == '(';
        if (!round && !isspace((unsigned char)*at))
            text_add_bytes(simple, at, 1);
        round -= *at == ')' && round;
    }
}

/* "ns::scale<float>" is "scale". */
static void reduce(const struct text *simple, struct text *base)
{
    size_t length = strcspn(simple->at, "<"), from = length;
    while (from && simple->at[from - 1] != ':')
        from--;
    text_add(base, "%s", "");
    text_add_bytes(base, simple->at + from, length - from);
}

bool ncu_same_kernel(const char *ncu, const char *name, const char *mangled)
{
    if (!strcmp(ncu, mangled) || !strcmp(ncu, name))
        return true;
    struct text theirs = {0}, ours = {0}, their_base = {0}, our_base = {0};
    simplify(ncu, &theirs);
    simplify(name, &ours);
    reduce(&theirs, &their_base);
    reduce(&ours, &our_base);
    /* one of them may have been shortened, or be the function's name alone (--kernel-name-base function) */
    bool loose = !strchr(theirs.at, '<') || strstr(ours.at, "..");
    bool same = !strcmp(theirs.at, ours.at) || (loose && *our_base.at && !strcmp(their_base.at, our_base.at));
    text_fini(&theirs);
    text_fini(&ours);
    text_fini(&their_base);
    text_fini(&our_base);
    return same;
}
