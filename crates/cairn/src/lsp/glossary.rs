//! What names mean at the prompt: `,describe`, `,apropos`, and the signatures that completion lists.
//!
//! The prompt's own expander has the libraries compiled, without their texts. So the definitions and imports of the
//! session are checked here as a text of an editor would be, and the questions are those of an editor.

use super::meaning::{about, signatures};
use super::workspace::{Known, Workspace};
use cairn_syntax::Entity;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};

/// The text of the session among those of the workspace.
const TEXT: &str = "prompt";
/// Bytes of the thread's stack.
const STACK: usize = 16 << 20;

/// The names of a session. The expander's state stays on a thread of its own, for it cannot move between threads.
#[derive(Clone)]
pub(crate) struct Glossary {
    questions: Sender<Question>,
}

/// What is to be done with the names.
type Question = Box<dyn FnOnce(&mut Texts) + Send>;

struct Texts {
    workspace: Workspace,
    text: String,
}

/// A name that is visible.
pub(crate) struct Visible {
    pub(crate) name: String,
    /// The ways to use it, one of them for a variable: its name.
    pub(crate) signatures: Vec<String>,
    /// Where it comes from, if not from the session.
    pub(crate) library: Option<String>,
}

impl Glossary {
    /// Of no session yet. Libraries are looked for in these directories; `library` stands for `lib/`.
    pub(crate) fn new(library_path: Vec<PathBuf>, library: Option<PathBuf>) -> Glossary {
        let (questions, asked) = channel::<Question>();
        let work = move || {
            let mut texts = Texts { workspace: Workspace::new(library_path, library), text: String::new() };
            for question in asked {
                question(&mut texts);
            }
        };
        // without a thread nothing is known
        let _ = std::thread::Builder::new().name("glossary".into()).stack_size(STACK).spawn(work);
        Glossary { questions }
    }

    fn ask<T: Send + 'static>(&self, question: impl FnOnce(&mut Texts) -> T + Send + 'static) -> Option<T> {
        let (answer, answered) = channel();
        let send = move |texts: &mut Texts| drop(answer.send(question(texts)));
        self.questions.send(Box::new(send)).ok()?;
        answered.recv().ok()
    }

    /// The definitions and imports of the session so far.
    pub(crate) fn set_text(&self, forms: &[String]) {
        let forms = forms.to_vec();
        self.ask(move |t| t.set_text(&forms));
    }

    /// A page about a name, if it is visible.
    pub(crate) fn describe(&self, name: &str) -> Option<String> {
        let name = name.to_string();
        self.ask(move |t| t.describe(&name))?
    }

    /// The visible names that fit, in order.
    pub(crate) fn visible(&self, fits: impl Fn(&str) -> bool + Send + 'static) -> Vec<Visible> {
        self.ask(move |t| t.visible(fits)).unwrap_or_default()
    }

    /// The libraries of each name that fits and that one exports, the best first.
    pub(crate) fn exported(&self, fits: impl Fn(&str) -> bool + Send + 'static) -> BTreeMap<String, Vec<String>> {
        self.ask(move |t| t.exported(fits)).unwrap_or_default()
    }
}

impl Texts {
    fn set_text(&mut self, forms: &[String]) {
        let (imports, rest): (Vec<&String>, Vec<&String>) = forms.iter().partition(|f| is_import(f));
        self.text.clear();
        if !imports.is_empty() {
            // what a session begins with, where it imports more
            let standard = cairn_syntax::DEFAULT_LIBRARIES.iter().filter(|part| **part != "r5rs");
            let standard: Vec<String> = standard.map(|part| format!("(scheme {part})")).collect();
            self.text = format!("(import {})\n", standard.join(" "));
        }
        for form in imports.into_iter().chain(rest) {
            self.text += form.trim();
            self.text += "\n\n";
        }
    }

    /// What is known at the end of the session's text.
    fn known(&mut self) -> Option<Known<'_>> {
        self.workspace.put(TEXT, format!("{}\n#t\n", self.text));
        self.workspace.known(TEXT)
    }

    fn describe(&mut self, name: &str) -> Option<String> {
        let mut known = self.known()?;
        let module = known.session.module_at(known.file, known.text.len() as u32 - 2)?;
        let entity = known.session.visible(module).find(|(n, _)| *n == name)?.1;
        let page = about(&mut known, name, entity);
        // without the marks of Markdown around the signatures
        Some(page.replace("```scheme\n", "").replace("\n```", "").trim_end().to_string() + "\n")
    }

    fn visible(&mut self, fits: impl Fn(&str) -> bool) -> Vec<Visible> {
        let Some(known) = self.known() else { return Vec::new() };
        let module = known.session.module_at(known.file, known.text.len() as u32 - 2);
        let names = module.into_iter().flat_map(|m| known.session.visible(m));
        let fitting: BTreeMap<String, Entity> = names
            .filter(|(n, _)| fits(n) && !n.starts_with('%') && *n != "..." && *n != "_")
            .map(|(n, e)| (n.to_string(), e))
            .collect();
        let one = |(name, entity): (String, Entity)| {
            let mut ways = signatures(known.session, known.definition(entity), &name, entity);
            if ways.is_empty() {
                ways.push(name.clone());
            }
            let library = known.session.definition(entity).and_then(|(library, _)| library);
            Visible { name, signatures: ways, library: library.map(|l| l.to_string()) }
        };
        fitting.into_iter().map(one).collect()
    }

    fn exported(&mut self, fits: impl Fn(&str) -> bool) -> BTreeMap<String, Vec<String>> {
        let Some(mut known) = self.known() else { return BTreeMap::new() };
        let all = known.session.exported(&mut known.loader).iter();
        all.filter(|(name, _)| fits(name)).map(|(name, libraries)| (name.clone(), libraries.clone())).collect()
    }
}

/// Is it an `import`?
fn is_import(form: &str) -> bool {
    form.trim_start().starts_with("(import")
}
