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

define internal preserve_nonecc void @cairn_halt(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4) #0 align 16 prefix <{ i64, i64, ptr, i64, i64, i64 }> <{ i64 0, i64 1152851135862669312, ptr @cairn_mv_first, i64 0, i64 0, i64 158913789953 }> {
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

define internal preserve_nonecc void @cairn_underflow(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4) #0 align 16 prefix <{ i64, i64, ptr, i64, i64, i64 }> <{ i64 0, i64 1152851135862669312, ptr @cairn_underflow_mv, i64 0, i64 0, i64 150323855361 }> {
entry:
  %sp.v = alloca i64
  store i64 %sp, ptr %sp.v
  %lo.v = alloca i64
  store i64 %lo, ptr %lo.v
  %hi.v = alloca i64
  store i64 %hi, ptr %hi.v
  %t0 = getelementptr i8, ptr %ctx, i64 <under>
  %t1 = load i64, ptr %t0, !tbaa !10
  %t2 = getelementptr i8, ptr %ctx, i64 <under_sp>
  %t3 = load i64, ptr %t2, !tbaa !10
  %t4 = inttoptr i64 %t1 to ptr
  %t5 = getelementptr i8, ptr %t4, i64 42
  %t6 = load i64, ptr %t5, !tbaa !14
  %t7 = getelementptr i8, ptr %ctx, i64 <captured>
  %t8 = load i64, ptr %t7, !tbaa !10
  %t9 = icmp sgt i64 %t6, %t8
  br i1 %t9, label %l10, label %l11, !prof !1
l11:
  %t17 = inttoptr i64 %t1 to ptr
  %t18 = getelementptr i8, ptr %t17, i64 10
  %t19 = load i64, ptr %t18, !tbaa !14
  %t20 = icmp eq i64 %t3, 0
  %t21 = select i1 %t20, i64 %t19, i64 %t3
  %t22 = inttoptr i64 %t21 to ptr
  %t23 = load i64, ptr %t22, !tbaa !15
  %t24 = inttoptr i64 %t23 to ptr
  %t25 = getelementptr i8, ptr %t24, i64 -8
  %t26 = load i64, ptr %t25, !invariant.load !3
  %t27 = and i64 %t26, 4294967295
  %t28 = shl i64 %t27, 3
  %t29 = load i64, ptr %sp.v
  %t30 = sub i64 %t29, %t28
  %t31 = getelementptr i8, ptr %ctx, i64 <stack_limit>
  %t32 = load i64, ptr %t31, !tbaa !10
  %t33 = icmp ult i64 %t30, %t32
  br i1 %t33, label %l10, label %l12, !prof !1
l12:
  %t41 = add i64 %t21, %t28
  br label %l13
