define internal preserve_nonecc void @"scm.f"(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4) #0 align 16 prefix <{ i64, i64, i64, i64 }> <{ i64 ptrtoint (ptr @cairn_name.1 to i64), i64 1, i64 2, i64 2 }> {
entry:
  %sp.v = alloca i64
  store i64 %sp, ptr %sp.v
  %lo.v = alloca i64
  store i64 %lo, ptr %lo.v
  %hi.v = alloca i64
  store i64 %hi, ptr %hi.v
  %t0 = icmp eq i64 %argc, 2
  br i1 %t0, label %l1, label %l2, !prof !0
l1:
  %t3 = load i64, ptr %sp.v
  %t4 = load i64, ptr %lo.v
  %t5 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @"scm.f.0"(ptr %ctx, i64 %t3, i64 %t4, i64 %t5, i64 poison, i64 poison, i64 %a0, i64 %a1, i64 poison, i64 poison, i64 poison)
  ret void
l2:
  %t6 = load i64, ptr %sp.v
  %t7 = load i64, ptr %lo.v
  %t8 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_arity_tail(ptr %ctx, i64 %t6, i64 %t7, i64 %t8, i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4)
  ret void
}

define internal preserve_nonecc void @"scm.f.0"(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4) #0 align 16 {
entry:
  %sp.v = alloca i64
  store i64 %sp, ptr %sp.v
  %lo.v = alloca i64
  store i64 %lo, ptr %lo.v
  %hi.v = alloca i64
  store i64 %hi, ptr %hi.v
  %v0 = alloca i64
  %v1 = alloca i64
  %v2 = alloca i64
  store i64 %a0, ptr %v0
  store i64 %a1, ptr %v1
  br label %b0
b0:
  %t0 = load i64, ptr %v0
  %t5 = sub i64 %t0, 3
  %t6 = and i64 %t5, 7
  %t7 = icmp eq i64 %t6, 0
  br i1 %t7, label %l8, label %l1, !prof !0
l8:
  %t9 = inttoptr i64 %t0 to ptr
  %t10 = getelementptr i8, ptr %t9, i64 -3
  %t11 = load i64, ptr %t10, !tbaa !13
  store i64 %t11, ptr %v2
  %t12 = load i64, ptr %v2
  %t13 = load i64, ptr %v1
  %t17 = and i64 %t12, 7
  %t18 = icmp eq i64 %t17, 0
  %t19 = and i64 %t13, 7
  %t20 = icmp eq i64 %t19, 0
  br i1 %t18, label %l21, label %l22, !prof !2
l21:
  br i1 %t20, label %l16, label %l22, !prof !2
l22:
  %t23 = or i64 %t12, %t13
  %t24 = and i64 %t23, 2
  %t25 = icmp eq i64 %t24, 0
  br i1 %t25, label %l26, label %l15, !prof !2
l26:
  %t27 = and i64 %t12, 7
  %t28 = icmp eq i64 %t27, 0
  br i1 %t28, label %l29, label %l30
l29:
  %t32 = ashr i64 %t12, 3
  %t33 = sitofp i64 %t32 to double
  br label %l31
l30:
  %t34 = sub i64 %t12, 1
  %t35 = call i64 @llvm.fshr.i64(i64 %t34, i64 %t34, i64 4)
  %t36 = bitcast i64 %t35 to double
  br label %l31
l31:
  %t37 = phi double [ %t33, %l29 ], [ %t36, %l30 ]
  %t38 = and i64 %t13, 7
  %t39 = icmp eq i64 %t38, 0
  br i1 %t39, label %l40, label %l41
l40:
  %t43 = ashr i64 %t13, 3
  %t44 = sitofp i64 %t43 to double
  br label %l42
l41:
  %t45 = sub i64 %t13, 1
  %t46 = call i64 @llvm.fshr.i64(i64 %t45, i64 %t45, i64 4)
  %t47 = bitcast i64 %t46 to double
  br label %l42
l42:
  %t48 = phi double [ %t44, %l40 ], [ %t47, %l41 ]
  %t49 = fadd double %t37, %t48
  %t50 = bitcast double %t49 to i64
  %t51 = call i64 @llvm.fshl.i64(i64 %t50, i64 %t50, i64 4)
  %t52 = add i64 %t51, 1
  %t53 = trunc i64 %t52 to i32
  %t54 = and i32 %t53, 31
  %t55 = lshr i32 842150450, %t54
  %t56 = and i32 %t55, 1
  %t57 = icmp ne i32 %t56, 0
  br i1 %t57, label %l59, label %l58, !prof !0
