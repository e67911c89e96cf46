#include "trace/place.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#define ENDING ".htrace"

struct output_place {
    const char *prefix;
    struct text folder, beside; /* beside: the folder that the traces will be in */
    const char *base;           /* of the prefix, without its folder */
};

struct output_place *output_new(const char *prefix, struct err *err)
{
    struct output_place *place = mem_alloc(1, sizeof *place);
    const char *slash = strrchr(prefix, '/');
    place->prefix = prefix;
    place->base = slash ? slash + 1 : prefix;
    text_add(&place->beside, "%.*s%s", slash ? (int)(slash - prefix) + 1 : 0, prefix, slash ? "" : ".");
    text_add(&place->folder, "%s.unfinished-XXXXXX", prefix);
    if (!*place->base)
        err_set(err, "expected how names of traces shall begin, not a folder: '%.200s'", prefix);
    else if (!mkdtemp(place->folder.at))
        err_set(err, "cannot write %.200s.0" ENDING ": %s", prefix, strerror(errno));
    else
        return place;
    text_fini(&place->folder); /* there is none to be removed */
    output_free(place);
    return NULL;
}

const char *output_folder(const struct output_place *place)
{
    return place->folder.at;
}

void output_name(const struct output_place *place, unsigned number, struct text *path)
{
    text_add(path, "%s.%u" ENDING, place->prefix, number);
}

/* "12.htrace" */
static bool is_numbered(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits && !strcmp(name + digits, ENDING);
}

/* Calls for each file of a folder that is PREFIX and then a number. */
static void each_numbered(const char *folder, const char *prefix, void *user,
                          void (*call)(void *user, const char *path, const char *numbered))
{
    DIR *entries = opendir(folder);
    size_t length = strlen(prefix);
    struct dirent *entry;
    while (entries && (entry = readdir(entries))) {
        if (strncmp(entry->d_name, prefix, length) || !is_numbered(entry->d_name + length))
            continue;
        struct text path = {0};
        text_add(&path, "%s/%s", folder, entry->d_name);
        call(user, path.at, entry->d_name + length);
        text_fini(&path);
    }
    if (entries)
        closedir(entries);
}

static void remove_one(void *user, const char *path, const char *numbered)
{
    (void)user, (void)numbered;
    unlink(path);
}

struct moving {
    const struct output_place *place;
    struct err *err;
    bool good;
};

static void move_one(void *user, const char *path, const char *numbered)
{
    struct moving *moving = user;
    struct text name = {0};
    text_add(&name, "%s.%s", moving->place->prefix, numbered);
    if (moving->good && rename(path, name.at))
        moving->good = err_set(moving->err, "cannot write %.200s: %s", name.at, strerror(errno));
    text_fini(&name);
}

bool output_commit(struct output_place *place, struct err *err)
{
    struct moving moving = {place, err, true};
    struct text dotted = {0};
    text_add(&dotted, "%s.", place->base);
    each_numbered(place->beside.at, dotted.at, NULL, remove_one);
    text_fini(&dotted);
    each_numbered(place->folder.at, "", &moving, move_one);
    return moving.good;
}

void output_free(struct output_place *place)
{
    if (place->folder.at) {
        DIR *entries = opendir(place->folder.at);
        struct dirent *entry;
        while (entries && (entry = readdir(entries)))
            unlinkat(dirfd(entries), entry->d_name, 0); /* . and .. are no files, and stay */
        if (entries)
            closedir(entries);
        rmdir(place->folder.at);
    }
    text_fini(&place->folder);
    text_fini(&place->beside);
    mem_free(place);
}
