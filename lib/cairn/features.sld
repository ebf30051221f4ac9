;;; (cairn features): what (features) returns.  `cond-expand` decides by the list in crates/cairn-syntax.
(define-library (cairn features)
  (export features)
  (import (cairn syntax) (cairn primitives))
  (begin
    (define (features)
      '(r7rs full-unicode ratios exact-closed exact-complex ieee-float cairn x86-64 linux unix little-endian srfi-0
        srfi-1 srfi-2 srfi-4 srfi-5 srfi-6 srfi-8 srfi-9 srfi-11 srfi-13 srfi-14 srfi-16 srfi-17 srfi-18 srfi-19
        srfi-23 srfi-25 srfi-26 srfi-27 srfi-28 srfi-29 srfi-31 srfi-34 srfi-35 srfi-37 srfi-38 srfi-39 srfi-41
        srfi-42 srfi-43 srfi-45 srfi-46 srfi-48 srfi-54 srfi-57 srfi-60 srfi-61 srfi-63 srfi-64 srfi-66 srfi-67
        srfi-69 srfi-71 srfi-74 srfi-78 srfi-86 srfi-87 srfi-95 srfi-98 srfi-99 srfi-101 srfi-106 srfi-111 srfi-113
        srfi-115 srfi-116 srfi-117 srfi-121 srfi-124 srfi-125 srfi-126 srfi-127 srfi-128 srfi-129 srfi-130 srfi-131
        srfi-132 srfi-133 srfi-134 srfi-135 srfi-136 srfi-139 srfi-141 srfi-143 srfi-144 srfi-145 srfi-146 srfi-149
        srfi-151 srfi-152 srfi-158 srfi-160 srfi-162 srfi-165 srfi-166 srfi-170 srfi-171 srfi-173 srfi-175 srfi-178
        srfi-180 srfi-188 srfi-189 srfi-193 srfi-194 srfi-195 srfi-196 srfi-197 srfi-203 srfi-204 srfi-207 srfi-209
        srfi-214 srfi-217 srfi-219 srfi-221 srfi-222 srfi-223 srfi-224 srfi-225 srfi-227 srfi-228 srfi-229 srfi-230
        srfi-231 srfi-232 srfi-233 srfi-234 srfi-235 srfi-236 srfi-239 srfi-244 srfi-248 srfi-250 srfi-253))))
