/* Straight pieces of the random kernels. In a pattern these are filled in, from left to right:
 *
 *   $r $q $f $g $p   a register of 32 or 64 bits, f32, f64, a predicate
 *   $i $s $k         a number: any; 0..31; 1..7; $= is the last one again
 *   $c $d $n         a comparison of integers, of floats; a rounding
 *   $m               the register with the lanes that are here together
 *   $l $L $V         an offset in an array of 64 bytes: of 4 bytes, of 8, of 16
 *
 * Registers %t0.. (32 bits), %w0.. (64), %x0 (f32), %h0.. (16), %z0.. (predicates) are for use within a
 * pattern. Nothing here may have more than one result on a GPU: no operand that makes a result undefined, no
 * bits of a NaN that are looked at, nothing that depends on who comes first. f32 and f64 have their rounding
 * written out, as ptxas may fuse what has none. */
#ifndef ORACLE_GENERATE_OPS_H
#define ORACLE_GENERATE_OPS_H

static const char *const ops_plain[] = {
    /* 32 bits */
    "add.s32 $r, $r, $r;",
    "sub.u32 $r, $r, $i;",
    "mul.lo.s32 $r, $r, $r;",
    "mul.hi.u32 $r, $r, $r;",
    "mul.hi.s32 $r, $r, $i;",
    "mad.lo.s32 $r, $r, $r, $r;",
    "mad.hi.u32 $r, $r, $r, $i;",
    "mul24.lo.s32 $r, $r, $r;",
    "add.sat.s32 $r, $r, $r;",
    "and.b32 $r, $r, $i;",
    "or.b32 $r, $r, $r;",
    "xor.b32 $r, $r, $i;",
    "not.b32 $r, $r;",
    "cnot.b32 $r, $r;",
    "shl.b32 $r, $r, $s;",
    "shr.u32 $r, $r, $r;",
    "shr.s32 $r, $r, $s;",
    "shl.b32 $r, $r, $r;",
    "min.s32 $r, $r, $r;",
    "max.u32 $r, $r, $i;",
    "abs.s32 $r, $r;",
    "neg.s32 $r, $r;",
    "sad.s32 $r, $r, $r, $r;",
    "popc.b32 $r, $r;",
    "clz.b32 $r, $r;",
    "brev.b32 $r, $r;",
    "bfind.s32 $r, $r;",
    "bfe.s32 $r, $r, $s, $s;",
    "bfe.u32 $r, $r, $r, $s;",
    "bfi.b32 $r, $r, $r, $s, $s;",
    "prmt.b32 $r, $r, $r, $r;",
    "prmt.b32 $r, $r, $r, 0x3251;",
    "shf.l.wrap.b32 $r, $r, $r, $r;",
    "shf.r.clamp.b32 $r, $r, $r, $s;",
    "lop3.b32 $r, $r, $r, $r, 0xb4;",
    "lop3.b32 $r, $r, $r, $i, 0x1e;",
    "dp4a.s32.u32 $r, $r, $r, $r;",
    "mad24.lo.u32 $r, $r, $r, $i;",
    "selp.b32 $r, $r, $i, $p;",
    "set.$c.u32.s32 $r, $r, $r;",
    "slct.s32.s32 $r, $r, $r, $r;",
    "mov.u32 $r, %laneid;",
    "mov.u32 $r, %lanemask_lt;",
    "mov.u32 $r, %tid.x;",
    "mov.u32 $r, $i;",
    "div.u32 $r, $r, $k;",
    "rem.s32 $r, $r, $k;",
    "or.b32 %t0, $r, 1; div.s32 $r, $r, %t0;",
    "or.b32 %t0, $r, 1; rem.u32 $r, $r, %t0;",
    /* 16 bits */
    "cvt.u16.u32 %h0, $r; cvt.u16.u32 %h1, $r; add.s16 %h2, %h0, %h1; cvt.s32.s16 $r, %h2;",
    "cvt.u16.u32 %h0, $r; cvt.u16.u32 %h1, $r; mul.wide.s16 $r, %h0, %h1;",
    "cvt.u16.u32 %h0, $r; shr.s16 %h1, %h0, $s; cvt.u32.u16 $r, %h1;",
    "mov.b32 {%h0, %h1}, $r; mov.b32 $r, {%h1, %h0};",
    /* 64 bits */
    "add.s64 $q, $q, $q;",
    "sub.s64 $q, $q, $q;",
    "mul.lo.s64 $q, $q, $q;",
    "mul.hi.u64 $q, $q, $q;",
    "mul.wide.u32 $q, $r, $r;",
    "mad.wide.s32 $q, $r, $r, $q;",
    "and.b64 $q, $q, $q;",
    "xor.b64 $q, $q, $q;",
    "shl.b64 $q, $q, $r;",
    "shr.s64 $q, $q, $s;",
    "shr.u64 $q, $q, $r;",
    "min.s64 $q, $q, $q;",
    "max.u64 $q, $q, $q;",
    "cvt.s64.s32 $q, $r;",
    "cvt.u32.u64 $r, $q;",
    "mov.b64 {$r, %t0}, $q;",
    "mov.b64 $q, {$r, $r};",
    "popc.b64 $r, $q;",
    "clz.b64 $r, $q;",
    "bfe.u64 $q, $q, $s, $s;",
    "selp.b64 $q, $q, $q, $p;",
    "rem.u64 $q, $q, 1000003;",
    "add.cc.u32 $r, $r, $r; addc.u32 $r, $r, $i;",
    "sub.cc.u32 $r, $r, $r; subc.u32 $r, $r, 0;",
    /* f32 */
    "add.$n.f32 $f, $f, $f;",
    "sub.rn.f32 $f, $f, $f;",
    "mul.$n.f32 $f, $f, $f;",
    "fma.$n.f32 $f, $f, $f, $f;",
    "fma.rn.ftz.f32 $f, $f, $f, $f;",
    "add.rn.sat.f32 $f, $f, $f;",
    "mul.rn.f32 $f, $f, 0f3F000001;",
    "min.f32 $f, $f, $f;",
    "max.f32 $f, $f, $f;",
    "abs.f32 $f, $f;",
    "neg.f32 $f, $f;",
    "selp.f32 $f, $f, $f, $p;",
    "cvt.rn.f32.s32 $f, $r;",
    "cvt.rz.f32.u32 $f, $r;",
    "cvt.rzi.s32.f32 $r, $f;",
    "cvt.rni.u32.f32 $r, $f;",
    "cvt.rmi.f32.f32 $f, $f;",
    "mov.f32 %x0, $f; setp.nan.f32 %z0, %x0, %x0; mov.b32 %t0, %x0; selp.b32 $r, 2147483647, %t0, %z0;",
    "and.b32 %t0, $r, 8388607; or.b32 %t0, %t0, 1065353216; mov.b32 $f, %t0;",
    /* f64 */
    "add.$n.f64 $g, $g, $g;",
    "mul.rn.f64 $g, $g, $g;",
    "fma.$n.f64 $g, $g, $g, $g;",
    "min.f64 $g, $g, $g;",
    "neg.f64 $g, $g;",
    "cvt.f64.f32 $g, $f;",
    "cvt.rn.f32.f64 $f, $g;",
    "cvt.rn.f64.s32 $g, $r;",
    "cvt.rn.f64.u64 $g, $q;",
    "cvt.rzi.s64.f64 $q, $g;",
    "selp.f64 $g, $g, $g, $p;",
    /* predicates */
    "setp.$c.s32 $p, $r, $r;",
    "setp.$c.u32 $p, $r, $i;",
    "setp.$c.s64 $p, $q, $q;",
    "setp.$d.f32 $p, $f, $f;",
    "setp.$d.f64 $p, $g, $g;",
    "setp.$c.and.s32 $p|%z0, $r, $r, $p; and.pred $p, $p, %z0;",
    "and.pred $p, $p, $p;",
    "or.pred $p, $p, $p;",
    "xor.pred $p, $p, $p;",
    "not.pred $p, $p;",
    "activemask.b32 %t0; mov.u32 %t1, %lanemask_eq; and.b32 %t0, %t0, %t1; setp.ne.u32 $p, %t0, 0;",
};

