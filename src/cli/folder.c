#include "cli/folder.h"
#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *folder_new(struct err *err)
{
    const char *temporary = getenv("TMPDIR");
    struct text path = {0};
    temporary = temporary && *temporary ? temporary : "/tmp";
    text_add(&path, "%s/heddle-run-XXXXXX", temporary);
    if (mkdtemp(path.at))
        return path.at;
    err_set(err, "run: cannot make a folder in %.200s: %s", temporary, strerror(errno));
    text_fini(&path);
    return NULL;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    return remove(path);
}

void folder_free(char *folder)
{
    if (folder)
        nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    mem_free(folder);
}
