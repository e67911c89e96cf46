/* A folder for the time of a run, where processes leave what they launched. */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include "base/err.h"

char *folder_new(struct err *err); /* its path, or NULL */
void folder_free(char *folder);    /* with all that is in it; NULL is fine */

#endif
