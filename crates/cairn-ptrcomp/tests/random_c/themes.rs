//! The themes: each a data structure with what programs do with it.

use super::place_themes::places;
use super::stack_themes::heads;
use super::text_themes::names;
use super::{Random, Structure, Theme};

pub fn theme(r: &mut Random, n: u64) -> Theme {
    match r.below(26) {
        0 | 1 => list(r, n),
        2 => tree(r, n),
        3 => ring(r, n),
        4 => table(r, n),
        5 => graph(r, n),
        6 => tagged(r, n),
        7 => objects(r, n),
        8 => copies(r, n),
        9 => sorted(r, n),
        10 => generic(r, n),
        11 => variadic(r, n),
        12 => jumps(r, n),
        13 => indirect(r, n),
        14 => pairs(r, n),
        15 => linked_globals(r, n),
        16 | 17 => growing(r, n),
        18 | 19 => heads(r, n),
        20 | 21 => names(r, n),
        22..=24 => places(r, n),
        _ => strings(r, n),
    }
}

pub(super) fn allocator(r: &mut Random, s: &str) -> String {
    match r.below(5) {
        0 => format!("xmalloc(sizeof(struct {s}))"),
        1 => format!("calloc(1, sizeof(struct {s}))"),
        2 => format!("xcalloc(1, sizeof(struct {s}))"),
        3 => format!("realloc(0, sizeof(struct {s}))"),
        _ => format!("malloc(sizeof(struct {s}))"),
    }
}

fn list(r: &mut Random, n: u64) -> Theme {
    let (s, d) = (format!("list{n}"), format!("item{n}"));
    let next = format!("struct {s} *next");
    let data = format!("struct {d} *data");
    let node = Structure::new(r, &s, &["int key", &next, &data]);
    let item = Structure::new(r, &d, &["long w"]);
    let (new, new_item) = (allocator(r, &s), allocator(r, &d));
    let root = r.chance(40);
    let tail = r.chance(50);
    let walk = if r.chance(50) {
        format!(
            "long sum_{s}(struct {s} *p) {{ long t = 0; for (; p; p = p->next) {{ t += p->key + {}; if (p->data) t += p->data->w; }} return t; }}",
            node.value
        )
    } else {
        format!(
            "long sum_{s}(struct {s} *p) {{ if (p == NULL) return 0; return p->key + {} + (p->data ? p->data->w : 1) + sum_{s}(p->next); }}",
            node.value
        )
    };
    let put = if tail {
        "if (last) last->next = p; else first = p; last = p; p->next = 0;"
    } else {
        "p->next = first; first = p; last = p;"
    };
    let functions = vec![
        format!(
            "struct {s} *make_{s}(int n) {{ struct {s} *first = 0, *last = 0; for (int v = 0; v < n; v++) {{ struct {s} *p = {new}; p->key = v; p->data = 0; {} if (v % 3 == 0) {{ struct {d} *q = {new_item}; q->w = v * 5; p->data = q; }} {put} }} (void)last; return first; }}",
            node.fill
        ),
        walk,
        format!(
            "struct {s} *reverse_{s}(struct {s} *p) {{ struct {s} *r = NULL; while (p != NULL) {{ struct {s} *q = p->next; p->next = r; r = p; p = q; }} return r; }}"
        ),
        format!(
            "struct {s} *without_{s}(struct {s} *p, int k) {{ struct {s} **at = &p; while (*at) {{ if ((*at)->key % k == 0) {{ struct {s} *dead = *at; *at = dead->next; free(dead->data); free(dead); }} else at = &(*at)->next; }} return p; }}"
        ),
        format!(
            "struct {s} *find_{s}(struct {s} *p, int k) {{ while (p && p->key != k) p = p->next; return p; }}"
        ),
        format!(
            "void free_{s}(struct {s} *p) {{ while (p) {{ struct {s} *q = p->next; free(p->data); free(p); p = q; }} }}"
        ),
    ];
    let header = format!(
        "{}{}struct {s} *make_{s}(int); long sum_{s}(struct {s} *); struct {s} *reverse_{s}(struct {s} *); struct {s} *without_{s}(struct {s} *, int); struct {s} *find_{s}(struct {s} *, int); void free_{s}(struct {s} *);\n{}",
        item.declaration(),
        node.declaration(),
        if root { format!("extern struct {s} *root_{s};\n") } else { String::new() }
    );
    let mut all = functions;
    let (a, b, c) = (r.below(40), r.below(30), 2 + r.below(4));
    let without = if r.chance(50) { format!("l = without_{s}(l, {c});") } else { String::new() };
    let store = if root { format!("root_{s} = l; l = root_{s};") } else { String::new() };
    if root {
        all.push(format!("struct {s} *root_{s};"));
    }
    let char_access = if r.chance(15) { "if (m) ((char *)m)[0] ^= 0;" } else { "" };
    Theme {
        header,
        functions: all,
        run: format!(
            "{{ struct {s} *l = make_{s}({a}), *m = make_{s}({b}); {char_access} sum += sum_{s}(l); l = reverse_{s}(l); {store} {without} sum = sum * 3 + sum_{s}(l) + sum_{s}(m); sum += find_{s}(l, 1) == find_{s}(l, 2); sum += find_{s}(l, 5) != find_{s}(m, 5); sum += l == m; free_{s}(l); free_{s}(m); }}"
        ),
    }
}

