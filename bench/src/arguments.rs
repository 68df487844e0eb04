//! What to run, and for how long.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use munshi_test_support::DatabaseEngine;

const USAGE: &str = "usage: munshi-bench [all|store|reads|tenancy|jobs|gateway|tiers|audit|budget|acts|turn|runs|streams|live|webhooks|select|host|start|shops|search|keys] [--rounds=N] [--window=MILLISECONDS] [--callers=N] [--entries=N] [--messages=N] [--persons=N] [--engine=sqlite|postgres] [--old=BINARY --new=BINARY] [--disk=as-is|slow]";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Store,
    Reads,
    Tenancy,
    Jobs,
    Gateway,
    Tiers,
    Audit,
    Budget,
    Acts,
    Turn,
    Runs,
    Streams,
    Live,
    Webhooks,
    Select,
    Host,
    Start,
    Shops,
    Search,
    Keys,
}

impl Subject {
    /// But `search` and `keys`, which take as long as all others together.
    const ALL: [Self; 17] = [
        Self::Store,
        Self::Reads,
        Self::Tenancy,
        Self::Jobs,
        Self::Gateway,
        Self::Tiers,
        Self::Audit,
        Self::Budget,
        Self::Acts,
        Self::Turn,
        Self::Runs,
        Self::Streams,
        Self::Webhooks,
        Self::Select,
        Self::Host,
        Self::Start,
        Self::Shops,
    ];
}

/// The disk a run of `store` writes to. Given by this program to itself; a person leaves it out and gets both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disk {
    AsIs,
    Slow,
}

#[derive(Clone, Debug)]
pub(crate) struct Arguments {
    pub(crate) subjects: Vec<Subject>,
    /// How often each contestant runs; medians are taken over the rounds.
    pub(crate) rounds: usize,
    /// How long each contestant runs in a round.
    pub(crate) window: Duration,
    /// Only this many callers at once, instead of each number a benchmark has; for profiling.
    pub(crate) callers: Option<usize>,
    /// How many entries the large books of `shops` have.
    pub(crate) entries: usize,
    /// How many messages `search` looks in.
    pub(crate) messages: usize,
    /// How many persons `keys` has keys for.
    pub(crate) persons: usize,
    /// Only this database, where `turn`, `search` and `keys` try both.
    pub(crate) engine: Option<DatabaseEngine>,
    /// Two builds of the product that `turn` compares with each other.
    pub(crate) builds: Option<ComparedBuilds>,
    pub(crate) disk: Option<Disk>,
}

/// Two binaries of the product.
#[derive(Clone, Debug)]
pub(crate) struct ComparedBuilds {
    pub(crate) old: PathBuf,
    pub(crate) new: PathBuf,
}

impl Arguments {
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Self> {
        let mut words = words;
        let subjects = match words.next().as_deref() {
            None | Some("all") => Subject::ALL.to_vec(),
            Some("store") => vec![Subject::Store],
            Some("reads") => vec![Subject::Reads],
            Some("tenancy") => vec![Subject::Tenancy],
            Some("jobs") => vec![Subject::Jobs],
            Some("gateway") => vec![Subject::Gateway],
            Some("tiers") => vec![Subject::Tiers],
            Some("audit") => vec![Subject::Audit],
            Some("budget") => vec![Subject::Budget],
            Some("acts") => vec![Subject::Acts],
            Some("turn") => vec![Subject::Turn],
            Some("runs") => vec![Subject::Runs],
            Some("streams") => vec![Subject::Streams],
            Some("live") => vec![Subject::Live],
            Some("webhooks") => vec![Subject::Webhooks],
            Some("select") => vec![Subject::Select],
            Some("host") => vec![Subject::Host],
            Some("start") => vec![Subject::Start],
            Some("shops") => vec![Subject::Shops],
            Some("search") => vec![Subject::Search],
            Some("keys") => vec![Subject::Keys],
            _ => bail!(USAGE),
        };
        let mut arguments = Self {
            subjects,
            rounds: 7,
            window: Duration::from_millis(600),
            callers: None,
            entries: 100_000,
            messages: 1_000_000,
            persons: 100_000,
            engine: None,
            builds: None,
            disk: None,
        };
        let (mut old, mut new) = (None, None);
        for word in words {
            match word.split_once('=').context(USAGE)? {
                ("--rounds", number) => arguments.rounds = number.parse().context(USAGE)?,
                ("--window", number) => {
                    arguments.window = Duration::from_millis(number.parse().context(USAGE)?);
                }
                ("--callers", number) => arguments.callers = Some(number.parse().context(USAGE)?),
                ("--entries", number) => arguments.entries = number.parse().context(USAGE)?,
                ("--messages", number) => arguments.messages = number.parse().context(USAGE)?,
                ("--persons", number) => arguments.persons = number.parse().context(USAGE)?,
                ("--engine", "sqlite") => arguments.engine = Some(DatabaseEngine::Sqlite),
                ("--engine", "postgres") => arguments.engine = Some(DatabaseEngine::Postgres),
                ("--old", path) => old = Some(PathBuf::from(path)),
                ("--new", path) => new = Some(PathBuf::from(path)),
                ("--disk", "as-is") => arguments.disk = Some(Disk::AsIs),
                ("--disk", "slow") => arguments.disk = Some(Disk::Slow),
                _ => bail!(USAGE),
            }
        }
        arguments.builds = match (old, new) {
            (None, None) => None,
            (Some(old), Some(new)) => Some(ComparedBuilds { old, new }),
            _ => bail!("give both --old and --new\n{USAGE}"),
        };
        Ok(arguments)
    }

    /// The numbers of callers to try.
    pub(crate) fn callers(&self, usual: &[usize]) -> Vec<usize> {
        self.callers.map_or_else(|| usual.to_vec(), |only| vec![only])
    }

    /// The databases to try.
    pub(crate) fn engines(&self) -> Vec<DatabaseEngine> {
        self.engine.map_or_else(|| vec![DatabaseEngine::Sqlite, DatabaseEngine::Postgres], |only| vec![only])
    }

    /// The same pace as words, for running this program again.
    pub(crate) fn pace_arguments(&self) -> Vec<String> {
        let mut words =
            vec![format!("--rounds={}", self.rounds), format!("--window={}", self.window.as_millis())];
        words.push(format!("--entries={}", self.entries));
        words.push(format!("--messages={}", self.messages));
        words.push(format!("--persons={}", self.persons));
        words.extend(self.engine.map(|engine| match engine {
            DatabaseEngine::Sqlite => "--engine=sqlite".to_owned(),
            DatabaseEngine::Postgres => "--engine=postgres".to_owned(),
        }));
        if let Some(ComparedBuilds { old, new }) = &self.builds {
            words.extend([format!("--old={}", old.display()), format!("--new={}", new.display())]);
        }
        words.extend(self.callers.map(|number| format!("--callers={number}")));
        words
    }
}
