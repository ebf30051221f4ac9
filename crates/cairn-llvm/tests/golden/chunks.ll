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
  %t5 = and i64 %t0, 7
  %t6 = icmp eq i64 %t5, 3
  br i1 %t6, label %l7, label %l1, !prof !0
l7:
  %t8 = inttoptr i64 %t0 to ptr
  %t9 = getelementptr i8, ptr %t8, i64 -3
  %t10 = load i64, ptr %t9, !tbaa !13
  store i64 %t10, ptr %v2
  %t11 = load i64, ptr %v2
  %t12 = load i64, ptr %v1
  %t16 = and i64 %t11, 7
  %t17 = icmp eq i64 %t16, 0
  %t18 = and i64 %t12, 7
  %t19 = icmp eq i64 %t18, 0
  br i1 %t17, label %l20, label %l21, !prof !2
l20:
  br i1 %t19, label %l15, label %l21, !prof !2
l21:
  %t22 = or i64 %t11, %t12
  %t23 = and i64 %t22, 2
  %t24 = icmp eq i64 %t23, 0
  br i1 %t24, label %l25, label %l14, !prof !2
l25:
  %t26 = and i64 %t11, 7
  %t27 = icmp eq i64 %t26, 0
  br i1 %t27, label %l28, label %l29
l28:
  %t31 = ashr i64 %t11, 3
  %t32 = sitofp i64 %t31 to double
  br label %l30
l29:
  %t33 = sub i64 %t11, 1
  %t34 = call i64 @llvm.fshr.i64(i64 %t33, i64 %t33, i64 4)
  %t35 = bitcast i64 %t34 to double
  br label %l30
l30:
  %t36 = phi double [ %t32, %l28 ], [ %t35, %l29 ]
  %t37 = and i64 %t12, 7
  %t38 = icmp eq i64 %t37, 0
  br i1 %t38, label %l39, label %l40
l39:
  %t42 = ashr i64 %t12, 3
  %t43 = sitofp i64 %t42 to double
  br label %l41
l40:
  %t44 = sub i64 %t12, 1
  %t45 = call i64 @llvm.fshr.i64(i64 %t44, i64 %t44, i64 4)
  %t46 = bitcast i64 %t45 to double
  br label %l41
l41:
  %t47 = phi double [ %t43, %l39 ], [ %t46, %l40 ]
  %t48 = fadd double %t36, %t47
  %t49 = bitcast double %t48 to i64
  %t50 = call i64 @llvm.fshl.i64(i64 %t49, i64 %t49, i64 4)
  %t51 = add i64 %t50, 1
  %t52 = trunc i64 %t51 to i32
  %t53 = and i32 %t52, 31
  %t54 = lshr i32 842150450, %t53
  %t55 = and i32 %t54, 1
  %t56 = icmp ne i32 %t55, 0
  br i1 %t56, label %l58, label %l57, !prof !0
l58:
  %t67 = phi i64 [ %t51, %l41 ], [ %t64, %l57 ]
  br label %l13
l15:
  %t68 = call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %t11, i64 %t12)
  %t69 = extractvalue { i64, i1 } %t68, 0
  %t70 = extractvalue { i64, i1 } %t68, 1
  br i1 %t70, label %l14, label %l13, !prof !1
l13:
  %t84 = phi i64 [ %t67, %l58 ], [ %t69, %l15 ], [ %t75, %l83 ]
  store i64 %t84, ptr %v2
  %t85 = load i64, ptr %v1
  %t86 = load i64, ptr %v2
  %t87 = and i64 %t85, 7
  %t88 = icmp eq i64 %t87, 6
  br i1 %t88, label %l93, label %l89, !prof !0
l93:
  %t94 = load i64, ptr %v0
  %t95 = load i64, ptr %v1
  %t96 = load i64, ptr %sp.v
  %t97 = add i64 %t96, -24
  %t98 = getelementptr i8, ptr %ctx, i64 <stack_limit>
  %t99 = load i64, ptr %t98, !tbaa !10
  %t100 = icmp ult i64 %t97, %t99
  br i1 %t100, label %l101, label %l102, !prof !1
l102:
  %t111 = phi i64 [ %t97, %l93 ], [ %t110, %l101 ]
  %t112 = inttoptr i64 %t111 to ptr
  store ptr @"scm.f.0.r1", ptr %t112, !tbaa !15
  %t113 = getelementptr i8, ptr %t112, i64 16
  store i64 %t94, ptr %t113, !tbaa !15
  %t114 = getelementptr i8, ptr %t112, i64 8
  store i64 %t95, ptr %t114, !tbaa !15
  %t115 = inttoptr i64 %t85 to ptr
  %t116 = getelementptr i8, ptr %t115, i64 -6
  %t117 = load ptr, ptr %t116, !tbaa !14
  %t118 = load i64, ptr %lo.v
  %t119 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t117(ptr %ctx, i64 %t111, i64 %t118, i64 %t119, i64 1, i64 %t85, i64 %t86, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l1:
  %t2 = load i64, ptr %sp.v
  %t3 = load i64, ptr %lo.v
  %t4 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t2, i64 %t3, i64 %t4, i64 ptrtoint (ptr @cairn_throw.0 to i64), i64 poison, i64 %t0, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l57:
  %t59 = bitcast double %t48 to i64
  %t60 = load i64, ptr %sp.v
  %t61 = load i64, ptr %lo.v
  %t62 = load i64, ptr %hi.v
  %t63 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},1,2,~{dirflag},~{fpsr},~{flags}"(i64 <cairn_num_box_flonum>, ptr %ctx, i64 %t60, i64 %t59, i64 %t61, i64 %t62) #3
  %t64 = extractvalue { i64, i64, i64 } %t63, 0
  %t65 = extractvalue { i64, i64, i64 } %t63, 1
  store i64 %t65, ptr %lo.v
  %t66 = extractvalue { i64, i64, i64 } %t63, 2
  store i64 %t66, ptr %hi.v
  br label %l58
