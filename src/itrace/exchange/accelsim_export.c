#include "exchange/accelsim.h"
bool accelsim_export(const char *from, const struct itrace_part *part, const char *to, struct err *err){(void)from,(void)part,(void)to;return err_set(err,"no");}
