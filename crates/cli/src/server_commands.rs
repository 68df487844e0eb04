//! What commands need of the web server. The binary brings it, since this crate does not depend on the web.

use std::net::SocketAddr;
use std::path::PathBuf;

use async_trait::async_trait;
use clap::Args;
use munshi_config::Config;
use munshi_safety::vault::Vault;
use munshi_types::Timestamp;
use munshi_wiring::failure::Result;

use crate::commands::doctor::DoctorFinding;
use crate::context::CommandContext;

/// What the binary does for `serve`, `demo`, `doctor` and `connector login`.
#[async_trait(?Send)]
pub trait ServerCommands {
    /// `munshi serve`: returns when the server has stopped.
    fn serve(&self, context: &CommandContext) -> Result<()>;

    /// `munshi demo`: returns when the demo has ended.
    fn demo(&self, context: &CommandContext, arguments: &DemoArguments) -> Result<()>;

    /// Whether the server could listen where the settings say; for `munshi doctor`.
    async fn examine_port(&self, config: &Config) -> DoctorFinding;

    /// The link that makes a browser known as one in front of this machine, and leads on to a path. None where the address
    /// is not this machine's own: nobody who comes by another is taken for sitting here.
    async fn create_local_link(
        &self,
        vault: &Vault,
        now: Timestamp,
        base: &str,
        next: &str,
    ) -> Result<Option<String>>;
}

#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Demo folder; an existing one is resumed. Default: a temporary one, removed at the end
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Keep the folder at the end; a folder given with --dir is always kept
    #[arg(long)]
    pub keep: bool,
    /// Days of history
    #[arg(long, value_name = "DAYS", default_value_t = munshi_ledger::demo::DAYS, value_parser = clap::value_parser!(u16).range(1..=365))]
    pub days: u16,
    /// Random seed; the same number gives the same shop
    #[arg(long, value_name = "NUMBER", default_value_t = 7)]
    pub seed: u64,
    /// Address and port to serve on. Default: 127.0.0.1 with a free port
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// Don't open the browser
    #[arg(long)]
    pub no_browser: bool,
}