/// Pools that point to each other and outgrow short indices, while pointers to their objects are in variables, in
/// arrays and on the stack of a recursion.
fn growing(r: &mut Random, n: u64) -> Theme {
    let (a, b, c) = (format!("chain{n}"), format!("link{n}"), format!("fork{n}"));
    let [to_a, to_b] = [&a, &b].map(|s| format!("struct {s} *peer"));
    let (next, owner) = (format!("struct {a} *next"), format!("struct {a} *owner"));
    let (sides, of_b) = (format!("struct {c} *left, *right"), format!("struct {b} *held[2]"));
    let first = Structure::new(r, &a, &["int key", &next, &to_b]);
    let second = if r.chance(50) {
        Structure::new(r, &b, &[&owner, &to_b, "int w"])
    } else {
        Structure::new(r, &b, &["int w", &owner, &to_a.replace(&a, &b)])
    };
    let third = Structure::new(r, &c, &[&sides, "int k", &of_b]);
    let [new_a, new_b, new_c] = [&a, &b, &c].map(|s| allocator(r, s));
    let kept = if r.chance(50) { "static " } else { "" };
    let move_on = if r.chance(50) {
        format!("struct {a} *m = {new_a}; *m = *p; free(p); p = m; if (p->peer) p->peer->owner = p;")
    } else {
        format!("p = realloc(p, sizeof(struct {a}));")
    };
    let functions = vec![
        format!(
            "struct {a} *make_{a}(int n, struct {a} *rest) {{ struct {b} *last = 0; for (int v = 0; v < n; v++) {{ struct {a} *p = {new_a}; p->key = v; p->peer = 0; {} if (v % 3 != 1) {{ struct {a} *o = p; struct {b} *p = {new_b}; p->w = v * 7; p->owner = o; p->peer = last; {} last = p; o->peer = p; }} p->next = rest; rest = p; }} return rest; }}",
            first.fill, second.fill
        ),
        format!(
            "struct {c} *grow_{c}(int v, struct {a} *from) {{ if (!v) return NULL; struct {c} *p = {new_c}; memset(p, 0, sizeof *p); p->k = v; {} p->left = grow_{c}(v - 1, from ? from->next : 0); if (from) {{ p->held[v % 2] = from->peer; p->held[1 - v % 2] = 0; }} p->right = v % 2 ? grow_{c}(v / 2, from) : 0; return p; }}",
            third.fill
        ),
        format!(
            "long sum_{a}(struct {a} *p) {{ long t = 0; for (; p; p = p->next) {{ t = t * 3 + p->key + {}; struct {a} *o = p; if (o->peer) {{ struct {b} *p = o->peer; t += p->w + (p->owner == o) + {}; if (p->peer) t += p->peer->w; }} }} return t; }}",
            first.value, second.value
        ),
        format!(
            "long sum_{c}(struct {c} *p) {{ if (!p) return 1; long t = p->k + {}; for (int i = 0; i < 2; i++) if (p->held[i]) t += p->held[i]->w + p->held[i]->owner->key; return t + sum_{c}(p->left) - 2 * sum_{c}(p->right); }}",
            third.value
        ),
        format!("void drop_{c}(struct {c} *p) {{ if (p) {{ drop_{c}(p->left); drop_{c}(p->right); free(p); }} }}"),
        format!(
            "struct {a} *thin_{a}(struct {a} *p, int k) {{ if (!p) return 0; p->next = thin_{a}(p->next, k); if (p->key % k == 0 && !p->peer) {{ struct {a} *q = p->next; free(p); return q; }} if (p->key % k == 1) {{ {move_on} }} return p; }}"
        ),
    ];
    let header = format!(
        "struct {b}; struct {c}; {}{}{}struct {a} *make_{a}(int, struct {a} *); struct {c} *grow_{c}(int, struct {a} *); long sum_{a}(struct {a} *); long sum_{c}(struct {c} *); void drop_{c}(struct {c} *); struct {a} *thin_{a}(struct {a} *, int);\n",
        first.declaration(),
        second.declaration(),
        third.declaration()
    );
    let (few, many, depth, k) = (r.below(40), r.below(400), 3 + r.below(8), 2 + r.below(4));
    Theme {
        header,
        functions,
        run: format!(
            "{{ {kept}struct {a} *l; l = make_{a}({few}, 0); struct {a} *some[4] = {{0}}; int at = 0; for (struct {a} *p = l; p && at < 4; p = p->next) some[at++] = p; struct {c} *t = grow_{c}({depth}, l); sum += sum_{a}(l) + sum_{c}(t); struct {a} *old = l; l = make_{a}({many}, l); for (int i = 0; i < at; i++) sum += some[i]->key + (some[i]->peer ? some[i]->peer->w : 9) + (some[i] == old); struct {c} *u = grow_{c}({depth}, l); sum = sum * 5 + sum_{a}(l) + sum_{c}(t) + sum_{c}(u); drop_{c}(t); l = thin_{a}(l, {k}); sum += sum_{a}(l); l = make_{a}({few}, l); sum = sum * 7 + sum_{a}(l) + sum_{c}(u); }}"
        ),
    }
}

