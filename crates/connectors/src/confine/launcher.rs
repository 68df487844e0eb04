//! The launcher: the program as it runs in the child, before it becomes the connector's command.
//!
//! `munshi confine [--read PATH]… [--write PATH]… [--listen] -- PROGRAM ARGUMENTS…`. The child's variables come with a prefix, so that
//! none of them (`LD_PRELOAD`, say) has a say before the process is confined.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use super::kernel::{self, ChildRights};

/// The first argument of a program that is to be the launcher.
pub const COMMAND: &str = "confine";
pub(super) const READ: &str = "--read";
pub(super) const WRITE: &str = "--write";
pub(super) const LISTEN: &str = "--listen";
/// What the names of the child's variables begin with until it is confined.
const PREFIX: &[u8] = b"MUNSHI_CHILD_";
/// As shells say that a command can't be run.
const CAN_NOT_RUN: u8 = 126;

/// A variable under the name by which the launcher gets it.
pub(super) fn add_prefix(name: &OsStr) -> OsString {
    OsString::from_vec([PREFIX, name.as_bytes()].concat())
}

/// Confines this process and becomes the command, if that is what its arguments ask for. Returns only where they don't,
/// or where it can't be done; then nothing was started.
pub fn run(
    mut arguments: impl Iterator<Item = OsString>,
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Option<ExitCode> {
    let _program = arguments.next();
    if arguments.next().as_deref() != Some(OsStr::new(COMMAND)) {
        return None;
    }
    let why = become_command(arguments, variables);
    // Where even this can't be written, the code still tells.
    let _ = writeln!(std::io::stderr(), "munshi: program not started: {why}");
    Some(ExitCode::from(CAN_NOT_RUN))
}

/// Gives back why not.
fn become_command(
    mut arguments: impl Iterator<Item = OsString>,
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> String {
    let mut rights = ChildRights::default();
    loop {
        let list = match arguments.next() {
            Some(flag) if flag == READ => &mut rights.reads,
            Some(flag) if flag == WRITE => &mut rights.writes,
            Some(flag) if flag == LISTEN => {
                rights.listens = true;
                continue;
            }
            Some(end) if end == "--" => break,
            _ => return "the launcher only starts connector programs; its arguments are invalid".to_owned(),
        };
        match arguments.next() {
            Some(path) => list.push(PathBuf::from(path)),
            None => return "a path is missing".to_owned(),
        }
    }
    let Some(program) = arguments.next() else { return "the command is missing".to_owned() };
    if let Err(why) = kernel::restrict(&rights) {
        return format!("confinement failed: {why}");
    }
    let own = variables.filter_map(|(name, value)| {
        let name = name.as_bytes().strip_prefix(PREFIX)?;
        Some((OsString::from_vec(name.to_vec()), value))
    });
    let error = Command::new(&program).args(arguments).env_clear().envs(own).exec();
    format!("`{}` can't be run: {error}", program.display())
}
