/* A folder for the time of a run, where processes leave what they launched. */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include "base/err.h"

/* Its path, or NULL. Folders that a heddle left because it was killed are removed. */
char *folder_new(struct err *err);
void folder_free(char *folder); /* with all that is in it; NULL is fine */

#endif
