/* The options of clBuildProgram, clCompileProgram and clLinkProgram. */
#include "runtime/opencl/compiler.h"
#include "base/bits.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdarg.h>

enum shape {
    WHOLE,  /* the word as it is */
    PREFIX, /* a word that begins so */
    VALUE,  /* a value in the same word or in the next one */
};

enum effect { PASSED, IGNORED, UNSAFE, FINITE, RELAXED, CORRECT_SQRT, LIBRARY };

/* Options of OpenCL 1.2, and those of others that clang knows. */
static const struct option {
    const char *name;
    enum shape shape;
    enum effect effect;
} known[] = {
    {"-D", VALUE, PASSED},
    {"-I", VALUE, PASSED},
    {"-U", VALUE, PASSED},
    {"-cl-std=", PREFIX, PASSED},
    {"-cl-single-precision-constant", WHOLE, PASSED},
    {"-cl-denorms-are-zero", WHOLE, PASSED},
    {"-cl-fp32-correctly-rounded-divide-sqrt", WHOLE, CORRECT_SQRT},
    {"-cl-opt-disable", WHOLE, PASSED},
    {"-cl-strict-aliasing", WHOLE, IGNORED}, /* as clang does */
    {"-cl-mad-enable", WHOLE, PASSED},
    {"-cl-no-signed-zeros", WHOLE, PASSED},
    {"-cl-unsafe-math-optimizations", WHOLE, UNSAFE},
    {"-cl-finite-math-only", WHOLE, FINITE},
    {"-cl-fast-relaxed-math", WHOLE, RELAXED},
    {"-cl-uniform-work-group-size", WHOLE, PASSED},
    {"-cl-kernel-arg-info", WHOLE, IGNORED}, /* it is always there */
    {"-w", WHOLE, PASSED},
    {"-W", PREFIX, PASSED},
    {"-g", WHOLE, PASSED},
    {"-O", PREFIX, PASSED},
    {"-f", PREFIX, PASSED},
    {"-m", PREFIX, PASSED},
    {"-create-library", WHOLE, LIBRARY},
    {"-enable-link-options", WHOLE, IGNORED},
};

void opencl_words_add(struct opencl_words *words, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int bytes = vsnprintf(NULL, 0, format, values);
    va_end(values);
    char *made = mem_alloc((size_t)bytes + 1, 1);
    va_start(values, format);
    vsnprintf(made, (size_t)bytes + 1, format, values);
    va_end(values);
    if (words->count + 2 > words->capacity) {
        size_t more = words->capacity ? 2 * words->capacity : 32;
        words->at = mem_resize(words->at, words->capacity, more, sizeof *words->at);
        words->capacity = more;
    }
    words->at[words->count++] = made;
    words->at[words->count] = NULL;
}

void opencl_words_fini(struct opencl_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        mem_free(words->at[i]);
    mem_free(words->at);
    *words = (struct opencl_words){0};
}

void opencl_options_fini(struct opencl_options *options)
{
    opencl_words_fini(&options->words);
}

/* The next word: blanks end it, but not in quotes, which are left out. False at the end. */
static bool next_word(const char **at, struct text *word)
{
    char quote = 0;
    while (isspace((unsigned char)**at))
        ++*at;
    bool any = **at;
    text_add(word, "%s", "");
    for (; **at && (quote || !isspace((unsigned char)**at)); ++*at) {
        char c = **at;
        if (quote ? c == quote : c == '"' || c == '\'')
            quote = quote ? 0 : c;
        else {
            if (c == '\\' && ((*at)[1] == '"' || (*at)[1] == '\\' || (*at)[1] == ' '))
                c = *++*at;
            text_add_bytes(word, &c, 1);
        }
    }
    return any;
}

static const struct option *find(const char *word)
{
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        size_t length = strlen(known[i].name);
        if (known[i].shape == WHOLE ? !strcmp(word, known[i].name) : !strncmp(word, known[i].name, length))
            return &known[i];
    }
    return NULL;
}

static void take_effect(struct opencl_options *options, enum effect effect)
{
    options->unsafe_math |= effect == UNSAFE || effect == RELAXED;
    options->finite_only |= effect == FINITE || effect == RELAXED;
    options->correct_sqrt |= effect == CORRECT_SQRT;
    options->creates_library |= effect == LIBRARY;
}

bool opencl_options_parse(struct opencl_options *options, const char *text, bool is_link, struct text *log)
{
    const char *at = text ? text : "";
    struct text word = {0};
    bool good = true;
    while (good && next_word(&at, &word)) {
        const struct option *option = find(word.at);
        good = option && (option->effect != LIBRARY || is_link);
        if (!good) {
            text_add(log, "heddle: option %s is not known\n", word.at);
            break;
        }
        take_effect(options, option->effect);
        if (option->effect != IGNORED && option->effect != LIBRARY)
            opencl_words_add(&options->words, "%s", word.at);
        bool alone = option->shape == VALUE && !word.at[strlen(option->name)];
        word.length = 0;
        if (alone) {
            good = next_word(&at, &word);
            if (good)
                opencl_words_add(&options->words, "%s", word.at);
            else
                text_add(log, "heddle: option %s needs a value\n", option->name);
        }
        word.length = 0;
    }
    text_fini(&word);
    return good;
}
