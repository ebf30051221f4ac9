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
  %t16 = or i64 %t11, %t12
  %t17 = and i64 %t16, 7
  %t18 = icmp eq i64 %t17, 0
  br i1 %t18, label %l15, label %l19, !prof !2
l19:
  %t20 = trunc i64 %t11 to i32
  %t21 = and i32 %t20, 31
  %t22 = lshr i32 842150450, %t21
  %t23 = and i32 %t22, 1
  %t24 = icmp ne i32 %t23, 0
  br i1 %t24, label %l25, label %l14, !prof !2
l25:
  %t26 = sub i64 %t11, 1
  %t27 = call i64 @llvm.fshr.i64(i64 %t26, i64 %t26, i64 4)
  %t28 = bitcast i64 %t27 to double
  %t29 = trunc i64 %t12 to i32
  %t30 = and i32 %t29, 31
  %t31 = lshr i32 842150450, %t30
  %t32 = and i32 %t31, 1
  %t33 = icmp ne i32 %t32, 0
  br i1 %t33, label %l34, label %l14, !prof !2
l34:
  %t35 = sub i64 %t12, 1
  %t36 = call i64 @llvm.fshr.i64(i64 %t35, i64 %t35, i64 4)
  %t37 = bitcast i64 %t36 to double
  %t38 = fadd double %t28, %t37
  %t39 = bitcast double %t38 to i64
  %t40 = call i64 @llvm.fshl.i64(i64 %t39, i64 %t39, i64 4)
  %t41 = add i64 %t40, 1
  %t42 = trunc i64 %t41 to i32
  %t43 = and i32 %t42, 31
  %t44 = lshr i32 842150450, %t43
  %t45 = and i32 %t44, 1
  %t46 = icmp ne i32 %t45, 0
  br i1 %t46, label %l48, label %l47, !prof !0
l48:
  %t57 = phi i64 [ %t41, %l34 ], [ %t54, %l47 ]
  br label %l13
l15:
  %t58 = call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %t11, i64 %t12)
  %t59 = extractvalue { i64, i1 } %t58, 0
  %t60 = extractvalue { i64, i1 } %t58, 1
  br i1 %t60, label %l14, label %l13, !prof !1
l13:
  %t74 = phi i64 [ %t57, %l48 ], [ %t59, %l15 ], [ %t65, %l73 ]
  store i64 %t74, ptr %v2
  %t75 = load i64, ptr %v1
  %t76 = load i64, ptr %v2
  %t77 = and i64 %t75, 7
  %t78 = icmp eq i64 %t77, 6
  br i1 %t78, label %l83, label %l79, !prof !0
l83:
  %t84 = load i64, ptr %v0
  %t85 = load i64, ptr %v1
  %t86 = load i64, ptr %sp.v
  %t87 = add i64 %t86, -24
  %t88 = getelementptr i8, ptr %ctx, i64 <stack_limit>
  %t89 = load i64, ptr %t88, !tbaa !10
  %t90 = icmp ult i64 %t87, %t89
  br i1 %t90, label %l91, label %l92, !prof !1
l92:
  %t101 = phi i64 [ %t87, %l83 ], [ %t100, %l91 ]
  %t102 = inttoptr i64 %t101 to ptr
  store ptr @"scm.f.0.r1", ptr %t102, !tbaa !15
  %t103 = getelementptr i8, ptr %t102, i64 16
  store i64 %t84, ptr %t103, !tbaa !15
  %t104 = getelementptr i8, ptr %t102, i64 8
  store i64 %t85, ptr %t104, !tbaa !15
  %t105 = inttoptr i64 %t75 to ptr
  %t106 = getelementptr i8, ptr %t105, i64 -6
  %t107 = load ptr, ptr %t106, !tbaa !14
  %t108 = load i64, ptr %lo.v
  %t109 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t107(ptr %ctx, i64 %t101, i64 %t108, i64 %t109, i64 1, i64 %t75, i64 %t76, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l1:
  %t2 = load i64, ptr %sp.v
  %t3 = load i64, ptr %lo.v
  %t4 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t2, i64 %t3, i64 %t4, i64 ptrtoint (ptr @cairn_throw.0 to i64), i64 poison, i64 %t0, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l47:
  %t49 = bitcast double %t38 to i64
  %t50 = load i64, ptr %sp.v
  %t51 = load i64, ptr %lo.v
  %t52 = load i64, ptr %hi.v
  %t53 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},1,2,~{dirflag},~{fpsr},~{flags}"(i64 <cairn_num_box_flonum>, ptr %ctx, i64 %t50, i64 %t49, i64 %t51, i64 %t52) #3
  %t54 = extractvalue { i64, i64, i64 } %t53, 0
  %t55 = extractvalue { i64, i64, i64 } %t53, 1
  store i64 %t55, ptr %lo.v
  %t56 = extractvalue { i64, i64, i64 } %t53, 2
  store i64 %t56, ptr %hi.v
  br label %l48
l69:
  %t70 = load i64, ptr %sp.v
  %t71 = load i64, ptr %lo.v
  %t72 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t70, i64 %t71, i64 %t72, i64 ptrtoint (ptr @cairn_throw.1 to i64), i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l14:
  %t61 = load i64, ptr %sp.v
  %t62 = load i64, ptr %lo.v
  %t63 = load i64, ptr %hi.v
  %t64 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},{rdx},1,2,~{dirflag},~{fpsr},~{flags}"(i64 <cairn_num_add>, ptr %ctx, i64 %t61, i64 %t11, i64 %t12, i64 %t62, i64 %t63) #3
  %t65 = extractvalue { i64, i64, i64 } %t64, 0
  %t66 = extractvalue { i64, i64, i64 } %t64, 1
  store i64 %t66, ptr %lo.v
  %t67 = extractvalue { i64, i64, i64 } %t64, 2
  store i64 %t67, ptr %hi.v
  %t68 = icmp ne i64 %t65, 58
  br i1 %t68, label %l73, label %l69, !prof !0
l73:
  br label %l13
l79:
  %t80 = load i64, ptr %sp.v
  %t81 = load i64, ptr %lo.v
  %t82 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t80, i64 %t81, i64 %t82, i64 ptrtoint (ptr @cairn_throw.2 to i64), i64 poison, i64 %t75, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l91:
  %t93 = add i64 %t86, 0
  %t94 = load i64, ptr %lo.v
  %t95 = load i64, ptr %hi.v
  %t96 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},1,2,~{memory},~{dirflag},~{fpsr},~{flags}"(i64 <cairn_machine_overflow>, ptr %ctx, i64 %t93, i64 192, i64 %t94, i64 %t95) #1
  %t97 = extractvalue { i64, i64, i64 } %t96, 0
  %t98 = extractvalue { i64, i64, i64 } %t96, 1
  store i64 %t98, ptr %lo.v
  %t99 = extractvalue { i64, i64, i64 } %t96, 2
  store i64 %t99, ptr %hi.v
  %t100 = sub i64 %t97, 24
  br label %l92
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

