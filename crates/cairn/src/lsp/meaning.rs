//! What a name means: hover, signature help, definition.

use super::structure::{self, Within};
use super::workspace::{Known, Workspace};
use cairn_core::prim::{Kind, PrimOp};
use cairn_layout::lexeme;
use cairn_syntax::read::read_recovering;
use cairn_syntax::syntax::{Names, Syntax};
use cairn_syntax::{Entity, LibraryName, Loader, Session, Span};
use lsp_types::{
    Hover, HoverContents, Location, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel, Position,
    SignatureHelp, SignatureInformation,
};

/// Forms of the language as they are written. What is not here is an auxiliary keyword.
const FORMS: &[(&str, &str)] = &[
    ("and", "(and test ...)"),
    ("assert", "(assert expression)"),
    ("begin", "(begin expression ...)"),
    ("case", "(case key ((datum ...) expression ...) ... (else expression ...))"),
    ("case-lambda", "(case-lambda (parameters body ...) ...)"),
    ("cond", "(cond (test expression ...) ... (else expression ...))"),
    ("cond-expand", "(cond-expand (requirement form ...) ... (else form ...))"),
    ("define", "(define name expression)\n(define (name parameter ...) body ...)"),
    ("define-library", "(define-library (name ...) declaration ...)"),
    (
        "define-record-type",
        "(define-record-type type (constructor field ...) predicate (field accessor modifier) ...)",
    ),
    (
        "define-structure-vector",
        "(define-structure-vector type constructor predicate (field accessor modifier) ...)",
    ),
    ("define-syntax", "(define-syntax keyword transformer)"),
    ("define-values", "(define-values names expression)"),
    ("delay", "(delay expression)"),
    ("delay-force", "(delay-force expression)"),
    ("do", "(do ((name init step) ...) (test expression ...) body ...)"),
    ("er-macro-transformer", "(er-macro-transformer (lambda (form rename compare) body ...))"),
    ("guard", "(guard (name clause ...) body ...)"),
    ("if", "(if test consequent alternate)"),
    ("import", "(import import-set ...)"),
    ("include", "(include \"file\" ...)"),
    ("include-ci", "(include-ci \"file\" ...)"),
    ("lambda", "(lambda parameters body ...)"),
    ("let", "(let ((name init) ...) body ...)\n(let loop ((name init) ...) body ...)"),
    ("let*", "(let* ((name init) ...) body ...)"),
    ("let*-values", "(let*-values ((names init) ...) body ...)"),
    ("let-syntax", "(let-syntax ((keyword transformer) ...) body ...)"),
    ("let-values", "(let-values ((names init) ...) body ...)"),
    ("letrec", "(letrec ((name init) ...) body ...)"),
    ("letrec*", "(letrec* ((name init) ...) body ...)"),
    ("letrec-syntax", "(letrec-syntax ((keyword transformer) ...) body ...)"),
    ("named-lambda", "(named-lambda (name parameter ...) body ...)"),
    ("or", "(or test ...)"),
    ("parameterize", "(parameterize ((parameter value) ...) body ...)"),
    ("quasiquote", "(quasiquote template)"),
    ("quote", "(quote datum)"),
    ("receive", "(receive parameters expression body ...)"),
    ("set!", "(set! name expression)"),
    ("syntax-error", "(syntax-error \"message\" argument ...)"),
    ("syntax-rules", "(syntax-rules (literal ...) (pattern template) ...)"),
    ("unless", "(unless test body ...)"),
    ("when", "(when test body ...)"),
];

/// How something is used, a line for each way; nothing for what is no form and no procedure.
pub(crate) fn signatures(session: &Session, definition: Option<Span>, name: &str, entity: Entity) -> Vec<String> {
    match entity {
        Entity::Keyword(_) => {
            let form = FORMS.binary_search_by(|(n, _)| (*n).cmp(name)).ok().map(|i| FORMS[i].1);
            form.iter().flat_map(|f| f.lines()).map(str::to_string).collect()
        }
        Entity::Macro(_) => definition.map(|at| patterns(session, name, at)).unwrap_or_default(),
        Entity::Primitive(op) => vec![operation(name, op)],
        Entity::Local(_) | Entity::Global(_) => {
            let clauses = session.parameters(entity).unwrap_or_default();
            clauses
                .iter()
                .map(|c| if c.is_empty() { format!("({name})") } else { format!("({name} {c})") })
                .collect()
        }
    }
}

/// How a primitive operation is used: the kinds of its operands stand for names.
fn operation(name: &str, op: PrimOp) -> String {
    let kind = |i| match op.arg_kind(i) {
        Kind::Any => "object".to_string(),
        kind => format!("{kind:?}").to_lowercase(),
    };
    match op.arity() {
        Some(n) => std::iter::once(name.to_string()).chain((0..n).map(kind)).collect::<Vec<_>>().join(" "),
        None => format!("{name} object ..."),
    }
    .replacen(name, &format!("({name}"), 1)
        + ")"
}

