//! A pack, and what it is installed in.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use munshi_jobs::schedule::Schedule;
use munshi_lang::{Locale, PhraseError, Phrasebook, PlaceholderValue};
use munshi_safety::acts::{Act, RefusalObserver};
use munshi_store::{Migration, Tx};
use munshi_tools::ToolRegistry;
use munshi_types::{Autonomy, Conduct, TenantPacks, Timestamp};

use crate::check::PackCheck;
use crate::command::PackCommand;
use crate::context::ContextSource;
use crate::cross_check;
use crate::error::InvalidPack;
use crate::heartbeat::Heartbeat;
use crate::installer::{PackInstaller, is_plain};
use crate::interfaces::InterfaceTable;
use crate::job::PackJobEntry;
use crate::operation::{OperationEntry, PackServices};
use crate::page::PackPageHandler;
use crate::poll::PackPoll;
use crate::reader::PackReader;
use crate::run_kind::RunKind;
use crate::run_starter::ToolRuns;
use crate::subjects::SubjectRecords;
use crate::tenant_template::TenantTemplate;
use crate::turn_hook::TurnHook;
use crate::webhook::PackWebhook;

pub trait Pack: Send + Sync {
    /// A plain word: `ledger`. Its scopes, phrases, pages and commands begin with it.
    fn name(&self) -> &'static str;

    /// Its tables, in the one order of all crates.
    fn migrations(&self) -> &'static [Migration] {
        &[]
    }

    /// How its tools may be used where a tenant's policy says nothing of it: they look, and write nothing.
    fn conduct(&self) -> Conduct {
        let own = format!("{}.*", self.name()).parse().into_iter().collect();
        Conduct { autonomy: Autonomy::Investigate, read: own, ..Conduct::default() }
    }

    /// Installs everything it has.
    fn install(&self, room: &mut PackInstaller<'_>) -> Result<(), InvalidPack>;
}

/// Everything that packs brought, filled when the binary starts and then only read.
#[derive(Clone, Default)]
pub struct PackRegistry {
    pub tools: ToolRegistry,
    pub contexts: Vec<FromPack<dyn ContextSource>>,
    pub readers: Vec<FromPack<dyn PackReader>>,
    pub checks: Vec<FromPack<dyn PackCheck>>,
    /// The core's phrases and every pack's.
    pub book: Phrasebook,
    pub heartbeats: Vec<FromPack<dyn Heartbeat>>,
    pub run_kinds: Vec<FromPack<dyn RunKind>>,
    /// How tools begin runs.
    pub tool_runs: ToolRuns,
    pub jobs: Vec<PackJobEntry>,
    /// Those that packs gave names; heartbeats have theirs beside them.
    pub schedules: Vec<Schedule>,
    pub webhooks: Vec<FromPack<dyn PackWebhook>>,
    pub polls: Vec<FromPack<dyn PackPoll>>,
    pub turn_hooks: Vec<FromPack<dyn TurnHook>>,
    /// A pack has at most one.
    pub subjects: Vec<FromPack<dyn SubjectRecords>>,
    pub interfaces: InterfaceTable,
    pub pages: Vec<FromPack<dyn PackPageHandler>>,
    pub commands: Vec<FromPack<dyn PackCommand>>,
    pub operations: Vec<OperationEntry<PackServices>>,
    pub migrations: Vec<&'static [Migration]>,
    /// By the pack that brings them.
    pub tenants: Vec<(&'static str, TenantTemplate)>,
}

/// Something, and the pack that brought it.
pub struct FromPack<T: ?Sized> {
    pub pack: &'static str,
    pub what: Arc<T>,
}

impl<T: ?Sized> Clone for FromPack<T> {
    fn clone(&self) -> Self {
        Self { pack: self.pack, what: self.what.clone() }
    }
}

impl<T: ?Sized> Deref for FromPack<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.what
    }
}

impl RefusalObserver for PackRegistry {
    fn notify(&self, tx: &mut Tx<'_>, act: &Act, now: Timestamp) -> munshi_store::Result<()> {
        self.checks.iter().try_for_each(|check| check.what.on_refused(tx, act, now))
    }
}

