//! `define-record-type`.
//!
//! ```text
//! (define-record-type point          point      = (%make-record-type 'point '(x y) …)
//!   (make-point x y)                 make-point = (lambda (x y) (%record point x y))
//!   point?                       ⟶   point?     = (lambda (r) (%record-instance? r point))
//!   (x point-x)                      point-x    = (lambda (r) (%record-ref r point 0))
//!   (y point-y set-point-y!))        point-y    = …
//! ```
//!
//! Besides R7RS: `(point parent option …)` in the place of the name, as in SRFI 131 and 136, where the parent may be
//! `#f` and the option `sealed`; `((x f64) point-x …)` in the place of a field says what it holds ([`FieldKind`]). A
//! type all of whose fields hold numbers, characters and booleans has raw records.
//!
//! The option `compact`, which may also stand where the parent does, makes records compact
//! (`cairn_layout::object::record::compact`). Whether the collector has any is the business of those who come later.
//!
//! Checks in accessors carry their names, so that a failing one can say `point-x`, and no position: inlined or not, the
//! error is where the accessor is called. Angle brackets around the type's name are left out of the name that people
//! see.
//!
//! Compiled code trusts a type word to say how long its records are. So what constructors and accessors use is a
//! variable of their own, which no program can assign or define again; the type's name is another one.

use super::items::{Item, Rhs};
use super::meaning::{Binding, Meaning, Target};
use super::prims::{prim_at, prim_proven};
use super::record_code::{all_of, code, fixnum, load, raw_record, store};
use super::record_info::{Field, FieldInfo, RecordInfo, Referent, Shape};
use super::record_parts::Copying;
use super::state::{Expander, R};
use crate::diagnostic::Span;
use crate::syntax::{Datum, Ident, Syntax};
use cairn_core::ir::{Clause, Expr, Lambda, Literal, VarId};
use cairn_core::prim::{MAKE_RECORD_SUBTYPE, MAKE_RECORD_TYPE, Op, PrimOp, RECORD_FILL};
use cairn_layout::code::Site;
use cairn_layout::fields::Fields;
use cairn_layout::object::record::compact::{self, Mode};
use cairn_layout::object::record::{self, FieldKind, Slot};
use cairn_layout::value::{FIXNUM_MAX, FIXNUM_MIN};
use cairn_num::Number;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

const HELP: &str = "(define-record-type name (constructor field …) predicate (field accessor [modifier]) …)";
const KINDS: &str = "a field is (name accessor [modifier]) or ((name kind) accessor [modifier]), \
                     kind: f64 f32 i8 i16 i32 i64 u8 u16 u32 u64 char bool (ref record-type) (array kind length) \
                     (inline record-type)";

/// Parent and options of a type.
#[derive(Default)]
struct Header {
    parent: Option<Rc<RecordInfo>>,
    sealed: bool,
    compact: bool,
}

