/* Protocols from files. Each line begins with a word that says what it is; rows follow the word `rows`:
 *
 *   STATE EVENT [if CONDITION] -> NEXT[: ACTION[; ACTION]...]
 *
 * # begins a comment. */
#include "cache/protocol/words.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
enum { READ_MOST = 1 << 20 }; /* bytes of a file */

struct reader {
    const char *path;
    unsigned line;
    char *rest; /* of the line */
    struct err *err;
    struct protocol *protocol;
    struct coh_kind *kinds;
    size_t kind_room;
    struct coh_table *tables[COH_ROLE_COUNT]; /* what the protocol's are, to be changed */
    struct coh_table *table;                  /* that lines belong to */
    size_t state_room, row_room;
    bool in_rows;
};

static bool bad(struct reader *reader, const char *what, const char *word)
{
    return err_set(reader->err, "%s:%u: %s '%.60s'", reader->path, reader->line, what, word ? word : "");
}

/* The next word of the line, or NULL. Words end at blanks; ':' and ';' are words; "text in quotes" is one. */
static char *next_word(struct reader *reader)
{
    char *at = reader->rest + strspn(reader->rest, " \t\r");
    if (!*at) {
        reader->rest = at;
        return NULL;
    }
    static char mark[2][2] = {":", ";"};
    if (*at == ':' || *at == ';') {
        reader->rest = at + 1;
        return mark[*at == ';'];
    }
    if (*at == '"') { /* to the next one, or to the end of the line */
        size_t length = strcspn(at + 1, "\"");
        reader->rest = at + 1 + length + (at[1 + length] == '"');
        at[1 + length] = 0;
        return at + 1;
    }
    /* The word is moved to the left by one, so that the ':' or ';' behind it stays readable. */
    size_t length = strcspn(at, " \t\r:;\"");
    char *word = at - 1;
    memmove(word, at, length);
    word[length] = 0;
    reader->rest = at + length;
    return word;
}

/* A word that can be printed and read again. */
static bool is_name(const char *word)
{
    return word && *word && !word[strspn(word, NAME_LETTERS)];
}

static bool find_word(struct reader *reader, const struct coh_word *words, const char *word, const char *what,
                      unsigned *value)
{
    for (; word && words->name; words++)
        if (!strcmp(words->name, word)) {
            *value = words->value;
            return true;
        }
    return bad(reader, what, word);
}

static bool find_kind(struct reader *reader, const char *word, unsigned *kind)
{
    for (*kind = 0; word && *kind < reader->protocol->kind_count; ++*kind)
        if (!strcmp(reader->kinds[*kind].name, word))
            return true;
    return bad(reader, "expected the name of a message, not", word);
}

static bool find_state(struct reader *reader, const char *word, uint8_t *state)
{
    const struct coh_table *table = reader->table;
    for (*state = 0; word && *state < table->state_count; ++*state)
        if (!strcmp(table->states[*state].name, word))
            return true;
    return bad(reader, "expected the name of a state, not", word);
}

static bool flags(struct reader *reader, const struct coh_word *words, const char *what, uint8_t *flags,
                  char **ended)
{
    unsigned value = 0;
    while ((*ended = next_word(reader)) && **ended != ';') {
        if (!find_word(reader, words, *ended, what, &value))
            return false;
        *flags |= (uint8_t)value;
    }
    return true;
}

/* ---- rows ---- */

static bool read_action(struct reader *reader, char *word, struct coh_action *action, char **ended)
{
    unsigned value = 0;
    if (!find_word(reader, coh_verbs, word, "expected an action, not", &value))
        return false;
    action->verb = (uint8_t)value;
    if (value != COH_DO_SEND) {
        *ended = next_word(reader);
        return !*ended || **ended == ';' || bad(reader, "expected ';' between actions, not", *ended);
    }
    if (!find_kind(reader, next_word(reader), &value))
        return false;
    action->kind = (uint8_t)value;
    char *to = next_word(reader);
    if (!to || strcmp(to, "to"))
        return bad(reader, "expected 'to', not", to);
    if (!find_word(reader, coh_targets, next_word(reader), "expected a receiver, not", &value))
        return false;
    action->to = (uint8_t)value;
    return flags(reader, coh_send_flags, "expected for-self, tells, passes, of-store, for-noted or ';', not",
                 &action->flags, ended);
}