l59:
  %t68 = phi i64 [ %t52, %l42 ], [ %t65, %l58 ]
  br label %l14
l16:
  %t69 = call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %t12, i64 %t13)
  %t70 = extractvalue { i64, i1 } %t69, 0
  %t71 = extractvalue { i64, i1 } %t69, 1
  br i1 %t71, label %l15, label %l14, !prof !1
l14:
  %t87 = phi i64 [ %t68, %l59 ], [ %t70, %l16 ], [ %t76, %l84 ]
  %t88 = phi i1 [ false, %l59 ], [ true, %l16 ], [ %t86, %l84 ]
  store i64 %t87, ptr %v2
  %t89 = load i64, ptr %v1
  %t90 = load i64, ptr %v2
  %t91 = sub i64 %t89, 6
  %t92 = and i64 %t91, 7
  %t93 = icmp eq i64 %t92, 0
  br i1 %t93, label %l98, label %l94, !prof !0
l98:
  %t99 = load i64, ptr %v0
  %t100 = load i64, ptr %v1
  %t101 = load i64, ptr %sp.v
  %t102 = add i64 %t101, -24
  %t103 = getelementptr i8, ptr %ctx, i64 <stack_limit>
  %t104 = load i64, ptr %t103, !tbaa !10
  %t105 = icmp ult i64 %t102, %t104
  br i1 %t105, label %l106, label %l107, !prof !1
l107:
  %t116 = phi i64 [ %t102, %l98 ], [ %t115, %l106 ]
  %t117 = inttoptr i64 %t116 to ptr
  store ptr @"scm.f.0.r1", ptr %t117, !tbaa !15
  %t118 = getelementptr i8, ptr %t117, i64 16
  store i64 %t99, ptr %t118, !tbaa !15
  %t119 = getelementptr i8, ptr %t117, i64 8
  store i64 %t100, ptr %t119, !tbaa !15
  %t120 = inttoptr i64 %t89 to ptr
  %t121 = getelementptr i8, ptr %t120, i64 -6
  %t122 = load ptr, ptr %t121, !tbaa !14
  %t123 = load i64, ptr %lo.v
  %t124 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t122(ptr %ctx, i64 %t116, i64 %t123, i64 %t124, i64 1, i64 %t89, i64 %t90, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l1:
  %t2 = load i64, ptr %sp.v
  %t3 = load i64, ptr %lo.v
  %t4 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t2, i64 %t3, i64 %t4, i64 ptrtoint (ptr @cairn_throw.0 to i64), i64 poison, i64 %t0, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l58:
  %t60 = bitcast double %t49 to i64
  %t61 = load i64, ptr %sp.v
  %t62 = load i64, ptr %lo.v
  %t63 = load i64, ptr %hi.v
  %t64 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},1,2,~{dirflag},~{fpsr},~{flags}"(i64 <cairn_num_box_flonum>, ptr %ctx, i64 %t61, i64 %t60, i64 %t62, i64 %t63) #3
  %t65 = extractvalue { i64, i64, i64 } %t64, 0
  %t66 = extractvalue { i64, i64, i64 } %t64, 1
  store i64 %t66, ptr %lo.v
  %t67 = extractvalue { i64, i64, i64 } %t64, 2
  store i64 %t67, ptr %hi.v
  br label %l59
l80:
  %t81 = load i64, ptr %sp.v
  %t82 = load i64, ptr %lo.v
  %t83 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t81, i64 %t82, i64 %t83, i64 ptrtoint (ptr @cairn_throw.1 to i64), i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l15:
  %t72 = load i64, ptr %sp.v
  %t73 = load i64, ptr %lo.v
  %t74 = load i64, ptr %hi.v
  %t75 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},{rdx},1,2,~{dirflag},~{fpsr},~{flags}"(i64 <cairn_num_add>, ptr %ctx, i64 %t72, i64 %t12, i64 %t13, i64 %t73, i64 %t74) #3
  %t76 = extractvalue { i64, i64, i64 } %t75, 0
  %t77 = extractvalue { i64, i64, i64 } %t75, 1
  store i64 %t77, ptr %lo.v
  %t78 = extractvalue { i64, i64, i64 } %t75, 2
  store i64 %t78, ptr %hi.v
  %t79 = icmp ne i64 %t76, 58
  br i1 %t79, label %l84, label %l80, !prof !0
