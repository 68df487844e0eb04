//! What a process has used so far, as the kernel tells it.

use std::time::Duration;

use anyhow::{Context, Result};

/// This process, where another would be named by its id.
pub(crate) const OWN: &str = "self";

/// Processor time, ended threads included, in the kernel's hundredths of a second.
pub(crate) fn processor_time(process: &str) -> Result<Duration> {
    let line = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let (_, fields) = line.rsplit_once(')').with_context(|| format!("no name in /proc/{process}/stat"))?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    Ok(Duration::from_millis(ticks * 10))
}

/// Memory that it holds.
pub(crate) fn resident_kilobytes(process: &str) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS line")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
