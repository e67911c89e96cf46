#include "exchange/accelsim.h"
bool accelsim_is(const char *path){(void)path;return false;}
bool accelsim_import(const char *path, const char *folder, const _Atomic int *interrupt, struct err *err){(void)path,(void)folder,(void)interrupt;return err_set(err,"no");}
bool accelsim_export(const char *from, const struct itrace_part *part, const char *to, struct err *err){(void)from,(void)part,(void)to;return err_set(err,"no");}