impl Expander<'_> {
    pub(super) fn scan_record(&mut self, form: &Syntax, parts: &[Syntax], items: &mut Vec<Item>) -> R<()> {
        let [_, name, constructor, predicate, fields @ ..] = parts else {
            return self.takes(form.span, parts, "a name, a constructor, a predicate and fields", HELP);
        };
        let (type_id, header) = match (name.as_ident(), name.as_list()) {
            (Some(id), _) => (id, Header::default()),
            (None, Some([first, rest @ ..])) if first.as_ident().is_some() => {
                (first.as_ident().unwrap_or(Ident(0)), self.record_header(rest)?)
            }
            _ => return self.err_help(name.span, "the name of the record type is expected here", HELP),
        };
        let public = self.declare(type_id, name.span)?;
        let rtd = self.hidden(public, type_id);
        let specs = self.record_fields(fields)?;
        let header = self.may_be_compact(header, type_id, &specs, public);
        let info = Rc::new(self.record_info(&specs, &header, (rtd, public), form.span)?);
        self.s.record_types.insert(public, info.clone());
        let made = self.record_type(type_id, &info, &header, specs.len(), form.span);
        self.built(items, rtd, type_id, made);
        // a constructor of the same name would define the variable again at once
        let head = constructor.as_list().and_then(|list| list.first()).unwrap_or(constructor);
        let in_program = self.ctx.depth == 0 && self.module().name.is_none();
        let same_name = in_program && rtd != public && head.as_ident() == Some(type_id);
        if rtd != public && !same_name {
            let same = self.target(rtd, name.span);
            self.built(items, public, type_id, same);
        }
        self.record_constructor(constructor, &info, same_name.then_some(public), items)?;
        match (&predicate.datum, predicate.as_ident()) {
            (_, Some(id)) => {
                let target = self.declare(id, predicate.span)?;
                let op = if info.compact { Op::IsCompact } else { Op::IsInstance };
                let is_a = |rtd, vars: &[VarId], site| prim_at(op, vec![Expr::Local(vars[0]), rtd], site);
                self.record_lambda(items, target, (id, predicate.span), &["object"], is_a, rtd);
            }
            (Datum::Bool(false), _) => {}
            _ => return self.err_help(predicate.span, "the name of the predicate is expected here", HELP),
        }
        let first = info.fields.len() - specs.len();
        for (spec, field) in specs.iter().zip(&info.fields[first..]) {
            if field.is_several() {
                self.several_operations(spec, field, &info, items)?;
                continue;
            }
            if let Some((id, span)) = spec.accessor {
                let target = self.declare(id, span)?;
                let slot = field.slot;
                let get = |rtd, vars: &[VarId], site| load(Expr::Local(vars[0]), rtd, slot, site);
                self.record_lambda(items, target, (id, span), &["record"], get, rtd);
            }
            if let Some((id, span)) = spec.modifier {
                let target = self.declare(id, span)?;
                let site = self.accessor_site(id);
                let value = self.s.program.fresh_var("value");
                let who = self.name(id).clone();
                let checked = self.checked_reference(field, value, &who, site, span)?;
                let (slot, reference) = (field.slot, field.of.is_some());
                let set = |rtd, vars: &[VarId], site| {
                    if !reference {
                        return store(Expr::Local(vars[0]), rtd, slot, Expr::Local(vars[1]), site);
                    }
                    let store = store(Expr::Local(vars[0]), rtd, slot, checked.clone(), site);
                    let value_of = Expr::Local(vars[1]);
                    Expr::Let(vec![(value, value_of)], store.into())
                };
                self.record_lambda(items, target, (id, span), &["record", "value"], set, rtd);
            }
        }
        Ok(())
    }

    /// Notes the types that a text of the program extends, or makes structure vectors of: such types are not compact
    /// unless they are declared so.
    pub(super) fn note_extended(&mut self, x: &Syntax) {
        if self.s.compact.mode != Mode::Auto {
            return;
        }
        let Some(parts) = x.as_list() else { return };
        let head = parts.first().and_then(|h| h.as_ident()).map(|id| self.name(id).to_string());
        let noted = match (head.as_deref(), parts.get(1)) {
            (Some("define-record-type"), Some(name)) => name.as_list().and_then(|name| name.get(1)),
            (Some("define-structure-vector"), name) => name,
            _ => None,
        };
        if let Some(id) = noted.and_then(|x| x.as_ident()) {
            let name = self.name(id).clone();
            self.s.extended.insert(name);
        }
        parts.iter().for_each(|part| self.note_extended(part));
    }

    /// Whether the type is compact, for which that is left to the session.
    fn may_be_compact(&self, header: Header, id: Ident, specs: &[Field], public: Target) -> Header {
        let mode = self.s.compact.mode;
        if header.compact && mode == Mode::Off {
            return Header { compact: false, sealed: true, ..header };
        }
        if mode != Mode::Auto || header.parent.is_some() || self.s.main != Some(self.ctx.module) {
            return header;
        }
        // Records with links of their own, of nothing but what compact records can hold; and nobody extends them.
        let own = |f: &Field| f.of.as_ref().is_some_and(|(of, _)| *of == public);
        let compact = |(of, _): &Referent| self.s.record_types.get(of).is_some_and(|info| info.compact);
        let fits = |f: &Field| match f.kind {
            FieldKind::Any => false,
            FieldKind::Ref => own(f) || f.of.as_ref().is_some_and(compact),
            _ => matches!(f.shape, Shape::Single),
        };
        let auto = specs.iter().all(fits)
            && specs.iter().any(own)
            && specs.len() <= compact::FIELDS_MAX
            && !self.s.extended.contains(self.name(id));
        Header { compact: header.compact || auto, ..header }
    }

    /// The variable that constructors and accessors use: in Cairn's own libraries the type's name will do.
    fn hidden(&mut self, public: Target, id: Ident) -> Target {
        let name = self.name(id).clone();
        match public {
            _ if self.module().builtin => public,
            Target::Local(_) => Target::Local(self.s.program.fresh_var(&name)),
            Target::Global(_) => {
                let g = self.fresh_global(&name, false);
                self.s.program.globals[g.0 as usize].hidden = true;
                Target::Global(g)
            }
        }
    }

    /// `parent option …`
    fn record_header(&mut self, parts: &[Syntax]) -> R<Header> {
        const HELP: &str = "(define-record-type (name parent) …) or (define-record-type (name #f sealed) …)";
        let [parent, options @ ..] = parts else { return Ok(Header::default()) };
        let is_compact = |id: Ident| &**self.name(id) == "compact" && self.record_named(id).is_none();
        let mut header = Header::default();
        let extended = match (&parent.datum, parent.as_ident()) {
            (Datum::Bool(false), _) => None,
            (_, Some(id)) if is_compact(id) => {
                header.compact = true;
                None
            }
            (_, Some(id)) => {
                let Some((_, info)) = self.record_named(id) else {
                    let message = format!("`{}` is no record type that is known here", self.name(id));
                    return self.err_help(parent.span, message, HELP);
                };
                if info.compact {
                    let message = format!("the record type `{}` is compact: nothing can extend it", self.name(id));
                    return self.err(parent.span, message);
                }
                if info.sealed {
                    let message = format!("the record type `{}` is sealed: nothing can extend it", self.name(id));
                    return self.err(parent.span, message);
                }
                Some(info)
            }
            _ => return self.err_help(parent.span, "the record type to extend is expected here", HELP),
        };
        header.parent = extended;
        for option in options {
            match option.as_ident().map(|id| self.name(id).to_string()).as_deref() {
                Some("sealed") => header.sealed = true,
                Some("compact") if header.parent.is_some() => {
                    return self.err(option.span, "a compact record type extends no other");
                }
                Some("compact") => header.compact = true,
                _ => return self.err_help(option.span, "no option of a record type", HELP),
            }
        }
        Ok(header)
    }

    /// The record type that an identifier stands for, and its variable.
    pub(super) fn record_named(&self, id: Ident) -> Option<(Target, Rc<RecordInfo>)> {
        let target = match self.resolve(id) {
            Meaning::Bound(Binding::Local(v)) => Target::Local(v),
            Meaning::Bound(Binding::Global(g)) => Target::Global(g),
            _ => return None,
        };
        self.s.record_types.get(&target).map(|info| (target, info.clone()))
    }

    fn record_fields(&mut self, specs: &[Syntax]) -> R<Vec<Field>> {
        let mut fields: Vec<Field> = Vec::new();
        let mut seen = FxHashSet::default();
        for spec in specs {
            let all = match spec.as_ident() {
                Some(_) => std::slice::from_ref(spec),
                None => spec.as_list().unwrap_or(&[]),
            };
            let [name, procedures @ ..] = all else { return self.err_help(spec.span, "not a field", HELP) };
            let (id, (kind, of, shape)) = match (name.as_ident(), name.as_list()) {
                (Some(id), _) => (id, (FieldKind::Any, None, Shape::Single)),
                (None, Some([id, kind])) if id.as_ident().is_some() => {
                    (id.as_ident().unwrap_or(Ident(0)), self.field_kind(kind)?)
                }
                _ => return self.err_help(spec.span, "not a field", HELP),
            };
            let ids: Option<Vec<(Ident, Span)>> =
                procedures.iter().map(|x| x.as_ident().map(|id| (id, x.span))).collect();
            let Some(ids) = ids.filter(|ids| ids.len() <= 2) else {
                return self.err_help(spec.span, "not a field", HELP);
            };
            if !seen.insert(id) {
                return self.err(spec.span, format!("the field `{}` appears twice", self.name(id)));
            }
            let (accessor, modifier) = (ids.first().copied(), ids.get(1).copied());
            fields.push(Field { id, kind, of, shape, accessor, modifier });
        }
        Ok(fields)
    }

    fn field_kind(&mut self, x: &Syntax) -> R<(FieldKind, Option<Referent>, Shape)> {
        let parts = x.as_list().unwrap_or(&[]);
        match parts.first().and_then(|word| word.as_ident()).map(|id| self.name(id).to_string()).as_deref() {
            Some("array") => return self.array_kind(x, parts),
            Some("inline") => return self.inline_kind(x, parts),
            _ => {}
        }
        if let Some([word, of]) = x.as_list()
            && let (Some(word), Some(id)) = (word.as_ident(), of.as_ident())
            && &**self.name(word) == "ref"
        {
            let target = match self.resolve(id) {
                Meaning::Bound(Binding::Local(v)) => Target::Local(v),
                Meaning::Bound(Binding::Global(g)) => Target::Global(g),
                _ => {
                    let message = format!("`{}` is no record type that is known here", self.name(id));
                    return self.err_help(of.span, message, KINDS);
                }
            };
            return Ok((FieldKind::Ref, Some((target, self.name(id).clone())), Shape::Single));
        }
        let kind = x.as_ident().and_then(|id| FieldKind::by_name(self.name(id)));
        match kind {
            Some(FieldKind::Ref) | None => self.err_help(x.span, "no kind of field", KINDS),
            Some(kind) => Ok((kind, None, Shape::Single)),
        }
    }

    /// Lays the fields out.
    fn record_info(
        &mut self,
        specs: &[Field],
        header: &Header,
        (rtd, public): (Target, Target),
        span: Span,
    ) -> R<RecordInfo> {
        if header.compact {
            return self.compact_info(specs, (rtd, public), span);
        }
        let parent = header.parent.as_deref();
        let mut fields = parent.map(|p| p.fields.clone()).unwrap_or_default();
        let mut layout = match parent {
            Some(p) => Fields { raw: p.raw, count: p.words, bytes: p.bytes },
            None => Fields::none(specs.iter().map(|f| f.kind)),
        };
        if specs.iter().any(|f| !layout.fits(f.kind)) {
            let message = "what this type extends has raw records, so all its fields must hold numbers, \
                           characters or booleans";
            return self.err_help(span, message, KINDS);
        }
        // an inherited field may have the same name: a constructor that names it means the own one
        let mut names: FxHashSet<Rc<str>> = FxHashSet::default();
        for spec in specs {
            let name = self.name(spec.id).clone();
            if !names.insert(name.clone()) {
                return self.err(span, format!("the field `{name}` appears twice"));
            }
            let (slot, shape) = (layout.add_extent(spec.kind, spec.extent()), spec.shape.clone());
            fields.push(FieldInfo { name, slot, of: spec.of.clone(), shape });
        }
        if layout.too_many() {
            return self.err(span, "a record type with too many fields");
        }
        let (parent, sealed) = (header.parent.clone(), header.sealed);
        let (raw, bytes, words) = (layout.raw, layout.bytes, layout.count);
        Ok(RecordInfo { rtd, parent, fields, raw, compact: false, sealed, bytes, words })
    }

    /// Lays the fields of a compact type out.
    fn compact_info(&mut self, specs: &[Field], (rtd, public): (Target, Target), span: Span) -> R<RecordInfo> {
        const HELP: &str = "a field of a compact record type is ((name kind) accessor [modifier]), \
                            kind: f64 f32 i8 i16 i32 i64 u8 u16 u32 u64 char bool (ref compact-type)";
        let mut kinds = Vec::new();
        for spec in specs {
            if spec.kind == FieldKind::Any {
                let message =
                    format!("the field `{}` of a compact record type must say what it holds", self.name(spec.id));
                return self.err_help(span, message, HELP);
            }
            let own = spec.of.as_ref().is_some_and(|(of, _)| *of == public);
            if let Some((of, name)) = spec.of.as_ref().filter(|_| !own)
                && self.s.record_types.get(of).is_some_and(|info| !info.compact)
            {
                let message = format!("a compact record type refers to `{name}`, which is not compact");
                return self.err_help(span, message, HELP);
            }
            kinds.push((spec.kind, own));
        }
        let Some(slots) = compact::slots(&kinds, self.s.compact.widths) else {
            return self.err_help(span, "a compact record type has between 1 and 255 fields", HELP);
        };
        let mut fields = Vec::new();
        for (spec, slot) in specs.iter().zip(slots) {
            if !matches!(spec.shape, Shape::Single) {
                let name = self.name(spec.id);
                let message = format!("the field `{name}` of a compact record type holds one value");
                return self.err_help(span, message, HELP);
            }
            let name = self.name(spec.id).clone();
            // The type itself is the one that nobody can define again.
            let of = spec.of.clone().map(|(of, name)| (if of == public { rtd } else { of }, name));
            fields.push(FieldInfo { name, slot, of, shape: Shape::Single });
        }
        let words = fields.len() as u32;
        Ok(RecordInfo { rtd, parent: None, fields, raw: false, compact: true, sealed: true, bytes: 0, words })
    }

    /// The expression that makes the type.
    fn record_type(&mut self, id: Ident, info: &RecordInfo, header: &Header, own: usize, span: Span) -> Expr {
        let full_name = self.name(id).clone();
        let shown = full_name.strip_prefix('<').and_then(|n| n.strip_suffix('>')).unwrap_or(&full_name);
        let mut fields = Literal::Nil;
        for f in info.fields[info.fields.len() - own..].iter().rev() {
            let name = Literal::Symbol(f.name.clone());
            let field = match f.slot.kind {
                _ if f.is_several() => Literal::Pair(Rc::new((name, f.described()))),
                FieldKind::Any => name,
                _ => Literal::Pair(Rc::new((name, fixnum(f.slot.code())))),
            };
            fields = Literal::Pair(Rc::new((field, fields)));
        }
        let about = info.length() << record::DESCRIBED_LENGTH_SHIFT
            | if info.raw { record::RAW } else { 0 }
            | if info.sealed { record::SEALED } else { 0 }
            | if info.compact { record::COMPACT } else { 0 };
        let mut args = vec![Expr::Const(Literal::Symbol(shown.into())), Expr::Const(fields)];
        args.push(Expr::Const(fixnum(about)));
        let op = match &header.parent {
            None => MAKE_RECORD_TYPE,
            Some(parent) => {
                args.push(self.target(parent.rtd, span));
                MAKE_RECORD_SUBTYPE
            }
        };
        Expr::Prim { op, args, site: self.site(span), proven: 0 }
    }

    /// `declared`: its variable, if that is the type's.
    fn record_constructor(
        &mut self,
        x: &Syntax,
        info: &RecordInfo,
        declared: Option<Target>,
        items: &mut Vec<Item>,
    ) -> R<()> {
        if let Datum::Bool(false) = x.datum {
            return Ok(());
        }
        let fields = &info.fields;
        let (id, id_span, chosen): (Ident, Span, Vec<usize>) = match (x.as_ident(), x.as_list()) {
            (Some(id), _) => (id, x.span, (0..fields.len()).collect()),
            (None, Some([name, params @ ..])) if name.as_ident().is_some() => {
                let places: FxHashMap<&str, usize> =
                    fields.iter().enumerate().map(|(i, f)| (&*f.name, i)).collect();
                let mut seen = FxHashSet::default();
                let mut chosen = Vec::new();
                for p in params {
                    let Some(&i) = p.as_ident().and_then(|id| places.get(&**self.name(id))) else {
                        let message = format!("`{}` is not a field of this record", self.source_text(p));
                        return self.err_help(p.span, message, HELP);
                    };
                    if !seen.insert(i) {
                        return self.err(p.span, "this field is initialized twice");
                    }
                    chosen.push(i);
                }
                (name.as_ident().unwrap_or(Ident(0)), name.span, chosen)
            }
            _ => return self.err_help(x.span, "the constructor is expected here", HELP),
        };
        let target = match declared {
            Some(target) => target,
            None => self.declare(id, id_span)?,
        };
        let names: Vec<Rc<str>> = chosen.iter().map(|i| fields[*i].name.clone()).collect();
        let names: Vec<&str> = names.iter().map(|n| &**n).collect();
        let make = self.record_maker(info, chosen, (id, id_span))?;
        self.record_lambda(items, target, (id, id_span), &names, make, info.rtd);
        Ok(())
    }

    /// What makes the expression that makes a record, from the type, the variables with the values of these fields, and
    /// the site of their checks, which carry the name `id` and the field's.
    pub(super) fn record_maker<'i>(
        &mut self,
        info: &'i RecordInfo,
        chosen: Vec<usize>,
        (id, id_span): (Ident, Span),
    ) -> R<impl Fn(Expr, &[VarId], Site) -> Expr + use<'i>> {
        let fields = &info.fields;
        let site = self.accessor_site(id);
        let record = self.s.program.fresh_var("record");
        let mut checked = Vec::new();
        for i in &chosen {
            let value = self.s.program.fresh_var(&fields[*i].name);
            let who = format!("{}: field {}", self.name(id), fields[*i].name);
            let own = if self.module().builtin {
                site
            } else {
                Site::NONE.with_who(Some(self.s.program.procedure_name(&who)))
            };
            let checked_value = match &fields[*i].shape {
                Shape::Single => self.checked_reference(&fields[*i], value, &who, own, id_span)?,
                Shape::Array(_) => Expr::Const(Literal::String(who.into())),
                Shape::Inline(_) => Expr::Const(Literal::Unspecified),
            };
            checked.push((value, checked_value, own));
        }
        let mut copies: FxHashMap<usize, Copying> = FxHashMap::default();
        for i in &chosen {
            if let Shape::Inline(inner) = &fields[*i].shape {
                copies.insert(*i, self.copying(&fields[*i], inner, id_span));
            }
        }
        Ok(move |rtd: Expr, vars: &[VarId], site| {
            let places: FxHashMap<usize, usize> = chosen.iter().enumerate().map(|(p, i)| (*i, p)).collect();
            let given = |i: usize| places.get(&i).copied();
            let plain = |f: &FieldInfo| f.slot.kind == FieldKind::Any;
            let fresh = if info.compact {
                prim_at(Op::CompactRecord, vec![rtd.clone(), Expr::Const(fixnum(info.length()))], Site::NONE)
            } else if info.raw {
                raw_record(rtd.clone(), info.length())
            } else {
                let mut args = vec![rtd.clone()];
                for (i, f) in fields.iter().enumerate() {
                    match given(i).filter(|_| plain(f)) {
                        Some(p) => args.push(Expr::Local(vars[p])),
                        None => args.extend(f.leaves().map(|slot| Expr::Const(initial(slot.kind)))),
                    }
                }
                Expr::Prim { op: PrimOp::Record, args, site, proven: 0 }
            };
            let mut stores = Vec::new();
            for (p, i) in chosen.iter().enumerate().filter(|(_, i)| !plain(&fields[**i])) {
                let (value, checked, own) = checked[p].clone();
                if let Shape::Array(n) = fields[*i].shape {
                    let args = vec![
                        Expr::Local(record),
                        code(fields[*i].slot),
                        Expr::Const(fixnum(n.into())),
                        Expr::Local(vars[p]),
                        checked,
                    ];
                    stores.push(Expr::Prim { op: RECORD_FILL, args, site: own, proven: 0 });
                    continue;
                }
                if let Some(copying) = copies.get(i) {
                    stores.push(copying.store_in((record, &rtd, 1), vars[p], own));
                    continue;
                }
                let reference = fields[*i].of.is_some();
                let checked = if reference { checked } else { Expr::Local(vars[p]) };
                let mut store = store(Expr::Local(record), rtd.clone(), fields[*i].slot, checked, own);
                if let Expr::Prim { proven, .. } = &mut store {
                    *proven = 1;
                }
                stores.push(if reference {
                    Expr::Let(vec![(value, Expr::Local(vars[p]))], store.into())
                } else {
                    store
                });
            }
            for f in fields.iter().enumerate().filter(|(i, _)| info.compact && given(*i).is_none()).map(|(_, f)| f)
            {
                let zero = Expr::Const(initial(f.slot.kind));
                let mut store = store(Expr::Local(record), rtd.clone(), f.slot, zero, site);
                if let Expr::Prim { proven, .. } = &mut store {
                    *proven = 1;
                }
                stores.push(store);
            }
            if stores.is_empty() {
                return fresh;
            }
            stores.push(Expr::Local(record));
            Expr::Let(vec![(record, fresh)], Expr::Seq(stores).into())
        })
    }

    /// The value of a variable that is to be stored in a field; of references, it is checked what they refer to.
    fn checked_reference(&mut self, field: &FieldInfo, v: VarId, who: &str, site: Site, span: Span) -> R<Expr> {
        let Some((of, name)) = field.of.clone() else { return Ok(Expr::Local(v)) };
        let shown = name.strip_prefix('<').and_then(|n| n.strip_suffix('>')).unwrap_or(&name);
        let who = Literal::String(who.into());
        let expected = Literal::String(format!("a record of type {shown} or #f").into());
        let wrong = self.library_procedure("control", "wrong-type", span)?;
        let args = vec![Expr::Const(who), Expr::Const(expected), Expr::Local(v)];
        let wrong = Expr::Call(wrong.into(), args, self.site(span));
        let is_a = self.is_of(of, v, site, field.slot.compact.is_some(), span);
        let other = Expr::If(Expr::Local(v).into(), wrong.into(), Expr::Local(v).into());
        Ok(Expr::If(is_a.into(), Expr::Local(v).into(), other.into()))
    }

    /// Is it a record of the type in this variable, which has compact records for certain, or may have?
    fn is_of(&mut self, of: Target, v: VarId, site: Site, compact: bool, span: Span) -> Expr {
        let known = self.s.record_types.get(&of).map(|info| info.compact);
        let rtd = self.target(of, span);
        let ask = |op| prim_at(op, vec![Expr::Local(v), rtd.clone()], site);
        match known {
            _ if compact => ask(Op::IsCompact),
            Some(true) => ask(Op::IsCompact),
            Some(false) => ask(Op::IsInstance),
            None => Expr::If(
                ask(Op::IsInstance).into(),
                Expr::Const(Literal::Bool(true)).into(),
                ask(Op::IsCompact).into(),
            ),
        }
    }

    /// Do the variables certainly hold what the fields may, which for integers of 64 bits is that they are fixnums?
    /// `None`: they always do.
    pub(super) fn fields_fit(&mut self, info: &RecordInfo, values: &[VarId], span: Span) -> Option<Expr> {
        let ask = |op, args: Vec<Expr>| prim_at(op, args, Site::NONE);
        let known = |op: Op, args| prim_proven(op, args, 3);
        let mut tests = Vec::new();
        for (f, v) in info.fields.iter().zip(values) {
            let x = || Expr::Local(*v);
            let either = |a: Expr, b: Expr| Expr::If(a.into(), Expr::Const(Literal::Bool(true)).into(), b.into());
            let is = |b: bool| ask(Op::Eq, vec![x(), Expr::Const(Literal::Bool(b))]);
            match f.slot.kind {
                FieldKind::Any => {}
                FieldKind::F64 | FieldKind::F32 => tests.push(ask(Op::IsFlonum, vec![x()])),
                FieldKind::Char => tests.push(ask(Op::IsChar, vec![x()])),
                FieldKind::Bool => tests.push(either(is(true), is(false))),
                FieldKind::Ref => {
                    let Some((of, _)) = &f.of else { continue };
                    let is_a = self.is_of(*of, *v, Site::NONE, false, span);
                    tests.push(either(is_a, is(false)));
                }
                kind => {
                    let (lo, hi) = kind.integers().expect("a field of integers");
                    let end = |n: i128| Expr::Const(fixnum(n as i64));
                    tests.push(ask(Op::IsFixnum, vec![x()]));
                    if lo >= FIXNUM_MIN.into() {
                        tests.push(known(Op::FxLe, vec![end(lo), x()]));
                    }
                    if hi <= FIXNUM_MAX.into() {
                        tests.push(known(Op::FxLe, vec![x(), end(hi)]));
                    }
                }
            }
        }
        (!tests.is_empty()).then(|| all_of(tests))
    }

    pub(super) fn record_lambda(
        &mut self,
        items: &mut Vec<Item>,
        target: Target,
        (id, span): (Ident, Span),
        params: &[&str],
        body: impl Fn(Expr, &[VarId], Site) -> Expr,
        rtd: Target,
    ) {
        let params: Vec<VarId> = params.iter().map(|p| self.s.program.fresh_var(p)).collect();
        let site = self.site(span);
        let rtd = self.target(rtd, span);
        let body = body(rtd, &params, self.accessor_site(id));
        if let Target::Global(g) = target {
            self.s.program.globals[g.0 as usize].operation = true;
        }
        let clauses = vec![Clause { params, rest: None, body }];
        let called = self.called(id);
        let e = Expr::Lambda(Lambda { name: self.name(called).clone(), clauses, site });
        self.built(items, target, id, e);
    }

    /// The position of what can fail in an accessor: where it is called, under the accessor's name.
    pub(super) fn accessor_site(&mut self, id: Ident) -> Site {
        let who = if self.module().builtin {
            self.public_name(id)
        } else {
            let name = self.name(id).clone();
            Some(self.s.program.procedure_name(&name))
        };
        Site::NONE.with_who(who)
    }

    pub(super) fn built(&mut self, items: &mut Vec<Item>, target: Target, id: Ident, e: Expr) {
        self.push_definition(target, id, Rhs::Built(e), items);
    }
}

