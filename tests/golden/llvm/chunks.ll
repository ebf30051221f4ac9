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
  %t33 = sub i64 0, %t32
  %t34 = sitofp i64 %t33 to double
  %t35 = fneg double %t34
  br label %l31
l30:
  %t36 = sub i64 %t12, 1
  %t37 = call i64 @llvm.fshr.i64(i64 %t36, i64 %t36, i64 4)
  %t38 = bitcast i64 %t37 to double
  br label %l31
l31:
  %t39 = phi double [ %t35, %l29 ], [ %t38, %l30 ]
  %t40 = and i64 %t13, 7
  %t41 = icmp eq i64 %t40, 0
  br i1 %t41, label %l42, label %l43
l42:
  %t45 = ashr i64 %t13, 3
  %t46 = sub i64 0, %t45
  %t47 = sitofp i64 %t46 to double
  %t48 = fneg double %t47
  br label %l44
l43:
  %t49 = sub i64 %t13, 1
  %t50 = call i64 @llvm.fshr.i64(i64 %t49, i64 %t49, i64 4)
  %t51 = bitcast i64 %t50 to double
  br label %l44
l44:
  %t52 = phi double [ %t48, %l42 ], [ %t51, %l43 ]
  %t53 = fadd double %t39, %t52
  %t54 = bitcast double %t53 to i64
  %t55 = call i64 @llvm.fshl.i64(i64 %t54, i64 %t54, i64 4)
  %t56 = add i64 %t55, 1
  %t57 = trunc i64 %t56 to i32
  %t58 = and i32 %t57, 31
  %t59 = lshr i32 842150450, %t58
  %t60 = and i32 %t59, 1
  %t61 = icmp ne i32 %t60, 0
  br i1 %t61, label %l63, label %l62, !prof !0
l63:
  %t72 = phi i64 [ %t56, %l44 ], [ %t69, %l62 ]
  br label %l14
l16:
  %t73 = call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %t12, i64 %t13)
  %t74 = extractvalue { i64, i1 } %t73, 0
  %t75 = extractvalue { i64, i1 } %t73, 1
  br i1 %t75, label %l15, label %l14, !prof !1
l14:
  %t91 = phi i64 [ %t72, %l63 ], [ %t74, %l16 ], [ %t80, %l88 ]
  %t92 = phi i1 [ false, %l63 ], [ true, %l16 ], [ %t90, %l88 ]
  store i64 %t91, ptr %v2
  %t93 = load i64, ptr %sp.v
  %t94 = sub i64 %t93, 24
  %t95 = getelementptr i8, ptr %ctx, i64 <stack_guard>
  %t96 = load i64, ptr %t95, !tbaa !10
  %t97 = icmp ult i64 %t94, %t96
  br i1 %t97, label %l98, label %l99, !prof !1
l99:
  %t122 = phi i64 [ %t94, %l14 ], [ %t121, %l98 ]
  %t123 = load i64, ptr %v1
  %t124 = load i64, ptr %v2
  %t125 = sub i64 %t123, 6
  %t126 = and i64 %t125, 7
  %t127 = icmp eq i64 %t126, 0
  br i1 %t127, label %l132, label %l128, !prof !0
l132:
  %t133 = load i64, ptr %v0
  %t134 = load i64, ptr %v1
  %t135 = inttoptr i64 %t122 to ptr
  store ptr @"scm.f.0.r1", ptr %t135, !tbaa !15
  %t136 = getelementptr i8, ptr %t135, i64 16
  store i64 %t133, ptr %t136, !tbaa !15
  %t137 = getelementptr i8, ptr %t135, i64 8
  store i64 %t134, ptr %t137, !tbaa !15
  %t138 = inttoptr i64 %t123 to ptr
  %t139 = getelementptr i8, ptr %t138, i64 -6
  %t140 = load ptr, ptr %t139, !tbaa !14
  %t141 = load i64, ptr %lo.v
  %t142 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t140(ptr %ctx, i64 %t122, i64 %t141, i64 %t142, i64 1, i64 %t123, i64 %t124, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l1:
  %t2 = load i64, ptr %sp.v
  %t3 = load i64, ptr %lo.v
  %t4 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t2, i64 %t3, i64 %t4, i64 ptrtoint (ptr @cairn_throw.0 to i64), i64 poison, i64 %t0, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l62:
  %t64 = bitcast double %t53 to i64
  %t65 = load i64, ptr %sp.v
  %t66 = load i64, ptr %lo.v
  %t67 = load i64, ptr %hi.v
  %t68 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},1,2,~{dirflag},~{fpsr},~{flags}"(i64 <cairn_num_box_flonum>, ptr %ctx, i64 %t65, i64 %t64, i64 %t66, i64 %t67) #3
  %t69 = extractvalue { i64, i64, i64 } %t68, 0
  %t70 = extractvalue { i64, i64, i64 } %t68, 1
  store i64 %t70, ptr %lo.v
  %t71 = extractvalue { i64, i64, i64 } %t68, 2
  store i64 %t71, ptr %hi.v
  br label %l63
