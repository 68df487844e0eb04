//! An installation of its own for each test, and the program run in it.

mod running;
mod speaking;

pub(crate) use running::Running;
pub(crate) use speaking::{Answer, Speaking};

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use munshi_keys::{CachedKeyring, KeyStorePlace, KeyWorker, MasterKeySource};
use munshi_store::migrate::{self, MigrationRequest};
use munshi_store::{DatabaseAddress, Db, Migration, Migrations, StoreOptions};
use munshi_test_support::DatabaseEngine;
use munshi_test_support::database::{MORNING, TestDbStorage};
use munshi_types::{SystemClock, SystemRandom};
use serde_json::Value;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_munshi");
/// What `munshi_wiring::migrations()` lists.
pub(crate) const TABLES: &[&[Migration]] = &[
    munshi_store::MIGRATIONS,
    munshi_jobs::MIGRATIONS,
    munshi_keys::MIGRATIONS,
    munshi_llm::MIGRATIONS,
    munshi_identity::MIGRATIONS,
    munshi_index::MIGRATIONS,
    munshi_blobs::MIGRATIONS,
    munshi_tiers::MIGRATIONS,
    munshi_safety::MIGRATIONS,
    munshi_conversations::MIGRATIONS,
    munshi_erasure::MIGRATIONS,
    munshi_connectors::MIGRATIONS,
    munshi_channels::MIGRATIONS,
    munshi_pack::MIGRATIONS,
    munshi_ledger::MIGRATIONS,
];

/// A data folder and a database that go with the test, and the variables that lead there.
pub(crate) struct Installation {
    pub(crate) place: TestDbStorage,
    pub(crate) address: DatabaseAddress,
    variables: Vec<(String, String)>,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Installation {
    pub(crate) fn sqlite() -> Self {
        Self::on(DatabaseEngine::Sqlite)
    }

    pub(crate) fn on(engine: DatabaseEngine) -> Self {
        // The blocking driver may not run inside a runtime, and some tests have one.
        let (_, place) = std::thread::spawn(move || TestDbStorage::create(engine)).join().unwrap();
        let data = place.folder().join("data");
        let mut variables = vec![
            ("MUNSHI__DATA__DIR".to_owned(), data.display().to_string()),
            ("MUNSHI__SERVER__LISTEN".to_owned(), "127.0.0.1:0".to_owned()),
            ("HOME".to_owned(), place.folder().display().to_string()),
        ];
        let address = match engine {
            DatabaseEngine::Sqlite => DatabaseAddress::sqlite(data.join("munshi.db")),
            DatabaseEngine::Postgres => {
                let url = place.postgres_url("munshi_owner");
                variables.push(("MUNSHI__STORE__URL".to_owned(), url.clone()));
                let keys = format!("sqlite:{}", data.join("keys.db").display());
                variables.push(("MUNSHI__KEYS__URL".to_owned(), keys));
                url.parse().unwrap()
            }
        };
        Self { place, address, variables }
    }

    /// One with its tables made.
    pub(crate) fn migrated(engine: DatabaseEngine) -> Self {
        let installation = Self::on(engine);
        installation.run(&["migrate"]).ok();
        installation
    }

    pub(crate) fn with(mut self, variable: &str, value: impl Into<String>) -> Self {
        self.variables.retain(|(name, _)| name != variable);
        self.variables.push((variable.to_owned(), value.into()));
        self
    }

    /// The same database under another Postgres login.
    pub(crate) fn with_login(self, login: &str) -> Self {
        let url = self.place.postgres_url(login);
        self.with("MUNSHI__STORE__URL", url)
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.place.folder()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.place.folder().join("data")
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.data().join("munshi.db")
    }

    /// The program with none of this machine's variables but ours.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.env_clear().envs(self.variables.clone()).current_dir(self.folder());
        command.args(arguments).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// What a command that must pass says in JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(ran.err, "", "{ran:?}");
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }

    pub(crate) fn serve(&self) -> Running {
        Running::start(self.command(&["serve", "--json"]), &self.folder())
    }

    /// Brings the database to the given tables, past what the program would do by itself.
    pub(crate) async fn migrate_to(&self, tables: &[&[Migration]]) {
        let request = MigrationRequest {
            address: self.address.clone(),
            owner: None,
            options: StoreOptions::default(),
            migrations: Migrations::new(tables).unwrap(),
            now: MORNING,
            backups: None,
        };
        migrate::run(request).await.unwrap();
    }

    pub(crate) async fn open(&self) -> Db {
        let migrations = Migrations::new(TABLES).unwrap();
        let worker = self.keys();
        let keyring = CachedKeyring::new(worker.clone(), Arc::new(SystemClock), Arc::new(SystemRandom), 100);
        let options = StoreOptions { keyring: Some(Arc::new(keyring)), ..StoreOptions::default() };
        let db = Db::open(&self.address, &options, &migrations).await.unwrap();
        munshi_keys::bind_store(&db, &worker, MORNING).await.unwrap();
        db
    }

    /// The store of keys that the program uses.
    fn keys(&self) -> KeyWorker {
        std::fs::create_dir_all(self.data()).unwrap();
        let place = KeyStorePlace {
            address: DatabaseAddress::sqlite(self.data().join("keys.db")),
            owner: None,
            options: StoreOptions { readers: 1, ..StoreOptions::default() },
        };
        let masters = MasterKeySource::File(self.data().join("vault.key"));
        KeyWorker::new(place, masters.into(), Arc::new(SystemClock), Arc::new(SystemRandom))
    }

    /// A text without what differs from run to run: the folder, ids, and digits of times.
    pub(crate) fn masked(&self, text: &str) -> String {
        let folder = self.folder().canonicalize().unwrap_or_else(|_| self.folder());
        let text =
            text.replace(&*folder.to_string_lossy(), "~").replace(&*self.folder().to_string_lossy(), "~");
        text.split_inclusive(char::is_whitespace).map(mask).collect()
    }
}

fn mask(word: &str) -> String {
    let bare = word.trim();
    let is_id = bare.trim_end_matches('.').len() == 36 && bare.matches('-').count() == 4;
    let is_time = bare.len() >= 8 && bare.starts_with(|c: char| c.is_ascii_digit()) && !bare.contains('.');
    let is_stamped = bare.contains("munshi-2") || bare.contains("before-");
    if is_id || is_time || is_stamped {
        return word
            .chars()
            .map(|c| if c.is_ascii_digit() || (is_id && c.is_alphanumeric()) { '0' } else { c })
            .collect();
    }
    word.to_owned()
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.out
    }

    /// Asserts the exit code and that nothing was said on stdout; gives back stderr.
    #[track_caller]
    pub(crate) fn refused(self, code: i32) -> String {
        assert_eq!(self.code, code, "{self:?}");
        assert_eq!(self.out, "", "{self:?}");
        self.err
    }

    /// Asserts the one error shape with this code.
    #[track_caller]
    pub(crate) fn refused_as(self, exit: i32, code: &str) -> Value {
        let text = self.refused(exit);
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let error = &value["error"];
        assert_eq!(error["code"], code, "{value}");
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{value}");
        value
    }
}

/// Spoils a file in the middle, where only reading all of it shows.
pub(crate) fn spoil(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096].fill(0xA5);
    std::fs::write(path, bytes).unwrap();
}