impl RecordInfo {
    /// Where all values are.
    pub(super) fn leaves(&self) -> Vec<Slot> {
        self.fields.iter().flat_map(|f| f.leaves()).collect()
    }
    /// Does any field hold more than one value?
    pub(super) fn has_several(&self) -> bool {
        self.fields.iter().any(|f| f.is_several())
    }
    /// The names of all fields.
    pub(super) fn field_names(&self) -> Vec<Rc<str>> {
        self.fields.iter().map(|f| f.name.clone()).collect()
    }
    /// Bytes of an element of a structure vector.
    pub(super) fn stride(&self) -> usize {
        record::stride(self.leaves().into_iter())
    }
    /// Stores of variables, one for each value, into the fields of a record that need no check of the type that
    /// references refer to.
    pub(super) fn stores(&self, r: VarId, rtd: &Expr, values: &[VarId], site: Site) -> Vec<Expr> {
        let stored = self.leaves().into_iter().zip(values);
        stored.map(|(slot, v)| store(Expr::Local(r), rtd.clone(), slot, Expr::Local(*v), site)).collect()
    }
    /// Words of its records.
    pub(super) fn length(&self) -> i64 {
        if self.raw { i64::from(self.bytes.div_ceil(8)) } else { i64::from(self.words) }
    }
}

/// What a field holds that the constructor does not initialize.
fn initial(kind: FieldKind) -> Literal {
    match kind {
        FieldKind::Any | FieldKind::Ref | FieldKind::Bool => Literal::Bool(false),
        FieldKind::F64 | FieldKind::F32 => Literal::Number(Number::Flo(0.0)),
        FieldKind::Char => Literal::Char('\0'),
        _ => fixnum(0),
    }
}
