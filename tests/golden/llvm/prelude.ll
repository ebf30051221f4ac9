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
  %t2 = getelementptr i8, ptr %ctx, i64 <stack_guard>
  %t3 = load volatile i64, ptr %t2, !tbaa !10
  %t4 = icmp slt i64 %t3, 0
  br i1 %t4, label %l0, label %l1, !prof !1
l1:
  %t81 = phi i64 [ %clo, %entry ], [ %t45, %l0 ]
  %t82 = phi i64 [ %a0, %entry ], [ %t64, %l0 ]
  %t83 = phi i64 [ %a1, %entry ], [ %t68, %l0 ]
  %t84 = phi i64 [ %a2, %entry ], [ %t72, %l0 ]
  %t85 = phi i64 [ %a3, %entry ], [ %t76, %l0 ]
  %t86 = phi i64 [ %a4, %entry ], [ %t80, %l0 ]
  %t87 = inttoptr i64 %t81 to ptr
  %t88 = getelementptr i8, ptr %t87, i64 34
  %t89 = load i64, ptr %t88, !tbaa !14
  %t90 = getelementptr i8, ptr %ctx, i64 <slots>
  %t91 = load i64, ptr %t90, !tbaa !10
  %t92 = icmp eq i64 %t89, %t91
  br i1 %t92, label %l93, label %l94, !prof !0
l93:
  %t95 = getelementptr i8, ptr %ctx, i64 <base>
  %t96 = load i64, ptr %t95, !tbaa !10
  store i64 %t96, ptr %sp.v
  %t97 = getelementptr i8, ptr %ctx, i64 <under>
  store i64 %t81, ptr %t97, !tbaa !10
  %t98 = getelementptr i8, ptr %ctx, i64 <under_sp>
  store i64 0, ptr %t98, !tbaa !10
  %t99 = getelementptr i8, ptr %ctx, i64 <under>
  %t100 = load i64, ptr %t99, !tbaa !10
  %t101 = getelementptr i8, ptr %ctx, i64 <under_sp>
  %t102 = load i64, ptr %t101, !tbaa !10
  %t103 = inttoptr i64 %t100 to ptr
  %t104 = getelementptr i8, ptr %t103, i64 42
  %t105 = load i64, ptr %t104, !tbaa !14
  %t106 = getelementptr i8, ptr %ctx, i64 <captured>
  %t107 = load i64, ptr %t106, !tbaa !10
  %t108 = icmp sgt i64 %t105, %t107
  br i1 %t108, label %l109, label %l110, !prof !1
l110:
  %t116 = inttoptr i64 %t100 to ptr
  %t117 = getelementptr i8, ptr %t116, i64 10
  %t118 = load i64, ptr %t117, !tbaa !14
  %t119 = icmp eq i64 %t102, 0
  %t120 = select i1 %t119, i64 %t118, i64 %t102
  %t121 = inttoptr i64 %t120 to ptr
  %t122 = load i64, ptr %t121, !tbaa !15
  %t123 = inttoptr i64 %t122 to ptr
  %t124 = getelementptr i8, ptr %t123, i64 -8
  %t125 = load i64, ptr %t124, !invariant.load !3
  %t126 = and i64 %t125, 4294967295
  %t127 = shl i64 %t126, 3
  %t128 = load i64, ptr %sp.v
  %t129 = sub i64 %t128, %t127
  %t130 = getelementptr i8, ptr %ctx, i64 <stack_limit>
  %t131 = load i64, ptr %t130, !tbaa !10
  %t132 = icmp ult i64 %t129, %t131
  br i1 %t132, label %l109, label %l111, !prof !1
l111:
  %t140 = add i64 %t120, %t127
  br label %l112