fn tree(r: &mut Random, n: u64) -> Theme {
    let s = format!("tree{n}");
    let kids = r.chance(40);
    let links = if kids { format!("struct {s} *kid[2]") } else { format!("struct {s} *left, *right") };
    let parent = r.chance(40);
    let up = format!("struct {s} *up");
    let known: Vec<&str> = if parent { vec!["int key", &links, &up] } else { vec![&links, "int key"] };
    let node = Structure::new(r, &s, &known);
    let new = allocator(r, &s);
    let (l, g) = if kids { ("kid[0]", "kid[1]") } else { ("left", "right") };
    let set_up = |of: &str| if parent { format!("p->up = {of};") } else { String::new() };
    let insert = format!(
        "struct {s} *insert_{s}(struct {s} *t, int v, struct {s} *up) {{ if (!t) {{ struct {s} *p = {new}; p->key = v; p->{l} = p->{g} = 0; {} {} return p; }} if (v < t->key) t->{l} = insert_{s}(t->{l}, v, t); else if (v > t->key) t->{g} = insert_{s}(t->{g}, v, t); return t; }}",
        set_up("up"),
        node.fill
    );
    let index = if kids {
        format!("long t = p->key; for (int i = 0; i < 2; i++) t += sum_{s}(p->kid[i]);")
    } else {
        format!("long t = p->key + sum_{s}(p->left) + 2 * sum_{s}(p->right);")
    };
    let ups = if parent { "if (p->up && p->up->key > p->key) t++;" } else { "" };
    let functions = vec![
        insert,
        format!(
            "long sum_{s}(struct {s} *p) {{ if (p == 0) return 0; {index} {ups} return t + {}; }}",
            node.value
        ),
        format!("void free_{s}(struct {s} *p) {{ if (!p) return; free_{s}(p->{l}); free_{s}(p->{g}); free(p); }}"),
        format!(
            "struct {s} *copy_{s}(const struct {s} *p) {{ if (!p) return 0; struct {s} *q = {new}; *q = *p; q->{l} = copy_{s}(p->{l}); q->{g} = copy_{s}(p->{g}); {} return q; }}",
            if parent { "q->up = 0;" } else { "" }
        ),
    ];
    let count = 5 + r.below(60);
    let copy = r.chance(50);
    Theme {
        header: format!(
            "{}struct {s} *insert_{s}(struct {s} *, int, struct {s} *); long sum_{s}(struct {s} *); void free_{s}(struct {s} *); struct {s} *copy_{s}(const struct {s} *);\n",
            node.declaration()
        ),
        functions,
        run: format!(
            "{{ struct {s} *t = 0; for (int i = 0; i < {count}; i++) t = insert_{s}(t, i * 37 % 101, 0); sum += sum_{s}(t); {} free_{s}(t); }}",
            if copy {
                format!("struct {s} *c = copy_{s}(t); sum += sum_{s}(c); free_{s}(c);")
            } else {
                String::new()
            }
        ),
    }
}

fn ring(r: &mut Random, n: u64) -> Theme {
    let s = format!("ring{n}");
    let links = format!("struct {s} *next, *prev");
    let node = Structure::new(r, &s, &[&links, "int key"]);
    let new = allocator(r, &s);
    let head = if r.chance(50) {
        format!("struct {s} h; struct {s} *head = &h; head->key = 0;")
    } else {
        format!("struct {s} *head = {new}; head->key = 0;")
    };
    let drop = if head.contains("&h") { "" } else { "free(head);" };
    let count = 3 + r.below(30);
    Theme {
        header: format!(
            "{}void link_{s}(struct {s} *, struct {s} *); void unlink_{s}(struct {s} *); long run_{s}(int);\n",
            node.declaration()
        ),
        functions: vec![
            format!(
                "void link_{s}(struct {s} *at, struct {s} *p) {{ p->next = at->next; p->prev = at; at->next->prev = p; at->next = p; }}"
            ),
            format!("void unlink_{s}(struct {s} *p) {{ p->next->prev = p->prev; p->prev->next = p->next; }}"),
            format!(
                "long run_{s}(int n) {{ {head} head->next = head->prev = head; for (int v = 0; v < n; v++) {{ struct {s} *p = {new}; p->key = v; {} link_{s}(v % 2 ? head : head->prev, p); }} long t = 0; for (struct {s} *p = head->next; p != head; p = p->next) t = t * 3 + p->key + {}; struct {s} *q = head->next; while (q != head) {{ struct {s} *k = q->next; if (q->key % 2) {{ unlink_{s}(q); free(q); }} q = k; }} for (struct {s} *p = head->prev; p != head; p = p->prev) t += p->key; q = head->next; while (q != head) {{ struct {s} *k = q->next; free(q); q = k; }} {drop} return t & 0xffffff; }}",
                node.fill, node.value
            ),
        ],
        run: format!("sum += run_{s}({count});"),
    }
}

