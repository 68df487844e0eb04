//! The test program run again as a child, so that it can be killed in the middle of its work.

use std::process::{Command, Stdio};

/// The variable that tells the child what to do; unset in the parent.
const ROLE: &str = "MUNSHI_TEST_ROLE";

/// The child's instructions, if this process is one.
#[allow(clippy::disallowed_methods, reason = "the parent hands the child its part in the environment")]
pub fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// A command that runs one test of this same program, and in it the child's part. `test` is the test's full path with its
/// crate: `concat!(module_path!(), "::the_child_works")`.
pub fn build_child_command(test: &str, role: &str) -> Command {
    let (_, within) = test.split_once("::").unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([within, "--exact", "--nocapture", "--test-threads=1"]);
    command.env(ROLE, role).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    command
}