l13:
  %copied = phi i64 [ 0, %l12 ], [ %copied.next, %l13 ]
  %t42 = sub i64 %t41, %copied
  %t43 = sub i64 %t29, %copied
  %t44 = inttoptr i64 %t42 to ptr
  %t45 = getelementptr i8, ptr %t44, i64 -8
  %t46 = load i64, ptr %t45, !tbaa !15
  %t47 = inttoptr i64 %t43 to ptr
  %t48 = getelementptr i8, ptr %t47, i64 -8
  store i64 %t46, ptr %t48, !tbaa !15
  %t49 = inttoptr i64 %t42 to ptr
  %t50 = getelementptr i8, ptr %t49, i64 -16
  %t51 = load i64, ptr %t50, !tbaa !15
  %t52 = inttoptr i64 %t43 to ptr
  %t53 = getelementptr i8, ptr %t52, i64 -16
  store i64 %t51, ptr %t53, !tbaa !15
  %t54 = inttoptr i64 %t42 to ptr
  %t55 = getelementptr i8, ptr %t54, i64 -24
  %t56 = load i64, ptr %t55, !tbaa !15
  %t57 = inttoptr i64 %t43 to ptr
  %t58 = getelementptr i8, ptr %t57, i64 -24
  store i64 %t56, ptr %t58, !tbaa !15
  %t59 = inttoptr i64 %t42 to ptr
  %t60 = getelementptr i8, ptr %t59, i64 -32
  %t61 = load i64, ptr %t60, !tbaa !15
  %t62 = inttoptr i64 %t43 to ptr
  %t63 = getelementptr i8, ptr %t62, i64 -32
  store i64 %t61, ptr %t63, !tbaa !15
  %t64 = inttoptr i64 %t42 to ptr
  %t65 = getelementptr i8, ptr %t64, i64 -40
  %t66 = load i64, ptr %t65, !tbaa !15
  %t67 = inttoptr i64 %t43 to ptr
  %t68 = getelementptr i8, ptr %t67, i64 -40
  store i64 %t66, ptr %t68, !tbaa !15
  %t69 = inttoptr i64 %t42 to ptr
  %t70 = getelementptr i8, ptr %t69, i64 -48
  %t71 = load i64, ptr %t70, !tbaa !15
  %t72 = inttoptr i64 %t43 to ptr
  %t73 = getelementptr i8, ptr %t72, i64 -48
  store i64 %t71, ptr %t73, !tbaa !15
  %t74 = inttoptr i64 %t42 to ptr
  %t75 = getelementptr i8, ptr %t74, i64 -56
  %t76 = load i64, ptr %t75, !tbaa !15
  %t77 = inttoptr i64 %t43 to ptr
  %t78 = getelementptr i8, ptr %t77, i64 -56
  store i64 %t76, ptr %t78, !tbaa !15
  %t79 = inttoptr i64 %t42 to ptr
  %t80 = getelementptr i8, ptr %t79, i64 -64
  %t81 = load i64, ptr %t80, !tbaa !15
  %t82 = inttoptr i64 %t43 to ptr
  %t83 = getelementptr i8, ptr %t82, i64 -64
  store i64 %t81, ptr %t83, !tbaa !15
  %copied.next = add i64 %copied, 64
  %t84 = icmp ult i64 %copied.next, %t28
  br i1 %t84, label %l13, label %l14, !prof !1
l14:
  %t85 = inttoptr i64 %t1 to ptr
  %t86 = getelementptr i8, ptr %t85, i64 18
  %t87 = load i64, ptr %t86, !tbaa !14
  %t88 = icmp eq i64 %t41, %t87
  %t89 = select i1 %t88, i64 0, i64 %t41
  %t90 = getelementptr i8, ptr %ctx, i64 <under_sp>
  store i64 %t89, ptr %t90, !tbaa !10
  br i1 %t88, label %l15, label %l16, !prof !2
l15:
  %t91 = inttoptr i64 %t1 to ptr
  %t92 = getelementptr i8, ptr %t91, i64 26
  %t93 = load i64, ptr %t92, !tbaa !14
  %t94 = getelementptr i8, ptr %ctx, i64 <under>
  store i64 %t93, ptr %t94, !tbaa !10
  br label %l16
l16:
  %t95 = phi i64 [ %t30, %l14 ], [ %t30, %l15 ], [ %t38, %l10 ]
  %t96 = inttoptr i64 %t95 to ptr
  %t97 = load ptr, ptr %t96, !tbaa !15
  %t98 = load i64, ptr %lo.v
  %t99 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t97(ptr %ctx, i64 %t95, i64 %t98, i64 %t99, i64 poison, i64 poison, i64 %a0, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l10:
  %t34 = load i64, ptr %sp.v
  %t35 = load i64, ptr %lo.v
  %t36 = load i64, ptr %hi.v
  %t37 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},1,2,~{memory},~{dirflag},~{fpsr},~{flags}"(i64 <cairn_machine_underflow>, ptr %ctx, i64 %t34, i64 %t35, i64 %t36) #1
  %t38 = extractvalue { i64, i64, i64 } %t37, 0
  %t39 = extractvalue { i64, i64, i64 } %t37, 1
  store i64 %t39, ptr %lo.v
  %t40 = extractvalue { i64, i64, i64 } %t37, 2
  store i64 %t40, ptr %hi.v
  br label %l16
}