fn table(r: &mut Random, n: u64) -> Theme {
    let (s, e) = (format!("table{n}"), format!("entry{n}"));
    let inside = r.chance(50);
    let buckets = if inside { format!("struct {e} *bucket[16]") } else { format!("struct {e} **bucket") };
    let table = Structure::new(r, &s, &["int count", &buckets]);
    let next = format!("struct {e} *next");
    let entry = Structure::new(r, &e, &["int key", &next, "int value"]);
    let (new, new_table) = (allocator(r, &e), allocator(r, &s));
    let make = if inside {
        "for (int i = 0; i < 16; i++) p->bucket[i] = 0;".to_string()
    } else {
        match r.below(2) {
            0 => format!("p->bucket = calloc(16, sizeof(struct {e} *));"),
            _ => "p->bucket = malloc(16 * sizeof *p->bucket); memset(p->bucket, 0, 16 * sizeof *p->bucket);"
                .to_string(),
        }
    };
    let drop = if inside { "" } else { "free(t->bucket);" };
    let count = 10 + r.below(80);
    Theme {
        header: format!(
            "{}{}struct {s} *new_{s}(void); int *slot_{s}(struct {s} *, int); long end_{s}(struct {s} *);\n",
            entry.declaration(),
            table.declaration()
        ),
        functions: vec![
            format!(
                "struct {s} *new_{s}(void) {{ int v = 3; struct {s} *p = {new_table}; p->count = 0; {} {make} return p; }}",
                table.fill
            ),
            format!(
                "int *slot_{s}(struct {s} *t, int k) {{ struct {e} *p; for (p = t->bucket[k & 15]; p; p = p->next) if (p->key == k) return &p->value; int v = k; p = {new}; p->key = k; p->value = 0; {} p->next = t->bucket[k & 15]; t->bucket[k & 15] = p; t->count++; return &p->value; }}",
                entry.fill
            ),
            format!(
                "long end_{s}(struct {s} *t) {{ long x = t->count; for (int i = 0; i < 16; i++) {{ struct {e} *p = t->bucket[i]; while (p) {{ struct {e} *q = p->next; x += p->key * 7 + p->value + {}; free(p); p = q; }} }} {drop} free(t); return x; }}",
                entry.value
            ),
        ],
        run: format!(
            "{{ struct {s} *t = new_{s}(); for (int i = 0; i < {count}; i++) *slot_{s}(t, i * i % 61) += i; sum += end_{s}(t); }}"
        ),
    }
}

fn graph(r: &mut Random, n: u64) -> Theme {
    let s = format!("vertex{n}");
    let edges = format!("struct {s} **to");
    let best = format!("struct {s} *best");
    let node = Structure::new(r, &s, &["int degree", &edges, "int mark", &best, "int room"]);
    let array = r.chance(50);
    let make = if array {
        format!("struct {s} *all = calloc(n, sizeof(struct {s})); for (int i = 0; i < n; i++) list[i] = &all[i];")
    } else {
        format!(
            "for (int i = 0; i < n; i++) {{ list[i] = {}; memset(list[i], 0, sizeof(struct {s})); }}",
            allocator(r, &s)
        )
    };
    let drop = if array { "free(all);" } else { "for (int i = 0; i < n; i++) free(list[i]);" };
    let order = if array {
        "t += list[0] < list[n - 1]; t += all + 1 == list[1]; t += &all[n - 1] - all;"
    } else {
        "t += list[0] != list[n - 1];"
    };
    let count = 3 + r.below(20);
    Theme {
        header: format!(
            "{}void edge_{s}(struct {s} *, struct {s} *); long visit_{s}(struct {s} *, int); long run_{s}(int);\n",
            node.declaration()
        ),
        functions: vec![
            format!(
                "void edge_{s}(struct {s} *a, struct {s} *b) {{ if (a->degree == a->room) {{ a->room = a->room ? 2 * a->room : 1; a->to = realloc(a->to, a->room * sizeof(struct {s} *)); }} a->to[a->degree++] = b; if (!a->best || b->mark > a->best->mark) a->best = b; }}"
            ),
            format!(
                "long visit_{s}(struct {s} *p, int depth) {{ if (p->mark >= 1000 || depth == 0) return 1; p->mark += 1000; long t = p->mark + {}; for (int i = 0; i < p->degree; i++) t += visit_{s}(p->to[i], depth - 1); if (p->best) t += p->best->mark; return t; }}",
                node.value
            ),
            format!(
                "long run_{s}(int n) {{ struct {s} **list = malloc(n * sizeof *list); {make} for (int v = 0; v < n; v++) {{ struct {s} *p = list[v]; p->mark = v % 5; {} }} for (int i = 0; i < n; i++) for (int j = 0; j <= i % 4; j++) edge_{s}(list[i], list[(i * 7 + j * 3) % n]); long t = visit_{s}(list[0], 20); {order} for (int i = 0; i < n; i++) free(list[i]->to); {drop} free(list); return t; }}",
                node.fill
            ),
        ],
        run: format!("sum += run_{s}({count});"),
    }
}

