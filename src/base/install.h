/* Where the files are that come with Heddle: descriptions of systems, measured figures, libraries. They are
 * found from the place of the running code, so no path is built in, and a build or an installation can be
 * moved. */
#ifndef BASE_INSTALL_H
#define BASE_INSTALL_H

#include "base/text.h"

/* Adds the path of a file or folder that is the same on every machine, such as "systems": in the folder that
 * the environment variable HEDDLE_HOME names, if it is set; else in share/heddle of the installation or in
 * the source tree that this code is in. If there is none, the name alone is added. */
void install_add_data(struct text *path, const char *name);

/* Adds the path of something that is built, such as "cuda/libheddle_preload.so": beside the program in a
 * build; in lib/heddle of an installation. If there is none, the path in a build is added. False: the host
 * does not tell where this code is (errno says why). */
bool install_add_part(struct text *path, const char *name);

#endif