define internal preserve_nonecc void @cairn_continuation(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4) #0 align 16 prefix <{ i64, i64, i64, i64 }> <{ i64 ptrtoint (ptr @cairn_name.4 to i64), i64 1152851135862669312, i64 65536, i64 171798691847 }> {
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
  %t8 = getelementptr i8, ptr %ctx, i64 <base>
  %t9 = load i64, ptr %t8, !tbaa !10
  store i64 %t9, ptr %sp.v
  %t10 = getelementptr i8, ptr %ctx, i64 <under>
  store i64 %clo, ptr %t10, !tbaa !10
  %t11 = getelementptr i8, ptr %ctx, i64 <under_sp>
  store i64 0, ptr %t11, !tbaa !10
  %t12 = getelementptr i8, ptr %ctx, i64 <under>
  %t13 = load i64, ptr %t12, !tbaa !10
  %t14 = getelementptr i8, ptr %ctx, i64 <under_sp>
  %t15 = load i64, ptr %t14, !tbaa !10
  %t16 = inttoptr i64 %t13 to ptr
  %t17 = getelementptr i8, ptr %t16, i64 42
  %t18 = load i64, ptr %t17, !tbaa !14
  %t19 = getelementptr i8, ptr %ctx, i64 <captured>
  %t20 = load i64, ptr %t19, !tbaa !10
  %t21 = icmp sgt i64 %t18, %t20
  br i1 %t21, label %l22, label %l23, !prof !1
l23:
  %t29 = inttoptr i64 %t13 to ptr
  %t30 = getelementptr i8, ptr %t29, i64 10
  %t31 = load i64, ptr %t30, !tbaa !14
  %t32 = icmp eq i64 %t15, 0
  %t33 = select i1 %t32, i64 %t31, i64 %t15
  %t34 = inttoptr i64 %t33 to ptr
  %t35 = load i64, ptr %t34, !tbaa !15
  %t36 = inttoptr i64 %t35 to ptr
  %t37 = getelementptr i8, ptr %t36, i64 -8
  %t38 = load i64, ptr %t37, !invariant.load !3
  %t39 = and i64 %t38, 4294967295
  %t40 = shl i64 %t39, 3
  %t41 = load i64, ptr %sp.v
  %t42 = sub i64 %t41, %t40
  %t43 = getelementptr i8, ptr %ctx, i64 <stack_limit>
  %t44 = load i64, ptr %t43, !tbaa !10
  %t45 = icmp ult i64 %t42, %t44
  br i1 %t45, label %l22, label %l24, !prof !1
l24:
  %t53 = add i64 %t33, %t40
  br label %l25
