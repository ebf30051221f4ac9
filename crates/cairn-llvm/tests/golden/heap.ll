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
  %t48 = trunc i64 %t37 to i32
  %t49 = and i32 %t48, 31
  %t50 = lshr i32 842150450, %t49
  %t51 = and i32 %t50, 1
  %t52 = icmp ne i32 %t51, 0
  br i1 %t52, label %l53, label %l40, !prof !2
l53:
  %t54 = sub i64 %t37, 1
  %t55 = call i64 @llvm.fshr.i64(i64 %t54, i64 %t54, i64 4)
  %t56 = bitcast i64 %t55 to double
  %t57 = trunc i64 %t38 to i32
  %t58 = and i32 %t57, 31
  %t59 = lshr i32 842150450, %t58
  %t60 = and i32 %t59, 1
  %t61 = icmp ne i32 %t60, 0
  br i1 %t61, label %l62, label %l40, !prof !2
l62:
  %t63 = sub i64 %t38, 1
  %t64 = call i64 @llvm.fshr.i64(i64 %t63, i64 %t63, i64 4)
  %t65 = bitcast i64 %t64 to double
  %t66 = fadd double %t56, %t65
  %t67 = bitcast double %t66 to i64
  %t68 = call i64 @llvm.fshl.i64(i64 %t67, i64 %t67, i64 4)
  %t69 = add i64 %t68, 1
  %t70 = trunc i64 %t69 to i32
  %t71 = and i32 %t70, 31
  %t72 = lshr i32 842150450, %t71
  %t73 = and i32 %t72, 1
  %t74 = icmp ne i32 %t73, 0
  br i1 %t74, label %l76, label %l75, !prof !0
l76:
  %t85 = phi i64 [ %t69, %l62 ], [ %t82, %l75 ]
  br label %l39
l41:
  %t86 = call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %t37, i64 %t38)
  %t87 = extractvalue { i64, i1 } %t86, 0
  %t88 = extractvalue { i64, i1 } %t86, 1
  br i1 %t88, label %l40, label %l39, !prof !1
l39:
  %t102 = phi i64 [ %t85, %l76 ], [ %t87, %l41 ], [ %t93, %l101 ]
  store i64 %t102, ptr %v2
  %t103 = load i64, ptr %v1
  %t104 = load i64, ptr %v2
  %t105 = and i64 %t103, 7
  %t106 = icmp eq i64 %t105, 6
  br i1 %t106, label %l111, label %l107, !prof !0
l111:
  %t112 = load i64, ptr %v0
  %t113 = load i64, ptr %v1
  %t114 = load i64, ptr %sp.v
  %t115 = load i64, ptr %hi.v
  %t116 = sub i64 %t115, 32
  store i64 %t116, ptr %hi.v
  %t117 = inttoptr i64 %t116 to ptr
  store ptr @"scm.f.0.r1", ptr %t117, !tbaa !15
  %t118 = getelementptr i8, ptr %t117, i64 8
  store i64 %t114, ptr %t118, !tbaa !15
  %t119 = getelementptr i8, ptr %t117, i64 16
  store i64 %t112, ptr %t119, !tbaa !15
  %t120 = getelementptr i8, ptr %t117, i64 24
  store i64 %t113, ptr %t120, !tbaa !15
  %t121 = add i64 %t116, 6
  %t122 = inttoptr i64 %t103 to ptr
  %t123 = getelementptr i8, ptr %t122, i64 -6
  %t124 = load ptr, ptr %t123, !tbaa !14
  %t125 = load i64, ptr %lo.v
  %t126 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t124(ptr %ctx, i64 %t121, i64 %t125, i64 %t126, i64 1, i64 %t103, i64 %t104, i64 poison, i64 poison, i64 poison, i64 poison)
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
l75:
  %t77 = bitcast double %t66 to i64
  %t78 = load i64, ptr %sp.v
  %t79 = load i64, ptr %lo.v
  %t80 = load i64, ptr %hi.v
  %t81 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},1,2,~{dirflag},~{fpsr},~{flags}"(i64 <cairn_num_box_flonum>, ptr %ctx, i64 %t78, i64 %t77, i64 %t79, i64 %t80) #3
  %t82 = extractvalue { i64, i64, i64 } %t81, 0
  %t83 = extractvalue { i64, i64, i64 } %t81, 1
  store i64 %t83, ptr %lo.v
  %t84 = extractvalue { i64, i64, i64 } %t81, 2
  store i64 %t84, ptr %hi.v
  br label %l76
l97:
  %t98 = load i64, ptr %sp.v
  %t99 = load i64, ptr %lo.v
  %t100 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t98, i64 %t99, i64 %t100, i64 ptrtoint (ptr @cairn_throw.1 to i64), i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l40:
  %t89 = load i64, ptr %sp.v
  %t90 = load i64, ptr %lo.v
  %t91 = load i64, ptr %hi.v
  %t92 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},{rdx},1,2,~{dirflag},~{fpsr},~{flags}"(i64 <cairn_num_add>, ptr %ctx, i64 %t89, i64 %t37, i64 %t38, i64 %t90, i64 %t91) #3
  %t93 = extractvalue { i64, i64, i64 } %t92, 0
  %t94 = extractvalue { i64, i64, i64 } %t92, 1
  store i64 %t94, ptr %lo.v
  %t95 = extractvalue { i64, i64, i64 } %t92, 2
  store i64 %t95, ptr %hi.v
  %t96 = icmp ne i64 %t93, 58
  br i1 %t96, label %l101, label %l97, !prof !0
l101:
  br label %l39
l107:
  %t108 = load i64, ptr %sp.v
  %t109 = load i64, ptr %lo.v
  %t110 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t108, i64 %t109, i64 %t110, i64 ptrtoint (ptr @cairn_throw.2 to i64), i64 poison, i64 %t103, i64 poison, i64 poison, i64 poison, i64 poison)
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

