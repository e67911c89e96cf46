import re
s=open('../../src/exec/number.h').read().replace('#define LANE static inline __attribute__((always_inline))','#define LANE static __device__ __forceinline__'); open('number_dev.h','w').write(s)
t=open('../../src/exec/approx.c').read().replace('#include "exec/approx.h"','').replace('\nconst int32_t','\nstatic __device__ const int32_t')
a=open('../../src/exec/approx.h').read().replace('#include "exec/number.h"','')
i=a.index('extern const int32_t approx_c0'); a=a[:i]+t+a[i:]
a=re.sub(r'extern const int32_t [^;]*;','',a)
open('approx_dev.h','w').write(a)