/* Not often: they are long on a GPU, and slow to compile. */
static const char *const ops_long[] = {
    "div.rn.f32 $f, $f, $f;", "sqrt.rn.f32 $f, $f;", "rcp.rn.f32 $f, $f;",
    "div.rn.f64 $g, $g, $g;", "sqrt.rn.f64 $g, $g;", "or.b64 %w0, $q, 1; div.s64 $q, $q, %w0;",
};

static const char *const ops_memory[] = {
    /* the thread's own array */
    "st.local.b32 [%array+$l], $r;",
    "ld.local.b32 $r, [%array+$l];",
    "st.local.b64 [%array+$L], $q;",
    "ld.local.b64 $q, [%array+$L];",
    "st.local.v2.b32 [%array+$L], {$r, $r};",
    "ld.local.v4.b32 {$r, %t0, %t1, %t2}, [%array+$V]; xor.b32 $r, %t1, %t2;",
    "st.local.b8 [%array+$l], $r;",
    "ld.local.s8 $r, [%array+$l];",
    "and.b32 %t0, $r, 60; cvt.u64.u32 %w0, %t0; add.u64 %w0, %array, %w0; st.local.b32 [%w0], $r;",
    "and.b32 %t0, $r, 60; cvt.u64.u32 %w0, %t0; add.u64 %w0, %array, %w0; ld.local.b32 $r, [%w0];",
    "and.b32 %t0, $r, 62; cvt.u64.u32 %w0, %t0; add.u64 %w0, %array, %w0; cvta.local.u64 %w0, %w0; "
    "ld.s16 $r, [%w0];",
    "cvta.local.u64 %w0, %array; st.f32 [%w0+$l], 0f40490FDB;",
    /* the input */
    "and.b32 %t0, $r, 4092; cvt.u64.u32 %w0, %t0; add.u64 %w0, %in, %w0; ld.global.u32 $r, [%w0];",
    "and.b32 %t0, $r, 4088; cvt.u64.u32 %w0, %t0; add.u64 %w0, %in, %w0; ld.global.nc.u64 $q, [%w0];",
    "and.b32 %t0, $r, 4080; cvt.u64.u32 %w0, %t0; add.u64 %w0, %in, %w0; "
    "ld.global.v4.u32 {%t0, %t1, %t2, %t3}, [%w0]; xor.b32 $r, %t0, %t3; add.u32 $r, %t1, %t2;",
    "and.b32 %t0, $r, 4095; cvt.u64.u32 %w0, %t0; add.u64 %w0, %in, %w0; ld.s8 $r, [%w0];",
    "ld.global.v2.u64 {%w0, %w1}, [%in+$V]; add.u64 $q, %w0, %w1;",
    /* the thread's own output, a little of which is free */
    "st.global.v2.b32 [%own+128], {$r, $r};",
    "st.global.b64 [%own+136], $q;",
    "ld.global.b32 $r, [%own+132];",
    "st.global.v4.b32 [%own+144], {$r, $r, $r, $r};",
    "ld.global.v2.b32 {$r, %t0}, [%own+152]; add.u32 $r, $r, %t0;",
};