static bool read_row(struct reader *reader, char *first)
{
    struct coh_row row = {0};
    unsigned value = 0;
    if (!find_state(reader, first, &row.state))
        return false;
    char *event = next_word(reader);
    const struct coh_word *op = coh_operations;
    while (event && op->name && strcmp(op->name, event))
        op++;
    if (event && op->name)
        row.event = (uint8_t)op->value;
    else if (!find_kind(reader, event, &value))
        return bad(reader, "expected an operation or a message, not", event);
    else
        row.event = (uint8_t)coh_event_of(value);
    char *word = next_word(reader);
    if (word && !strcmp(word, "if")) {
        if (!find_word(reader, coh_conditions, next_word(reader), "expected a condition, not", &value))
            return false;
        row.when = (uint8_t)value;
        word = next_word(reader);
    }
    if (!word || strcmp(word, "->"))
        return bad(reader, "expected '->', not", word);
    if (!find_state(reader, next_word(reader), &row.next))
        return false;
    char *ended = next_word(reader);
    if (ended && *ended != ':')
        return bad(reader, "expected ':' before actions, not", ended);
    for (size_t i = 0; ended; i++) {
        if (i == COH_ACTIONS_MOST)
            return bad(reader, "too many actions in this row; at most five, not also", reader->rest);
        if (!read_action(reader, next_word(reader), &row.actions[i], &ended))
            return false;
    }
    struct coh_row *rows = (struct coh_row *)reader->table->rows;
    mem_grow(rows, reader->table->row_count, reader->row_room);
    rows[reader->table->row_count++] = row;
    reader->table->rows = rows;
    return true;
}

/* ---- all other lines ---- */

static bool read_message(struct reader *reader)
{
    struct coh_kind kind = {0};
    unsigned value = 0;
    char *name = next_word(reader), *word;
    if (!is_name(name))
        return bad(reader, "expected the name of a message, not", name);
    for (size_t i = 0; i < reader->protocol->kind_count; i++)
        if (!strcmp(reader->kinds[i].name, name))
            return bad(reader, "a second message", name);
    kind.name = mem_text(name);
    mem_grow(reader->kinds, reader->protocol->kind_count, reader->kind_room);
    reader->kinds[reader->protocol->kind_count++] = kind;
    reader->protocol->kinds = reader->kinds;
    if (reader->protocol->kind_count > COH_KINDS_MOST)
        return bad(reader, "too many messages:", name);
    struct coh_kind *at = &reader->kinds[reader->protocol->kind_count - 1];
    if (!find_word(reader, coh_classes, next_word(reader),
                   "expected request, forward, response or unblock, not", &value))
        return false;
    at->class = (uint8_t)value;
    while ((word = next_word(reader))) {
        if (!strcmp(word, "data"))
            at->has_data = true;
        else if (!strcmp(word, "weight") && (word = next_word(reader)) && atoi(word) >= -4 && atoi(word) <= 4)
            at->weight = (int8_t)atoi(word);
        else
            return bad(reader, "expected 'data' or 'weight' and a number from -4 to 4, not", word);
    }
    return true;
}

static bool read_four(struct reader *reader, uint8_t *a, uint8_t *b, uint8_t *c, uint8_t *d)
{
    uint8_t *const all[] = {a, b, c, d};
    for (int i = 0; i < 4; i++) {
        unsigned kind;
        if (!find_kind(reader, next_word(reader), &kind))
            return false;
        *all[i] = (uint8_t)kind;
    }
    return true;
}

static bool read_table(struct reader *reader)
{
    unsigned role;
    char *name, *help;
    if (!find_word(reader, coh_roles, next_word(reader), "expected cache, home, l1 or gpu-l2, not", &role))
        return false;
    if (reader->tables[role])
        return bad(reader, "a second table for", coh_word_name(coh_roles, role));
    reader->table = reader->tables[role] = mem_alloc(1, sizeof **reader->tables);
    reader->protocol->tables[role] = reader->table;
    reader->table->name = mem_text((name = next_word(reader)) ? name : coh_word_name(coh_roles, role));
    reader->table->help = mem_text((help = next_word(reader)) ? help : "");
    reader->state_room = reader->row_room = 0;
    reader->in_rows = false;
    return true;
}

static bool read_state(struct reader *reader)
{
    char *name = next_word(reader), *ended;
    if (!is_name(name))
        return bad(reader, "expected the name of a state, not", name);
    for (size_t i = 0; i < reader->table->state_count; i++)
        if (!strcmp(reader->table->states[i].name, name))
            return bad(reader, "a second state", name);
    struct coh_state *states = (struct coh_state *)reader->table->states;
    mem_grow(states, reader->table->state_count, reader->state_room);
    reader->table->states = states;
    struct coh_state *state = &states[reader->table->state_count++];
    state->name = mem_text(name);
    if (reader->table->state_count > COH_STATES_MOST)
        return bad(reader, "too many states:", name);
    return flags(reader, coh_state_flags, "expected rest, read, write, owns or copy, not", &state->flags,
                 &ended);
}

static bool read_operations(struct reader *reader)
{
    char *word;
    unsigned op;
    while ((word = next_word(reader))) {
        if (!find_word(reader, coh_operations, word, "expected an operation, not", &op))
            return false;
        reader->table->ops |= 1u << op;
    }
    return true;
}

