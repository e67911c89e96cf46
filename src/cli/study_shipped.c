/* Studies that come with Heddle: the files of the folder studies. */
#include "cli/study.h"
#include "base/install.h"
#include "base/mem.h"
#include "study/campaign/campaign.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char ending[] = ".ini";

static bool ends_in_ini(const char *name)
{
    size_t length = strlen(name), tail = sizeof ending - 1;
    return length > tail && !strcmp(name + length - tail, ending);
}

static int is_study(const struct dirent *entry)
{
    return ends_in_ini(entry->d_name);
}

static void add_path(struct text *path, const char *name)
{
    install_add_data(path, "studies");
    text_add(path, "/%s%s", name, ending);
}

void cmd_study_shipped_each(void (*each)(void *user, const char *name, const char *title), void *user)
{
    struct text folder = {0};
    struct dirent **entries = NULL;
    install_add_data(&folder, "studies");
    int count = scandir(folder.at, &entries, is_study, alphasort);
    for (int i = 0; i < count; i++) {
        char *name = entries[i]->d_name;
        struct text path = {0};
        struct campaign campaign;
        struct err err;
        name[strlen(name) - (sizeof ending - 1)] = 0;
        add_path(&path, name);
        each(user, name,
             campaign_read(&campaign, path.at, false, NULL, &err) ? campaign.spec.title : err.text);
        campaign_fini(&campaign);
        text_fini(&path);
        free(entries[i]); /* scandir's */
    }
    free(entries);
    text_fini(&folder);
}

/* The nearest name, in a copy: those of files are gone once they were tried. */
struct search {
    struct nearest nearest;
    char *best;
};

static void try_name(void *user, const char *name, const char *title)
{
    struct search *search = user;
    size_t before = search->nearest.distance;
    (void)title;
    nearest_try(&search->nearest, name);
    if (search->nearest.distance < before) {
        mem_free(search->best);
        search->best = mem_text(name);
    }
}

bool cmd_study_shipped_find(const char *name, struct text *path, struct err *err)
{
    struct search search = {0};
    if (strchr(name, '/') || ends_in_ini(name)) {
        text_add(path, "%s", name);
        return true;
    }
    add_path(path, name);
    if (!access(path->at, F_OK))
        return true;
    nearest_init(&search.nearest, name);
    cmd_study_shipped_each(try_name, &search);
    cmd_study_parallel_each(try_name, &search);
    err_set(err, "there is no study '%.120s'", name);
    if (search.best)
        err_add(err, "; did you mean %s?", search.best);
    else
        err_add(err, " (`heddle study` lists them; a file's name ends in .ini)");
    mem_free(search.best);
    return false;
}
