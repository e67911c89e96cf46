/* What was compiled, by the content of all that it was made from: files in the user's cache folder. Whatever
 * goes wrong here only costs time. */
#include "runtime/opencl/compiler.h"
#include "base/bits.h"
#include "base/file.h"

#include <errno.h>
#include <sys/stat.h>

#define LARGEST_FILE (UINT64_C(1) << 28)

void opencl_cache_add(struct opencl_cache_key *key, const void *bytes, size_t count)
{
    static const uint64_t seeds[2] = {UINT64_C(0x6f70656e636c), UINT64_C(0x686564646c65)};
    for (unsigned i = 0; i < 2; i++) {
        key->words[i] = digest_word(key->words[i] ^ seeds[i], count);
        key->words[i] = digest_bytes(key->words[i], bytes, count);
    }
}

/* False: there is no such folder, and none can be made. */
static bool add_folder(struct text *path)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache == '/')
        text_add(path, "%s", cache);
    else if (home && *home == '/')
        text_add(path, "%s/.cache", home);
    else
        return false;
    static const char *const folders[] = {"", "/heddle", "/opencl"};
    for (unsigned i = 0; i < COUNT_OF(folders); i++) {
        text_add(path, "%s", folders[i]);
        if (mkdir(path->at, 0777) && errno != EEXIST)
            return false;
    }
    return true;
}

static bool add_path(const struct opencl_cache_key *key, const char *ending, struct text *path)
{
    bool good = add_folder(path);
    text_add(path, "/%016llx%016llx.%s", (unsigned long long)key->words[0], (unsigned long long)key->words[1],
             ending);
    return good;
}

static bool get(const struct opencl_cache_key *key, const char *ending, struct text *content)
{
    struct text path = {0};
    struct err unused;
    bool good = add_path(key, ending, &path) && file_read(path.at, LARGEST_FILE, content, &unused);
    text_fini(&path);
    return good;
}

static void put(const struct opencl_cache_key *key, const char *ending, const struct text *content)
{
    struct text path = {0};
    struct file_writer writer;
    struct err unused;
    if (add_path(key, ending, &path) && file_open(&writer, path.at, &unused)) {
        if (content->length)
            fwrite(content->at, 1, content->length, writer.stream);
        file_close(&writer, &unused);
    }
    text_fini(&path);
}

bool opencl_cache_get(const struct opencl_cache_key *key, struct text *made, struct text *log)
{
    return get(key, "log", log) && get(key, "code", made);
}

void opencl_cache_put(const struct opencl_cache_key *key, const struct text *made, const struct text *log)
{
    put(key, "code", made);
    put(key, "log", log); /* last: it says that the other is there */
}
