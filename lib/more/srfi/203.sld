;;; (srfi 203): what the picture language of SICP needs to draw, as SVG.
;;;
;;; A canvas is a file's name with the elements drawn so far; `canvas-refresh` writes the file.  The unit square is the
;;; canvas, with y upwards, as in SICP.  The picture of Rogers is a drawing, not the photograph of the book.
(define-library (srfi 203)
  (export canvas-cleanup canvas-name canvas-refresh canvas-reset canvas-size draw-line draw-bezier jpeg-file->painter
          image-file->painter rogers)
  (import (scheme base) (scheme file) (only (cairn control) wrong-type))
  (begin

    (define canvas-size
      (make-parameter 200
        (lambda (size)
          (if (and (exact-integer? size) (<= 2 size 10000))
              size
              (wrong-type "canvas-size" "an exact integer from 2 to 10000" size)))))

    (define canvas-name
      (make-parameter "canvas.svg"
        (lambda (name)
          (if (string? name) name (wrong-type "canvas-name" "a string" name)))))

    ;; Pairs of a name and what was drawn there, as texts, last one first.
    (define canvases '())

    (define (canvas)
      (or (assoc (canvas-name) canvases)
          (let ((new (list (canvas-name))))
            (set! canvases (cons new canvases))
            new)))

    (define (draw! . parts)
      (let ((canvas (canvas)))
        (set-cdr! canvas (cons (apply string-append parts) (cdr canvas)))))

    (define (canvas-reset)
      (set-cdr! (canvas) '()))

    (define (canvas-cleanup)
      (canvas-reset)
      (if (file-exists? (canvas-name)) (delete-file (canvas-name))))

    (define (canvas-refresh)
      (let ((size (number->string (canvas-size))))
        (call-with-output-file (canvas-name)
          (lambda (out)
            (for-each
             (lambda (text) (write-string text out))
             (list "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" size "\" height=\"" size
                   "\" fill=\"none\" stroke=\"black\">\n"))
            (for-each
             (lambda (text)
               (write-string text out)
               (newline out))
             (reverse (cdr (canvas))))
            (write-string "</svg>\n" out))))
      (canvas-name))

    ;;;; Vectors: lists of numbers; frames: lists of an origin and two edges

    (define (check-vect who x)
      (if (not (and (list? x) (>= (length x) 2) (real? (car x)) (real? (cadr x))))
          (wrong-type who "a list of two numbers" x)))
    (define (check-frame who x)
      (if (not (and (list? x) (>= (length x) 3))) (wrong-type who "a list of three vectors" x))
      (check-vect who (car x))
      (check-vect who (cadr x))
      (check-vect who (list-ref x 2)))

    ;; A number for SVG: at most three digits behind the point.
    (define (number x)
      (let ((x (/ (round (* 1000 (inexact x))) 1000)))
        (number->string (if (integer? x) (exact x) x))))
    (define (across x) (number (* (canvas-size) x)))
    (define (down y) (number (* (canvas-size) (- 1 y))))
    (define (point v)
      (string-append (across (car v)) " " (down (cadr v))))

    (define (draw-line start end)
      (check-vect "draw-line" start)
      (check-vect "draw-line" end)
      (draw! "<path d=\"M " (point start) " L " (point end) "\"/>"))

    ;; A curve of any degree: from the first point to the last one, drawn towards those between.
    (define (draw-bezier start . others)
      (check-vect "draw-bezier" start)
      (for-each (lambda (v) (check-vect "draw-bezier" v)) others)
      (let ((points (cons start others)))
        (let loop ((i 1) (text (point (curve points 0))))
          (if (> i 32)
              (draw! "<path d=\"M " text "\"/>")
              (loop (+ i 1) (string-append text " L " (point (curve points (/ i 32)))))))))
    ;; The point at t, by halving: de Casteljau's algorithm.
    (define (curve points t)
      (if (null? (cdr points))
          (car points)
          (curve (map (lambda (a b) (map (lambda (a b) (+ (* (- 1 t) a) (* t b))) (two a) (two b)))
                      points
                      (cdr points))
                 t)))
    (define (two v) (list (car v) (cadr v)))

    ;;;; Painters

    (define (escaped text)
      (apply string-append
             (map (lambda (c)
                    (case c
                      ((#\&) "&amp;")
                      ((#\<) "&lt;")
                      ((#\") "&quot;")
                      (else (string c))))
                  (string->list text))))

    ;; The image in the frame: that of SVG is the unit square with y downwards, from the frame's upper left corner.
    (define (image-file->painter name)
      (if (not (string? name)) (wrong-type "image-file->painter" "a string" name))
      (lambda (frame)
        (check-frame "a painter" frame)
        (let* ((edge1 (cadr frame)) (edge2 (list-ref frame 2)) (corner (map + (two (car frame)) (two edge2))))
          (define (scaled x) (number (* (canvas-size) x)))
          (draw! "<image href=\"" (escaped name) "\" width=\"1\" height=\"1\" preserveAspectRatio=\"none\""
                 " transform=\"matrix(" (scaled (car edge1)) " " (scaled (- (cadr edge1)))
                 " " (scaled (- (car edge2))) " " (scaled (cadr edge2))
                 " " (across (car corner)) " " (down (cadr corner)) ")\"/>"))))
    (define jpeg-file->painter image-file->painter)

    ;; Curves in the unit square: head, hair, brows, eyes, nose, mouth, collar.
    (define portrait
      '(((.3 .75) (.28 .3) (.5 .05) (.72 .3) (.7 .75))
        ((.3 .7) (.2 1.) (.5 1.) (.8 1.) (.7 .7))
        ((.3 .75) (.45 .95) (.6 .75) (.7 .8))
        ((.36 .66) (.42 .7) (.47 .66)) ((.53 .66) (.58 .7) (.64 .66))
        ((.38 .61) (.42 .64) (.46 .61)) ((.38 .61) (.42 .58) (.46 .61))
        ((.54 .61) (.58 .64) (.62 .61)) ((.54 .61) (.58 .58) (.62 .61))
        ((.5 .6) (.55 .45) (.48 .46)) ((.42 .38) (.5 .34) (.58 .38))
        ((.38 .28) (.2 .25) (.05 0.)) ((.62 .28) (.8 .25) (.95 0.)) ((.4 .25) (.5 .1) (.6 .25))))
    (define (rogers frame)
      (check-frame "rogers" frame)
      (let ((origin (two (car frame))) (edge1 (two (cadr frame))) (edge2 (two (list-ref frame 2))))
        (for-each
         (lambda (points)
           (apply draw-bezier
                  (map (lambda (v)
                         (map (lambda (o a b) (+ o (* (car v) a) (* (cadr v) b))) origin edge1 edge2))
                       points)))
         portrait)))))
