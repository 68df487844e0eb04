//! The launcher: the program as it runs in the child, before it becomes the connector's command.
//!
//! `munshi confine [--read PATH]… [--write PATH]… [--waypoint PATH]… [--listen] [--isolate] -- PROGRAM ARGUMENTS…`. The child's variables
//! come with a prefix, so that none of them (`LD_PRELOAD`, say) has a say before the process is confined. With `--probe` instead
//! of a program it only tries whether it can confine so.

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
pub(super) const WAYPOINT: &str = "--waypoint";
pub(super) const LISTEN: &str = "--listen";
pub(super) const ISOLATE: &str = "--isolate";
pub(super) const PROBE: &str = "--probe";
/// The only argument of the launcher's own helper.
#[cfg(target_os = "linux")]
pub(super) const MAP_IDS: &str = "--map-ids";
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
    Some(match LauncherRequest::parse(arguments).and_then(|request| request.run(variables)) {
        Ok(code) => code,
        Err(why) => {
            // Where even this can't be written, the code still tells.
            let _ = writeln!(std::io::stderr(), "munshi: program not started: {why}");
            ExitCode::from(CAN_NOT_RUN)
        }
    })
}

/// What the launcher is to do.
enum LauncherRequest {
    Start {
        rights: ChildRights,
        program: OsString,
        arguments: Vec<OsString>,
    },
    Probe(ChildRights),
    #[cfg(target_os = "linux")]
    MapIds,
}

impl LauncherRequest {
    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut rights = ChildRights::default();
        loop {
            let list = match arguments.next() {
                Some(flag) if flag == READ => &mut rights.reads,
                Some(flag) if flag == WRITE => &mut rights.writes,
                Some(flag) if flag == WAYPOINT => &mut rights.waypoints,
                Some(flag) if flag == LISTEN => {
                    rights.listens = true;
                    continue;
                }
                Some(flag) if flag == ISOLATE => {
                    rights.is_isolated = true;
                    continue;
                }
                Some(flag) if flag == PROBE => return Ok(Self::Probe(rights)),
                #[cfg(target_os = "linux")]
                Some(flag) if flag == MAP_IDS => return Ok(Self::MapIds),
                Some(end) if end == "--" => break,
                _ => {
                    let why = "the launcher only starts connector programs; its arguments are invalid";
                    return Err(why.to_owned());
                }
            };
            list.push(PathBuf::from(arguments.next().ok_or("a path is missing")?));
        }
        let program = arguments.next().ok_or("the command is missing")?;
        Ok(Self::Start { rights, program, arguments: arguments.collect() })
    }

    /// Does not come back from a program that it could start.
    fn run(self, variables: impl Iterator<Item = (OsString, OsString)>) -> Result<ExitCode, String> {
        let restrict = |rights| kernel::restrict(rights).map_err(|why| format!("confinement failed: {why}"));
        match self {
            Self::Start { rights, program, arguments } => {
                restrict(&rights)?;
                let own = variables.filter_map(|(name, value)| {
                    let name = name.as_bytes().strip_prefix(PREFIX)?;
                    Some((OsString::from_vec(name.to_vec()), value))
                });
                let error = Command::new(&program).args(arguments).env_clear().envs(own).exec();
                Err(format!("`{}` can't be run: {error}", program.display()))
            }
            Self::Probe(rights) => restrict(&rights).map(|()| ExitCode::SUCCESS),
            #[cfg(target_os = "linux")]
            Self::MapIds => Ok(super::user_namespace::map_parents_ids()),
        }
    }
}
