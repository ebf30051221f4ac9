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
  %t0 = load i64, ptr %hi.v
  %t1 = load i64, ptr %lo.v
  %t2 = sub i64 %t0, %t1
  %t3 = icmp ult i64 %t2, 32
  br i1 %t3, label %l4, label %l5, !prof !1
l5:
  %t26 = load i64, ptr %v0
  %t31 = and i64 %t26, 7
  %t32 = icmp eq i64 %t31, 3
  br i1 %t32, label %l33, label %l27, !prof !0
l33:
  %t34 = inttoptr i64 %t26 to ptr
  %t35 = getelementptr i8, ptr %t34, i64 -3
  %t36 = load i64, ptr %t35, !tbaa !13
  store i64 %t36, ptr %v2
  %t37 = load i64, ptr %v2
  %t38 = load i64, ptr %v1
  %t42 = and i64 %t37, 7
  %t43 = icmp eq i64 %t42, 0
  %t44 = and i64 %t38, 7
  %t45 = icmp eq i64 %t44, 0
  br i1 %t43, label %l46, label %l47, !prof !2
l46:
  br i1 %t45, label %l41, label %l47, !prof !2
l47:
  %t48 = or i64 %t37, %t38
  %t49 = and i64 %t48, 2
  %t50 = icmp eq i64 %t49, 0
  br i1 %t50, label %l51, label %l40, !prof !2
l51:
  %t52 = and i64 %t37, 7
  %t53 = icmp eq i64 %t52, 0
  br i1 %t53, label %l54, label %l55
l54:
  %t57 = ashr i64 %t37, 3
  %t58 = sitofp i64 %t57 to double
  br label %l56
l55:
  %t59 = sub i64 %t37, 1
  %t60 = call i64 @llvm.fshr.i64(i64 %t59, i64 %t59, i64 4)
  %t61 = bitcast i64 %t60 to double
  br label %l56
l56:
  %t62 = phi double [ %t58, %l54 ], [ %t61, %l55 ]
  %t63 = and i64 %t38, 7
  %t64 = icmp eq i64 %t63, 0
  br i1 %t64, label %l65, label %l66
l65:
  %t68 = ashr i64 %t38, 3
  %t69 = sitofp i64 %t68 to double
  br label %l67
l66:
  %t70 = sub i64 %t38, 1
  %t71 = call i64 @llvm.fshr.i64(i64 %t70, i64 %t70, i64 4)
  %t72 = bitcast i64 %t71 to double
  br label %l67
l67:
  %t73 = phi double [ %t69, %l65 ], [ %t72, %l66 ]
  %t74 = fadd double %t62, %t73
  %t75 = bitcast double %t74 to i64
  %t76 = call i64 @llvm.fshl.i64(i64 %t75, i64 %t75, i64 4)
  %t77 = add i64 %t76, 1
  %t78 = trunc i64 %t77 to i32
  %t79 = and i32 %t78, 31
  %t80 = lshr i32 842150450, %t79
  %t81 = and i32 %t80, 1
  %t82 = icmp ne i32 %t81, 0
  br i1 %t82, label %l84, label %l83, !prof !0
l84:
  %t93 = phi i64 [ %t77, %l67 ], [ %t90, %l83 ]
  br label %l39
l41:
  %t94 = call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %t37, i64 %t38)
  %t95 = extractvalue { i64, i1 } %t94, 0
  %t96 = extractvalue { i64, i1 } %t94, 1
  br i1 %t96, label %l40, label %l39, !prof !1
l39:
  %t110 = phi i64 [ %t93, %l84 ], [ %t95, %l41 ], [ %t101, %l109 ]
  store i64 %t110, ptr %v2
  %t111 = load i64, ptr %v1
  %t112 = load i64, ptr %v2
  %t113 = and i64 %t111, 7
  %t114 = icmp eq i64 %t113, 6
  br i1 %t114, label %l119, label %l115, !prof !0
