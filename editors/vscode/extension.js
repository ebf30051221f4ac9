// Cairn in VS Code: starts `cairn lsp`, and runs programs, tests and the prompt.
//
// What the editor shows of a text comes from the server. This file finds the command, and says what to do where there
// is none; it starts nothing else of its own accord.
"use strict";

const fs = require("fs");
const os = require("os");
const path = require("path");
const { execFile } = require("child_process");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { topLevelFormAt } = require("./forms");

const HOW_TO_INSTALL = `# How to install Cairn

Cairn runs on x86-64 Linux: Debian 12 or newer, Ubuntu 24.04 or newer. On other systems, open the folder in WSL, a
container, or on a machine over SSH; this extension then runs there.

From a package:

    apt-get install ./cairn_VERSION_amd64.deb
    pip install ./cairn_scheme-VERSION-py3-none-manylinux_*.whl

From its sources, which takes three to four minutes:

    git clone REPOSITORY cairn && cd cairn
    ./cairn -e '(+ 1 2)'
    mkdir -p ~/.local/bin && ln -s "$PWD/cairn" ~/.local/bin/cairn

Then run "Cairn: Restart the Server". If \`cairn\` is in no directory of the PATH, say where it is in the setting
\`cairn.path\`. More is in docs/install.md of the sources.
`;

let output;
let status;
let client;
let prompt; // the terminal with `cairn repl`
let changes = Promise.resolve(); // starts and stops of the server, one after another

function settings(uri) {
  return vscode.workspace.getConfiguration("cairn", uri);
}

function folderOf(uri) {
  const folder = uri && vscode.workspace.getWorkspaceFolder(uri);
  return folder || (vscode.workspace.workspaceFolders || [])[0];
}

// The directory in which programs of this document run.
function directoryOf(document) {
  const uri = document && document.uri;
  const folder = folderOf(uri);
  if (folder) return folder.uri.fsPath;
  return uri && uri.scheme === "file" ? path.dirname(uri.fsPath) : os.homedir();
}

// A path of the settings: `~` and `${workspaceFolder}` stand for what they say.
function expanded(text) {
  const folder = folderOf();
  const home = text === "~" || text.startsWith("~/") ? os.homedir() + text.slice(1) : text;
  return folder ? home.replace(/\$\{workspaceFolder\}/g, folder.uri.fsPath) : home;
}

// The command. An editor that the desktop has started may not know what the shell adds to the PATH.
function cairn() {
  const command = expanded(settings().get("path") || "cairn");
  if (command.includes("/")) return command;
  const usual = [path.join(os.homedir(), ".local/bin"), "/usr/local/bin"];
  for (const directory of (process.env.PATH || "").split(path.delimiter).concat(usual)) {
    const file = path.join(directory, command);
    try {
      fs.accessSync(file, fs.constants.X_OK);
      if (directory && fs.statSync(file).isFile()) return file;
    } catch {
      // not here
    }
  }
  return command;
}

// `-I DIR` for each directory of the settings; relative ones are below the folder that is open.
function libraryOptions() {
  const folder = folderOf();
  const base = folder ? folder.uri.fsPath : os.homedir();
  return (settings().get("libraryDirectories") || []).flatMap((d) => ["-I", path.resolve(base, expanded(d))]);
}

// What `cairn --version` says, in one line; an error if it cannot be run.
function version(command) {
  return new Promise((resolve, reject) => {
    execFile(command, ["--version"], { timeout: 600000 }, (error, out) =>
      error ? reject(error) : resolve(out.split("\n")[0].trim()),
    );
  });
}

function show(text, detail, command, severity = vscode.LanguageStatusSeverity.Information) {
  status.text = text;
  status.detail = detail;
  status.command = command;
  status.severity = severity;
}

async function start() {
  const command = cairn();
  show("Cairn", "starting", undefined);
  let name;
  try {
    name = await version(command);
  } catch (error) {
    await missing(command, error);
    return;
  }
  const args = ["lsp", ...libraryOptions()];
  output.appendLine(`${command} ${args.join(" ")} (${name})`);
  const server = { command, args, options: { cwd: directoryOf() } };
  client = new LanguageClient("cairn", "Cairn", server, {
    documentSelector: [
      { language: "scheme", scheme: "file" },
      { language: "scheme", scheme: "untitled" },
    ],
    outputChannel: output,
  });
  try {
    await client.start();
    show(name.split(" (")[0], "language server", { command: "cairn.restartServer", title: "Restart" });
  } catch (error) {
    output.appendLine(String(error));
    const about = { command: "cairn.showOutput", title: "Show output" };
    show("Cairn does not answer", String(error.message || error), about, vscode.LanguageStatusSeverity.Error);
  }
}

async function stop() {
  const old = client;
  client = undefined;
  if (!old) return;
  try {
    await old.stop();
  } catch (error) {
    output.appendLine(String(error));
  }
}

// Says that there is no Cairn. Nobody waits for the answer: the editor goes on.
async function missing(command, error) {
  const isThere = error.code !== "ENOENT";
  const text = isThere ? `\`${command} --version\` fails` : `\`${command}\` is not found`;
  output.appendLine(`${text}: ${error.message}`);
  show(text, "", { command: "cairn.howToInstall", title: "How to install" }, vscode.LanguageStatusSeverity.Error);
  vscode.window.showWarningMessage(`Cairn: ${text}.`, "How to Install", "Set Its Path").then((answer) => {
    if (answer === "How to Install") vscode.commands.executeCommand("cairn.howToInstall");
    if (answer === "Set Its Path") vscode.commands.executeCommand("workbench.action.openSettings", "cairn.path");
  });
}