static bool read_line(struct reader *reader)
{
    struct protocol *protocol = reader->protocol;
    char *word = next_word(reader);
    if (!word)
        return true;
    if (!strcmp(word, "protocol")) {
        char *name = next_word(reader), *help;
        if (!is_name(name) || protocol->name)
            return bad(reader, "expected one protocol, with a name, not", name);
        protocol->name = mem_text(name);
        protocol->help = mem_text((help = next_word(reader)) ? help : "");
        return true;
    }
    if (!protocol->name)
        return bad(reader, "expected 'protocol NAME' first, not", word);
    if (!strcmp(word, "table"))
        return read_table(reader);
    if (!reader->table) {
        if (!strcmp(word, "message"))
            return read_message(reader);
        if (!strcmp(word, "incoherent"))
            return protocol->is_incoherent = true;
        if (!strcmp(word, "gpu-l2-writes-through"))
            return protocol->gpu_l2_writes_through = true;
        if (!strcmp(word, "memory"))
            return (protocol->memory_apart = true) &&
                   read_four(reader, &protocol->memory_read, &protocol->memory_write, &protocol->memory_data,
                             &protocol->memory_ack);
        if (!strcmp(word, "below"))
            return read_four(reader, &protocol->below.get, &protocol->below.put, &protocol->below.data,
                             &protocol->below.ack);
        return bad(reader, "expected message, memory, below, incoherent, gpu-l2-writes-through or table, not",
                   word);
    }
    if (reader->in_rows)
        return read_row(reader, word);
    if (!strcmp(word, "operations"))
        return read_operations(reader);
    if (!strcmp(word, "state"))
        return read_state(reader);
    if (!strcmp(word, "rows"))
        return reader->in_rows = true;
    return bad(reader, "expected operations, state or rows, not", word);
}

static bool read_all(struct reader *reader, char *bytes)
{
    char *save = NULL;
    for (char *line = bytes; line; line = save) {
        save = strchr(line, '\n');
        if (save)
            *save++ = 0;
        reader->line++;
        line[strcspn(line, "#")] = 0;
        /* One byte of room before the line, for next_word. */
        size_t length = strlen(line);
        char *copy = mem_alloc(length + 2, 1);
        copy[0] = ' ';
        memcpy(copy + 1, line, length);
        reader->rest = copy + 1;
        bool good = read_line(reader);
        char *left = good ? next_word(reader) : NULL;
        good = good && (!left || bad(reader, "expected the end of the line, not", left));
        mem_free(copy);
        if (!good)
            return false;
    }
    return true;
}

struct protocol *protocol_parse(char *content, const char *path, struct err *err)
{
    struct reader reader = {.path = path, .err = err};
    reader.protocol = mem_alloc(1, sizeof *reader.protocol);
    bool good = read_all(&reader, content);
    if (good && !reader.protocol->name)
        good = err_set(err, "%s: holds no protocol", path);
    if (good && reader.protocol->tables[COH_GPU_L2] && !reader.protocol->tables[COH_L1])
        good = err_set(err, "%s: a table of a GPU's L2 needs one of its L1s", path);
    if (good && reader.protocol->gpu_l2_writes_through && !reader.protocol->tables[COH_L1])
        good = err_set(err, "%s: gpu-l2-writes-through needs a table of L1s: there is no GPU", path);
    if (good && protocol_valid(reader.protocol, err))
        return reader.protocol;
    protocol_free(reader.protocol);
    return NULL;
}

struct protocol *protocol_read(const char *path, struct err *err)
{
    struct text content = {0};
    struct protocol *protocol = NULL;
    if (file_read(path, READ_MOST, &content, err))
        protocol = protocol_parse(content.at ? content.at : (char[]){""}, path, err);
    text_fini(&content);
    return protocol;
}

void protocol_free(struct protocol *protocol)
{
    if (!protocol)
        return;
    for (int role = 0; role < COH_ROLE_COUNT; role++) {
        struct coh_table *table = (struct coh_table *)protocol->tables[role];
        if (!table)
            continue;
        for (size_t i = 0; i < table->state_count; i++)
            mem_free((char *)table->states[i].name);
        mem_free((struct coh_state *)table->states);
        mem_free((struct coh_row *)table->rows);
        mem_free((char *)table->name);
        mem_free((char *)table->help);
        mem_free(table);
    }
    for (size_t i = 0; i < protocol->kind_count; i++)
        mem_free((char *)protocol->kinds[i].name);
    mem_free((struct coh_kind *)protocol->kinds);
    mem_free((char *)protocol->name);
    mem_free((char *)protocol->help);
    mem_free(protocol);
}
