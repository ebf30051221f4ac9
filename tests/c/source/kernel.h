/* What tests/c/source/kernel.c has for others. */
struct pair { int first; double second; };
enum shape { ROUND = 7, SQUARE };
int absent(int);
