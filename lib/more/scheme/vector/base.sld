;;; (scheme vector base) of R7RS-large: (srfi 160 base).
(define-library (scheme vector base)
  (export
   make-u8vector u8vector list->u8vector u8vector->list u8? u8vector? u8vector-length u8vector-ref u8vector-set!
   make-s8vector s8vector list->s8vector s8vector->list s8? s8vector? s8vector-length s8vector-ref s8vector-set!
   make-u16vector u16vector list->u16vector u16vector->list u16? u16vector? u16vector-length u16vector-ref
   u16vector-set! make-s16vector s16vector list->s16vector s16vector->list s16? s16vector? s16vector-length
   s16vector-ref s16vector-set! make-u32vector u32vector list->u32vector u32vector->list u32? u32vector?
   u32vector-length u32vector-ref u32vector-set! make-s32vector s32vector list->s32vector s32vector->list s32?
   s32vector? s32vector-length s32vector-ref s32vector-set! make-u64vector u64vector list->u64vector u64vector->list
   u64? u64vector? u64vector-length u64vector-ref u64vector-set! make-s64vector s64vector list->s64vector
   s64vector->list s64? s64vector? s64vector-length s64vector-ref s64vector-set! make-f32vector f32vector
   list->f32vector f32vector->list f32? f32vector? f32vector-length f32vector-ref f32vector-set! make-f64vector
   f64vector list->f64vector f64vector->list f64? f64vector? f64vector-length f64vector-ref f64vector-set!
   make-c64vector c64vector list->c64vector c64vector->list c64? c64vector? c64vector-length c64vector-ref
   c64vector-set! make-c128vector c128vector list->c128vector c128vector->list c128? c128vector? c128vector-length
   c128vector-ref c128vector-set!)
  (import (srfi 160 base)))
