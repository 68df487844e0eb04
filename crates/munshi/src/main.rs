//! The `munshi` binary: the command line joined with the web server.
//!
//! The commands are in `munshi_cli`, the parts they share in `munshi_wiring`. What needs the web server is here, and nothing else:
//! this crate is compiled after all others.
//!
//! # Layout
//! - `serve`, `demo`: the commands that run a server; `port`: what `doctor` says of its port
//! - `server`: the web server and the job runner, started and stopped together; `readiness`: how they are
//! - `api`: what the routes under `/v1` are made of; `sign_in`: how operators sign in, and hosts' keys
//! - `onboarding`: what the start page does; `telemetry`: logs and traces

mod api;
mod demo;
mod installation_parts;
mod onboarding;
mod open_files;
mod port;
mod readiness;
mod serve;
mod server;
mod sign_in;
mod telemetry;

use std::process::ExitCode;

use async_trait::async_trait;
use munshi_cli::DoctorFinding;
use munshi_cli::context::CommandContext;
use munshi_cli::server_commands::{DemoArguments, ServerCommands};
use munshi_config::Config;
use munshi_safety::vault::Vault;
use munshi_types::Timestamp;
use munshi_wiring::failure::Result;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    run_launcher().unwrap_or_else(|| munshi_cli::run(&WebServerCommands))
}

/// Where we are to become a connector's program, confined: that comes before anything of ours.
#[allow(
    clippy::disallowed_methods,
    reason = "the child's environment is passed on, and holds no setting of ours"
)]
fn run_launcher() -> Option<ExitCode> {
    munshi_connectors::confine::launcher::run(std::env::args_os(), std::env::vars_os())
}

struct WebServerCommands;

#[async_trait(?Send)]
impl ServerCommands for WebServerCommands {
    fn serve(&self, context: &CommandContext) -> Result<()> {
        serve::run(context)
    }

    fn demo(&self, context: &CommandContext, arguments: &DemoArguments) -> Result<()> {
        demo::run(context, arguments)
    }

    async fn examine_port(&self, config: &Config) -> DoctorFinding {
        port::examine(config).await
    }

    async fn create_local_link(
        &self,
        vault: &Vault,
        now: Timestamp,
        base: &str,
        next: &str,
    ) -> Result<Option<String>> {
        sign_in::create_local_link(vault, now, base, next).await
    }
}
