//! What headers declare, from clang's syntax tree.
//!
//! The tree comes as JSON. It says the file of a declaration only where it differs from that of the location before it,
//! in the order of the text: so every location is looked at.

use super::preprocessed::Preprocessed;
use super::request::Request;
use super::types::Names;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) struct Function {
    pub(super) name: String,
    /// In object files.
    pub(super) symbol: String,
    pub(super) result: String,
    pub(super) parameters: Vec<String>,
    pub(super) variadic: bool,
    /// It is in no library: `static`, that is.
    pub(super) is_static: bool,
    /// It has a body, and is no `inline` one, which need not be in the object.
    pub(super) is_defined: bool,
}

pub(super) struct Field {
    /// As in Scheme: `in-q` for what C calls `in.q`, in a structure without a name.
    pub(super) name: String,
    /// As `offsetof` takes it.
    pub(super) path: String,
    pub(super) of: String,
    pub(super) is_bit_field: bool,
    /// A structure without a name, or an array of one.
    pub(super) is_nameless: bool,
}

pub(super) struct Record {
    /// As C writes it.
    pub(super) spelled: String,
    pub(super) fields: Vec<Field>,
}

#[derive(Default)]
pub(super) struct Declarations {
    pub(super) names: Names,
    pub(super) functions: Vec<Function>,
    pub(super) variables: Vec<String>,
    /// Names of constants of enumerations.
    pub(super) constants: Vec<String>,
    /// Structures and unions that have fields, by `struct name` or `union name`, of all headers.
    pub(super) records: BTreeMap<String, Record>,
    /// What records are called, in the order of the text: a name for Scheme, and the record.
    pub(super) record_names: Vec<(String, String)>,
    /// Other names of types.
    pub(super) typedefs: Vec<String>,
    /// The structure or union without a name that was seen last: the typedef behind it may name it.
    nameless: Option<Value>,
    /// Whether the enumeration without a name that was seen last has negative constants.
    nameless_enum: Option<bool>,
}

pub(super) fn read(request: &Request, before: &Preprocessed) -> Result<Declarations, String> {
    let text = request.printed(&["-fsyntax-only", "-Xclang", "-ast-dump=json"], &request.includes())?;
    // Bodies of functions nest as deep as they like.
    let parse = move || {
        let mut reader = serde_json::Deserializer::from_str(&text);
        reader.disable_recursion_limit();
        let tree: Value = serde::Deserialize::deserialize(&mut reader).map_err(|e| e.to_string())?;
        let mut d = Declarations::default();
        let mut file = String::new();
        for node in children(&tree) {
            let own = place(node, &mut file).is_some_and(|f| before.own.contains(&f));
            d.add(node, own);
        }
        Ok(d)
    };
    const STACK: usize = 256 << 20;
    std::thread::scope(|s| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(s, parse);
        thread.map_err(|e| e.to_string())?.join().map_err(|_| "the syntax tree cannot be read".to_string())?
    })
}

fn children(node: &Value) -> &[Value] {
    node["inner"].as_array().map_or(&[], |list| list)
}

fn text<'a>(node: &'a Value, key: &str) -> &'a str {
    node[key].as_str().unwrap_or("")
}

fn qualified(node: &Value) -> String {
    text(&node["type"], "qualType").to_string()
}

/// Follows the files of a location.
fn look(location: &Value, file: &mut String) {
    for key in ["spellingLoc", "expansionLoc"] {
        if location.get(key).is_some() {
            look(&location[key], file);
        }
    }
    if let Some(f) = location["file"].as_str() {
        f.clone_into(file);
    }
}

/// The file of a declaration's name, if it has a place; follows its locations and those below it.
fn place(node: &Value, file: &mut String) -> Option<String> {
    look(&node["loc"], file);
    let has_place = node["loc"].as_object().is_some_and(|l| !l.is_empty());
    let found = has_place.then(|| file.clone());
    look(&node["range"]["begin"], file);
    look(&node["range"]["end"], file);
    children(node).iter().for_each(|c| drop(place(c, file)));
    found
}

