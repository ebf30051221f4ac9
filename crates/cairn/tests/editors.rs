//! `editors/vscode`: the files of the extension fit each other, and its own tests pass.
//!
//! Its tests are in JavaScript and need Node, but no packages: `node --test` in the folder.

use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

mod common;
use common::{binary, root};

fn extension() -> PathBuf {
    root().join("editors/vscode")
}

fn json(file: &str) -> Value {
    let text = std::fs::read_to_string(extension().join(file)).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{file}: {e}"))
}

#[test]
fn the_extension_is_whole() {
    let manifest = json("package.json");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert!(extension().join(manifest["main"].as_str().unwrap()).exists());
    let contributes = &manifest["contributes"];
    let language = &contributes["languages"][0];
    json(language["configuration"].as_str().unwrap());
    let grammar = json(contributes["grammars"][0]["path"].as_str().unwrap());
    assert_eq!(grammar["scopeName"], contributes["grammars"][0]["scopeName"]);
    let lock = json("package-lock.json");
    assert_eq!(lock["packages"][""]["dependencies"], manifest["dependencies"]);
    assert_eq!(lock["version"], manifest["version"]);
    let registry = std::fs::read_to_string(extension().join("package-lock.json")).unwrap();
    assert!(
        !registry.contains("resolved"),
        "the lock names a registry: npm config set omit-lockfile-registry-resolved"
    );
}

/// Parts of the grammar that others include are there, and each is included.
#[test]
fn the_grammar_has_the_parts_it_names() {
    fn includes(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|x| includes(x, out)),
            Value::Object(fields) => {
                for (key, x) in fields {
                    match x.as_str() {
                        Some(part) if key == "include" => out.push(part.trim_start_matches('#').to_string()),
                        _ => includes(x, out),
                    }
                }
            }
            _ => {}
        }
    }
    let grammar = json("syntaxes/scheme.tmLanguage.json");
    let mut named = vec![];
    includes(&grammar, &mut named);
    named.sort();
    named.dedup();
    let mut parts: Vec<String> = grammar["repository"].as_object().unwrap().keys().cloned().collect();
    parts.sort();
    assert_eq!(named, parts);
}

#[test]
fn its_own_tests_pass() {
    let mut node = Command::new("node");
    node.arg("--test").current_dir(extension()).env("CAIRN_BINARY", binary());
    let Ok(output) = node.output() else {
        eprintln!("not tested: there is no node here");
        return;
    };
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{out}{}", String::from_utf8_lossy(&output.stderr));
}