l112:
  %copied = phi i64 [ 0, %l111 ], [ %copied.next, %l112 ]
  %t141 = sub i64 %t140, %copied
  %t142 = sub i64 %t128, %copied
  %t143 = inttoptr i64 %t141 to ptr
  %t144 = getelementptr i8, ptr %t143, i64 -8
  %t145 = load i64, ptr %t144, !tbaa !15
  %t146 = inttoptr i64 %t142 to ptr
  %t147 = getelementptr i8, ptr %t146, i64 -8
  store i64 %t145, ptr %t147, !tbaa !15
  %t148 = inttoptr i64 %t141 to ptr
  %t149 = getelementptr i8, ptr %t148, i64 -16
  %t150 = load i64, ptr %t149, !tbaa !15
  %t151 = inttoptr i64 %t142 to ptr
  %t152 = getelementptr i8, ptr %t151, i64 -16
  store i64 %t150, ptr %t152, !tbaa !15
  %t153 = inttoptr i64 %t141 to ptr
  %t154 = getelementptr i8, ptr %t153, i64 -24
  %t155 = load i64, ptr %t154, !tbaa !15
  %t156 = inttoptr i64 %t142 to ptr
  %t157 = getelementptr i8, ptr %t156, i64 -24
  store i64 %t155, ptr %t157, !tbaa !15
  %t158 = inttoptr i64 %t141 to ptr
  %t159 = getelementptr i8, ptr %t158, i64 -32
  %t160 = load i64, ptr %t159, !tbaa !15
  %t161 = inttoptr i64 %t142 to ptr
  %t162 = getelementptr i8, ptr %t161, i64 -32
  store i64 %t160, ptr %t162, !tbaa !15
  %t163 = inttoptr i64 %t141 to ptr
  %t164 = getelementptr i8, ptr %t163, i64 -40
  %t165 = load i64, ptr %t164, !tbaa !15
  %t166 = inttoptr i64 %t142 to ptr
  %t167 = getelementptr i8, ptr %t166, i64 -40
  store i64 %t165, ptr %t167, !tbaa !15
  %t168 = inttoptr i64 %t141 to ptr
  %t169 = getelementptr i8, ptr %t168, i64 -48
  %t170 = load i64, ptr %t169, !tbaa !15
  %t171 = inttoptr i64 %t142 to ptr
  %t172 = getelementptr i8, ptr %t171, i64 -48
  store i64 %t170, ptr %t172, !tbaa !15
  %t173 = inttoptr i64 %t141 to ptr
  %t174 = getelementptr i8, ptr %t173, i64 -56
  %t175 = load i64, ptr %t174, !tbaa !15
  %t176 = inttoptr i64 %t142 to ptr
  %t177 = getelementptr i8, ptr %t176, i64 -56
  store i64 %t175, ptr %t177, !tbaa !15
  %t178 = inttoptr i64 %t141 to ptr
  %t179 = getelementptr i8, ptr %t178, i64 -64
  %t180 = load i64, ptr %t179, !tbaa !15
  %t181 = inttoptr i64 %t142 to ptr
  %t182 = getelementptr i8, ptr %t181, i64 -64
  store i64 %t180, ptr %t182, !tbaa !15
  %copied.next = add i64 %copied, 64
  %t183 = icmp ult i64 %copied.next, %t127
  br i1 %t183, label %l112, label %l113, !prof !1
l113:
  %t184 = inttoptr i64 %t100 to ptr
  %t185 = getelementptr i8, ptr %t184, i64 18
  %t186 = load i64, ptr %t185, !tbaa !14
  %t187 = icmp eq i64 %t140, %t186
  %t188 = select i1 %t187, i64 0, i64 %t140
  %t189 = getelementptr i8, ptr %ctx, i64 <under_sp>
  store i64 %t188, ptr %t189, !tbaa !10
  br i1 %t187, label %l114, label %l115, !prof !2
l114:
  %t190 = inttoptr i64 %t100 to ptr
  %t191 = getelementptr i8, ptr %t190, i64 26
  %t192 = load i64, ptr %t191, !tbaa !14
  %t193 = getelementptr i8, ptr %ctx, i64 <under>
  store i64 %t192, ptr %t193, !tbaa !10
  br label %l115
