#include "boot/cpio.h"
#include "base/file.h"
#include "base/text.h"

#include <string.h>
#include <sys/stat.h>

static void pad(struct cpio *cpio, size_t bytes)
{
    static const char zeros[4];
    fwrite(zeros, 1, (4 - bytes % 4) % 4, cpio->to);
}

/* Names have no slash at their beginning. */
static void add(struct cpio *cpio, const char *name, unsigned mode, const void *bytes, size_t count)
{
    size_t name_bytes = strlen(name) + 1;
    unsigned number = ++cpio->count;
    int head = fprintf(cpio->to, "070701%08X%08X%08X%08X%08X%08X%08zX%08X%08X%08X%08X%08zX%08X", number, mode,
                       0U, 0U, 1U, 0U, count, 0U, 0U, 0U, 0U, name_bytes, 0U);
    fwrite(name, 1, name_bytes, cpio->to);
    pad(cpio, (size_t)head + name_bytes);
    fwrite(bytes, 1, count, cpio->to);
    pad(cpio, count);
}

void cpio_add_folder(struct cpio *cpio, const char *name)
{
    add(cpio, name, S_IFDIR | 0755, "", 0);
}

void cpio_add_link(struct cpio *cpio, const char *name, const char *target)
{
    add(cpio, name, S_IFLNK | 0777, target, strlen(target));
}

void cpio_add_text(struct cpio *cpio, const char *name, const char *text)
{
    add(cpio, name, S_IFREG | 0644, text, strlen(text));
}

bool cpio_add_file(struct cpio *cpio, const char *name, const char *path, struct err *err)
{
    static const size_t most = (size_t)1 << 30;
    struct text content = {0};
    bool good = file_read(path, most, &content, err);
    if (good)
        add(cpio, name, S_IFREG | 0755, content.length ? content.at : "", content.length);
    text_fini(&content);
    return good;
}

void cpio_end(struct cpio *cpio)
{
    add(cpio, "TRAILER!!!", 0, "", 0);
}