fn tagged(r: &mut Random, n: u64) -> Theme {
    let s = format!("expr{n}");
    let mixed = r.chance(40);
    let kind = ["long", "double", "int", "double"][r.below(4) as usize];
    let body = if mixed {
        format!("union {{ {kind} number; struct {s} *arg[2]; }} u")
    } else {
        format!("{kind} number; struct {{ struct {s} *arg[2]; }} u")
    };
    // A pointer can be copied as the number that lies in its place.
    let first = match mixed && kind != "int" && r.chance(30) {
        true => String::from("(copy.u.number = p->u.number, copy.u.arg[0])"),
        false => "p->u.arg[0]".to_string(),
    };
    let node = Structure::new(r, &s, &["char tag", &body]);
    let number = if mixed { "u.number" } else { "number" };
    let (a, b) = (allocator(r, &s), allocator(r, &s));
    let depth = 2 + r.below(5);
    Theme {
        header: format!("{}struct {s} *make_{s}(int); long eval_{s}(struct {s} *);\n", node.declaration()),
        functions: vec![
            format!(
                "struct {s} *make_{s}(int v) {{ if (v == 0) {{ struct {s} *p = {a}; p->tag = 0; p->{number} = 7; {} return p; }} struct {s} *p = {b}; p->tag = 1; {} p->u.arg[0] = make_{s}(v - 1); p->u.arg[1] = make_{s}(v - 1); return p; }}",
                node.fill, node.fill
            ),
            format!(
                "long eval_{s}(struct {s} *p) {{ static struct {s} copy; long t; if (p->tag == 0) t = p->{number}; else t = eval_{s}({first}) + eval_{s}(p->u.arg[1]); t += {}; free(p); return t; }}",
                node.value
            ),
        ],
        run: format!("sum += eval_{s}(make_{s}({depth}));"),
    }
}

fn objects(r: &mut Random, n: u64) -> Theme {
    let s = format!("object{n}");
    let (call, other) = (format!("long (*call)(struct {s} *, struct {s} *)"), format!("struct {s} *other"));
    let node = Structure::new(r, &s, &[&call, &other, "int key"]);
    let new = allocator(r, &s);
    let extern_table = r.chance(50);
    let pick = if extern_table {
        format!("ops_{s}[v % 3]")
    } else {
        format!("v % 3 == 0 ? add_{s} : v % 3 == 1 ? next_{s} : zero_{s}")
    };
    let mut functions = vec![
        format!("long add_{s}(struct {s} *a, struct {s} *b) {{ return a->key + (b ? b->key : 1); }}"),
        format!(
            "long next_{s}(struct {s} *a, struct {s} *b) {{ if (!a->other || a->other == b) return 5; return a->other->call(a->other, a); }}"
        ),
        format!("long zero_{s}(struct {s} *a, struct {s} *b) {{ return a == b; }}"),
        format!(
            "struct {s} *make_{s}(int v, struct {s} *other) {{ struct {s} *p = {new}; p->call = {pick}; p->other = other; p->key = v; {} return p; }}",
            node.fill
        ),
    ];
    if extern_table {
        functions.push(format!(
            "long (*const ops_{s}[3])(struct {s} *, struct {s} *) = {{ add_{s}, next_{s}, zero_{s} }};"
        ));
    }
    let count = 2 + r.below(20);
    Theme {
        header: format!(
            "{}long add_{s}(struct {s} *, struct {s} *); long next_{s}(struct {s} *, struct {s} *); long zero_{s}(struct {s} *, struct {s} *); struct {s} *make_{s}(int, struct {s} *);\nextern long (*const ops_{s}[3])(struct {s} *, struct {s} *);\n",
            node.declaration()
        ),
        functions,
        run: format!(
            "{{ struct {s} *o = 0; for (int i = 0; i < {count}; i++) o = make_{s}(i, o); for (struct {s} *p = o; p; p = p->other) sum += p->call(p, p->other) + {}; while (o) {{ struct {s} *q = o->other; free(o); o = q; }} }}",
            node.value
        ),
    }
}

