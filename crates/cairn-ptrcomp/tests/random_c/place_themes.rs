//! Themes whose pointers point to places in objects: to links in their middle, to numbers, and to pointers.

use super::themes::allocator;
use super::{Random, Structure, Theme};

/// Nodes in a tree and in a ring, whose links lie in the nodes; the ring begins in a variable, or in a node.
pub fn places(r: &mut Random, n: u64) -> Theme {
    let s = format!("place{n}");
    let (left, right) = (format!("struct {s} *left"), format!("struct {s} *right"));
    let link = format!("struct link_{s} ring");
    let node = Structure::new(r, &s, &["int key", &left, &right, &link, "int count"]);
    let (new, fill, value) = (allocator(r, &s), &node.fill, &node.value);
    let (head, ring) = match r.below(3) {
        0 => (format!("struct link_{s} head_{s} = {{ &head_{s}, &head_{s} }};"), format!("head_{s}")),
        1 => (format!("struct {s} top_{s};"), format!("top_{s}.ring")),
        _ => (format!("struct {s} *top_{s};"), format!("top_{s}->ring")),
    };
    let declared = head.split(" =").next().expect("a declaration").trim_end_matches(';').to_string();
    let begin = if ring.contains("->") { format!("top_{s} = {new}; ") } else { String::new() };
    let of = format!("((struct {s} *)((char *)q - __builtin_offsetof(struct {s}, ring)))");
    let noinline = r.pick(&["", "__attribute__((noinline)) "]);
    let find = format!(
        "struct {s} **find_{s}(struct {s} **at, int k) {{ while (*at && (*at)->key != k) at = k < (*at)->key ? &(*at)->left : &(*at)->right; return at; }}"
    );
    let join = format!(
        "{noinline}void join_{s}(struct link_{s} *a, struct link_{s} *b) {{ a->next = b->next; a->prev = b; b->next->prev = a; b->next = a; }}"
    );
    let raise = format!("{noinline}void raise_{s}(int *to, int by) {{ if (to) *to = (*to + by) % 1000; }}");
    let insert = format!(
        "struct {s} *into_{s}(struct {s} **root, int k) {{ struct {s} **at = find_{s}(root, k); if (*at) {{ raise_{s}(&(*at)->count, k); return *at; }} struct {s} *p = {new}; int v = k; p->key = k; p->count = 1; p->left = p->right = 0; {fill} join_{s}(&p->ring, &{ring}); *at = p; return p; }}"
    );
    let remove = format!(
        "int out_{s}(struct {s} **root, int k) {{ struct {s} **at = find_{s}(root, k), *p = *at; if (!p) return 0; if (p->left && p->right) {{ struct {s} **low = &p->right; while ((*low)->left) low = &(*low)->left; struct {s} *q = *low; *low = q->right; q->left = p->left; q->right = p->right; *at = q; }} else *at = p->left ? p->left : p->right; p->ring.next->prev = p->ring.prev; p->ring.prev->next = p->ring.next; k = p->count; free(p); return k; }}"
    );
    let use_all = format!(
        "long use_{s}(int k) {{ {begin}struct {s} *root = 0; struct link_{s} *first = &{ring}; first->next = first->prev = first; long t = 0; for (int i = 0; i < k; i++) {{ struct {s} *p = into_{s}(&root, i * 37 % (k + 1)); t += p->count; if (i % 3 == 2) t = t * 3 % 65537 + out_{s}(&root, i * 11 % (k + 1)); }} for (struct link_{s} *q = first->next; q != first; q = q->next) {{ struct {s} *p = {of}; int v = p->key; t = t * 5 % 65537 + p->count + {value} + v; }} while (root) t = t * 3 % 65537 + out_{s}(&root, root->key); return t + (first->next == first); }}"
    );
    Theme {
        header: format!(
            "struct link_{s} {{ struct link_{s} *next, *prev; }};\n{}extern {declared};\nstruct {s} **find_{s}(struct {s} **, int); void join_{s}(struct link_{s} *, struct link_{s} *); void raise_{s}(int *, int); struct {s} *into_{s}(struct {s} **, int); int out_{s}(struct {s} **, int); long use_{s}(int);\n",
            node.declaration()
        ),
        functions: vec![head, find, join, raise, insert, remove, use_all],
        run: format!("for (int i = 0; i < {}; i++) sum = sum * 5 % 1000003 + use_{s}(i * 7);", 6 + r.below(20)),
    }
}
