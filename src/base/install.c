#include "base/install.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* From the folder of the program to that of its parts in an installation; CMake knows what these are called.
 */
#ifndef HEDDLE_PARTS
#define HEDDLE_PARTS "../lib/heddle"
#endif

enum { LEVELS_MOST = 5 }; /* build/release/tests/oracle is four below the source tree */

/* The folder of the program or library that holds this function; NULL: the host does not tell. The caller
 * frees it. */
static char *own_folder(void)
{
    Dl_info info;
    struct link_map *object = NULL;
    if (!dladdr1((void *)(uintptr_t)own_folder, &info, (void **)&object, RTLD_DL_LINKMAP))
        object = NULL;
    /* the program itself has no name there */
    char *path = realpath(object && *object->l_name ? object->l_name : "/proc/self/exe", NULL);
    if (path)
        *strrchr(path, '/') = 0;
    return path;
}

static bool add_if_there(struct text *path, const char *folder, const char *between, const char *name)
{
    struct text tried = {0};
    text_add(&tried, "%s/%s%s", folder, between, name);
    bool there = access(tried.at, R_OK) == 0;
    if (there)
        text_add(path, "%s", tried.at);
    text_fini(&tried);
    return there;
}

void install_add_data(struct text *path, const char *name)
{
    const char *home = getenv("HEDDLE_HOME");
    if (home && *home) {
        text_add(path, "%s/%s", home, name);
        return;
    }
    char *folder = own_folder();
    bool found = false;
    for (int level = 0; folder && *folder && !found && level < LEVELS_MOST; level++) {
        found = add_if_there(path, folder, "share/heddle/", name) || add_if_there(path, folder, "", name);
        *strrchr(folder, '/') = 0;
    }
    if (!found)
        text_add(path, "%s", name);
    free(folder);
}

bool install_add_part(struct text *path, const char *name)
{
    char *folder = own_folder();
    if (!folder)
        return false;
    if (!add_if_there(path, folder, "", name) && !add_if_there(path, folder, HEDDLE_PARTS "/", name))
        text_add(path, "%s/%s", folder, name);
    free(folder);
    return true;
}