l119:
  %t120 = load i64, ptr %v0
  %t121 = load i64, ptr %v1
  %t122 = load i64, ptr %sp.v
  %t123 = load i64, ptr %hi.v
  %t124 = sub i64 %t123, 32
  store i64 %t124, ptr %hi.v
  %t125 = inttoptr i64 %t124 to ptr
  store ptr @"scm.f.0.r1", ptr %t125, !tbaa !15
  %t126 = getelementptr i8, ptr %t125, i64 8
  store i64 %t122, ptr %t126, !tbaa !15
  %t127 = getelementptr i8, ptr %t125, i64 16
  store i64 %t120, ptr %t127, !tbaa !15
  %t128 = getelementptr i8, ptr %t125, i64 24
  store i64 %t121, ptr %t128, !tbaa !15
  %t129 = add i64 %t124, 6
  %t130 = inttoptr i64 %t111 to ptr
  %t131 = getelementptr i8, ptr %t130, i64 -6
  %t132 = load ptr, ptr %t131, !tbaa !14
  %t133 = load i64, ptr %lo.v
  %t134 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t132(ptr %ctx, i64 %t129, i64 %t133, i64 %t134, i64 1, i64 %t111, i64 %t112, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l4:
  %t6 = load i64, ptr %v0
  %t7 = getelementptr i8, ptr %ctx, i64 <spill>
  store i64 %t6, ptr %t7, !tbaa !10
  %t8 = load i64, ptr %v1
  %t9 = getelementptr i8, ptr %ctx, i64 <spill>
  store i64 %t8, ptr %t9, !tbaa !10
  %t10 = load i64, ptr %sp.v
  %t11 = getelementptr i8, ptr %ctx, i64 <spill>
  store i64 %t10, ptr %t11, !tbaa !10
  %t12 = getelementptr i8, ptr %ctx, i64 <spilled>
  store i64 3, ptr %t12, !tbaa !10
  %t13 = load i64, ptr %sp.v
  %t14 = load i64, ptr %lo.v
  %t15 = load i64, ptr %hi.v
  %t16 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},1,2,~{memory},~{dirflag},~{fpsr},~{flags}"(i64 <cairn_machine_collect>, ptr %ctx, i64 %t13, i64 256, i64 %t14, i64 %t15) #1
  %t17 = extractvalue { i64, i64, i64 } %t16, 0
  %t18 = extractvalue { i64, i64, i64 } %t16, 1
  store i64 %t18, ptr %lo.v
  %t19 = extractvalue { i64, i64, i64 } %t16, 2
  store i64 %t19, ptr %hi.v
  %t20 = getelementptr i8, ptr %ctx, i64 <spill>
  %t21 = load i64, ptr %t20, !tbaa !10
  store i64 %t21, ptr %v0
  %t22 = getelementptr i8, ptr %ctx, i64 <spill>
  %t23 = load i64, ptr %t22, !tbaa !10
  store i64 %t23, ptr %v1
  %t24 = getelementptr i8, ptr %ctx, i64 <spill>
  %t25 = load i64, ptr %t24, !tbaa !10
  store i64 %t25, ptr %sp.v
  br label %l5
l27:
  %t28 = load i64, ptr %sp.v
  %t29 = load i64, ptr %lo.v
  %t30 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t28, i64 %t29, i64 %t30, i64 ptrtoint (ptr @cairn_throw.0 to i64), i64 poison, i64 %t26, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l83:
  %t85 = bitcast double %t74 to i64
  %t86 = load i64, ptr %sp.v
  %t87 = load i64, ptr %lo.v
  %t88 = load i64, ptr %hi.v
  %t89 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},1,2,~{dirflag},~{fpsr},~{flags}"(i64 <cairn_num_box_flonum>, ptr %ctx, i64 %t86, i64 %t85, i64 %t87, i64 %t88) #3
  %t90 = extractvalue { i64, i64, i64 } %t89, 0
  %t91 = extractvalue { i64, i64, i64 } %t89, 1
  store i64 %t91, ptr %lo.v
  %t92 = extractvalue { i64, i64, i64 } %t89, 2
  store i64 %t92, ptr %hi.v
  br label %l84
