//! Themes whose structures have objects on the stack: heads of lists, the place of the first pointer, copies.

use super::themes::allocator;
use super::{Random, Structure, Theme};

/// Lists that begin with a node on the stack, or with a pointer there, and functions with nodes of their own.
pub fn heads(r: &mut Random, n: u64) -> Theme {
    let s = format!("head{n}");
    let (next, other) = (format!("struct {s} *next"), format!("struct {s} *other"));
    let node = Structure::new(r, &s, &["int key", &next, &other]);
    let (new, fill, value) = (allocator(r, &s), &node.fill, &node.value);
    let zero = r.pick(&["= {0};", "; memset(&h, 0, sizeof h);"]);
    let make = format!(
        "struct {s} *make_{s}(int k) {{ struct {s} h {zero} struct {s} *c = &h; for (int v = 0; v < k; v++) {{ struct {s} *p = {new}; p->key = v; {fill} p->other = c == &h ? 0 : c; p->next = 0; c->next = p; c = p; }} return h.next; }}"
    );
    let insert = format!(
        "void into_{s}(struct {s} **pp, int v) {{ while (*pp && (*pp)->key < v) pp = &(*pp)->next; struct {s} *p = {new}; p->key = v; {fill} p->other = *pp; p->next = *pp; *pp = p; }}"
    );
    let walk = if r.chance(50) {
        // Each call has a node, which others point to.
        format!(
            "long walk_{s}(struct {s} *p, struct {s} *up) {{ if (!p) {{ long t = 0; for (; up; up = up->other) t = t * 3 % 65537 + up->key; return t; }} struct {s} h = *p; h.other = up; h.key += 1; long t = walk_{s}(p->next, &h); p = &h; return t + {value} + h.key; }}"
        )
    } else {
        // The last one on the stack is changed by a copy.
        format!(
            "long walk_{s}(struct {s} *p, struct {s} *up) {{ long t = 0; struct {s} h; for (; p; p = p->next) {{ h = *p; h.key = (int)(t & 7); h.other = p; struct {s} *q = t & 1 ? &h : h.other; t = t * 3 % 65537 + q->key; if (t % 5 == 0) *p = (struct {s}) {{ .key = q->key, .next = h.next }}; {{ struct {s} *w = p; p = &h; t += {value}; p = w; }} }} return t; }}"
        )
    };
    let early = r.pick(&["if (k < 3) return k;", ""]);
    let use_all = format!(
        "long use_{s}(int k) {{ {early} struct {s} *l = k % 2 ? make_{s}(k) : 0; for (int v = 0; v < k; v++) into_{s}(&l, v * 7 % (k + 1)); long t = walk_{s}(l, 0); while (l) {{ struct {s} *q = l->next; free(l); l = q; }} return t; }}"
    );
    Theme {
        header: format!(
            "{}struct {s} *make_{s}(int); void into_{s}(struct {s} **, int); long walk_{s}(struct {s} *, struct {s} *); long use_{s}(int);\n",
            node.declaration()
        ),
        functions: vec![make, insert, walk, use_all],
        run: format!("for (int i = 0; i < {}; i++) sum = sum * 5 % 1000003 + use_{s}(i);", 6 + r.below(12)),
    }
}