fn copies(r: &mut Random, n: u64) -> Theme {
    let s = format!("block{n}");
    let (next, many) = (format!("struct {s} *next"), format!("struct {s} *link[4]"));
    let node = Structure::new(r, &s, &["int key", &next, &many]);
    let new = allocator(r, &s);
    let how = match r.below(6) {
        0 => "memcpy(q, p, sizeof *q);".to_string(),
        1 => "*q = *p;".to_string(),
        2 => format!("struct {s} local = *p; local.key++; *q = local; q->key--;"),
        3 => "memcpy(q, p, sizeof *q); memcpy(q->link, p->link, sizeof q->link);".to_string(),
        4 => "memset(q, 0, sizeof *q); memmove(q, p, sizeof *q);".to_string(),
        _ => "*q = *p; memcpy(&q->next, &p->next, sizeof q->next);".to_string(),
    };
    let clear = r.pick(&[
        "memset(p, 0, sizeof *p);",
        "memset(p->link, 0, sizeof p->link); p->next = 0;",
        "p->next = 0; for (int i = 0; i < 4; i++) p->link[i] = NULL;",
    ]);
    let count = 2 + r.below(25);
    Theme {
        header: format!(
            "{}struct {s} *make_{s}(int); struct {s} *copy_{s}(struct {s} *); long sum_{s}(struct {s} *);\n",
            node.declaration()
        ),
        functions: vec![
            format!(
                "struct {s} *make_{s}(int n) {{ struct {s} *first = 0; for (int v = 0; v < n; v++) {{ struct {s} *p = {new}; {clear} {} p->key = v; p->next = first; p->link[v % 4] = first; p->link[(v + 1) % 4] = p; first = p; }} return first; }}",
                node.fill
            ),
            format!("struct {s} *copy_{s}(struct {s} *p) {{ struct {s} *q = {new}; {how} return q; }}"),
            format!(
                "long sum_{s}(struct {s} *p) {{ long t = 0; for (; p; p = p->next) {{ for (int i = 0; i < 4; i++) if (p->link[i]) t += p->link[i]->key * (i + 1); else t++; t += {}; }} return t; }}",
                node.value
            ),
        ],
        run: format!(
            "{{ struct {s} *a = make_{s}({count}); if (a) {{ struct {s} *b = copy_{s}(a); sum += sum_{s}(b) - sum_{s}(a); sum += b->next == a->next; sum += b->link[0] == a->link[0]; free(b); }} sum += sum_{s}(a); while (a) {{ struct {s} *q = a->next; free(a); a = q; }} }}"
        ),
    }
}

fn sorted(r: &mut Random, n: u64) -> Theme {
    let s = format!("rec{n}");
    let next = format!("struct {s} *next");
    let node = Structure::new(r, &s, &["int key", &next]);
    let new = allocator(r, &s);
    let direct = r.chance(30);
    let count = 3 + r.below(40);
    let (functions, header);
    if direct {
        header = format!("{}int by_{s}(const void *, const void *); long run_{s}(int);\n", node.declaration());
        functions = vec![
            format!(
                "int by_{s}(const void *a, const void *b) {{ const struct {s} *x = a, *y = b; return x->key - y->key; }}"
            ),
            format!(
                "long run_{s}(int n) {{ struct {s} *all = calloc(n, sizeof *all); for (int v = 0; v < n; v++) {{ struct {s} *p = all + v; {} p->key = v * 37 % 101; p->next = v ? 0 : p; }} qsort(all, n, sizeof *all, by_{s}); long t = 0; for (int i = 0; i < n; i++) t = t * 5 % 1000003 + all[i].key; free(all); return t; }}",
                node.fill
            ),
        ];
    } else {
        header = format!("{}int by_{s}(const void *, const void *); long run_{s}(int);\n", node.declaration());
        functions = vec![
            format!(
                "int by_{s}(const void *a, const void *b) {{ struct {s} *x = *(struct {s} *const *)a, *y = *(struct {s} *const *)b; return x->key - y->key; }}"
            ),
            format!(
                "long run_{s}(int n) {{ struct {s} **all = malloc(sizeof *all * n); for (int v = 0; v < n; v++) {{ struct {s} *p = {new}; {} p->key = v * 37 % 101; p->next = v ? all[v - 1] : 0; all[v] = p; }} qsort(all, n, sizeof *all, by_{s}); long t = 0; for (int i = 0; i < n; i++) {{ t = t * 5 % 1000003 + all[i]->key; if (all[i]->next) t += all[i]->next->key; }} for (int i = 0; i < n; i++) free(all[i]); free(all); return t; }}",
                node.fill
            ),
        ];
    }
    Theme { header, functions, run: format!("sum += run_{s}({count});") }
}