l84:
  %t85 = and i64 %t76, 7
  %t86 = icmp eq i64 %t85, 0
  br label %l14
l94:
  %t95 = load i64, ptr %sp.v
  %t96 = load i64, ptr %lo.v
  %t97 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t95, i64 %t96, i64 %t97, i64 ptrtoint (ptr @cairn_throw.2 to i64), i64 poison, i64 %t89, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l106:
  %t108 = add i64 %t101, 0
  %t109 = load i64, ptr %lo.v
  %t110 = load i64, ptr %hi.v
  %t111 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},1,2,~{memory},~{dirflag},~{fpsr},~{flags}"(i64 <cairn_machine_overflow>, ptr %ctx, i64 %t108, i64 192, i64 %t109, i64 %t110) #1
  %t112 = extractvalue { i64, i64, i64 } %t111, 0
  %t113 = extractvalue { i64, i64, i64 } %t111, 1
  store i64 %t113, ptr %lo.v
  %t114 = extractvalue { i64, i64, i64 } %t111, 2
  store i64 %t114, ptr %hi.v
  %t115 = sub i64 %t112, 24
  br label %l107
}

define internal preserve_nonecc void @"scm.f.0.r1"(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4) #0 align 16 prefix <{ i64, i64, ptr, i64, i64, i64 }> <{ i64 ptrtoint (ptr @cairn_name.2 to i64), i64 3, ptr @cairn_mv_first, i64 0, i64 6, i64 4294967299 }> {
entry:
  %sp.v = alloca i64
  store i64 %sp, ptr %sp.v
  %lo.v = alloca i64
  store i64 %lo, ptr %lo.v
  %hi.v = alloca i64
  store i64 %hi, ptr %hi.v
  %v0 = alloca i64
  %v1 = alloca i64
  store i64 %a0, ptr %v0
  br label %b0
b0:
  %t0 = load i64, ptr %sp.v
  %t1 = inttoptr i64 %t0 to ptr
  %t2 = getelementptr i8, ptr %t1, i64 8
  %t3 = load i64, ptr %t2, !tbaa !15
  store i64 %t3, ptr %v1
  %t4 = load i64, ptr %v1
  %t5 = load i64, ptr %v0
  %t11 = sub i64 %t4, 7
  %t12 = and i64 %t11, 7
  %t13 = icmp eq i64 %t12, 0
  br i1 %t13, label %l14, label %l6, !prof !0
l14:
  %t15 = inttoptr i64 %t4 to ptr
  %t16 = getelementptr i8, ptr %t15, i64 -7
  %t17 = load i64, ptr %t16, !tbaa !12
  %t18 = and i64 %t17, 255
  %t19 = icmp eq i64 %t18, 2
  br i1 %t19, label %l20, label %l6, !prof !0
l20:
  %t21 = lshr i64 %t17, 16
  %t22 = call i64 @llvm.fshr.i64(i64 %t5, i64 %t5, i64 3)
  %t23 = icmp ult i64 %t22, %t21
  br i1 %t23, label %l29, label %l24, !prof !0
l29:
  %t30 = inttoptr i64 %t4 to ptr
  %t31 = getelementptr i8, ptr %t30, i64 1
  %t32 = getelementptr i8, ptr %t31, i64 %t5
  %t33 = load i64, ptr %t32, !tbaa !13
  store i64 %t33, ptr %v1
  %t34 = load i64, ptr %v1
  %t35 = load i64, ptr %sp.v
  %t36 = add i64 %t35, 24
  %t37 = inttoptr i64 %t36 to ptr
  %t38 = load ptr, ptr %t37, !tbaa !15
  %t39 = load i64, ptr %lo.v
  %t40 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t38(ptr %ctx, i64 %t36, i64 %t39, i64 %t40, i64 poison, i64 poison, i64 %t34, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l6:
  %t7 = load i64, ptr %sp.v
  %t8 = add i64 %t7, 24
  %t9 = load i64, ptr %lo.v
  %t10 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t8, i64 %t9, i64 %t10, i64 ptrtoint (ptr @cairn_throw.3 to i64), i64 poison, i64 %t4, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l24:
  %t25 = load i64, ptr %sp.v
  %t26 = add i64 %t25, 24
  %t27 = load i64, ptr %lo.v
  %t28 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t26, i64 %t27, i64 %t28, i64 ptrtoint (ptr @cairn_throw.4 to i64), i64 poison, i64 %t5, i64 %t4, i64 poison, i64 poison, i64 poison)
  ret void
}