l25:
  %copied = phi i64 [ 0, %l24 ], [ %copied.next, %l25 ]
  %t54 = sub i64 %t53, %copied
  %t55 = sub i64 %t41, %copied
  %t56 = inttoptr i64 %t54 to ptr
  %t57 = getelementptr i8, ptr %t56, i64 -8
  %t58 = load i64, ptr %t57, !tbaa !15
  %t59 = inttoptr i64 %t55 to ptr
  %t60 = getelementptr i8, ptr %t59, i64 -8
  store i64 %t58, ptr %t60, !tbaa !15
  %t61 = inttoptr i64 %t54 to ptr
  %t62 = getelementptr i8, ptr %t61, i64 -16
  %t63 = load i64, ptr %t62, !tbaa !15
  %t64 = inttoptr i64 %t55 to ptr
  %t65 = getelementptr i8, ptr %t64, i64 -16
  store i64 %t63, ptr %t65, !tbaa !15
  %t66 = inttoptr i64 %t54 to ptr
  %t67 = getelementptr i8, ptr %t66, i64 -24
  %t68 = load i64, ptr %t67, !tbaa !15
  %t69 = inttoptr i64 %t55 to ptr
  %t70 = getelementptr i8, ptr %t69, i64 -24
  store i64 %t68, ptr %t70, !tbaa !15
  %t71 = inttoptr i64 %t54 to ptr
  %t72 = getelementptr i8, ptr %t71, i64 -32
  %t73 = load i64, ptr %t72, !tbaa !15
  %t74 = inttoptr i64 %t55 to ptr
  %t75 = getelementptr i8, ptr %t74, i64 -32
  store i64 %t73, ptr %t75, !tbaa !15
  %t76 = inttoptr i64 %t54 to ptr
  %t77 = getelementptr i8, ptr %t76, i64 -40
  %t78 = load i64, ptr %t77, !tbaa !15
  %t79 = inttoptr i64 %t55 to ptr
  %t80 = getelementptr i8, ptr %t79, i64 -40
  store i64 %t78, ptr %t80, !tbaa !15
  %t81 = inttoptr i64 %t54 to ptr
  %t82 = getelementptr i8, ptr %t81, i64 -48
  %t83 = load i64, ptr %t82, !tbaa !15
  %t84 = inttoptr i64 %t55 to ptr
  %t85 = getelementptr i8, ptr %t84, i64 -48
  store i64 %t83, ptr %t85, !tbaa !15
  %t86 = inttoptr i64 %t54 to ptr
  %t87 = getelementptr i8, ptr %t86, i64 -56
  %t88 = load i64, ptr %t87, !tbaa !15
  %t89 = inttoptr i64 %t55 to ptr
  %t90 = getelementptr i8, ptr %t89, i64 -56
  store i64 %t88, ptr %t90, !tbaa !15
  %t91 = inttoptr i64 %t54 to ptr
  %t92 = getelementptr i8, ptr %t91, i64 -64
  %t93 = load i64, ptr %t92, !tbaa !15
  %t94 = inttoptr i64 %t55 to ptr
  %t95 = getelementptr i8, ptr %t94, i64 -64
  store i64 %t93, ptr %t95, !tbaa !15
  %copied.next = add i64 %copied, 64
  %t96 = icmp ult i64 %copied.next, %t40
  br i1 %t96, label %l25, label %l26, !prof !1
l26:
  %t97 = inttoptr i64 %t13 to ptr
  %t98 = getelementptr i8, ptr %t97, i64 18
  %t99 = load i64, ptr %t98, !tbaa !14
  %t100 = icmp eq i64 %t53, %t99
  %t101 = select i1 %t100, i64 0, i64 %t53
  %t102 = getelementptr i8, ptr %ctx, i64 <under_sp>
  store i64 %t101, ptr %t102, !tbaa !10
  br i1 %t100, label %l27, label %l28, !prof !2
l27:
  %t103 = inttoptr i64 %t13 to ptr
  %t104 = getelementptr i8, ptr %t103, i64 26
  %t105 = load i64, ptr %t104, !tbaa !14
  %t106 = getelementptr i8, ptr %ctx, i64 <under>
  store i64 %t105, ptr %t106, !tbaa !10
  br label %l28
l28:
  %t107 = phi i64 [ %t42, %l26 ], [ %t42, %l27 ], [ %t50, %l22 ]
  %t108 = icmp eq i64 %argc, 1
  br i1 %t108, label %l109, label %l110, !prof !0