function restart() {
  changes = changes.then(stop).then(start);
  return changes;
}

async function howToInstall() {
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content: HOW_TO_INSTALL });
  await vscode.window.showTextDocument(document);
}

// The Scheme text in front, or nothing, with a message.
function editorInFront() {
  const editor = vscode.window.activeTextEditor;
  if (editor && editor.document.languageId === "scheme") return editor;
  vscode.window.showInformationMessage("Cairn: open a Scheme file first.");
  return undefined;
}

function promptIn(document) {
  if (prompt && prompt.exitStatus === undefined) return prompt;
  prompt = vscode.window.createTerminal({
    name: "Cairn",
    shellPath: cairn(),
    shellArgs: ["repl", ...libraryOptions()],
    cwd: directoryOf(document),
  });
  return prompt;
}

function openPrompt() {
  const editor = vscode.window.activeTextEditor;
  promptIn(editor && editor.document).show();
}

// As if pasted: the prompt does not indent the lines, complete names at tabs, or evaluate half a form.
function type(document, text) {
  const terminal = promptIn(document);
  terminal.show(true);
  terminal.sendText(`\x1b[200~${text.replace(/\x1b/g, "")}\x1b[201~`, true);
}

function sendToPrompt() {
  const editor = editorInFront();
  if (!editor) return;
  const { document, selection } = editor;
  let text = document.getText(selection);
  if (selection.isEmpty) {
    const all = document.getText();
    const form = topLevelFormAt(all, document.offsetAt(selection.active));
    text = form ? all.slice(form.start, form.end) : "";
  }
  if (text.trim()) type(document, text.trim());
}

// The file of a document, saved; nothing if it has none.
async function savedFile(document) {
  if (document.isUntitled || document.isDirty) {
    if (!(await document.save())) return undefined;
  }
  return document.uri.scheme === "file" ? document.uri.fsPath : undefined;
}

async function loadInPrompt() {
  const editor = editorInFront();
  const file = editor && (await savedFile(editor.document));
  if (file) type(editor.document, `,load ${file}`);
}

function task(name, args, directory, matcher) {
  const folder = folderOf();
  const definition = { type: "cairn", command: args[0], args: args.slice(1) };
  const execution = new vscode.ProcessExecution(cairn(), args, { cwd: directory });
  const made = new vscode.Task(definition, folder || vscode.TaskScope.Workspace, name, "cairn", execution, matcher);
  made.presentationOptions = { clear: true, showReuseMessage: false };
  return made;
}

async function runFile() {
  const editor = editorInFront();
  const file = editor && (await savedFile(editor.document));
  if (!file) return;
  const run = task("run", ["run", ...libraryOptions(), file], path.dirname(file), []);
  run.presentationOptions.focus = true; // it may read what is typed
  await vscode.tasks.executeTask(run);
}

async function runTests() {
  await vscode.workspace.saveAll(false);
  const editor = vscode.window.activeTextEditor;
  const directory = directoryOf(editor && editor.document);
  await vscode.tasks.executeTask(task("test", ["test", ...libraryOptions()], directory, ["$cairn-test"]));
}

// Tasks of tasks.json with `"type": "cairn"`, and those that are offered without it.
const TASKS = {
  provideTasks() {
    const folder = folderOf();
    if (!folder) return [];
    const directory = folder.uri.fsPath;
    const check = task("check the current file", ["check", ...libraryOptions(), "${file}"], directory, ["$cairn"]);
    const build = task(
      "build the current file",
      ["build", ...libraryOptions(), "${file}", "-o", "${fileDirname}/${fileBasenameNoExtension}"],
      directory,
      ["$cairn"],
    );
    const test = task("test", ["test", ...libraryOptions()], directory, ["$cairn-test"]);
    build.group = vscode.TaskGroup.Build;
    test.group = vscode.TaskGroup.Test;
    return [check, build, test];
  },
  resolveTask(asked) {
    const { command, args } = asked.definition;
    if (!command) return undefined;
    const folder = folderOf();
    const execution = new vscode.ProcessExecution(cairn(), [command, ...(args || [])], {
      cwd: folder && folder.uri.fsPath,
    });
    const matcher = command === "test" ? "$cairn-test" : "$cairn";
    return new vscode.Task(
      asked.definition,
      asked.scope || vscode.TaskScope.Workspace,
      asked.name,
      "cairn",
      execution,
      [matcher],
    );
  },
};

function activate(context) {
  output = vscode.window.createOutputChannel("Cairn");
  status = vscode.languages.createLanguageStatusItem("cairn", { language: "scheme" });
  status.name = "Cairn";
  const commands = {
    "cairn.restartServer": restart,
    "cairn.runFile": runFile,
    "cairn.openPrompt": openPrompt,
    "cairn.sendToPrompt": sendToPrompt,
    "cairn.loadInPrompt": loadInPrompt,
    "cairn.runTests": runTests,
    "cairn.howToInstall": howToInstall,
    "cairn.showOutput": () => output.show(),
  };
  for (const [name, does] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, does));
  }
  context.subscriptions.push(
    output,
    status,
    vscode.tasks.registerTaskProvider("cairn", TASKS),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("cairn.path") || event.affectsConfiguration("cairn.libraryDirectories")) restart();
    }),
    vscode.window.onDidCloseTerminal((terminal) => {
      if (terminal === prompt) prompt = undefined;
    }),
  );
  // not waited for: commands that need no server are there at once
  restart();
}

function deactivate() {
  changes = changes.then(stop);
  return changes;
}

module.exports = { activate, deactivate };