fn generic(r: &mut Random, n: u64) -> Theme {
    let (s, a, b) = (format!("cons{n}"), format!("apple{n}"), format!("bear{n}"));
    let links = format!("void *car; struct {s} *cdr");
    let cons = Structure::new(r, &s, &[&links]);
    let other = format!("struct {a} *mate");
    let apple = Structure::new(r, &a, &["int key", &other]);
    let bear = Structure::new(r, &b, &["double d"]);
    let (new, new_a, new_b) = (allocator(r, &s), allocator(r, &a), allocator(r, &b));
    let both = r.chance(50);
    let second = if both {
        format!(
            "struct {s} *m = 0; for (int v = 0; v < 9; v++) {{ struct {b} *p = {new_b}; p->d = v; {} m = cons_{s}(p, m); }} for (struct {s} *q = m; q; q = q->cdr) t += (long)((struct {b} *)q->car)->d; drop_{s}(m);",
            bear.fill
        )
    } else {
        String::new()
    };
    let count = 2 + r.below(20);
    Theme {
        header: format!(
            "{}{}{}struct {s} *cons_{s}(void *, struct {s} *); void drop_{s}(struct {s} *); long run_{s}(int);\n",
            cons.declaration(),
            apple.declaration(),
            bear.declaration()
        ),
        functions: vec![
            format!(
                "struct {s} *cons_{s}(void *car, struct {s} *cdr) {{ int v = 1; struct {s} *p = {new}; p->car = car; p->cdr = cdr; {} return p; }}",
                cons.fill
            ),
            format!(
                "void drop_{s}(struct {s} *p) {{ while (p) {{ struct {s} *q = p->cdr; free(p->car); free(p); p = q; }} }}"
            ),
            format!(
                "long run_{s}(int n) {{ long t = 0; struct {s} *l = 0; struct {a} *last = 0; for (int v = 0; v < n; v++) {{ struct {a} *p = {new_a}; p->key = v; p->mate = last; last = p; {} l = cons_{s}(p, l); }} for (struct {s} *q = l; q; q = q->cdr) {{ struct {a} *x = q->car; t += x->key; if (x->mate) t += x->mate->key; }} {second} drop_{s}(l); return t; }}",
                apple.fill
            ),
        ],
        run: format!("sum += run_{s}({count});"),
    }
}

fn variadic(r: &mut Random, n: u64) -> Theme {
    let s = format!("var{n}");
    let next = format!("struct {s} *next");
    let node = Structure::new(r, &s, &["int key", &next]);
    let new = allocator(r, &s);
    Theme {
        header: format!("{}long total_{s}(int n, ...);\n", node.declaration()),
        functions: vec![format!(
            "long total_{s}(int n, ...) {{ va_list l; va_start(l, n); long t = 0; while (n--) {{ struct {s} *p = va_arg(l, struct {s} *); t = t * 3 + (p ? p->key + (p->next ? p->next->key : 0) : 2); }} va_end(l); return t; }}"
        )],
        run: format!(
            "{{ struct {s} *a = {new}, *b = {new}; a->key = 4; b->key = 9; a->next = b; b->next = 0; sum += total_{s}(3, a, b, (struct {s} *)0); free(a); free(b); }}"
        ),
    }
}

fn jumps(r: &mut Random, n: u64) -> Theme {
    let s = format!("frame{n}");
    let next = format!("struct {s} *next");
    let node = Structure::new(r, &s, &["int key", &next]);
    let new = allocator(r, &s);
    let limit = r.below(20);
    Theme {
        header: format!(
            "{}extern jmp_buf out_{s}; extern struct {s} *all_{s}; void push_{s}(int); long run_{s}(int);\n",
            node.declaration()
        ),
        functions: vec![
            format!("jmp_buf out_{s};\nstruct {s} *all_{s};"),
            format!(
                "void push_{s}(int v) {{ struct {s} *p = {new}; p->key = v; {} p->next = all_{s}; all_{s} = p; if (v == {limit}) longjmp(out_{s}, v + 1); }}",
                node.fill
            ),
            format!(
                "long run_{s}(int n) {{ all_{s} = 0; volatile long t = 0; int k = setjmp(out_{s}); if (k == 0) for (int i = 0; i < n; i++) {{ push_{s}(i); t += i; }} else t += 100 * k; struct {s} *p = all_{s}; while (p) {{ struct {s} *q = p->next; t += p->key; free(p); p = q; }} return t; }}"
            ),
        ],
        run: format!("sum += run_{s}(12);"),
    }
}

fn indirect(r: &mut Random, n: u64) -> Theme {
    let s = format!("cell{n}");
    let next = format!("struct {s} *next");
    let node = Structure::new(r, &s, &[&next, "int key"]);
    let new = allocator(r, &s);
    Theme {
        header: format!(
            "{}void put_{s}(struct {s} **, int); void each_{s}(struct {s} *, void (*)(struct {s} *, void *), void *); void add_{s}(struct {s} *, void *); int *key_{s}(struct {s} *);\n",
            node.declaration()
        ),
        functions: vec![
            format!(
                "void put_{s}(struct {s} **at, int v) {{ while (*at && (*at)->key < v) at = &(*at)->next; struct {s} *p = {new}; p->key = v; {} p->next = *at; *at = p; }}",
                node.fill
            ),
            format!(
                "void each_{s}(struct {s} *p, void (*f)(struct {s} *, void *), void *x) {{ for (; p; p = p->next) f(p, x); }}"
            ),
            format!("void add_{s}(struct {s} *p, void *x) {{ *(long *)x += p->key + {}; }}", node.value),
            format!("int *key_{s}(struct {s} *p) {{ return p ? &p->key : NULL; }}"),
        ],
        run: format!(
            "{{ struct {s} *l = 0; for (int i = 0; i < 15; i++) put_{s}(&l, i * 7 % 11); long t = 0; each_{s}(l, add_{s}, &t); sum += t; if (key_{s}(l)) ++*key_{s}(l); sum += *key_{s}(l); while (l) {{ struct {s} *q = l->next; free(l); l = q; }} sum += key_{s}(l) == 0; }}"
        ),
    }
}

