// Run by `node --test`, without packages and network.
"use strict";

const test = require("node:test");
const assert = require("node:assert");
const { topLevelForms, topLevelFormAt } = require("../forms");

function forms(text) {
  return topLevelForms(text).map(({ start, end }) => text.slice(start, end));
}

// The form at the mark `‸`.
function formAt(marked) {
  const offset = marked.indexOf("‸");
  const text = marked.replace("‸", "");
  const form = topLevelFormAt(text, offset);
  return form && text.slice(form.start, form.end);
}

test("lexemes that hold parentheses", () => {
  assert.deepStrictEqual(forms('(a #\\) "x)" ; )\n #| ) #| |# ) |# b)\n(c)'), [
    '(a #\\) "x)" ; )\n #| ) #| |# ) |# b)',
    "(c)",
  ]);
  assert.deepStrictEqual(forms('(a "\\")" |x)|) b'), ['(a "\\")" |x)|)', "b"]);
  assert.deepStrictEqual(forms("#\\( #\\λ #\\space x"), ["#\\(", "#\\λ", "#\\space", "x"]);
});

test("prefixes belong to their data, comments to none", () => {
  assert.deepStrictEqual(forms("'a `(b ,@c) #'d #0=(e . #0#)"), ["'a", "`(b ,@c)", "#'d", "#0=(e . #0#)"]);
  assert.deepStrictEqual(forms("#!/usr/bin/env cairn\n#;(a) ; b\n#(1) #u8(2) [c (d)]"), [
    "(a)",
    "#(1)",
    "#u8(2)",
    "[c (d)]",
  ]);
});

test("texts that are not whole", () => {
  assert.deepStrictEqual(forms("a) (b (c"), ["a", "(b (c"]);
  assert.deepStrictEqual(forms('(a "b'), ['(a "b']);
  assert.deepStrictEqual(forms("; only"), []);
  assert.deepStrictEqual(forms("#| never closed"), []);
});

test("the form at the cursor", () => {
  assert.strictEqual(formAt("(a (b‸)) (c)"), "(a (b))");
  assert.strictEqual(formAt("(a)‸ (c)"), "(a)");
  assert.strictEqual(formAt("(a) ‸(c)"), "(c)");
  assert.strictEqual(formAt("(a)\n; about c‸\n(c)"), "(a)");
  assert.strictEqual(formAt("‸; about a\n(a)"), "(a)");
  assert.strictEqual(formAt("‸"), undefined);
});
