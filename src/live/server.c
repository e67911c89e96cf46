#include "live/server.h"
#include "base/err.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static struct server_calls calls;
static bool is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
    is_loaded = library;
#define C(name)                                                                                              \
    if (is_loaded) {                                                                                         \
        void *found = dlsym(library, #name);                                                                 \
        memcpy(&calls.name, &found, sizeof found);                                                           \
        is_loaded = found;                                                                                   \
    }
    SERVER_CALLS(C)
#undef C
}

const struct server_calls *server_calls(struct err *err)
{
    pthread_once(&once, load);
    if (!is_loaded)
        err_set(err, "the live view needs libmicrohttpd, which is not there: apt install libmicrohttpd12");
    return is_loaded ? &calls : NULL;
}