impl PackRegistry {
    /// What packs of this tenant read by themselves.
    pub fn readers_of<'p>(
        &'p self,
        tenant: &'p TenantPacks,
    ) -> impl Iterator<Item = &'p Arc<dyn PackReader>> {
        list_of(&self.readers, tenant)
    }

    pub fn checks_of<'p>(&'p self, tenant: &'p TenantPacks) -> impl Iterator<Item = &'p Arc<dyn PackCheck>> {
        list_of(&self.checks, tenant)
    }

    /// A kind of run by the name it is stored under, `PACK.NAME`.
    pub fn find_run_kind(&self, kind: &str) -> Option<&FromPack<dyn RunKind>> {
        let (pack, name) = kind.split_once('.')?;
        self.run_kinds.iter().find(|of| of.pack == pack && of.what.name() == name)
    }

    pub fn find_webhook(&self, pack: &str, name: &str) -> Option<&FromPack<dyn PackWebhook>> {
        self.webhooks.iter().find(|of| of.pack == pack && of.what.name() == name)
    }

    pub fn find_poll(&self, pack: &str, name: &str) -> Option<&FromPack<dyn PackPoll>> {
        self.polls.iter().find(|of| of.pack == pack && of.what.name() == name)
    }

    /// A registry with all these packs, or the first thing that is wrong with one of them. Nothing is half installed.
    pub fn install_all(packs: &[Arc<dyn Pack>]) -> Result<Self, InvalidPack> {
        Self::install_with_tools(ToolRegistry::default(), packs)
    }

    /// The same, beside tools that are there without a pack.
    pub fn install_with_tools(tools: ToolRegistry, packs: &[Arc<dyn Pack>]) -> Result<Self, InvalidPack> {
        let book = Phrasebook::core().map_err(|why| InvalidPack::Phrases { pack: "core".to_owned(), why })?;
        let is_taken = |name: &str| tools.all().any(|tool| tool.known.connector.name == name);
        if let Some(pack) = packs.iter().find(|pack| is_taken(pack.name())) {
            return Err(InvalidPack::Twice(pack.name().to_owned()));
        }
        let mut registry = Self { book, tools, ..Self::default() };
        let mut numbers: BTreeMap<u32, &'static str> = BTreeMap::new();
        for (at, pack) in packs.iter().enumerate() {
            let name = pack.name();
            if !is_plain(name) {
                let what =
                    "a pack's name must be lowercase letters, digits and hyphens, starting with a letter"
                        .to_owned();
                return Err(InvalidPack::Other { pack: name.to_owned(), what });
            }
            if packs.iter().take(at).any(|other| other.name() == name) {
                return Err(InvalidPack::Twice(name.to_owned()));
            }
            for migration in pack.migrations() {
                register_migration_number(name, migration, &mut numbers)?;
            }
            registry.migrations.push(pack.migrations());
            pack.install(&mut PackInstaller::new(name, pack.conduct(), &mut registry))?;
        }
        cross_check::check(&registry)?;
        Ok(registry)
    }

    /// A phrase with its slots filled. The slot `count` is a number and chooses between one and many.
    pub fn render_phrase(
        &self,
        voice: Locale,
        phrase: &str,
        slots: &[(String, String)],
    ) -> Result<String, PhraseError> {
        let fills: Vec<(&str, PlaceholderValue<'_>)> = slots
            .iter()
            .map(|(name, text)| match text.parse() {
                Ok(count) if name == "count" => (name.as_str(), PlaceholderValue::Count(count)),
                _ => (name.as_str(), PlaceholderValue::Text(text)),
            })
            .collect();
        self.book.render(phrase, voice, &fills)
    }

    /// The page at a path below a pack, and what of the path is left for it: the longest that fits.
    pub fn find_page<'p>(&self, pack: &str, path: &'p str) -> Option<(&Arc<dyn PackPageHandler>, &'p str)> {
        let path = path.trim_matches('/');
        let own = self.pages.iter().filter(|page| page.pack == pack);
        let fitting = own.filter_map(|page| Some((&page.what, strip_page_path(page.what.path(), path)?)));
        fitting.max_by_key(|(page, _)| page.path().len())
    }
}

/// What packs of this tenant brought.
fn list_of<'p, T: ?Sized>(
    all: &'p [FromPack<T>],
    tenant: &'p TenantPacks,
) -> impl Iterator<Item = &'p Arc<T>> {
    all.iter().filter(|of| tenant.has(of.pack)).map(|of| &of.what)
}

fn strip_page_path<'p>(own: &str, path: &'p str) -> Option<&'p str> {
    match path.strip_prefix(own)? {
        rest if own.is_empty() || rest.is_empty() => Some(rest),
        rest => rest.strip_prefix('/'),
    }
}

fn register_migration_number(
    pack: &'static str,
    migration: &Migration,
    numbers: &mut BTreeMap<u32, &'static str>,
) -> Result<(), InvalidPack> {
    let bad = |what: String| InvalidPack::Migration { pack: pack.to_owned(), what };
    let number = migration.number().map_err(|error| bad(error.to_string()))?;
    match numbers.insert(number, migration.name) {
        None => Ok(()),
        Some(other) => Err(bad(format!(
            "migrations {} and {other} have the same number: use the next free one",
            migration.name
        ))),
    }
}
