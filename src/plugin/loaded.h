/* The plugins of this process. For plugin.c and ears.c. */
#ifndef PLUGIN_LOADED_H
#define PLUGIN_LOADED_H

#include "heddle_plugin.h"

enum { PLUGINS_MOST = 16 };

struct plugin_loaded {
    char *path, *text;
    const struct heddle_plugin *plugin;
};

size_t plugin_count(void);
const struct plugin_loaded *plugin_at(size_t number);

#endif