l79:
  %t80 = load i64, ptr %sp.v
  %t81 = load i64, ptr %lo.v
  %t82 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t80, i64 %t81, i64 %t82, i64 ptrtoint (ptr @cairn_throw.1 to i64), i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l14:
  %t71 = load i64, ptr %sp.v
  %t72 = load i64, ptr %lo.v
  %t73 = load i64, ptr %hi.v
  %t74 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},{rdx},1,2,~{dirflag},~{fpsr},~{flags}"(i64 <cairn_num_add>, ptr %ctx, i64 %t71, i64 %t11, i64 %t12, i64 %t72, i64 %t73) #3
  %t75 = extractvalue { i64, i64, i64 } %t74, 0
  %t76 = extractvalue { i64, i64, i64 } %t74, 1
  store i64 %t76, ptr %lo.v
  %t77 = extractvalue { i64, i64, i64 } %t74, 2
  store i64 %t77, ptr %hi.v
  %t78 = icmp ne i64 %t75, 58
  br i1 %t78, label %l83, label %l79, !prof !0
l83:
  br label %l13
l89:
  %t90 = load i64, ptr %sp.v
  %t91 = load i64, ptr %lo.v
  %t92 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t90, i64 %t91, i64 %t92, i64 ptrtoint (ptr @cairn_throw.2 to i64), i64 poison, i64 %t85, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l101:
  %t103 = add i64 %t96, 0
  %t104 = load i64, ptr %lo.v
  %t105 = load i64, ptr %hi.v
  %t106 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},1,2,~{memory},~{dirflag},~{fpsr},~{flags}"(i64 <cairn_machine_overflow>, ptr %ctx, i64 %t103, i64 192, i64 %t104, i64 %t105) #1
  %t107 = extractvalue { i64, i64, i64 } %t106, 0
  %t108 = extractvalue { i64, i64, i64 } %t106, 1
  store i64 %t108, ptr %lo.v
  %t109 = extractvalue { i64, i64, i64 } %t106, 2
  store i64 %t109, ptr %hi.v
  %t110 = sub i64 %t107, 24
  br label %l102
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
  %t11 = and i64 %t4, 7
  %t12 = icmp eq i64 %t11, 7
  br i1 %t12, label %l13, label %l6, !prof !0
l13:
  %t14 = inttoptr i64 %t4 to ptr
  %t15 = getelementptr i8, ptr %t14, i64 -7
  %t16 = load i64, ptr %t15, !tbaa !12
  %t17 = and i64 %t16, 255
  %t18 = icmp eq i64 %t17, 2
  br i1 %t18, label %l19, label %l6, !prof !0
l19:
  %t20 = lshr i64 %t16, 16
  %t21 = call i64 @llvm.fshr.i64(i64 %t5, i64 %t5, i64 3)
  %t22 = icmp ult i64 %t21, %t20
  br i1 %t22, label %l28, label %l23, !prof !0
l28:
  %t29 = inttoptr i64 %t4 to ptr
  %t30 = getelementptr i8, ptr %t29, i64 1
  %t31 = getelementptr i8, ptr %t30, i64 %t5
  %t32 = load i64, ptr %t31, !tbaa !13
  store i64 %t32, ptr %v1
  %t33 = load i64, ptr %v1
  %t34 = load i64, ptr %sp.v
  %t35 = add i64 %t34, 24
  %t36 = inttoptr i64 %t35 to ptr
  %t37 = load ptr, ptr %t36, !tbaa !15
  %t38 = load i64, ptr %lo.v
  %t39 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t37(ptr %ctx, i64 %t35, i64 %t38, i64 %t39, i64 poison, i64 poison, i64 %t33, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l6:
  %t7 = load i64, ptr %sp.v
  %t8 = add i64 %t7, 24
  %t9 = load i64, ptr %lo.v
  %t10 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t8, i64 %t9, i64 %t10, i64 ptrtoint (ptr @cairn_throw.3 to i64), i64 poison, i64 %t4, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l23:
  %t24 = load i64, ptr %sp.v
  %t25 = add i64 %t24, 24
  %t26 = load i64, ptr %lo.v
  %t27 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t25, i64 %t26, i64 %t27, i64 ptrtoint (ptr @cairn_throw.4 to i64), i64 poison, i64 %t5, i64 %t4, i64 poison, i64 poison, i64 poison)
  ret void
}

