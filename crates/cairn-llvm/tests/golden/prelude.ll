define internal void @cairn_enter(ptr %ctx, i64 %clo) #0 {
entry:
  %t0 = getelementptr i8, ptr %ctx, i64 <sp>
  %t1 = load i64, ptr %t0, !tbaa !10
  %t2 = getelementptr i8, ptr %ctx, i64 <lo>
  %t3 = load i64, ptr %t2, !tbaa !10
  %t4 = getelementptr i8, ptr %ctx, i64 <hi>
  %t5 = load i64, ptr %t4, !tbaa !10
  %t6 = inttoptr i64 %clo to ptr
  %t7 = getelementptr i8, ptr %t6, i64 -6
  %t8 = load ptr, ptr %t7, !tbaa !14
  call preserve_nonecc void %t8(ptr %ctx, i64 %t1, i64 %t3, i64 %t5, i64 0, i64 %clo, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
}

define internal preserve_nonecc void @cairn_mv_first(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4) #0 align 16 {
entry:
  %sp.v = alloca i64
  store i64 %sp, ptr %sp.v
  %lo.v = alloca i64
  store i64 %lo, ptr %lo.v
  %hi.v = alloca i64
  store i64 %hi, ptr %hi.v
  %t0 = icmp eq i64 %argc, 0
  %t1 = select i1 %t0, i64 26, i64 %a0
  %t2 = load i64, ptr %sp.v
  %t3 = inttoptr i64 %t2 to ptr
  %t4 = load ptr, ptr %t3, !tbaa !15
  %t5 = load i64, ptr %lo.v
  %t6 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t4(ptr %ctx, i64 %t2, i64 %t5, i64 %t6, i64 poison, i64 poison, i64 %t1, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
}

define internal preserve_nonecc void @cairn_halt(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4) #0 align 16 prefix <{ i64, i64, ptr, i64, i64, i64 }> <{ i64 0, i64 1152921504606846975, ptr @cairn_mv_first, i64 0, i64 0, i64 158913789953 }> {
entry:
  %sp.v = alloca i64
  store i64 %sp, ptr %sp.v
  %lo.v = alloca i64
  store i64 %lo, ptr %lo.v
  %hi.v = alloca i64
  store i64 %hi, ptr %hi.v
  %t0 = getelementptr i8, ptr %ctx, i64 <sp>
  store i64 %sp, ptr %t0, !tbaa !10
  %t1 = getelementptr i8, ptr %ctx, i64 <lo>
  store i64 %lo, ptr %t1, !tbaa !10
  %t2 = getelementptr i8, ptr %ctx, i64 <hi>
  store i64 %hi, ptr %t2, !tbaa !10
  %t3 = getelementptr i8, ptr %ctx, i64 <result>
  store i64 %a0, ptr %t3, !tbaa !10
  ret void
}

define internal preserve_nonecc void @cairn_underflow(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4) #0 align 16 prefix <{ i64, i64, ptr, i64, i64, i64 }> <{ i64 0, i64 1152921504606846975, ptr @cairn_underflow_mv, i64 0, i64 0, i64 150323855361 }> {
entry:
  %sp.v = alloca i64
  store i64 %sp, ptr %sp.v
  %lo.v = alloca i64
  store i64 %lo, ptr %lo.v
  %hi.v = alloca i64
  store i64 %hi, ptr %hi.v
  %t0 = load i64, ptr %lo.v
  %t1 = load i64, ptr %hi.v
  %t2 = getelementptr i8, ptr %ctx, i64 <lo>
  store i64 %t0, ptr %t2, !tbaa !10
  %t3 = getelementptr i8, ptr %ctx, i64 <hi>
  store i64 %t1, ptr %t3, !tbaa !10
  %t4 = load i64, ptr %sp.v
  %t5 = getelementptr i8, ptr %ctx, i64 <sp>
  store i64 %t4, ptr %t5, !tbaa !10
  %t6 = getelementptr i8, ptr %ctx, i64 <cairn_machine_underflow>
  %t7 = load ptr, ptr %t6, !invariant.load !3
  %t8 = call i64 %t7(ptr %ctx) #1
  %t9 = getelementptr i8, ptr %ctx, i64 <lo>
  %t10 = load i64, ptr %t9, !tbaa !10
  store i64 %t10, ptr %lo.v
  %t11 = getelementptr i8, ptr %ctx, i64 <hi>
  %t12 = load i64, ptr %t11, !tbaa !10
  store i64 %t12, ptr %hi.v
  %t13 = inttoptr i64 %t8 to ptr
  %t14 = load ptr, ptr %t13, !tbaa !15
  %t15 = load i64, ptr %lo.v
  %t16 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t14(ptr %ctx, i64 %t8, i64 %t15, i64 %t16, i64 poison, i64 poison, i64 %a0, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
}

define internal preserve_nonecc void @cairn_continuation(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4) #0 align 16 prefix <{ i64, i64, i64, i64 }> <{ i64 ptrtoint (ptr @cairn_name.3 to i64), i64 1152921504606846975, i64 65536, i64 171798691847 }> {
entry:
  %sp.v = alloca i64
  store i64 %sp, ptr %sp.v
  %lo.v = alloca i64
  store i64 %lo, ptr %lo.v
  %hi.v = alloca i64
  store i64 %hi, ptr %hi.v
  %t0 = inttoptr i64 %clo to ptr
  %t1 = getelementptr i8, ptr %t0, i64 34
  %t2 = load i64, ptr %t1, !tbaa !14
  %t3 = getelementptr i8, ptr %ctx, i64 <slots>
  %t4 = load i64, ptr %t3, !tbaa !10
  %t5 = icmp eq i64 %t2, %t4
  br i1 %t5, label %l6, label %l7, !prof !0
