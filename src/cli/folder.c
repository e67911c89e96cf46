#include "cli/folder.h"
#include "base/mem.h"
#include "base/text.h"
#include "driver/ledger_format.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define NAME  "heddle-run-"
#define OWNER "owner" /* locked as long as somebody needs the folder */

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

static char *joined(const char *folder, const char *name)
{
    struct text path = {0};
    text_add(&path, "%s/%s", folder, name);
    return path.at;
}

/* Folders whose heddle was killed: their lock is free. */
static void remove_stale(const char *temporary)
{
    DIR *open_folder = opendir(temporary);
    for (struct dirent *entry; open_folder && (entry = readdir(open_folder));) {
        if (strncmp(entry->d_name, NAME, strlen(NAME)) != 0)
            continue;
        char *path = joined(temporary, entry->d_name), *owner = joined(path, OWNER);
        struct stat info; /* what others made is not touched */
        bool is_own = !lstat(path, &info) && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
        int lock = is_own ? open(owner, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
        if (lock >= 0 && !flock(lock, LOCK_EX | LOCK_NB))
            folder_free(mem_text(path));
        if (lock >= 0)
            close(lock);
        mem_free(owner);
        mem_free(path);
    }
    if (open_folder)
        closedir(open_folder);
}

/* This process and its forks hold the lock until they exit. The file gets its final name once it is locked,
 * so that nobody sees it unlocked. */
static bool lock_folder(const char *folder)
{
    char *hidden = joined(folder, OWNER ".new"), *owner = joined(folder, OWNER);
    int lock = open(hidden, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    bool good = lock >= 0 && !flock(lock, LOCK_EX | LOCK_NB) && !rename(hidden, owner);
    mem_free(hidden);
    mem_free(owner);
    return good;
}

/* With room on the disk: it must take what happens when there is none. */
static bool make_losses(const char *folder)
{
    static const struct launch_losses none;
    char *path = joined(folder, LEDGER_LOSSES);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    ssize_t wrote = file < 0 ? -1 : write(file, &none, sizeof none);
    if (wrote >= 0 && wrote < (ssize_t)sizeof none)
        errno = ENOSPC;
    if (file >= 0)
        close(file);
    mem_free(path);
    return wrote == sizeof none;
}

char *folder_new(struct err *err)
{
    const char *temporary = getenv("TMPDIR");
    struct text path = {0};
    temporary = temporary && *temporary ? temporary : "/tmp";
    remove_stale(temporary);
    text_add(&path, "%s/" NAME "XXXXXX", temporary);
    if (mkdtemp(path.at)) {
        if (lock_folder(path.at) && make_losses(path.at))
            return path.at;
        err_set(err, "run: cannot write to %.200s: %s", temporary, strerror(errno));
        folder_free(path.at);
        return NULL;
    }
    err_set(err, "run: cannot make a folder in %.200s: %s", temporary, strerror(errno));
    text_fini(&path);
    return NULL;
}
