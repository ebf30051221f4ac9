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
  %t22 = trunc i64 %t11 to i32
  %t23 = and i32 %t22, 31
  %t24 = lshr i32 842150450, %t23
  %t25 = and i32 %t24, 1
  %t26 = icmp ne i32 %t25, 0
  br i1 %t26, label %l27, label %l14, !prof !2
l27:
  %t28 = sub i64 %t11, 1
  %t29 = call i64 @llvm.fshr.i64(i64 %t28, i64 %t28, i64 4)
  %t30 = bitcast i64 %t29 to double
  %t31 = trunc i64 %t12 to i32
  %t32 = and i32 %t31, 31
  %t33 = lshr i32 842150450, %t32
  %t34 = and i32 %t33, 1
  %t35 = icmp ne i32 %t34, 0
  br i1 %t35, label %l36, label %l14, !prof !2
l36:
  %t37 = sub i64 %t12, 1
  %t38 = call i64 @llvm.fshr.i64(i64 %t37, i64 %t37, i64 4)
  %t39 = bitcast i64 %t38 to double
  %t40 = fadd double %t30, %t39
  %t41 = bitcast double %t40 to i64
  %t42 = call i64 @llvm.fshl.i64(i64 %t41, i64 %t41, i64 4)
  %t43 = add i64 %t42, 1
  %t44 = trunc i64 %t43 to i32
  %t45 = and i32 %t44, 31
  %t46 = lshr i32 842150450, %t45
  %t47 = and i32 %t46, 1
  %t48 = icmp ne i32 %t47, 0
  br i1 %t48, label %l50, label %l49, !prof !0
l50:
  %t59 = phi i64 [ %t43, %l36 ], [ %t56, %l49 ]
  br label %l13
l15:
  %t60 = call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %t11, i64 %t12)
  %t61 = extractvalue { i64, i1 } %t60, 0
  %t62 = extractvalue { i64, i1 } %t60, 1
  br i1 %t62, label %l14, label %l13, !prof !1
l13:
  %t76 = phi i64 [ %t59, %l50 ], [ %t61, %l15 ], [ %t67, %l75 ]
  store i64 %t76, ptr %v2
  %t77 = load i64, ptr %v1
  %t78 = load i64, ptr %v2
  %t79 = and i64 %t77, 7
  %t80 = icmp eq i64 %t79, 6
  br i1 %t80, label %l85, label %l81, !prof !0
l85:
  %t86 = load i64, ptr %v0
  %t87 = load i64, ptr %v1
  %t88 = load i64, ptr %sp.v
  %t89 = add i64 %t88, -24
  %t90 = getelementptr i8, ptr %ctx, i64 <stack_limit>
  %t91 = load i64, ptr %t90, !tbaa !10
  %t92 = icmp ult i64 %t89, %t91
  br i1 %t92, label %l93, label %l94, !prof !1
l94:
  %t103 = phi i64 [ %t89, %l85 ], [ %t102, %l93 ]
  %t104 = inttoptr i64 %t103 to ptr
  store ptr @"scm.f.0.r1", ptr %t104, !tbaa !15
  %t105 = getelementptr i8, ptr %t104, i64 16
  store i64 %t86, ptr %t105, !tbaa !15
  %t106 = getelementptr i8, ptr %t104, i64 8
  store i64 %t87, ptr %t106, !tbaa !15
  %t107 = inttoptr i64 %t77 to ptr
  %t108 = getelementptr i8, ptr %t107, i64 -6
  %t109 = load ptr, ptr %t108, !tbaa !14
  %t110 = load i64, ptr %lo.v
  %t111 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t109(ptr %ctx, i64 %t103, i64 %t110, i64 %t111, i64 1, i64 %t77, i64 %t78, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l1:
  %t2 = load i64, ptr %sp.v
  %t3 = load i64, ptr %lo.v
  %t4 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t2, i64 %t3, i64 %t4, i64 ptrtoint (ptr @cairn_throw.0 to i64), i64 poison, i64 %t0, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l49:
  %t51 = bitcast double %t40 to i64
  %t52 = load i64, ptr %sp.v
  %t53 = load i64, ptr %lo.v
  %t54 = load i64, ptr %hi.v
  %t55 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},1,2,~{dirflag},~{fpsr},~{flags}"(i64 <cairn_num_box_flonum>, ptr %ctx, i64 %t52, i64 %t51, i64 %t53, i64 %t54) #3
  %t56 = extractvalue { i64, i64, i64 } %t55, 0
  %t57 = extractvalue { i64, i64, i64 } %t55, 1
  store i64 %t57, ptr %lo.v
  %t58 = extractvalue { i64, i64, i64 } %t55, 2
  store i64 %t58, ptr %hi.v
  br label %l50
l71:
  %t72 = load i64, ptr %sp.v
  %t73 = load i64, ptr %lo.v
  %t74 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t72, i64 %t73, i64 %t74, i64 ptrtoint (ptr @cairn_throw.1 to i64), i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l14:
  %t63 = load i64, ptr %sp.v
  %t64 = load i64, ptr %lo.v
  %t65 = load i64, ptr %hi.v
  %t66 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},{rdx},1,2,~{dirflag},~{fpsr},~{flags}"(i64 <cairn_num_add>, ptr %ctx, i64 %t63, i64 %t11, i64 %t12, i64 %t64, i64 %t65) #3
  %t67 = extractvalue { i64, i64, i64 } %t66, 0
  %t68 = extractvalue { i64, i64, i64 } %t66, 1
  store i64 %t68, ptr %lo.v
  %t69 = extractvalue { i64, i64, i64 } %t66, 2
  store i64 %t69, ptr %hi.v
  %t70 = icmp ne i64 %t67, 58
  br i1 %t70, label %l75, label %l71, !prof !0
l75:
  br label %l13
l81:
  %t82 = load i64, ptr %sp.v
  %t83 = load i64, ptr %lo.v
  %t84 = load i64, ptr %hi.v
  musttail call preserve_nonecc void @cairn_throw_tail(ptr %ctx, i64 %t82, i64 %t83, i64 %t84, i64 ptrtoint (ptr @cairn_throw.2 to i64), i64 poison, i64 %t77, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l93:
  %t95 = add i64 %t88, 0
  %t96 = load i64, ptr %lo.v
  %t97 = load i64, ptr %hi.v
  %t98 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},1,2,~{memory},~{dirflag},~{fpsr},~{flags}"(i64 <cairn_machine_overflow>, ptr %ctx, i64 %t95, i64 192, i64 %t96, i64 %t97) #1
  %t99 = extractvalue { i64, i64, i64 } %t98, 0
  %t100 = extractvalue { i64, i64, i64 } %t98, 1
  store i64 %t100, ptr %lo.v
  %t101 = extractvalue { i64, i64, i64 } %t98, 2
  store i64 %t101, ptr %hi.v
  %t102 = sub i64 %t99, 24
  br label %l94
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