fn pairs(r: &mut Random, n: u64) -> Theme {
    let s = format!("half{n}");
    let next = format!("struct {s} *next");
    let node = Structure::new(r, &s, &["int key", &next]);
    let new = allocator(r, &s);
    let size = if r.chance(50) { "struct" } else { "int pad[6]; struct" };
    Theme {
        header: format!(
            "{}struct two_{s} {{ {size} {s} *a; struct {s} *b; }};\nstruct two_{s} split_{s}(struct {s} *); struct {s} *join_{s}(struct two_{s});\n",
            node.declaration()
        ),
        functions: vec![
            format!(
                "struct two_{s} split_{s}(struct {s} *p) {{ struct two_{s} t; memset(&t, 0, sizeof t); while (p) {{ struct {s} *q = p->next; if (p->key % 2) {{ p->next = t.a; t.a = p; }} else {{ p->next = t.b; t.b = p; }} p = q; }} return t; }}"
            ),
            format!(
                "struct {s} *join_{s}(struct two_{s} t) {{ if (!t.a) return t.b; struct {s} *p = t.a; while (p->next) p = p->next; p->next = t.b; return t.a; }}"
            ),
        ],
        run: format!(
            "{{ struct {s} *l = 0; for (int v = 0; v < 10; v++) {{ struct {s} *p = {new}; p->key = v; {} p->next = l; l = p; }} struct two_{s} t = split_{s}(l); for (struct {s} *p = t.a; p; p = p->next) sum += p->key; l = join_{s}(t); while (l) {{ struct {s} *q = l->next; sum = sum * 3 % 100003 + l->key; free(l); l = q; }} }}",
            node.fill
        ),
    }
}

fn linked_globals(r: &mut Random, n: u64) -> Theme {
    let s = format!("glob{n}");
    let next = format!("struct {s} *next");
    let node = Structure::new(r, &s, &[&next, "int key"]);
    let new = allocator(r, &s);
    let merge = r.chance(50);
    let start = if merge { format!("&c_{s}") } else { "0".to_string() };
    Theme {
        header: format!(
            "{}extern struct {s} a_{s}, c_{s}, *head_{s}; extern struct {s} *rows_{s}[8]; void add_{s}(int); long sum_{s}(void);\n",
            node.declaration()
        ),
        functions: vec![
            format!(
                "struct {s} c_{s} = {{ .key = 11 }}, a_{s} = {{ .next = &c_{s}, .key = 5 }}, *head_{s} = {start};\nstruct {s} *rows_{s}[8];"
            ),
            format!(
                "void add_{s}(int v) {{ struct {s} *p = {new}; p->key = v; {} p->next = head_{s}; head_{s} = p; rows_{s}[v & 7] = p; }}",
                node.fill
            ),
            format!(
                "long sum_{s}(void) {{ long t = a_{s}.key + a_{s}.next->key; for (struct {s} *p = head_{s}; p; p = p->next) t = t * 3 % 65537 + p->key; for (int i = 0; i < 8; i++) if (rows_{s}[i]) t += rows_{s}[i]->key; return t; }}"
            ),
        ],
        run: format!("for (int i = 0; i < 9; i++) add_{s}(i * i); sum += sum_{s}();"),
    }
}

fn strings(r: &mut Random, n: u64) -> Theme {
    let s = format!("word{n}");
    let links = format!("char *text; struct {s} *left, *right");
    let node = Structure::new(r, &s, &[&links, "int count"]);
    let new = allocator(r, &s);
    let dup = match r.below(3) {
        0 => "strdup(w)".to_string(),
        1 => format!("copy_{s}(w)"),
        _ => "strcpy(malloc(strlen(w) + 1), w)".to_string(),
    };
    Theme {
        header: format!(
            "{}char *copy_{s}(const char *); struct {s} *add_{s}(struct {s} *, const char *); long show_{s}(struct {s} *);\n",
            node.declaration()
        ),
        functions: vec![
            format!(
                "char *copy_{s}(const char *w) {{ size_t n = strlen(w) + 1; char *p = xmalloc(n); memcpy(p, w, n); return p; }}"
            ),
            format!(
                "struct {s} *add_{s}(struct {s} *p, const char *w) {{ if (!p) {{ int v = 2; p = {new}; p->text = {dup}; p->left = p->right = 0; p->count = 1; {} return p; }} int c = strcmp(w, p->text); if (c < 0) p->left = add_{s}(p->left, w); else if (c > 0) p->right = add_{s}(p->right, w); else p->count++; return p; }}",
                node.fill
            ),
            format!(
                "long show_{s}(struct {s} *p) {{ if (!p) return 0; long t = show_{s}(p->left); printf(\"%s %d \", p->text, p->count); t += show_{s}(p->right) + p->count + (long)strlen(p->text); free(p->text); free(p); return t; }}"
            ),
        ],
        run: format!(
            "{{ struct {s} *t = 0; char b[20]; for (int i = 0; i < 30; i++) {{ snprintf(b, sizeof b, \"w%d\", i * i % 17); t = add_{s}(t, b); }} sum += show_{s}(t); }}"
        ),
    }
}
