;;; (sicp picture): the picture language of SICP, section 2.2.4, drawn as SVG.  A painter is a procedure of a frame that
;;; gives the list of its segments in the coordinates of the picture, with y upwards.
(define-library (sicp picture)
  (export make-vect vector-xcor vector-ycor make-segment segment-start segment-end segments->painter
          beside below flip-vert flip-horiz rotate90 rotate180 rotate270 transform-painter superpose paint-svg)
  (import (scheme base) (scheme file) (scheme write) (only (cairn control) wrong-type))
  (begin

    (define-record-type vect (make-vect x y) vect? (x vector-xcor) (y vector-ycor))
    (define-record-type segment (make-segment start end) segment? (start segment-start) (end segment-end))

    ;; A frame as a mapping of the unit square: an origin and two edges.
    (define-record-type frame (make-frame origin edge1 edge2) frame? (origin origin) (edge1 edge1) (edge2 edge2))

    (define (minus a b)
      (make-vect (- (vector-xcor a) (vector-xcor b)) (- (vector-ycor a) (vector-ycor b))))

    (define (place f v)
      (define (along part)
        (+ (part (origin f))
           (* (vector-xcor v) (part (edge1 f)))
           (* (vector-ycor v) (part (edge2 f)))))
      (make-vect (along vector-xcor) (along vector-ycor)))

    (define (check-painter name p)
      (if (not (procedure? p)) (wrong-type name "a painter" p)))

    (define (segments->painter segments)
      (if (not (list? segments)) (wrong-type "segments->painter" "a list of segments" segments))
      (for-each (lambda (s) (if (not (segment? s)) (wrong-type "segments->painter" "a segment" s))) segments)
      (lambda (f)
        (map (lambda (s) (make-segment (place f (segment-start s)) (place f (segment-end s)))) segments)))

    ;; The painter in the frame whose origin and corners are given in the unit square.
    (define (transform-painter painter corner end1 end2)
      (check-painter "transform-painter" painter)
      (lambda (f)
        (let ((o (place f corner)))
          (painter (make-frame o (minus (place f end1) o) (minus (place f end2) o))))))

    (define (moved name painter x0 y0 x1 y1 x2 y2)
      (check-painter name painter)
      (transform-painter painter (make-vect x0 y0) (make-vect x1 y1) (make-vect x2 y2)))

    (define (superpose a b)
      (check-painter "superpose" a)
      (check-painter "superpose" b)
      (lambda (f) (append (a f) (b f))))

    (define (flip-vert p) (moved "flip-vert" p 0 1 1 1 0 0))
    (define (flip-horiz p) (moved "flip-horiz" p 1 0 0 0 1 1))
    (define (rotate90 p) (moved "rotate90" p 1 0 1 1 0 0))
    (define (rotate180 p) (moved "rotate180" p 1 1 0 1 1 0))
    (define (rotate270 p) (moved "rotate270" p 0 1 0 0 1 1))

    (define (beside left right)
      (superpose (moved "beside" left 0 0 1/2 0 0 1) (moved "beside" right 1/2 0 1 0 1/2 1)))
    (define (below low high)
      (superpose (moved "below" low 0 0 1 0 0 1/2) (moved "below" high 0 1/2 1 1/2 0 1)))

    (define (draw segments out)
      (define (attribute name n)
        (write-string (string-append " " name "=\"") out)
        (display (if (integer? n) (exact n) (inexact n)) out)
        (write-string "\"" out))
      (write-string "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 400 400\" stroke=\"black\">\n" out)
      (for-each (lambda (s)
                  (write-string "<line" out)
                  (attribute "x1" (vector-xcor (segment-start s)))
                  (attribute "y1" (- 400 (vector-ycor (segment-start s))))
                  (attribute "x2" (vector-xcor (segment-end s)))
                  (attribute "y2" (- 400 (vector-ycor (segment-end s))))
                  (write-string "/>\n" out))
                segments)
      (write-string "</svg>\n" out))

    ;; Writes the picture as SVG, 400 units wide, to a file or a port.
    (define (paint-svg to painter)
      (check-painter "paint-svg" painter)
      (let ((segments (painter (make-frame (make-vect 0 0) (make-vect 400 0) (make-vect 0 400)))))
        (cond ((string? to) (call-with-output-file to (lambda (out) (draw segments out))))
              ((output-port? to) (draw segments to))
              (else (wrong-type "paint-svg" "the name of a file or an output port" to)))))))