/// The patterns of a macro that is defined by `syntax-rules`.
fn patterns(session: &Session, name: &str, at: Span) -> Vec<String> {
    let Some(source) = session.sources().get(at.file as usize) else { return Vec::new() };
    let (open, _) = structure::around(&source.text, at.start as usize + 1);
    // the place is that of the name, or of the form
    let Some(list) = open.last() else { return Vec::new() };
    let end = lexeme::datum_end(&source.text, list.start);
    let text = &source.text[list.start..end];
    let mut names = Names::default();
    let (data, ..) = read_recovering(0, text, &mut names);
    let is_rules = |x: &Syntax| {
        let head = x.as_list().and_then(|l| l.first()).and_then(Syntax::as_ident);
        head.is_some_and(|id| &**names.name(id) == "syntax-rules")
    };
    let rules = data.first().and_then(|form| form.as_list()?.iter().find(|x| is_rules(x)));
    let rules = rules.and_then(Syntax::as_list).unwrap_or(&[]);
    let one = |rule: &Syntax| {
        let pattern = rule.as_list()?.first()?;
        let (items, tail) = pattern.parts();
        let (first, last) = (items.get(1), tail.or(items.last())?);
        let rest = first.map_or(last.span.start, |x| x.span.start) as usize..last.span.end as usize;
        let words = text.get(rest)?.split_whitespace().collect::<Vec<_>>().join(" ");
        let dot = if first.is_none() && tail.is_some() { ". " } else { "" };
        Some(if items.len() < 2 && tail.is_none() {
            format!("({name})")
        } else {
            format!("({name} {dot}{words})")
        })
    };
    rules.iter().skip(2).filter_map(one).collect()
}

/// What is said about a name.
pub(super) fn about(known: &mut Known, name: &str, entity: Entity) -> String {
    let mut lines = signatures(known.session, known.definition(entity), name, entity);
    if lines.is_empty() {
        lines.push(name.to_string());
    }
    let mut text = format!("```scheme\n{}\n```", lines.join("\n"));
    let definition = known.definition(entity);
    let comment = definition.and_then(|at| {
        let source = known.session.sources().get(at.file as usize)?;
        structure::comment_above(&source.text, at.start as usize)
    });
    if let Some(comment) = comment {
        text += &format!("\n\n{comment}");
    }
    let library = known.session.definition(entity).and_then(|(library, _)| library);
    let public = library.as_ref().and_then(|library| public_library(known, name, entity, library));
    let written = known.session.mentions().iter().find(|m| m.entity == entity && m.role.binds());
    text += &match (entity, library, written) {
        (Entity::Keyword(_), ..) => "\n\nA form of the language.".to_string(),
        (Entity::Local(_), _, Some(m)) if m.role.is_parameter() => "\n\nA parameter.".to_string(),
        (Entity::Local(_), ..) => "\n\nA local variable.".to_string(),
        (Entity::Primitive(_), ..) => "\n\nA procedure of the standard library.".to_string(),
        (Entity::Macro(_), Some(_), _) if public.is_some() => {
            format!("\n\nA macro of {}.", public.unwrap_or_default())
        }
        (_, Some(_), _) if public.is_some() => format!("\n\nExported by {}.", public.unwrap_or_default()),
        (Entity::Macro(_), Some(library), _) => format!("\n\nA macro of {library}."),
        (_, Some(library), _) => format!("\n\nDefined by {library}."),
        (Entity::Macro(_), ..) => "\n\nA macro.".to_string(),
        _ => String::new(),
    };
    text
}

/// The library that a user imports for a name which a part of `lib/` defines that nobody imports: one of those that the
/// text imports, if it can be.
fn public_library(known: &mut Known, name: &str, entity: Entity, defined_by: &str) -> Option<String> {
    let mut libraries = known.session.exporters(name, &mut known.loader);
    let exports = |l: &String| {
        let all = LibraryName::parse(l).and_then(|l| known.session.exports_of(&l));
        all.is_some_and(|all| all.iter().any(|(n, e)| n == name && *e == entity))
    };
    libraries.retain(exports);
    let imported = |l: &&String| known.session.imported_sets().iter().any(|set| set.library == **l);
    libraries.iter().find(imported).or(libraries.first()).filter(|l| *l != defined_by).cloned()
}

/// What is said about the name at a place.
pub(super) fn hover(workspace: &mut Workspace, uri: &str, position: Position) -> Option<Hover> {
    let mut known = workspace.known(uri)?;
    let mention = known.mention_at(known.lines.offset(&known.text, position))?;
    let name = known.text_of(mention.span).to_string();
    let value = about(&mut known, &name, mention.entity);
    let range = Some(known.lines.of(&known.text, mention.span));
    Some(Hover { contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value }), range })
}

