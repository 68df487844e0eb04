//! A key for each of many persons: planted through the product's own crates, then read by a process that has just started.

mod population;
mod restarted;

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, ensure};
use munshi_test_support::DatabaseEngine;
use tokio::runtime::Runtime;

use crate::arguments::Arguments;
use crate::report::{Table, render_count};
use crate::rerun;
use crate::sealed_database::{CACHED, SealedDatabase};

pub(crate) use restarted::{CHILD, measure as measure_restarted};

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if rerun::lacks_postgres(arguments) {
        return rerun::run_with_postgres("keys", arguments);
    }
    let runtime = Runtime::new()?;
    for engine in arguments.engines() {
        compare(engine, arguments.persons, &runtime)?;
    }
    Ok(())
}

fn compare(engine: DatabaseEngine, persons: usize, runtime: &Runtime) -> Result<()> {
    let database = SealedDatabase::create(engine, runtime)?;
    let began = Instant::now();
    runtime.block_on(async {
        let node = database.address.open(CACHED).await?;
        anyhow::Ok(population::plant(&node.db, database.tenant, persons).await?)
    })?;
    let took = began.elapsed().as_secs_f64();
    database.analyze_tables();
    let mut table = Table::new(["persons", "seconds", "a second", "messages of each"]);
    table.add_row([
        render_count(persons as f64),
        format!("{took:.0}"),
        render_count(persons as f64 / took),
        population::MESSAGES.to_string(),
    ]);
    table.print(&format!("Persons planted on {engine:?}, each with a key, a phone and a conversation"));
    read_elsewhere(&database, persons)
}

/// In a process of its own: it knows no key, and its memory holds nothing else.
fn read_elsewhere(database: &SealedDatabase, persons: usize) -> Result<()> {
    let address = &database.address;
    let mut command = Command::new(std::env::current_exe()?);
    command.args([CHILD, &address.database, &address.keys]).arg(&address.master);
    let status = command.args([database.tenant.to_string(), persons.to_string()]).status()?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}
