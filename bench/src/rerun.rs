//! Running this program once more where something must be there from the start: a preloaded library, a server.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use munshi_test_support::{DatabaseEngine, shim};

use crate::arguments::Arguments;

/// How long each fsync takes, as on an ordinary disk.
const DELAY_MICROSECONDS: &str = "2000";

/// `store` with a disk whose fsync takes 2 ms.
pub(crate) fn run_on_slow_disk(arguments: &Arguments) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let library = shim::build(folder.path());
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["store", "--disk=slow"]).args(arguments.pace_arguments());
    // In memory, so that fsync takes 2 ms and not 2 ms and whatever a busy machine's disk adds.
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        command.env("TMPDIR", memory);
    }
    command.env("LD_PRELOAD", library).env("DISK_SHIM_DELAY_US", DELAY_MICROSECONDS);
    run_command(command)
}

/// One benchmark with a fresh Postgres beside it.
pub(crate) fn run_with_postgres(subject: &str, arguments: &Arguments) -> Result<()> {
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/postgres.sh"));
    command.arg("run").arg(std::env::current_exe()?).arg(subject).args(arguments.pace_arguments());
    run_command(command)
}

/// Whether a benchmark that tries both databases has to be run again with a server.
pub(crate) fn lacks_postgres(arguments: &Arguments) -> bool {
    arguments.engines().contains(&DatabaseEngine::Postgres) && !has_postgres()
}

/// Whether `scripts/postgres.sh run` started this program.
#[allow(clippy::disallowed_methods, reason = "the script hands the server's address over in the environment")]
pub(crate) fn has_postgres() -> bool {
    std::env::var("MUNSHI_TEST_POSTGRES").is_ok()
}

fn run_command(mut command: Command) -> Result<()> {
    let status = command.status()?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}
