// The extension with an editor and a client of the protocol that only note what is asked of them.
//
// Run by `node --test`, without packages and network.
"use strict";

const test = require("node:test");
const assert = require("node:assert");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const Module = require("node:module");
const { spawnSync } = require("node:child_process");

const manifest = JSON.parse(fs.readFileSync(path.join(__dirname, "../package.json"), "utf8"));

// A directory with a `cairn` that knows `--version`, and a program.
const directory = fs.mkdtempSync(path.join(os.tmpdir(), "cairn-vscode-"));
const cairn = path.join(directory, "cairn");
fs.writeFileSync(cairn, "#!/bin/sh\necho 'cairn 0.0.1 (a test)'\n", { mode: 0o755 });
const program = path.join(directory, "a b.scm");
fs.writeFileSync(program, "(f 1)\n(g\n 2)\n");
test.after(() => fs.rmSync(directory, { recursive: true }));

// What the extension did, since the editor was made.
let did;
const settings = { path: cairn, libraryDirectories: ["lib", "/usr/share/scheme"] };

function document(text) {
  return {
    languageId: "scheme",
    uri: { scheme: "file", fsPath: program },
    isDirty: true,
    getText: (range) => (range ? text.slice(range.start, range.end) : text),
    offsetAt: (offset) => offset,
    save: async () => {
      did.saved = true;
      return true;
    },
  };
}

function editor(text, start, end = start) {
  return { document: document(text), selection: { start, end, active: end, isEmpty: start === end } };
}

class Terminal {
  constructor(options) {
    this.options = options;
    this.sent = [];
    did.terminals.push(this);
  }
  show() {}
  sendText(text, enter) {
    this.sent.push([text, enter]);
  }
}

const folder = { uri: { scheme: "file", fsPath: directory }, name: "x" };
const nothing = { dispose() {} };
const vscode = {
  LanguageStatusSeverity: { Information: 0, Warning: 1, Error: 2 },
  TaskScope: { Workspace: 2 },
  TaskGroup: { Build: "build", Test: "test" },
  ProcessExecution: class {
    constructor(command, args, options) {
      Object.assign(this, { command, args, options });
    }
  },
  Task: class {
    constructor(definition, scope, name, source, execution, matchers) {
      Object.assign(this, { definition, scope, name, source, execution, matchers });
      this.presentationOptions = {};
    }
  },
  workspace: {
    workspaceFolders: [folder],
    getWorkspaceFolder: () => folder,
    getConfiguration: () => ({ get: (name) => settings[name] }),
    onDidChangeConfiguration: (f) => ((did.configure = f), nothing),
    saveAll: async () => true,
    openTextDocument: async (what) => what,
  },
  window: {
    createOutputChannel: () => ({ appendLine: (line) => did.output.push(line), show() {}, dispose() {} }),
    createTerminal: (options) => new Terminal(options),
    onDidCloseTerminal: (f) => ((did.close = f), nothing),
    showTextDocument: async (what) => did.shown.push(what),
    showInformationMessage: async (text) => did.messages.push(text),
    showWarningMessage: async (text, ...buttons) => {
      did.messages.push(text);
      return did.answer && buttons.find((b) => b === did.answer);
    },
  },
  languages: { createLanguageStatusItem: () => (did.status = { dispose() {} }) },
  commands: {
    registerCommand: (name, does) => ((did.commands[name] = does), nothing),
    executeCommand: (name, ...args) =>
      did.commands[name] ? did.commands[name](...args) : did.executed.push([name, ...args]),
  },
  tasks: {
    registerTaskProvider: (type, provider) => ((did.tasks[type] = provider), nothing),
    executeTask: async (task) => did.ran.push(task),
  },
};

class LanguageClient {
  constructor(id, name, server, client) {
    Object.assign(this, { id, server, client, running: false });
    did.clients.push(this);
  }
  async start() {
    this.running = true;
  }
  async stop() {
    this.running = false;
  }
}

const load = Module._load;
Module._load = function (name, ...rest) {
  if (name === "vscode") return vscode;
  if (name === "vscode-languageclient/node") return { LanguageClient };
  return load.call(this, name, ...rest);
};

// The extension, started anew.
async function started(changes = {}) {
  did = {
    clients: [],
    commands: {},
    executed: [],
    messages: [],
    output: [],
    ran: [],
    shown: [],
    tasks: {},
    terminals: [],
    ...changes,
  };
  delete require.cache[require.resolve("../extension")];
  const extension = require("../extension");
  extension.activate({ subscriptions: [] });
  while (did.messages.length === 0 && !(did.clients[0] || {}).running) await new Promise(setImmediate);
  return extension;
}

const LIBRARIES = ["-I", path.join(directory, "lib"), "-I", "/usr/share/scheme"];

test("the server is started, restarted and stopped", async () => {
  const extension = await started();
  const [first] = did.clients;
  assert.strictEqual(first.server.command, cairn);
  assert.deepStrictEqual(first.server.args, ["lsp", ...LIBRARIES]);
  assert.strictEqual(did.status.text, "cairn 0.0.1");
  await did.commands["cairn.restartServer"]();
  assert.deepStrictEqual(
    did.clients.map((c) => c.running),
    [false, true],
  );
  did.configure({ affectsConfiguration: (name) => name === "cairn.path" });
  await extension.deactivate();
  assert.deepStrictEqual(
    did.clients.map((c) => c.running),
    [false, false, false],
  );
});