l84:
  %t85 = load i64, ptr %sp.v
  %t86 = load i64, ptr %lo.v
  %t87 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t85, i64 %t86, i64 %t87, i64 ptrtoint (ptr @cairn_throw.1 to i64), i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l15:
  %t76 = load i64, ptr %sp.v
  %t77 = load i64, ptr %lo.v
  %t78 = load i64, ptr %hi.v
  %t79 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},{rdx},1,2,~{dirflag},~{fpsr},~{flags}"(i64 <cairn_num_add>, ptr %ctx, i64 %t76, i64 %t12, i64 %t13, i64 %t77, i64 %t78) #3
  %t80 = extractvalue { i64, i64, i64 } %t79, 0
  %t81 = extractvalue { i64, i64, i64 } %t79, 1
  store i64 %t81, ptr %lo.v
  %t82 = extractvalue { i64, i64, i64 } %t79, 2
  store i64 %t82, ptr %hi.v
  %t83 = icmp ne i64 %t80, 58
  br i1 %t83, label %l88, label %l84, !prof !0
l88:
  %t89 = and i64 %t80, 7
  %t90 = icmp eq i64 %t89, 0
  br label %l14
l98:
  %t100 = load i64, ptr %v0
  %t101 = getelementptr i8, ptr %ctx, i64 <spill>
  store i64 %t100, ptr %t101, !tbaa !10
  %t102 = load i64, ptr %v1
  %t103 = getelementptr i8, ptr %ctx, i64 <spill>
  store i64 %t102, ptr %t103, !tbaa !10
  %t104 = load i64, ptr %v2
  %t105 = getelementptr i8, ptr %ctx, i64 <spill>
  store i64 %t104, ptr %t105, !tbaa !10
  %t106 = getelementptr i8, ptr %ctx, i64 <spilled>
  store i64 3, ptr %t106, !tbaa !10
  %t107 = load i64, ptr %sp.v
  %t108 = load i64, ptr %lo.v
  %t109 = load i64, ptr %hi.v
  %t110 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},{rdx},1,2,~{memory},~{dirflag},~{fpsr},~{flags}"(i64 <cairn_machine_guard>, ptr %ctx, i64 %t107, i64 192, i64 0, i64 %t108, i64 %t109) #1
  %t111 = extractvalue { i64, i64, i64 } %t110, 0
  %t112 = extractvalue { i64, i64, i64 } %t110, 1
  store i64 %t112, ptr %lo.v
  %t113 = extractvalue { i64, i64, i64 } %t110, 2
  store i64 %t113, ptr %hi.v
  %t114 = getelementptr i8, ptr %ctx, i64 <spill>
  %t115 = load i64, ptr %t114, !tbaa !10
  store i64 %t115, ptr %v0
  %t116 = getelementptr i8, ptr %ctx, i64 <spill>
  %t117 = load i64, ptr %t116, !tbaa !10
  store i64 %t117, ptr %v1
  %t118 = getelementptr i8, ptr %ctx, i64 <spill>
  %t119 = load i64, ptr %t118, !tbaa !10
  store i64 %t119, ptr %v2
  store i64 %t111, ptr %sp.v
  %t120 = load i64, ptr %sp.v
  %t121 = sub i64 %t120, 24
  br label %l99
l128:
  %t129 = load i64, ptr %sp.v
  %t130 = load i64, ptr %lo.v
  %t131 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t129, i64 %t130, i64 %t131, i64 ptrtoint (ptr @cairn_throw.2 to i64), i64 poison, i64 %t123, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
}

define internal preserve_nonecc void @"scm.f.0.r1"(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4) #0 align 16 prefix <{ i64, i64, ptr, i64, i64, i64 }> <{ i64 ptrtoint (ptr @cairn_name.3 to i64), i64 3, ptr @cairn_mv_first, i64 0, i64 6, i64 4294967299 }> {
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

