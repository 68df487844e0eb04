//! Memory while a thousand answers are on their way.

use std::process::Command;

use anyhow::{Result, ensure};
use munshi_llm::ChatEvent;

use super::mock::{ENDLESS, Mock};
use super::{ours, question};
use crate::process::{OWN, resident_kilobytes};
use crate::report::Table;

const STREAMS: usize = 1_000;

/// In a process of its own, so that nothing else is counted.
pub(crate) fn report(mock: &Mock) -> Result<()> {
    let output = Command::new(std::env::current_exe()?).args(["open-streams", &mock.address]).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    print!("{}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}

/// What the child does: opens them all, and says what it holds before and after.
pub(crate) fn hold_open(address: &str) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let (gateway, call) = (ours::gateway(ours::target(address, ENDLESS))?, ours::call(question()));
        let mut open = vec![open_stream(&gateway, &call).await?];
        let before = resident_kilobytes(OWN)?;
        while open.len() <= STREAMS {
            open.push(open_stream(&gateway, &call).await?);
        }
        let after = resident_kilobytes(OWN)?;
        let mut table = Table::new(["open streams", "resident MB", "KB each"]);
        table.add_row(["1".to_owned(), format!("{:.1}", before / 1024.0), String::new()]);
        let each = (after - before) / STREAMS as f64;
        table.add_row([open.len().to_string(), format!("{:.1}", after / 1024.0), format!("{each:.1}")]);
        table.print("Memory of open streams, connections included");
        Ok(())
    })
}

async fn open_stream(
    gateway: &munshi_llm::Gateway,
    call: &munshi_llm::gateway::ModelCall,
) -> Result<munshi_llm::gateway::ModelReplyStream> {
    let mut live = gateway.stream(call.clone()).await?;
    while let Some(event) = live.next().await {
        if matches!(event?, ChatEvent::Text(_)) {
            return Ok(live);
        }
    }
    anyhow::bail!("the answer ended")
}
