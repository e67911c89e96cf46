#include "base/config.h"
#include "base/bits.h"
#include "base/ini.h"
#include "base/mem.h"

struct config_setting {
    const struct param_row *row;
    char *value, *where;
    bool is_default; /* nobody set it: it stands in for the row's */
};

struct config_section {
    const struct param_group *group;
    char *where;
    struct config_setting *settings; /* later ones win */
    size_t count, capacity;
};

void config_init(struct config *config, const struct param_group *const *groups)
{
    *config = (struct config){.groups = groups};
}

static void setting_fini(struct config_setting *setting)
{
    mem_free(setting->value);
    mem_free(setting->where);
}

void config_fini(struct config *config)
{
    for (size_t i = 0; i < config->paths.count; i++) {
        struct config_section *section = &config->sections[i];
        for (size_t k = 0; k < section->count; k++)
            setting_fini(&section->settings[k]);
        mem_free(section->settings);
        mem_free(section->where);
    }
    mem_free(config->sections);
    names_fini(&config->paths);
    *config = (struct config){0};
}

/* The length of "link." in "link.*", or 0 for a group of one section. */
static size_t family_length(const struct param_group *group)
{
    size_t length = strlen(group->path);
    return length > 1 && group->path[length - 1] == '*' ? length - 1 : 0;
}

static bool group_covers(const struct param_group *group, const char *path)
{
    size_t family = family_length(group);
    if (!family)
        return strcmp(group->path, path) == 0;
    return strncmp(group->path, path, family) == 0 && path[family] && !strchr(path + family, '.');
}

static const struct param_group *find_group(const struct config *config, const char *path)
{
    for (const struct param_group *const *group = config->groups; *group; group++) {
        if (group_covers(*group, path))
            return *group;
    }
    return NULL;
}

static const struct param_row *find_row(const struct param_group *group, const char *key)
{
    for (size_t i = 0; i < group->row_count; i++) {
        if (strcmp(group->rows[i].name, key) == 0)
            return &group->rows[i];
    }
    return NULL;
}

static bool unknown_section(const struct config *config, const char *path, const char *where, struct err *err)
{
    struct nearest nearest;
    nearest_init(&nearest, path);
    for (const struct param_group *const *group = config->groups; *group; group++)
        nearest_try(&nearest, (*group)->path);
    err_set(err, "%s: there is no section [%.120s]", where, path);
    if (nearest.best) {
        err_add(err, "; did you mean [%s]?", nearest.best);
        return false;
    }
    err_add(err, "; expected");
    for (const struct param_group *const *group = config->groups; *group; group++)
        err_add(err, "%s [%s]", group == config->groups ? "" : group[1] ? "," : " or", (*group)->path);
    return false;
}

static const char *moved_to(const struct config *config, const char *path, const char *key)
{
    for (const struct config_moved *moved = config->moved; moved && moved->path; moved++) {
        if (!strcmp(moved->path, path) && !strcmp(moved->key, key))
            return moved->now;
    }
    return NULL;
}

static bool unknown_key(const struct param_group *group, const char *path, const char *key, const char *where,
                        struct err *err)
{
    struct nearest nearest;
    nearest_init(&nearest, key);
    for (size_t i = 0; i < group->row_count; i++)
        nearest_try(&nearest, group->rows[i].name);
    err_set(err, "%s: [%s] has no key '%.120s'", where, path, key);
    if (nearest.best)
        err_add(err, "; did you mean %s?", nearest.best);
    else
        err_add(err, " (`heddle params %s` lists them)", group->path);
    return false;
}

/* The section of this path, made when it is not there yet. */
static struct config_section *section_of(struct config *config, const struct param_group *group,
                                         const char *path, const char *where)
{
    size_t known = config->paths.count, number = names_add(&config->paths, path);
    if (number == known) {
        mem_grow(config->sections, known, config->section_capacity);
        config->sections[number] = (struct config_section){.group = group, .where = mem_text(where)};
    }
    return &config->sections[number];
}

bool config_set_key(struct config *config, const char *path, const char *key, const char *value,
                    const char *where, struct err *err)
{
    if (!ini_section_name(path))
        return err_set(err, "%s: expected a section name of letters, digits and . _ - [ ], not '%.120s'",
                       where, path);
    const struct param_group *group = find_group(config, path);
    if (!group)
        return unknown_section(config, path, where, err);
    const struct param_row *row = find_row(group, key);
    if (!row && moved_to(config, path, key))
        return err_set(err, "%s: %s.%s is now %s", where, path, key, moved_to(config, path, key));
    if (!row)
        return unknown_key(group, path, key, where, err);
    struct err why;
    if (!param_parse(row, value, NULL, &why))
        return err_set(err, "%s: %s.%s: %s", where, path, key, why.text);
    struct config_section *section = section_of(config, group, path, where);
    mem_grow(section->settings, section->count, section->capacity);
    section->settings[section->count++] =
        (struct config_setting){.row = row, .value = mem_text(value), .where = mem_text(where)};
    return true;
}

void config_set_default(struct config *config, const char *path, const char *key, const char *value)
{
    const struct param_group *group = find_group(config, path);
    const struct param_row *row = find_row(group, key);
    struct config_section *section = section_of(config, group, path, "");
    size_t kept = 0;
    for (size_t i = 0; i < section->count; i++) {
        if (section->settings[i].is_default && section->settings[i].row == row)
            setting_fini(&section->settings[i]);
        else
            section->settings[kept++] = section->settings[i];
    }
    section->count = kept;
    if (!value)
        return;
    mem_grow(section->settings, section->count, section->capacity);
    section->settings[section->count++] =
        (struct config_setting){.row = row, .value = mem_text(value), .is_default = true};
}

