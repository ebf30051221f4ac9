//! What this is: `cairn --version` and the manual page.

use std::process::Command;

/// The commit that `./cairn package` and `./cairn install` were run on. What cargo alone builds for development knows
/// none: its commit would change with every commit, and the binary with it.
const COMMIT: Option<&str> = option_env!("CAIRN_COMMIT");

/// Version, commit, LLVM, target.
pub fn long() -> String {
    let commit = COMMIT.map_or_else(of_source_tree, |commit| format!("commit {commit}"));
    let llvm = match cairn::llvm_version() {
        Some([major, minor, patch]) => format!("LLVM {major}.{minor}.{patch}"),
        None => "LLVM 19 not found: code is made by Cairn alone".into(),
    };
    let target = format!("{}-{}-{}", std::env::consts::ARCH, std::env::consts::OS, LIBRARY);
    format!("{} ({commit}; {llvm}; {target})", env!("CARGO_PKG_VERSION"))
}

const LIBRARY: &str = if cfg!(target_env = "musl") { "musl" } else { "gnu" };

/// The commit of the source tree in which the binary lies, which was perhaps changed since it was built.
fn of_source_tree() -> String {
    let commit = || {
        let me = std::env::current_exe().ok()?;
        let mut git = Command::new("git");
        git.arg("-C").arg(me.parent()?).args(["rev-parse", "--short=12", "HEAD"]);
        let output = git.stderr(std::process::Stdio::null()).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_string())
    };
    commit().map_or("commit unknown".into(), |commit| format!("built in a tree at commit {commit}"))
}

/// The manual page: `cairn.1`.
pub fn manual(command: clap::Command) -> Vec<u8> {
    let mut text = Vec::new();
    let man = clap_mangen::Man::new(command.clone());
    let written = (|| {
        man.render_title(&mut text)?;
        man.render_name_section(&mut text)?;
        man.render_synopsis_section(&mut text)?;
        man.render_description_section(&mut text)?;
        man.render_subcommands_section(&mut text)?;
        // a page of its own for each command is more than anybody installs by hand
        for sub in command.get_subcommands().filter(|c| !c.is_hide_set()) {
            let mut part = Vec::new();
            let sub_man = clap_mangen::Man::new(sub.clone());
            sub_man.render_options_section(&mut part)?;
            let part = String::from_utf8_lossy(&part).replace("\n.SH OPTIONS", "");
            let part = part.trim_start_matches(".SH OPTIONS").trim_start();
            if !part.is_empty() {
                text.extend(format!(".SH \"OPTIONS OF {}\"\n{part}", sub.get_name().to_uppercase()).bytes());
            }
        }
        man.render_extra_section(&mut text)
    })();
    written.expect("memory takes everything");
    // commands have no pages of their own
    String::from_utf8_lossy(&text).replace("cairn\\-", "cairn ").replace("(1)\n", "\n").into_bytes()
}