test("commands are those that the manifest names", async () => {
  await started();
  const named = manifest.contributes.commands.map((c) => c.command);
  assert.deepStrictEqual(Object.keys(did.commands).sort(), named.sort());
  assert.deepStrictEqual(
    Object.keys(did.tasks),
    manifest.contributes.taskDefinitions.map((t) => t.type),
  );
});

test("where there is no cairn, it says so and leads on", async () => {
  const path = settings.path;
  settings.path = "${workspaceFolder}/not/there";
  try {
    await started({ answer: "How to Install" });
    await new Promise(setImmediate);
  } finally {
    settings.path = path;
  }
  assert.strictEqual(did.clients.length, 0);
  assert.match(did.messages[0], /not\/there` is not found/);
  assert.match(did.status.text, /is not found/);
  assert.match(did.shown[0].content, /How to install Cairn/);
  await did.commands["cairn.restartServer"]();
  assert.strictEqual(did.clients.length, 1, "it is looked for again");
});

test("forms and selections are pasted into one prompt", async () => {
  await started();
  const text = "(f 1)\n(g\n 2)\n";
  vscode.window.activeTextEditor = editor(text, 9);
  did.commands["cairn.sendToPrompt"]();
  vscode.window.activeTextEditor = editor(text, 1, 4);
  did.commands["cairn.sendToPrompt"]();
  await did.commands["cairn.loadInPrompt"]();
  assert.strictEqual(did.terminals.length, 1);
  const [terminal] = did.terminals;
  assert.deepStrictEqual(terminal.options.shellArgs, ["repl", ...LIBRARIES]);
  const pasted = (text) => [`\x1b[200~${text}\x1b[201~`, true];
  assert.deepStrictEqual(terminal.sent, [pasted("(g\n 2)"), pasted("f 1"), pasted(`,load ${program}`)]);
  did.close(terminal);
  did.commands["cairn.openPrompt"]();
  assert.strictEqual(did.terminals.length, 2);
});

test("files and tests run as tasks, without a shell", async () => {
  await started();
  vscode.window.activeTextEditor = editor("(f)", 0);
  await did.commands["cairn.runFile"]();
  assert.ok(did.saved);
  await did.commands["cairn.runTests"]();
  assert.deepStrictEqual(
    did.ran.map((t) => [t.execution.command, ...t.execution.args]),
    [
      [cairn, "run", ...LIBRARIES, program],
      [cairn, "test", ...LIBRARIES],
    ],
  );
  const matchers = manifest.contributes.problemMatchers.map((m) => "$" + m.name);
  const offered = did.tasks.cairn.provideTasks();
  assert.deepStrictEqual(
    offered.map((t) => t.definition.command),
    ["check", "build", "test"],
  );
  for (const task of [...offered, ...did.ran]) assert.ok(task.matchers.every((m) => matchers.includes(m)));
  const asked = { definition: { type: "cairn", command: "check", args: ["main.scm"] }, name: "mine" };
  const resolved = did.tasks.cairn.resolveTask(asked);
  assert.strictEqual(resolved.definition, asked.definition);
  assert.deepStrictEqual(resolved.execution.args, ["check", "main.scm"]);
});

// What the named problem matcher finds in a text: file, line, column and message.
function problems(name, text) {
  const { pattern } = manifest.contributes.problemMatchers.find((m) => m.name === name);
  const lines = text.split("\n");
  const found = [];
  for (let i = 0; i + 1 < lines.length; i += 1) {
    const matches = pattern.map((p, k) => new RegExp(p.regexp).exec(lines[i + k]));
    if (!matches.every(Boolean)) continue;
    const problem = {};
    pattern.forEach((p, k) => {
      for (const part of ["file", "line", "column", "message", "severity"])
        if (p[part]) problem[part] = matches[k][p[part]];
    });
    found.push(problem);
  }
  return found;
}

test("problem matchers read what cairn says", { skip: !process.env.CAIRN_BINARY }, () => {
  const run = (...args) => {
    const ran = spawnSync(process.env.CAIRN_BINARY, args, {
      cwd: directory,
      encoding: "utf8",
      env: { ...process.env, CAIRN_CACHE_DIR: path.join(directory, "cache") },
    });
    return ran.stdout + ran.stderr;
  };
  fs.writeFileSync(path.join(directory, "wrong.scm"), '(import (scheme base))\n(car 1 2)\n(error "no" \'x)\n');
  assert.deepStrictEqual(problems("cairn", run("check", "wrong.scm")), [
    {
      file: "wrong.scm",
      line: "2",
      column: "1",
      message: "`car` takes 1 argument, but gets 2 here",
      severity: "warning",
    },
  ]);
  const [, error] = problems("cairn", run("run", "wrong.scm"));
  assert.deepStrictEqual([error.severity, error.file, error.line], ["error", "wrong.scm", "2"]);
  fs.writeFileSync(
    path.join(directory, "wrong-test.scm"),
    '(import (scheme base) (srfi 64))\n(test-begin "g")\n(test-equal "t" 1 2)\n(test-end "g")\n',
  );
  assert.deepStrictEqual(problems("cairn-test", run("test", "wrong-test.scm")), [
    { file: "wrong-test.scm", line: "3", column: "19", message: "g: t" },
  ]);
});
