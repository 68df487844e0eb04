//! Start to ready of the release binary on an existing database, and its memory at rest.

use std::time::Duration;

use anyhow::Result;

use crate::arguments::Arguments;
use crate::contest::median_of;
use crate::report::{Goal, Table, render_verdict};
use crate::server::{Server, find_binary};

/// Long enough for what runs once after the start to be over.
const REST: Duration = Duration::from_secs(2);

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Some(binary) = find_binary()? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let first = Server::start(&binary, folder.path(), &[])?.ready_after;
    let (mut times, mut sizes) = (Vec::new(), Vec::new());
    for _ in 0..arguments.rounds.max(1) {
        let server = Server::start(&binary, folder.path(), &[])?;
        times.push(server.ready_after.as_secs_f64() * 1000.0);
        std::thread::sleep(REST);
        sizes.push(server.resident_kilobytes()? / 1024.0);
    }
    let (time, size) = (median_of(times), median_of(sizes));
    let mut table = Table::new(["", "figure", "goal"]);
    table.add_row(["first start, ms".to_owned(), format!("{}", first.as_millis()), String::new()]);
    table.add_row([
        "start to ready, ms".to_owned(),
        format!("{time:.0}"),
        render_verdict(time, Goal::AtMost(100.0), 0),
    ]);
    table.add_row([
        "resident at rest, MB".to_owned(),
        format!("{size:.1}"),
        render_verdict(size, Goal::AtMost(40.0), 0),
    ]);
    table.print("`munshi serve` on an existing database");
    Ok(())
}