/* A section without settings is one all the same: a node that leaves all at its defaults. */
static bool open_section(struct config *config, const char *path, const char *where, struct err *err)
{
    const struct param_group *group = find_group(config, path);
    if (!group)
        return unknown_section(config, path, where, err);
    section_of(config, group, path, where);
    return true;
}

bool config_set(struct config *config, const char *assignment, struct err *err)
{
    const char *equals = strchr(assignment, '=');
    const char *dot = NULL;
    for (const char *at = assignment; equals && at < equals; at++)
        dot = *at == '.' ? at : dot;
    if (!dot || dot == assignment || dot + 1 == equals || !equals[1])
        return err_set(err,
                       "--set: expected path.key=value (`heddle params` lists what there is), not '%.120s'",
                       assignment);
    char *path = mem_text(assignment);
    path[dot - assignment] = 0;
    path[equals - assignment] = 0;
    bool good = config_set_key(config, path, path + (dot + 1 - assignment), equals + 1, "--set", err);
    mem_free(path);
    return good;
}

static bool take_setting(void *user, const char *section, const char *key, const char *value,
                         const char *where, struct err *err)
{
    if (!*section)
        return err_set(err, "%s: expected [section] before the key '%.120s'", where, key);
    if (!*key)
        return open_section(user, section, where, err);
    return config_set_key(user, section, key, value, where, err);
}

bool config_read(struct config *config, const char *file, struct err *err)
{
    return ini_read_file(file, config->folder, take_setting, config, err);
}

bool config_read_text(struct config *config, const char *name, const char *text, size_t bytes,
                      struct err *err)
{
    return ini_read_text(name, text, bytes, take_setting, config, err);
}

static void apply(const struct config_section *section, const char *path, bool are_defaults, void *spec)
{
    struct err why;
    for (size_t i = 0; i < section->count; i++) {
        const struct config_setting *setting = &section->settings[i];
        if (setting->is_default == are_defaults &&
            !param_parse(setting->row, setting->value, (char *)spec + setting->row->offset, &why))
            BUG("%s.%s was checked when it was set: %s", path, setting->row->name, why.text);
    }
}

void config_fill(const struct config *config, const struct param_group *group, const char *path, void *spec)
{
    struct err why;
    memset(spec, 0, group->spec_bytes);
    for (size_t i = 0; i < group->row_count; i++) {
        const struct param_row *row = &group->rows[i];
        if (!param_parse(row, row->fallback, (char *)spec + row->offset, &why))
            BUG("the default of %s.%s: %s", path, row->name, why.text);
    }
    size_t number = names_find(&config->paths, path);
    if (number == NO_NAME)
        return;
    apply(&config->sections[number], path, true, spec);
    apply(&config->sections[number], path, false, spec);
}

const char *config_next(const struct config *config, const struct param_group *group, const char *path)
{
    size_t number = path ? names_find(&config->paths, path) + 1 : 0;
    while (number < config->paths.count && config->sections[number].group != group)
        number++;
    return number < config->paths.count ? config->paths.at[number] : NULL;
}

bool config_is_set(const struct config *config, const char *path, const struct param_row *row)
{
    size_t number = names_find(&config->paths, path);
    const struct config_section *section = number == NO_NAME ? NULL : &config->sections[number];
    for (size_t i = 0; section && i < section->count; i++) {
        if (section->settings[i].row == row && !section->settings[i].is_default)
            return true;
    }
    return false;
}

const char *config_where(const struct config *config, const char *path)
{
    size_t number = names_find(&config->paths, path);
    return number == NO_NAME ? "" : config->sections[number].where;
}

const char *config_where_key(const struct config *config, const char *path, const char *key)
{
    size_t number = names_find(&config->paths, path);
    const struct config_section *section = number == NO_NAME ? NULL : &config->sections[number];
    for (size_t i = section ? section->count : 0; i-- > 0;)
        if (!section->settings[i].is_default && strcmp(section->settings[i].row->name, key) == 0)
            return section->settings[i].where;
    return "";
}

void config_each(const struct config *config,
                 void (*take)(const struct param_group *group, const char *path, const void *spec,
                              void *user),
                 void *user)
{
    for (const struct param_group *const *at = config->groups; *at; at++) {
        const struct param_group *group = *at;
        void *spec = mem_alloc(1, group->spec_bytes);
        bool family = family_length(group) > 0;
        const char *path = family ? config_next(config, group, NULL) : group->path;
        for (; path; path = family ? config_next(config, group, path) : NULL) {
            config_fill(config, group, path, spec);
            take(group, path, spec, user);
        }
        mem_free(spec);
    }
}

struct dump {
    const struct config *config;
    const char *mark; /* or NULL */
    struct text *text;
};

static void dump_section(const struct param_group *group, const char *path, const void *spec, void *user)
{
    const struct dump *dump = user;
    struct text *text = dump->text;
    text_add(text, "[%s]\n", path);
    for (size_t i = 0; i < group->row_count; i++) {
        const struct param_row *row = &group->rows[i];
        size_t start = text->length;
        text_add(text, "%s = ", row->name);
        size_t before = text->length;
        param_print(row, (const char *)spec + row->offset, text);
        if (text->length == before)
            text->at[text->length = start] = 0; /* an empty text cannot be written, and is the default */
        else if (dump->mark && !config_is_set(dump->config, path, row))
            text_add(text, " ; %s\n", dump->mark);
        else
            text_add(text, "\n");
    }
}

void config_dump_marked(const struct config *config, const char *mark, struct text *text)
{
    struct dump dump = {config, mark, text};
    config_each(config, dump_section, &dump);
}

void config_dump(const struct config *config, struct text *text)
{
    config_dump_marked(config, NULL, text);
}