/// Where the name at a place is defined; of a library that is imported there, its file.
pub(super) fn definition(workspace: &mut Workspace, uri: &str, position: Position) -> Option<Location> {
    let mut known = workspace.known(uri)?;
    let offset = known.lines.offset(&known.text, position);
    let Some(mention) = known.mention_at(offset) else {
        let (file, at) = (known.file, offset as u32);
        let is_here = |span: Span| span.file == file && span.start <= at && at <= span.end;
        let library = known.session.imported_sets().iter().find(|set| is_here(set.span))?.library.clone();
        let (path, text) = known.loader.load_library(&LibraryName::parse(&library)?).ok()??;
        return workspace.start_of(&path, &text);
    };
    let span = known.definition(mention.entity)?;
    workspace.location(span)
}

/// How the form around a place is used.
pub(super) fn signature_help(workspace: &mut Workspace, uri: &str, position: Position) -> Option<SignatureHelp> {
    let known = workspace.known(uri)?;
    let offset = known.lines.offset(&known.text, position);
    let (open, within) = structure::around(&known.text, offset);
    if within == Within::Comment {
        return None;
    }
    // innermost first; the bindings of a `let` have a head that is no procedure
    let (list, ways) = open.iter().rev().filter(|o| !o.quoted).find_map(|list| {
        let (start, end) = list.head?;
        let name = &known.text[start..end];
        let mention = known.mention_at(start).filter(|m| m.span.start as usize == start);
        let visible = || {
            let module = known.session.module_at(known.file, start as u32)?;
            known.session.visible(module).find(|(n, _)| *n == name).map(|(_, e)| e)
        };
        let entity = mention.map(|m| m.entity).or_else(visible)?;
        Some((list, signatures(known.session, known.definition(entity), name, entity)))
            .filter(|(_, ways)| !ways.is_empty())
    })?;
    // in the innermost list, the next argument may be about to begin
    let behind_blank = open.last() == Some(list) && known.text[..offset].ends_with(char::is_whitespace);
    let argument = (list.data + usize::from(behind_blank)).checked_sub(2)?;
    let signatures: Vec<SignatureInformation> = ways.iter().map(|s| information(s, argument)).collect();
    // the first that takes so many
    let fits = |s: &SignatureInformation| s.active_parameter.is_some();
    let active = signatures.iter().position(fits).unwrap_or(signatures.len() - 1);
    let active_parameter = signatures[active].active_parameter;
    Some(SignatureHelp { signatures, active_signature: Some(active as u32), active_parameter })
}

/// A signature with the places of its parameters, and which one an argument belongs to.
fn information(signature: &str, argument: usize) -> SignatureInformation {
    let units = |end: usize| signature[..end].encode_utf16().count() as u32;
    let inner = signature.len() - 1;
    let mut at = signature.find([' ', ')']).unwrap_or(inner);
    let (mut parameters, mut open_end) = (Vec::new(), false);
    while at < inner {
        if signature[at..].starts_with(' ') {
            at += 1;
            continue;
        }
        let end = lexeme::datum_end(signature, at).min(inner);
        match &signature[at..end] {
            "." => {}
            "..." => open_end = true,
            _ => parameters.push((at, end)),
        }
        open_end |= &signature[at..end] == ".";
        at = end.max(at + 1);
    }
    let last = parameters.len().checked_sub(1);
    let active = last.filter(|last| argument <= *last || open_end).map(|last| argument.min(last) as u32);
    let labels = parameters.iter().map(|(a, b)| ParameterInformation {
        label: ParameterLabel::LabelOffsets([units(*a), units(*b)]),
        documentation: None,
    });
    SignatureInformation {
        label: signature.to_string(),
        documentation: None,
        parameters: Some(labels.collect()),
        active_parameter: active,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_in_order() {
        assert!(FORMS.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn arguments_have_their_parameters() {
        let active = |s: &str, n| information(s, n).active_parameter;
        assert_eq!([0, 1, 2].map(|n| active("(f a b)", n)), [Some(0), Some(1), None]);
        assert_eq!([0, 1, 5].map(|n| active("(f a . rest)", n)), [Some(0), Some(1), Some(1)]);
        assert_eq!([0, 1, 7].map(|n| active("(let ((name init) ...) body ...)", n)), [Some(0), Some(1), Some(1)]);
        assert_eq!(active("(f)", 0), None);
        let labels = information("(λ a b)", 0).parameters.unwrap();
        assert_eq!(labels[0].label, ParameterLabel::LabelOffsets([3, 4]));
    }
}