l109:
  %t111 = inttoptr i64 %t107 to ptr
  %t112 = load ptr, ptr %t111, !tbaa !15
  %t113 = load i64, ptr %lo.v
  %t114 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t112(ptr %ctx, i64 %t107, i64 %t113, i64 %t114, i64 poison, i64 poison, i64 %a0, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l110:
  %t115 = inttoptr i64 %t107 to ptr
  %t116 = load ptr, ptr %t115, !tbaa !15
  %t117 = getelementptr i8, ptr %t116, i64 -32
  %t118 = load ptr, ptr %t117, !invariant.load !3
  %t119 = load i64, ptr %lo.v
  %t120 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t118(ptr %ctx, i64 %t107, i64 %t119, i64 %t120, i64 %argc, i64 %clo, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4)
  ret void
l7:
  %t121 = getelementptr i8, ptr %ctx, i64 <args>
  %t122 = load ptr, ptr %t121, !tbaa !10
  %t123 = getelementptr i8, ptr %t122, i64 0
  store i64 %a0, ptr %t123, !tbaa !11
  %t124 = getelementptr i8, ptr %ctx, i64 <args>
  %t125 = load ptr, ptr %t124, !tbaa !10
  %t126 = getelementptr i8, ptr %t125, i64 8
  store i64 %a1, ptr %t126, !tbaa !11
  %t127 = getelementptr i8, ptr %ctx, i64 <args>
  %t128 = load ptr, ptr %t127, !tbaa !10
  %t129 = getelementptr i8, ptr %t128, i64 16
  store i64 %a2, ptr %t129, !tbaa !11
  %t130 = getelementptr i8, ptr %ctx, i64 <args>
  %t131 = load ptr, ptr %t130, !tbaa !10
  %t132 = getelementptr i8, ptr %t131, i64 24
  store i64 %a3, ptr %t132, !tbaa !11
  %t133 = getelementptr i8, ptr %ctx, i64 <args>
  %t134 = load ptr, ptr %t133, !tbaa !10
  %t135 = getelementptr i8, ptr %t134, i64 32
  store i64 %a4, ptr %t135, !tbaa !11
  %t136 = shl i64 %argc, 3
  %t137 = load i64, ptr %lo.v
  %t138 = load i64, ptr %hi.v
  %t139 = getelementptr i8, ptr %ctx, i64 <lo>
  store i64 %t137, ptr %t139, !tbaa !10
  %t140 = getelementptr i8, ptr %ctx, i64 <hi>
  store i64 %t138, ptr %t140, !tbaa !10
  %t141 = load i64, ptr %sp.v
  %t142 = getelementptr i8, ptr %ctx, i64 <sp>
  store i64 %t141, ptr %t142, !tbaa !10
  %t143 = getelementptr i8, ptr %ctx, i64 <cairn_machine_rest>
  %t144 = load ptr, ptr %t143, !invariant.load !3
  %t145 = call i64 %t144(ptr %ctx, i64 0, i64 %t136) #1
  %t146 = getelementptr i8, ptr %ctx, i64 <lo>
  %t147 = load i64, ptr %t146, !tbaa !10
  store i64 %t147, ptr %lo.v
  %t148 = getelementptr i8, ptr %ctx, i64 <hi>
  %t149 = load i64, ptr %t148, !tbaa !10
  store i64 %t149, ptr %hi.v
  %t150 = getelementptr i8, ptr %ctx, i64 <slots>
  %t151 = load i64, ptr %t150, !tbaa !10
  %t152 = load i64, ptr %sp.v
  %t153 = inttoptr i64 %t151 to ptr
  %t154 = getelementptr i8, ptr %t153, i64 -6
  %t155 = load ptr, ptr %t154, !tbaa !14
  %t156 = load i64, ptr %lo.v
  %t157 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t155(ptr %ctx, i64 %t152, i64 %t156, i64 %t157, i64 2, i64 %t151, i64 %clo, i64 %t145, i64 poison, i64 poison, i64 poison)
  ret void
l22:
  %t46 = load i64, ptr %sp.v
  %t47 = load i64, ptr %lo.v
  %t48 = load i64, ptr %hi.v
  %t49 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},1,2,~{memory},~{dirflag},~{fpsr},~{flags}"(i64 <cairn_machine_underflow>, ptr %ctx, i64 %t46, i64 %t47, i64 %t48) #1
  %t50 = extractvalue { i64, i64, i64 } %t49, 0
  %t51 = extractvalue { i64, i64, i64 } %t49, 1
  store i64 %t51, ptr %lo.v
  %t52 = extractvalue { i64, i64, i64 } %t49, 2
  store i64 %t52, ptr %hi.v
  br label %l28
}