l115:
  %t194 = phi i64 [ %t129, %l113 ], [ %t129, %l114 ], [ %t137, %l109 ]
  %t195 = icmp eq i64 %argc, 1
  br i1 %t195, label %l196, label %l197, !prof !0
l196:
  %t198 = inttoptr i64 %t194 to ptr
  %t199 = load ptr, ptr %t198, !tbaa !15
  %t200 = load i64, ptr %lo.v
  %t201 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t199(ptr %ctx, i64 %t194, i64 %t200, i64 %t201, i64 poison, i64 poison, i64 %t82, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
l197:
  %t202 = inttoptr i64 %t194 to ptr
  %t203 = load ptr, ptr %t202, !tbaa !15
  %t204 = getelementptr i8, ptr %t203, i64 -32
  %t205 = load ptr, ptr %t204, !invariant.load !3
  %t206 = load i64, ptr %lo.v
  %t207 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t205(ptr %ctx, i64 %t194, i64 %t206, i64 %t207, i64 %argc, i64 %t81, i64 %t82, i64 %t83, i64 %t84, i64 %t85, i64 %t86)
  ret void
l94:
  %t208 = getelementptr i8, ptr %ctx, i64 <args>
  %t209 = load ptr, ptr %t208, !tbaa !10
  %t210 = getelementptr i8, ptr %t209, i64 0
  store i64 %t82, ptr %t210, !tbaa !11
  %t211 = getelementptr i8, ptr %ctx, i64 <args>
  %t212 = load ptr, ptr %t211, !tbaa !10
  %t213 = getelementptr i8, ptr %t212, i64 8
  store i64 %t83, ptr %t213, !tbaa !11
  %t214 = getelementptr i8, ptr %ctx, i64 <args>
  %t215 = load ptr, ptr %t214, !tbaa !10
  %t216 = getelementptr i8, ptr %t215, i64 16
  store i64 %t84, ptr %t216, !tbaa !11
  %t217 = getelementptr i8, ptr %ctx, i64 <args>
  %t218 = load ptr, ptr %t217, !tbaa !10
  %t219 = getelementptr i8, ptr %t218, i64 24
  store i64 %t85, ptr %t219, !tbaa !11
  %t220 = getelementptr i8, ptr %ctx, i64 <args>
  %t221 = load ptr, ptr %t220, !tbaa !10
  %t222 = getelementptr i8, ptr %t221, i64 32
  store i64 %t86, ptr %t222, !tbaa !11
  %t223 = shl i64 %argc, 3
  %t224 = load i64, ptr %lo.v
  %t225 = load i64, ptr %hi.v
  %t226 = getelementptr i8, ptr %ctx, i64 <lo>
  store i64 %t224, ptr %t226, !tbaa !10
  %t227 = getelementptr i8, ptr %ctx, i64 <hi>
  store i64 %t225, ptr %t227, !tbaa !10
  %t228 = load i64, ptr %sp.v
  %t229 = getelementptr i8, ptr %ctx, i64 <sp>
  store i64 %t228, ptr %t229, !tbaa !10
  %t230 = getelementptr i8, ptr %ctx, i64 <cairn_machine_rest>
  %t231 = load ptr, ptr %t230, !invariant.load !3
  %t232 = call i64 %t231(ptr %ctx, i64 0, i64 %t223) #1
  %t233 = getelementptr i8, ptr %ctx, i64 <lo>
  %t234 = load i64, ptr %t233, !tbaa !10
  store i64 %t234, ptr %lo.v
  %t235 = getelementptr i8, ptr %ctx, i64 <hi>
  %t236 = load i64, ptr %t235, !tbaa !10
  store i64 %t236, ptr %hi.v
  %t237 = getelementptr i8, ptr %ctx, i64 <slots>
  %t238 = load i64, ptr %t237, !tbaa !10
  %t239 = load i64, ptr %sp.v
  %t240 = inttoptr i64 %t238 to ptr
  %t241 = getelementptr i8, ptr %t240, i64 -6
  %t242 = load ptr, ptr %t241, !tbaa !14
  %t243 = load i64, ptr %lo.v
  %t244 = load i64, ptr %hi.v
  musttail call preserve_nonecc void %t242(ptr %ctx, i64 %t239, i64 %t243, i64 %t244, i64 2, i64 %t238, i64 %t81, i64 %t232, i64 poison, i64 poison, i64 poison)
  ret void
l0:
  %t5 = getelementptr i8, ptr %ctx, i64 <args>
  %t6 = load ptr, ptr %t5, !tbaa !10
  %t7 = getelementptr i8, ptr %t6, i64 0
  store i64 %a0, ptr %t7, !tbaa !11
  %t8 = getelementptr i8, ptr %ctx, i64 <args>
  %t9 = load ptr, ptr %t8, !tbaa !10
  %t10 = getelementptr i8, ptr %t9, i64 8
  store i64 %a1, ptr %t10, !tbaa !11
  %t11 = getelementptr i8, ptr %ctx, i64 <args>
  %t12 = load ptr, ptr %t11, !tbaa !10
  %t13 = getelementptr i8, ptr %t12, i64 16
  store i64 %a2, ptr %t13, !tbaa !11
  %t14 = getelementptr i8, ptr %ctx, i64 <args>
  %t15 = load ptr, ptr %t14, !tbaa !10
  %t16 = getelementptr i8, ptr %t15, i64 24
  store i64 %a3, ptr %t16, !tbaa !11
  %t17 = getelementptr i8, ptr %ctx, i64 <args>
  %t18 = load ptr, ptr %t17, !tbaa !10
  %t19 = getelementptr i8, ptr %t18, i64 32
  store i64 %a4, ptr %t19, !tbaa !11
  %t20 = shl i64 %argc, 3
  %t21 = load i64, ptr %lo.v
  %t22 = load i64, ptr %hi.v
  %t23 = getelementptr i8, ptr %ctx, i64 <lo>
  store i64 %t21, ptr %t23, !tbaa !10
  %t24 = getelementptr i8, ptr %ctx, i64 <hi>
  store i64 %t22, ptr %t24, !tbaa !10
  %t25 = load i64, ptr %sp.v
  %t26 = getelementptr i8, ptr %ctx, i64 <sp>
  store i64 %t25, ptr %t26, !tbaa !10
  %t27 = getelementptr i8, ptr %ctx, i64 <cairn_machine_rest>
  %t28 = load ptr, ptr %t27, !invariant.load !3
  %t29 = call i64 %t28(ptr %ctx, i64 0, i64 %t20) #1
  %t30 = getelementptr i8, ptr %ctx, i64 <lo>
  %t31 = load i64, ptr %t30, !tbaa !10
  store i64 %t31, ptr %lo.v
  %t32 = getelementptr i8, ptr %ctx, i64 <hi>
  %t33 = load i64, ptr %t32, !tbaa !10
  store i64 %t33, ptr %hi.v
  %t34 = getelementptr i8, ptr %ctx, i64 <spill>
  store i64 %clo, ptr %t34, !tbaa !10
  %t35 = getelementptr i8, ptr %ctx, i64 <spill>
  store i64 %t29, ptr %t35, !tbaa !10
  %t36 = getelementptr i8, ptr %ctx, i64 <spilled>
  store i64 2, ptr %t36, !tbaa !10
  %t37 = load i64, ptr %sp.v
  %t38 = load i64, ptr %lo.v
  %t39 = load i64, ptr %hi.v
  %t40 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},{rsi},{rdx},1,2,~{memory},~{dirflag},~{fpsr},~{flags}"(i64 <cairn_machine_guard>, ptr %ctx, i64 %t37, i64 0, i64 0, i64 %t38, i64 %t39) #1
  %t41 = extractvalue { i64, i64, i64 } %t40, 0
  %t42 = extractvalue { i64, i64, i64 } %t40, 1
  store i64 %t42, ptr %lo.v
  %t43 = extractvalue { i64, i64, i64 } %t40, 2
  store i64 %t43, ptr %hi.v
  store i64 %t41, ptr %sp.v
  %t44 = getelementptr i8, ptr %ctx, i64 <spill>
  %t45 = load i64, ptr %t44, !tbaa !10
  %t46 = getelementptr i8, ptr %ctx, i64 <spill>
  %t47 = load i64, ptr %t46, !tbaa !10
  %t48 = load i64, ptr %lo.v
  %t49 = load i64, ptr %hi.v
  %t50 = getelementptr i8, ptr %ctx, i64 <lo>
  store i64 %t48, ptr %t50, !tbaa !10
  %t51 = getelementptr i8, ptr %ctx, i64 <hi>
  store i64 %t49, ptr %t51, !tbaa !10
  %t52 = load i64, ptr %sp.v
  %t53 = getelementptr i8, ptr %ctx, i64 <sp>
  store i64 %t52, ptr %t53, !tbaa !10
  %t54 = getelementptr i8, ptr %ctx, i64 <cairn_machine_spread>
  %t55 = load ptr, ptr %t54, !invariant.load !3
  %t56 = call i64 %t55(ptr %ctx, i64 %t47) #1
  %t57 = getelementptr i8, ptr %ctx, i64 <lo>
  %t58 = load i64, ptr %t57, !tbaa !10
  store i64 %t58, ptr %lo.v
  %t59 = getelementptr i8, ptr %ctx, i64 <hi>
  %t60 = load i64, ptr %t59, !tbaa !10
  store i64 %t60, ptr %hi.v
  %t61 = getelementptr i8, ptr %ctx, i64 <args>
  %t62 = load ptr, ptr %t61, !tbaa !10
  %t63 = getelementptr i8, ptr %t62, i64 0
  %t64 = load i64, ptr %t63, !tbaa !11
  %t65 = getelementptr i8, ptr %ctx, i64 <args>
  %t66 = load ptr, ptr %t65, !tbaa !10
  %t67 = getelementptr i8, ptr %t66, i64 8
  %t68 = load i64, ptr %t67, !tbaa !11
  %t69 = getelementptr i8, ptr %ctx, i64 <args>
  %t70 = load ptr, ptr %t69, !tbaa !10
  %t71 = getelementptr i8, ptr %t70, i64 16
  %t72 = load i64, ptr %t71, !tbaa !11
  %t73 = getelementptr i8, ptr %ctx, i64 <args>
  %t74 = load ptr, ptr %t73, !tbaa !10
  %t75 = getelementptr i8, ptr %t74, i64 24
  %t76 = load i64, ptr %t75, !tbaa !11
  %t77 = getelementptr i8, ptr %ctx, i64 <args>
  %t78 = load ptr, ptr %t77, !tbaa !10
  %t79 = getelementptr i8, ptr %t78, i64 32
  %t80 = load i64, ptr %t79, !tbaa !11
  br label %l1
l109:
  %t133 = load i64, ptr %sp.v
  %t134 = load i64, ptr %lo.v
  %t135 = load i64, ptr %hi.v
  %t136 = call { i64, i64, i64 } asm sideeffect "callq *<cold_stub>(%r12)", "={rax},={r14},={r15},0,{r12},{r13},1,2,~{memory},~{dirflag},~{fpsr},~{flags}"(i64 <cairn_machine_underflow>, ptr %ctx, i64 %t133, i64 %t134, i64 %t135) #1
  %t137 = extractvalue { i64, i64, i64 } %t136, 0
  %t138 = extractvalue { i64, i64, i64 } %t136, 1
  store i64 %t138, ptr %lo.v
  %t139 = extractvalue { i64, i64, i64 } %t136, 2
  store i64 %t139, ptr %hi.v
  br label %l115
}

