// Colours for Scheme, which the highlight.js of mdBook does not know; also for programs inside of commands.
(() => {
  const special = [
    "and begin case case-lambda cond cond-expand define define-library define-record-type define-syntax",
    "define-values delay delay-force do else export guard if import include lambda let let* let*-values",
    "let-syntax let-values letrec letrec* letrec-syntax or parameterize quasiquote quote set! syntax-rules",
    "unless unquote unquote-splicing when match",
  ].join(" ");
  const word = /[^\s()[\]{}";|'`,]+/;
  hljs.registerLanguage("scheme", () => ({
    contains: [
      { className: "comment", begin: /;/, end: /$/ },
      { className: "comment", begin: /#\|/, end: /\|#/, contains: ["self"] },
      { className: "string", begin: /"/, end: /"/, contains: [{ begin: /\\[^]/ }] },
      { className: "string", begin: /#\\(?:[A-Za-z0-9]+|[^])/ },
      { className: "number", begin: /(?<![^\s()[\]"'`,])[+-]?\.?\d[\d./e+-]*(?=[\s()[\]]|$)/ },
      { begin: word, keywords: { $pattern: word, keyword: special, literal: "#t #f #true #false" } },
    ],
  }));
  const coloured = (language, text) => hljs.highlight(language, text).value;
  for (const block of document.querySelectorAll("code.language-scheme")) {
    block.innerHTML = coloured("scheme", block.textContent);
  }
  // Commands write programs into files: cat >name.scm <<'END'
  const program = /^(cat >+\S+\.(?:scm|sld) <<'END'\n)([^]*?\n)(?=END$)/m;
  for (const block of document.querySelectorAll("code.language-sh")) {
    const parts = block.textContent.split(program);
    if (parts.length > 1) {
      block.innerHTML = parts.map((part, i) => coloured(i % 3 === 2 ? "scheme" : "bash", part)).join("");
    }
  }
})();