/* On cells of all threads, each for one kind of operation that commutes. */
static const char *const ops_atomic[] = {
    "red.global.add.u32 [%cells+0], $r;",
    "and.b32 %t0, $r, 24; cvt.u64.u32 %w0, %t0; add.u64 %w0, %cells, %w0; red.global.add.u32 [%w0], $r;",
    "red.global.min.s32 [%cells+32], $r;",
    "atom.global.max.s32 %t0, [%cells+40], $r;",
    "red.global.min.u32 [%cells+48], $r;",
    "red.global.max.u32 [%cells+56], $r;",
    "or.b32 %t0, $r, $i; red.global.and.b32 [%cells+64], %t0;",
    "and.b32 %t0, $r, $i; red.global.or.b32 [%cells+72], %t0;",
    "red.global.xor.b32 [%cells+80], $r;",
    "atom.global.xor.b64 %w0, [%cells+88], $q;",
    "red.global.add.u64 [%cells+96], $q;",
    "and.b32 %t0, $r, 24; cvt.u64.u32 %w0, %t0; add.u64 %w0, %cells, %w0; atom.global.add.u64 %w1, [%w0+96], "
    "$q;",
    "red.global.min.s64 [%cells+128], $q;",
    "red.global.max.u64 [%cells+136], $q;",
    "red.add.u32 [%cells+144], $k;",
    /* who takes which number is open, the sum of all that were taken is not */
    "atom.global.add.u32 %t0, [%cells+160], 1; mul.lo.u32 %t0, %t0, %t0; red.global.add.u32 [%cells+168], "
    "%t0;",
    "atom.global.inc.u32 %t0, [%cells+176], 6; mad.lo.u32 %t0, %t0, %t0, 1; red.global.add.u32 [%cells+184], "
    "%t0;",
    /* in shared memory */
    "red.shared.add.u32 [%pool+0], $r;",
    "and.b32 %t0, $r, 8; add.u32 %t0, %pool, %t0; red.shared.add.u32 [%t0], $i;",
    "red.shared.min.s32 [%pool+16], $r;",
    "atom.shared.max.u32 %t0, [%pool+24], $r;",
    "atom.shared.xor.b32 %t0, [%pool+32], $r;",
    "red.shared.add.u64 [%pool+40], $q;",
    "and.b32 %t0, $r, $i; red.shared.or.b32 [%pool+48], %t0;",
};