l6:
  %t8 = load i64, ptr %lo.v
  %t9 = load i64, ptr %hi.v
  %t10 = getelementptr i8, ptr %ctx, i64 <lo>
  store i64 %t8, ptr %t10, !tbaa !10
  %t11 = getelementptr i8, ptr %ctx, i64 <hi>
  store i64 %t9, ptr %t11, !tbaa !10
  %t12 = load i64, ptr %sp.v
  %t13 = getelementptr i8, ptr %ctx, i64 <sp>
  store i64 %t12, ptr %t13, !tbaa !10
  %t14 = getelementptr i8, ptr %ctx, i64 <cairn_machine_reinstate>
  %t15 = load ptr, ptr %t14, !invariant.load !3
  %t16 = call i64 %t15(ptr %ctx, i64 %clo) #1
  %t17 = getelementptr i8, ptr %ctx, i64 <lo>
  %t18 = load i64, ptr %t17, !tbaa !10
  store i64 %t18, ptr %lo.v
  %t19 = getelementptr i8, ptr %ctx, i64 <hi>
  %t20 = load i64, ptr %t19, !tbaa !10
  store i64 %t20, ptr %hi.v
  %t21 = icmp eq i64 %argc, 1
  br i1 %t21, label %l22, label %l23, !prof !0
l22:
  %t24 = inttoptr i64 %t16 to ptr
  %t25 = load ptr, ptr %t24, !tbaa !15
  %t26 = load i64, ptr %lo.v
  %t27 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t25(ptr %ctx, i64 %t16, i64 %t26, i64 %t27, i64 poison, i64 poison, i64 %a0, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l23:
  %t28 = inttoptr i64 %t16 to ptr
  %t29 = load ptr, ptr %t28, !tbaa !15
  %t30 = getelementptr i8, ptr %t29, i64 -32
  %t31 = load ptr, ptr %t30, !invariant.load !3
  %t32 = load i64, ptr %lo.v
  %t33 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t31(ptr %ctx, i64 %t16, i64 %t32, i64 %t33, i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4)
  ret void
l7:
  %t34 = getelementptr i8, ptr %ctx, i64 <args>
  %t35 = load ptr, ptr %t34, !tbaa !10
  %t36 = getelementptr i8, ptr %t35, i64 0
  store i64 %a0, ptr %t36, !tbaa !11
  %t37 = getelementptr i8, ptr %ctx, i64 <args>
  %t38 = load ptr, ptr %t37, !tbaa !10
  %t39 = getelementptr i8, ptr %t38, i64 8
  store i64 %a1, ptr %t39, !tbaa !11
  %t40 = getelementptr i8, ptr %ctx, i64 <args>
  %t41 = load ptr, ptr %t40, !tbaa !10
  %t42 = getelementptr i8, ptr %t41, i64 16
  store i64 %a2, ptr %t42, !tbaa !11
  %t43 = getelementptr i8, ptr %ctx, i64 <args>
  %t44 = load ptr, ptr %t43, !tbaa !10
  %t45 = getelementptr i8, ptr %t44, i64 24
  store i64 %a3, ptr %t45, !tbaa !11
  %t46 = getelementptr i8, ptr %ctx, i64 <args>
  %t47 = load ptr, ptr %t46, !tbaa !10
  %t48 = getelementptr i8, ptr %t47, i64 32
  store i64 %a4, ptr %t48, !tbaa !11
  %t49 = shl i64 %argc, 3
  %t50 = load i64, ptr %lo.v
  %t51 = load i64, ptr %hi.v
  %t52 = getelementptr i8, ptr %ctx, i64 <lo>
  store i64 %t50, ptr %t52, !tbaa !10
  %t53 = getelementptr i8, ptr %ctx, i64 <hi>
  store i64 %t51, ptr %t53, !tbaa !10
  %t54 = load i64, ptr %sp.v
  %t55 = getelementptr i8, ptr %ctx, i64 <sp>
  store i64 %t54, ptr %t55, !tbaa !10
  %t56 = getelementptr i8, ptr %ctx, i64 <cairn_machine_rest>
  %t57 = load ptr, ptr %t56, !invariant.load !3
  %t58 = call i64 %t57(ptr %ctx, i64 0, i64 %t49) #1
  %t59 = getelementptr i8, ptr %ctx, i64 <lo>
  %t60 = load i64, ptr %t59, !tbaa !10
  store i64 %t60, ptr %lo.v
  %t61 = getelementptr i8, ptr %ctx, i64 <hi>
  %t62 = load i64, ptr %t61, !tbaa !10
  store i64 %t62, ptr %hi.v
  %t63 = getelementptr i8, ptr %ctx, i64 <slots>
  %t64 = load i64, ptr %t63, !tbaa !10
  %t65 = load i64, ptr %sp.v
  %t66 = inttoptr i64 %t64 to ptr
  %t67 = getelementptr i8, ptr %t66, i64 -6
  %t68 = load ptr, ptr %t67, !tbaa !14
  %t69 = load i64, ptr %lo.v
  %t70 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t68(ptr %ctx, i64 %t65, i64 %t69, i64 %t70, i64 2, i64 %t64, i64 %clo, i64 %t58, i64 poison, i64 poison, i64 poison)
  ret void
}

