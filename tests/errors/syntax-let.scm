(let ((x 1) (x 2)) x)
(let ((y)) y)