/* By the lanes of $m together, which all come here. What a shuffle gets from elsewhere does not count. */
static const char *const ops_together[] = {
    "bfind.u32 %t0, $m; shfl.sync.idx.b32 $r, $r, %t0, 31, $m;",
    "mov.u32 %t0, %laneid; xor.b32 %t0, %t0, $s; shr.u32 %t0, $m, %t0; and.b32 %t0, %t0, 1; setp.ne.u32 %z0, "
    "%t0, 0; "
    "mov.b32 %t2, $r; shfl.sync.bfly.b32 %t1, %t2, $=, 31, $m; selp.b32 $r, %t1, %t2, %z0;",
    "mov.u32 %t0, %laneid; sub.u32 %t0, %t0, $s; shr.u32 %t0, $m, %t0; and.b32 %t0, %t0, 1; setp.ne.u32 %z0, "
    "%t0, 0; "
    "mov.b32 %t2, $r; shfl.sync.up.b32 %t1|$p, %t2, $=, 0, $m; selp.b32 $r, %t1, %t2, %z0;",
    "mov.u32 %t0, %laneid; add.u32 %t0, %t0, $s; shr.u32 %t0, $m, %t0; and.b32 %t0, %t0, 1; setp.ne.u32 %z0, "
    "%t0, 0; "
    "mov.b32 %t2, $r; shfl.sync.down.b32 %t1|$p, %t2, $=, 0x181f, $m; selp.b32 $r, %t1, %t2, %z0;",
    "brev.b32 %t0, $m; bfind.shiftamt.u32 %t0, %t0; shfl.sync.idx.b32 $r|$p, $r, %t0, 31, $m;",
    "vote.sync.all.pred $p, $p, $m;",
    "vote.sync.any.pred $p, !$p, $m;",
    "vote.sync.uni.pred $p, $p, $m;",
    "vote.sync.ballot.b32 $r, $p, $m;",
    "and.b32 %t0, $r, 3; match.any.sync.b32 $r, %t0, $m;",
    "and.b64 %w0, $q, 1; match.any.sync.b64 $r, %w0, $m;",
    "match.all.sync.b32 $r|$p, $r, $m;",
    "and.b32 %t0, $r, 0; match.all.sync.b32 $r|$p, %t0, $m;",
    "redux.sync.add.s32 $r, $r, $m;",
    "redux.sync.min.s32 $r, $r, $m;",
    "redux.sync.max.u32 $r, $r, $m;",
    "redux.sync.and.b32 $r, $r, $m;",
    "redux.sync.or.b32 $r, $r, $m;",
    "redux.sync.xor.b32 $r, $r, $m;",
    "bar.warp.sync $m;",
    "and.b32 %t0, $m, $m; popc.b32 $r, %t0;",
};

/* The same, each with a guard: a single instruction. */
static const char *const ops_guarded[] = {
    "redux.sync.add.u32 $r, $r, $m;",
    "redux.sync.max.s32 $r, $r, $m;",
    "vote.sync.ballot.b32 $r, $p, $m;",
    "vote.sync.all.pred $p, $p, $m;",
    "match.any.sync.b32 $r, $r, $m;",
    "match.all.sync.b64 $r|$p, $q, $m;",
    "bar.warp.sync $m;",
};

#endif
