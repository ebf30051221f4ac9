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
  %t0 = load i64, ptr %sp.v
  %t1 = sub i64 %t0, 24
  %t2 = getelementptr i8, ptr %ctx, i64 <stack_guard>
  %t3 = load i64, ptr %t2, !tbaa !10
  %t4 = icmp ult i64 %t1, %t3
  br i1 %t4, label %l5, label %l6, !prof !1
l6:
  %t25 = phi i64 [ %t1, %b0 ], [ %t24, %l5 ]
  %t26 = load i64, ptr %v0
  %t31 = sub i64 %t26, 3
  %t32 = and i64 %t31, 7
  %t33 = icmp eq i64 %t32, 0
  br i1 %t33, label %l34, label %l27, !prof !0
l34:
  %t35 = inttoptr i64 %t26 to ptr
  %t36 = getelementptr i8, ptr %t35, i64 -3
  %t37 = load i64, ptr %t36, !tbaa !13
  store i64 %t37, ptr %v2
  %t38 = load i64, ptr %v2
  %t39 = load i64, ptr %v1
  %t43 = and i64 %t38, 7
  %t44 = icmp eq i64 %t43, 0
  %t45 = and i64 %t39, 7
  %t46 = icmp eq i64 %t45, 0
  br i1 %t44, label %l47, label %l48, !prof !2
l47:
  br i1 %t46, label %l42, label %l48, !prof !2
l48:
  %t49 = or i64 %t38, %t39
  %t50 = and i64 %t49, 2
  %t51 = icmp eq i64 %t50, 0
  br i1 %t51, label %l52, label %l41, !prof !2
l52:
  %t53 = and i64 %t38, 7
  %t54 = icmp eq i64 %t53, 0
  br i1 %t54, label %l55, label %l56
l55:
  %t58 = ashr i64 %t38, 3
  %t59 = sub i64 0, %t58
  %t60 = sitofp i64 %t59 to double
  %t61 = fneg double %t60
  br label %l57
l56:
  %t62 = sub i64 %t38, 1
  %t63 = call i64 @llvm.fshr.i64(i64 %t62, i64 %t62, i64 4)
  %t64 = bitcast i64 %t63 to double
  br label %l57
l57:
  %t65 = phi double [ %t61, %l55 ], [ %t64, %l56 ]
  %t66 = and i64 %t39, 7
  %t67 = icmp eq i64 %t66, 0
  br i1 %t67, label %l68, label %l69
l68:
  %t71 = ashr i64 %t39, 3
  %t72 = sub i64 0, %t71
  %t73 = sitofp i64 %t72 to double
  %t74 = fneg double %t73
  br label %l70
l69:
  %t75 = sub i64 %t39, 1
  %t76 = call i64 @llvm.fshr.i64(i64 %t75, i64 %t75, i64 4)
  %t77 = bitcast i64 %t76 to double
  br label %l70
l70:
  %t78 = phi double [ %t74, %l68 ], [ %t77, %l69 ]
  %t79 = fadd double %t65, %t78
  %t80 = bitcast double %t79 to i64
  %t81 = call i64 @llvm.fshl.i64(i64 %t80, i64 %t80, i64 4)
  %t82 = add i64 %t81, 1
  %t83 = trunc i64 %t82 to i32
  %t84 = and i32 %t83, 31
  %t85 = lshr i32 842150450, %t84
  %t86 = and i32 %t85, 1
  %t87 = icmp ne i32 %t86, 0
  br i1 %t87, label %l89, label %l88, !prof !0
l89:
  %t98 = phi i64 [ %t82, %l70 ], [ %t95, %l88 ]
  br label %l40
l42:
  %t99 = call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %t38, i64 %t39)
  %t100 = extractvalue { i64, i1 } %t99, 0
  %t101 = extractvalue { i64, i1 } %t99, 1
  br i1 %t101, label %l41, label %l40, !prof !1
l40:
  %t117 = phi i64 [ %t98, %l89 ], [ %t100, %l42 ], [ %t106, %l114 ]
  %t118 = phi i1 [ false, %l89 ], [ true, %l42 ], [ %t116, %l114 ]
  store i64 %t117, ptr %v2
  %t119 = load i64, ptr %v1
  %t120 = load i64, ptr %v2
  %t121 = sub i64 %t119, 6
  %t122 = and i64 %t121, 7
  %t123 = icmp eq i64 %t122, 0
  br i1 %t123, label %l128, label %l124, !prof !0
