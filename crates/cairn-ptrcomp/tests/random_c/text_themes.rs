//! Themes whose structures have text in them, which the C library writes and reads.

use super::themes::allocator;
use super::{Random, Structure, Theme};

/// A list of nodes with names, in a random place among their pointers.
pub fn names(r: &mut Random, n: u64) -> Theme {
    let s = format!("name{n}");
    let (next, other) = (format!("struct {s} *next"), format!("struct {s} *other"));
    let short = r.pick(&["char mail[7]", "unsigned char mail[8]", "char mail[2][6]"]);
    let node = Structure::new(r, &s, &["char name[13]", &next, &other, short, "short key"]);
    let mail = if short.contains("[2]") { "p->mail[v & 1]" } else { "(char *)p->mail" };
    let (new, fill, value) = (allocator(r, &s), &node.fill, &node.value);
    let write = r.pick(&[
        "sprintf(p->name, \"n%d\", v);",
        "snprintf(p->name, sizeof p->name, \"%d and %d\", v, v * 31);",
        "strcpy(p->name, v % 2 ? \"odd\" : \"even\"); strcat(p->name, v % 3 ? \"!\" : \"\");",
        "strncpy(p->name, \"a text that is cut\", 12); p->name[12] = 0; p->name[v % 5] = 'x';",
        "memset(p->name, 'a' + v % 20, 9); p->name[9] = 0;",
        "memset(p->name, 0, 13); memcpy(p->name, \"literal\", 8); p->name[6] = (char)('a' + v % 7);",
    ]);
    let read = r.pick(&[
        "strlen(p->name) + (strcmp(p->name, p->other->name) < 0)",
        "atoi(p->name + 1) + (memcmp(p->name, p->other->name, 4) == 0)",
        "look(p->name) + look(p->other->name + 1)",
        "strtol(p->name + 1, 0, 10) + strspn(p->name, \"even\")",
        "p->name[0] + p->other->name[2] * 3 + (strncmp(p->name, \"odd\", 2) == 0)",
    ]);
    let look = r.pick(&[
        "long t = 0; if (*text) t = strlen(text); return t;",
        "char copy[40]; return sprintf(copy, \"%s.\", text);",
    ]);
    let (look_name, read) = (format!("look_{s}"), read.replace("look(", &format!("look_{s}(")));
    let make = format!(
        "struct {s} *make_{s}(int v, struct {s} *l) {{ struct {s} *p = {new}; p->key = (short)v; p->next = l; p->other = l && v % 3 ? l->other : p; memset(p->mail, 0, sizeof p->mail); {fill} {write} sprintf({mail}, \"%d\", v % 1000); return p; }}"
    );
    let walk = format!(
        "long walk_{s}(struct {s} *p) {{ long t = 0; for (; p; p = p->next) {{ int v = p->key; t = (t * 3 + {read} + strlen({mail}) + {value}) % 65537; }} return t; }}"
    );
    let look = format!("long {look_name}(const char *text) {{ {look} }}");
    let use_all = format!(
        "long use_{s}(int k) {{ struct {s} *l = 0; for (int v = 0; v < k; v++) l = make_{s}(v * 7, l); if (l) {{ struct {s} *c = malloc(sizeof *c); *c = *l; l->other = c; }} long t = walk_{s}(l); if (l && l->other != l) free(l->other); while (l) {{ struct {s} *q = l->next; free(l); l = q; }} return t; }}"
    );
    Theme {
        header: format!(
            "{}struct {s} *make_{s}(int, struct {s} *); long walk_{s}(struct {s} *); long use_{s}(int); long {look_name}(const char *);\n",
            node.declaration()
        ),
        functions: vec![make, walk, look, use_all],
        run: format!("for (int i = 0; i < {}; i++) sum = sum * 5 % 1000003 + use_{s}(i * 9);", 6 + r.below(12)),
    }
}