l105:
  %t106 = load i64, ptr %sp.v
  %t107 = load i64, ptr %lo.v
  %t108 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t106, i64 %t107, i64 %t108, i64 ptrtoint (ptr @cairn_throw.1 to i64), i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l40:
  %t97 = load i64, ptr %sp.v
  %t98 = load i64, ptr %lo.v
  %t99 = load i64, ptr %hi.v
  %t100 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},{rdx},1,2,~{dirflag},~{fpsr},~{flags}"(i64 <cairn_num_add>, ptr %ctx, i64 %t97, i64 %t37, i64 %t38, i64 %t98, i64 %t99) #3
  %t101 = extractvalue { i64, i64, i64 } %t100, 0
  %t102 = extractvalue { i64, i64, i64 } %t100, 1
  store i64 %t102, ptr %lo.v
  %t103 = extractvalue { i64, i64, i64 } %t100, 2
  store i64 %t103, ptr %hi.v
  %t104 = icmp ne i64 %t101, 58
  br i1 %t104, label %l109, label %l105, !prof !0
l109:
  br label %l39
l115:
  %t116 = load i64, ptr %sp.v
  %t117 = load i64, ptr %lo.v
  %t118 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t116, i64 %t117, i64 %t118, i64 ptrtoint (ptr @cairn_throw.2 to i64), i64 poison, i64 %t111, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
}

define internal preserve_nonecc void @"scm.f.0.r1"(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4) #0 align 16 prefix <{ i64, i64, ptr, i64, i64, i64 }> <{ i64 ptrtoint (ptr @cairn_name.2 to i64), i64 3, ptr @cairn_mv_first, i64 0, i64 12, i64 4294967300 }> {
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
  %t2 = getelementptr i8, ptr %t1, i64 18
  %t3 = load i64, ptr %t2, !tbaa !15
  store i64 %t3, ptr %v1
  %t4 = load i64, ptr %v1
  %t5 = load i64, ptr %v0
  %t13 = and i64 %t4, 7
  %t14 = icmp eq i64 %t13, 7
  br i1 %t14, label %l15, label %l6, !prof !0
l15:
  %t16 = inttoptr i64 %t4 to ptr
  %t17 = getelementptr i8, ptr %t16, i64 -7
  %t18 = load i64, ptr %t17, !tbaa !12
  %t19 = and i64 %t18, 255
  %t20 = icmp eq i64 %t19, 2
  br i1 %t20, label %l21, label %l6, !prof !0
l21:
  %t22 = lshr i64 %t18, 16
  %t23 = call i64 @llvm.fshr.i64(i64 %t5, i64 %t5, i64 3)
  %t24 = icmp ult i64 %t23, %t22
  br i1 %t24, label %l32, label %l25, !prof !0
l32:
  %t33 = inttoptr i64 %t4 to ptr
  %t34 = getelementptr i8, ptr %t33, i64 1
  %t35 = getelementptr i8, ptr %t34, i64 %t5
  %t36 = load i64, ptr %t35, !tbaa !13
  store i64 %t36, ptr %v1
  %t37 = load i64, ptr %v1
  %t38 = load i64, ptr %sp.v
  %t39 = inttoptr i64 %t38 to ptr
  %t40 = getelementptr i8, ptr %t39, i64 2
  %t41 = load i64, ptr %t40, !tbaa !15
  %t42 = inttoptr i64 %t41 to ptr
  %t43 = getelementptr i8, ptr %t42, i64 -6
  %t44 = load ptr, ptr %t43, !tbaa !15
  %t45 = load i64, ptr %lo.v
  %t46 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t44(ptr %ctx, i64 %t41, i64 %t45, i64 %t46, i64 poison, i64 poison, i64 %t37, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l6:
  %t7 = load i64, ptr %sp.v
  %t8 = inttoptr i64 %t7 to ptr
  %t9 = getelementptr i8, ptr %t8, i64 2
  %t10 = load i64, ptr %t9, !tbaa !15
  %t11 = load i64, ptr %lo.v
  %t12 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t10, i64 %t11, i64 %t12, i64 ptrtoint (ptr @cairn_throw.3 to i64), i64 poison, i64 %t4, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l25:
  %t26 = load i64, ptr %sp.v
  %t27 = inttoptr i64 %t26 to ptr
  %t28 = getelementptr i8, ptr %t27, i64 2
  %t29 = load i64, ptr %t28, !tbaa !15
  %t30 = load i64, ptr %lo.v
  %t31 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t29, i64 %t30, i64 %t31, i64 ptrtoint (ptr @cairn_throw.4 to i64), i64 poison, i64 %t5, i64 %t4, i64 poison, i64 poison, i64 poison)
  ret void
}