l128:
  %t129 = load i64, ptr %v0
  %t130 = load i64, ptr %v1
  %t131 = inttoptr i64 %t25 to ptr
  store ptr @"scm.f.0.r1", ptr %t131, !tbaa !15
  %t132 = getelementptr i8, ptr %t131, i64 16
  store i64 %t129, ptr %t132, !tbaa !15
  %t133 = getelementptr i8, ptr %t131, i64 8
  store i64 %t130, ptr %t133, !tbaa !15
  %t134 = inttoptr i64 %t119 to ptr
  %t135 = getelementptr i8, ptr %t134, i64 -6
  %t136 = load ptr, ptr %t135, !tbaa !14
  %t137 = load i64, ptr %lo.v
  %t138 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t136(ptr %ctx, i64 %t25, i64 %t137, i64 %t138, i64 1, i64 %t119, i64 %t120, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l5:
  %t7 = load i64, ptr %v0
  %t8 = getelementptr i8, ptr %ctx, i64 <spill>
  store i64 %t7, ptr %t8, !tbaa !10
  %t9 = load i64, ptr %v1
  %t10 = getelementptr i8, ptr %ctx, i64 <spill>
  store i64 %t9, ptr %t10, !tbaa !10
  %t11 = getelementptr i8, ptr %ctx, i64 <spilled>
  store i64 2, ptr %t11, !tbaa !10
  %t12 = load i64, ptr %sp.v
  %t13 = load i64, ptr %lo.v
  %t14 = load i64, ptr %hi.v
  %t15 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},{rdx},1,2,~{memory},~{dirflag},~{fpsr},~{flags}"(i64 <cairn_machine_guard>, ptr %ctx, i64 %t12, i64 192, i64 0, i64 %t13, i64 %t14) #1
  %t16 = extractvalue { i64, i64, i64 } %t15, 0
  %t17 = extractvalue { i64, i64, i64 } %t15, 1
  store i64 %t17, ptr %lo.v
  %t18 = extractvalue { i64, i64, i64 } %t15, 2
  store i64 %t18, ptr %hi.v
  %t19 = getelementptr i8, ptr %ctx, i64 <spill>
  %t20 = load i64, ptr %t19, !tbaa !10
  store i64 %t20, ptr %v0
  %t21 = getelementptr i8, ptr %ctx, i64 <spill>
  %t22 = load i64, ptr %t21, !tbaa !10
  store i64 %t22, ptr %v1
  store i64 %t16, ptr %sp.v
  %t23 = load i64, ptr %sp.v
  %t24 = sub i64 %t23, 24
  br label %l6
l27:
  %t28 = load i64, ptr %sp.v
  %t29 = load i64, ptr %lo.v
  %t30 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t28, i64 %t29, i64 %t30, i64 ptrtoint (ptr @cairn_throw.0 to i64), i64 poison, i64 %t26, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l88:
  %t90 = bitcast double %t79 to i64
  %t91 = load i64, ptr %sp.v
  %t92 = load i64, ptr %lo.v
  %t93 = load i64, ptr %hi.v
  %t94 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},1,2,~{dirflag},~{fpsr},~{flags}"(i64 <cairn_num_box_flonum>, ptr %ctx, i64 %t91, i64 %t90, i64 %t92, i64 %t93) #3
  %t95 = extractvalue { i64, i64, i64 } %t94, 0
  %t96 = extractvalue { i64, i64, i64 } %t94, 1
  store i64 %t96, ptr %lo.v
  %t97 = extractvalue { i64, i64, i64 } %t94, 2
  store i64 %t97, ptr %hi.v
  br label %l89
l110:
  %t111 = load i64, ptr %sp.v
  %t112 = load i64, ptr %lo.v
  %t113 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t111, i64 %t112, i64 %t113, i64 ptrtoint (ptr @cairn_throw.1 to i64), i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l41:
  %t102 = load i64, ptr %sp.v
  %t103 = load i64, ptr %lo.v
  %t104 = load i64, ptr %hi.v
  %t105 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},{rdx},1,2,~{dirflag},~{fpsr},~{flags}"(i64 <cairn_num_add>, ptr %ctx, i64 %t102, i64 %t38, i64 %t39, i64 %t103, i64 %t104) #3
  %t106 = extractvalue { i64, i64, i64 } %t105, 0
  %t107 = extractvalue { i64, i64, i64 } %t105, 1
  store i64 %t107, ptr %lo.v
  %t108 = extractvalue { i64, i64, i64 } %t105, 2
  store i64 %t108, ptr %hi.v
  %t109 = icmp ne i64 %t106, 58
  br i1 %t109, label %l114, label %l110, !prof !0
l114:
  %t115 = and i64 %t106, 7
  %t116 = icmp eq i64 %t115, 0
  br label %l40
l124:
  %t125 = load i64, ptr %sp.v
  %t126 = load i64, ptr %lo.v
  %t127 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t125, i64 %t126, i64 %t127, i64 ptrtoint (ptr @cairn_throw.2 to i64), i64 poison, i64 %t119, i64 poison, i64 poison, i64 poison, i64 poison)
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