impl Declarations {
    fn add(&mut self, node: &Value, own: bool) {
        let name = text(node, "name").to_string();
        match text(node, "kind") {
            "FunctionDecl" if own => self.function(node, name),
            "VarDecl" if own && node["storageClass"] == "extern" => self.variables.push(name),
            "EnumDecl" => {
                let values = children(node).iter().filter(|c| c["kind"] == "EnumConstantDecl");
                for constant in values {
                    if own {
                        self.constants.push(text(constant, "name").into());
                    }
                    if !name.is_empty() && is_negative(constant) {
                        self.names.negative.push(format!("enum {name}"));
                    }
                }
                self.nameless_enum = name.is_empty().then(|| children(node).iter().any(is_negative));
            }
            "RecordDecl" if node["completeDefinition"] == true => {
                let tag = text(node, "tagUsed");
                if name.is_empty() {
                    self.nameless = Some(node.clone());
                } else {
                    let spelled = format!("{tag} {name}");
                    self.record(node, &spelled, spelled.clone());
                    if own {
                        self.record_names.push((name, spelled));
                    }
                }
            }
            "TypedefDecl" => self.typedef(node, name, own),
            _ => {}
        }
    }

    fn function(&mut self, node: &Value, name: String) {
        let of = qualified(node);
        // `int (*(int))(char)`: the result is a pointer to a function
        let result = match of.split_once('(') {
            Some((_, rest)) if rest.starts_with('*') => "void *".to_string(),
            Some((result, _)) => result.to_string(),
            None => return,
        };
        let has_body = children(node).iter().any(|c| c["kind"] == "CompoundStmt");
        let mut is_defined = has_body && node["inline"] != true;
        if let Some(old) = self.functions.iter().position(|f| f.name == name) {
            is_defined |= self.functions.remove(old).is_defined;
        }
        let parameters = children(node).iter().filter(|c| c["kind"] == "ParmVarDecl").map(qualified).collect();
        let mangled = text(node, "mangledName").trim_start_matches('\u{1}');
        let symbol = if mangled.is_empty() { name.clone() } else { mangled.to_string() };
        let variadic = node["variadic"] == true;
        let is_static = node["storageClass"] == "static";
        self.functions.push(Function { name, symbol, result, parameters, variadic, is_static, is_defined });
    }

    fn typedef(&mut self, node: &Value, name: String, own: bool) {
        let meant = qualified(node);
        let nameless = children(node)
            .first()
            .is_some_and(|t| t.get("ownedTagDecl").is_some_and(|d| text(d, "name").is_empty()));
        if nameless {
            // clang calls what has no name by that of the typedef
            if meant == format!("enum {name}") && self.nameless_enum == Some(true) {
                self.names.negative.push(meant.clone());
            }
            if (meant.starts_with("struct ") || meant.starts_with("union "))
                && let Some(record) = self.nameless.take()
                && !meant.ends_with('*')
            {
                self.record(&record, &meant, name.clone());
            }
        }
        if own && self.records.contains_key(&meant) {
            if !self.record_names.iter().any(|(n, _)| *n == name) {
                self.record_names.push((name.clone(), meant.clone()));
            }
        } else if own {
            self.typedefs.push(name.clone());
        }
        self.names.typedefs.insert(name, meant);
    }

    fn record(&mut self, node: &Value, key: &str, spelled: String) {
        let mut fields = Vec::new();
        self.fields(node, "", "", &mut fields);
        self.records.insert(key.into(), Record { spelled, fields });
    }

    /// The fields of a record, and those of nameless ones in it.
    fn fields(&mut self, node: &Value, name: &str, path: &str, out: &mut Vec<Field>) {
        let mut nameless: Option<&Value> = None;
        for child in children(node) {
            let own = text(child, "name");
            match text(child, "kind") {
                "RecordDecl" if child["completeDefinition"] == true && own.is_empty() => nameless = Some(child),
                // C has no scopes of structures
                "RecordDecl" | "EnumDecl" => self.add(child, false),
                "FieldDecl" => {
                    let of = qualified(child);
                    let is_nameless = of.contains("(unnamed") || of.contains("(anonymous");
                    match (own, nameless.filter(|_| is_nameless)) {
                        ("", Some(record)) => self.fields(record, name, path, out),
                        ("", None) => {}
                        (own, record) => {
                            let (name, path) = (format!("{name}{own}"), format!("{path}{own}"));
                            let is_bit_field = child["isBitfield"] == true;
                            if let Some(record) = record.filter(|_| !of.ends_with([']', '*'])) {
                                self.fields(record, &format!("{name}-"), &format!("{path}."), out);
                            }
                            out.push(Field { name, path, of, is_bit_field, is_nameless });
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// Is the constant written as a negative number?
fn is_negative(node: &Value) -> bool {
    children(node).first().is_some_and(|c| text(c, "value").starts_with('-') || is_negative(c))
}
