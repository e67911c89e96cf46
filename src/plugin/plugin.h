/* Plugins: shared objects of users' own with policies and listeners (include/heddle_plugin.h).
 *
 * Loading one adds rows to the tables of policies. It stays loaded until the process ends. */
#ifndef PLUGIN_PLUGIN_H
#define PLUGIN_PLUGIN_H

#include "base/err.h"
#include "base/probe.h"
#include "base/text.h"

/* The variable that tells programs of `heddle run` which plugins there are: a line each, as of plugin_load.
 */
#define PLUGIN_VARIABLE "HEDDLE_PLUGINS"

/* "FILE.so" or "FILE.so,TEXT". A second time changes nothing. Before descriptions are read. */
bool plugin_load(const char *what, struct err *err);
bool plugin_load_from_environment(struct err *err);

/* A line for each that is loaded, with the whole path of its file; and what results depend on: with a digest
 * of it. */
void plugin_add_list(struct text *text);
void plugin_identify(struct text *text);

/* The name of a plugin that listens, or NULL. */
const char *plugin_listening(void);

/* ---- listeners: those of all plugins, for one machine ---- */
struct plugin_ears;

/* NULL: no plugin listens. */
struct plugin_ears *plugin_ears_new(void);
void plugin_ears_free(struct plugin_ears *ears); /* the machine has ended */

/* Tells them, and the program's own listener, which may change. */
struct probe plugin_ears_probe(struct plugin_ears *ears, const struct probe *program);

#endif
