//! A connector as a process of our own: a clean environment, a process group of its own, and an end that takes all of
//! it along.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::error::{Error, Result};

/// All there is to know to start one.
pub(crate) struct ChildSpec {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub folder: PathBuf,
    /// Everything its environment holds.
    pub environment: Vec<(OsString, OsString)>,
}

/// A child and all it has started. Dropped, it is killed.
#[derive(Debug)]
pub(crate) struct ChildProcess {
    child: Child,
    group: Option<Pid>,
}

pub(crate) struct ChildStreams {
    pub input: ChildStdin,
    pub output: ChildStdout,
    pub errors: ChildStderr,
}

impl ChildProcess {
    pub(crate) fn start(starting: &ChildSpec) -> Result<(Self, ChildStreams)> {
        std::fs::create_dir_all(&starting.folder).map_err(|error| {
            invalid(&format!("the folder {} can't be created: {error}", starting.folder.display()))
        })?;
        let program = starting.program.display();
        let mut child = Command::new(&starting.program)
            .args(&starting.arguments)
            .current_dir(&starting.folder)
            .env_clear()
            .envs(starting.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| Error::Unreachable(format!("`{program}` can't be started: {error}")))?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let running = Self { child, group };
        match streams {
            (Some(input), Some(output), Some(errors)) => {
                Ok((running, ChildStreams { input, output, errors }))
            }
            _ => Err(invalid("the program's standard streams can't be opened")),
        }
    }

    /// Its input is closed by now. It may end by itself, then it is asked to, and at last it is made to; whatever it has
    /// started goes with it.
    pub(crate) async fn stop(mut self, grace: Duration) {
        if timeout(grace / 4, self.child.wait()).await.is_err() {
            self.signal(Signal::TERM);
            let _ = timeout(grace, self.child.wait()).await;
        }
        // Those it left behind, too.
        self.signal(Signal::KILL);
        let _ = self.child.wait().await;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // A group that is gone is what we want.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

fn invalid(what: &str) -> Error {
    Error::Invalid(what.to_owned())
}
