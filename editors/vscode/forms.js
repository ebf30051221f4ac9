// Where the top-level forms of a Scheme text are, for what is sent to the prompt.
//
// The lexemes are those of Cairn's reader (crates/cairn-layout/src/lexeme.rs). A text need not be whole: a form that is
// never closed goes to the end of the text, a parenthesis that closes nothing is skipped.
"use strict";

// In this order; each is sticky. What a datum comment leaves out is a form, too: some are there to be sent by hand.
const LEXEMES = [
  ["space", /[\s\uFEFF]+|;[^\n\r]*|#;/y],
  ["prefix", /#?(?:'|`|,@|,)|#[0-9]+=/y],
  ["open", /#\w*\(|[([]/y],
  ["close", /[)\]]/y],
  ["datum", /"(?:[^"\\]|\\[^])*"?|\|(?:[^|\\]|\\[^])*\|?/y],
  ["datum", /#\\(?:[\p{L}\p{N}\u0080-\u{10FFFF}][^\s()[\]{}";|'`,]*|[^])/uy],
  ["datum", /[^\s()[\]{}";|'`,]+|[{}#]/y],
];

// Behind the end of the block comment that begins here; they nest.
function blockCommentEnd(text, start) {
  const mark = /#\||\|#/g;
  mark.lastIndex = start;
  let depth = 0;
  for (let m = mark.exec(text); m; m = mark.exec(text)) {
    depth += m[0] === "#|" ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return text.length;
}

function lexemeAt(text, at) {
  if (text.startsWith("#|", at)) return ["space", blockCommentEnd(text, at)];
  if (at === 0) {
    const line = /^\uFEFF?#(?:![/ ]|lang\b)[^\n\r]*/.exec(text);
    if (line) return ["space", line[0].length];
  }
  for (const [kind, pattern] of LEXEMES) {
    pattern.lastIndex = at;
    if (pattern.test(text)) return [kind, pattern.lastIndex];
  }
  return ["space", at + 1];
}

// The top-level forms, with their prefixes: `{ start, end }`, in order.
function topLevelForms(text) {
  const forms = [];
  let depth = 0;
  let start = -1; // of the form that is being read
  let at = 0;
  while (at < text.length) {
    const [kind, end] = lexemeAt(text, at);
    if (start < 0 && kind !== "space" && kind !== "close") start = at;
    if (kind === "open") depth += 1;
    if (kind === "close" && depth > 0) depth -= 1;
    if ((kind === "close" || kind === "datum") && depth === 0 && start >= 0) {
      forms.push({ start, end });
      start = -1;
    }
    at = end;
  }
  if (start >= 0) forms.push({ start, end: text.length });
  return forms;
}

// The form that an offset is in or at; between forms, the one before; before all, the first.
function topLevelFormAt(text, offset) {
  const forms = topLevelForms(text);
  const before = forms.filter((form) => form.start <= offset);
  return before.length > 0 ? before[before.length - 1] : forms[0];
}

module.exports = { topLevelForms, topLevelFormAt };
