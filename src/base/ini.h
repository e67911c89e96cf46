/* Reads descriptions: sections in brackets, `key = value` lines, comments after # or ;, and, before the first
 * section, `include = FILE` (relative to the including file), whose settings come first so that the including
 * file refines them. Strict: any other line, a section or key that appears twice in one file, and circular
 * includes are errors that name file and line.
 *
 * Our own reader, because inih gives no line numbers to its callback as Debian builds it, cuts long lines,
 * and accepts duplicate keys silently. */
#ifndef BASE_INI_H
#define BASE_INI_H

#include "base/err.h"

#include <stddef.h>

/* Called for every setting, and with an empty key and value for the line that opens a section (which may stay
 * without settings); `where` is "file:line". False stops the reading with what it put into err. */
typedef bool ini_setting(void *user, const char *section, const char *key, const char *value,
                         const char *where, struct err *err);

/* `folder` (or NULL): where to look for included files that are not beside the including file; there they may
 * be named without ".ini". */
bool ini_read_file(const char *path, const char *folder, ini_setting *setting, void *user, struct err *err);

/* The same from memory; `name` stands for the file in errors, and includes are looked for beside it. */
bool ini_read_text(const char *name, const char *text, size_t bytes, ini_setting *setting, void *user,
                   struct err *err);

/* Whether a description can have a section of this name. */
bool ini_section_name(const char *name);

#endif
