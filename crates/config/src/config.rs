//! The settings as a whole: every section, loaded together and checked together.

use std::path::PathBuf;

use crate::names::OFFLINE;
use crate::outline::{KnownSections, SectionOutline};
use crate::problem::{ConfigProblem, ConfigProblems, SettingOrigin};
use crate::reader::ConfigReader;
use crate::secret::RedactedUrl;
use crate::section::ConfigSection;
use crate::sections::{
    AlertsSection, AuditSection, BlobsSection, BudgetSection, ConnectorsSection, DataSection, JobsSection,
    KeysSection, LogSection, MailSection, ModelsSection, RoutesSection, RunsSection, ServerSection,
    SignInSection, StoreSection, TelemetrySection, VaultSection, WebSection,
};
use crate::show::{EffectiveConfig, EffectiveSetting};
use crate::sources::ConfigSources;

macro_rules! sections {
    ($($field:ident: $section:ty,)+) => {
        /// Every setting, read once at the start and never changed after.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Config {
            $(pub $field: $section,)+
            /// What to look at, though it is no reason not to start.
            pub warnings: Vec<ConfigProblem>,
            /// What each key came to and who said so; for [`Config::show`].
            entries: Vec<EffectiveSetting>,
        }

        /// Every section, in the order of the example and the docs.
        pub(crate) const SECTIONS: KnownSections = KnownSections(&[$(SectionOutline::of::<$section>()),+]);

        impl Config {
            fn read_from(reader: &mut ConfigReader) -> Option<Self> {
                $(let $field = <$section>::read_from(reader);)+
                Some(Self { $($field: $field?,)+ warnings: reader.warnings(), entries: reader.entries() })
            }
        }
    };
}

sections! {
    server: ServerSection,
    sign_in: SignInSection,
    data: DataSection,
    store: StoreSection,
    jobs: JobsSection,
    runs: RunsSection,
    vault: VaultSection,
    keys: KeysSection,
    blobs: BlobsSection,
    audit: AuditSection,
    models: ModelsSection,
    routes: RoutesSection,
    budget: BudgetSection,
    connectors: ConnectorsSection,
    mail: MailSection,
    alerts: AlertsSection,
    log: LogSection,
    telemetry: TelemetrySection,
    web: WebSection,
}

impl Config {
    /// Reads the file and the variables. Either every setting is good, or every problem is reported.
    pub fn load(sources: &ConfigSources) -> Result<Self, ConfigProblems> {
        let mut reader = ConfigReader::open(sources, SECTIONS);
        let taken = Self::read_from(&mut reader);
        let mut problems = reader.into_problems();
        problems.extend(taken.as_ref().and_then(Self::check_owner_url));
        match taken {
            Some(mut config) if problems.is_empty() => {
                config.explain();
                Ok(config)
            }
            _ => Err(ConfigProblems::new(problems)),
        }
    }

    /// The database to open: `store.url`, or the SQLite file in the data folder.
    pub fn store_url(&self) -> RedactedUrl {
        self.store.url.clone().unwrap_or_else(|| {
            RedactedUrl::new(format!("sqlite:{}", self.data.dir.join("munshi.db").display()))
        })
    }

    /// Where migrations are run: `store.owner_url`, or the same as [`Config::store_url`].
    pub fn store_owner_url(&self) -> RedactedUrl {
        self.store
            .owner_url
            .as_ref()
            .map_or_else(|| self.store_url(), |url| RedactedUrl::new(url.reveal().to_owned()))
    }

    /// The file with the vault's key: `vault.key_file`, or the one in the data folder.
    pub fn vault_key_file(&self) -> PathBuf {
        self.vault.key_file.clone().unwrap_or_else(|| self.data.dir.join("vault.key"))
    }

    /// The database of the keys: `keys.url`, or the SQLite file beside the vault's key.
    pub fn keys_url(&self) -> RedactedUrl {
        self.keys.url.clone().unwrap_or_else(|| {
            RedactedUrl::new(format!("sqlite:{}", self.vault_key_file().with_file_name("keys.db").display()))
        })
    }

    /// The folder of people's files: `blobs.folder`, or the one in the data folder.
    pub fn blobs_folder(&self) -> PathBuf {
        self.blobs.folder.clone().unwrap_or_else(|| self.data.dir.join("blobs"))
    }

    /// The file that settings were read from, if any was.
    pub fn file(&self) -> Option<PathBuf> {
        self.entries.iter().find_map(|entry| match &entry.from {
            SettingOrigin::File { file } | SettingOrigin::Line { file, .. } => Some(PathBuf::from(file)),
            SettingOrigin::Environment { .. } | SettingOrigin::Default => None,
        })
    }

    /// How many jobs this node runs at a time: `jobs.workers`, or what suits the engine.
    pub fn job_workers(&self) -> usize {
        self.jobs.workers.unwrap_or(if self.store_url().is_postgres() { 16 } else { 8 })
    }

    /// How many background runs this node works on at a time: `runs.background_places`, or what suits the engine.
    pub fn background_places(&self) -> usize {
        self.runs.background_places.unwrap_or(if self.store_url().is_postgres() { 16 } else { 8 })
    }

    /// The models for everything that has none of its own: `routes.default`, or all in the order of the file.
    pub fn default_route(&self) -> Vec<String> {
        if !self.routes.default.is_empty() {
            return self.routes.default.clone();
        }
        let all: Vec<String> = self.models.iter().map(|model| model.name.clone()).collect();
        if all.is_empty() { vec![OFFLINE.to_owned()] } else { all }
    }

    /// Where a key's value was written, such as `models.sonnet` and `base_url`.
    pub fn origin(&self, section: &str, key: &str) -> SettingOrigin {
        self.entry(section, key).map_or(SettingOrigin::Default, |entry| entry.from.clone())
    }

    /// Every key with its value and where it came from, secrets as dots.
    pub fn show(&self) -> EffectiveConfig {
        EffectiveConfig::new(self.entries.clone())
    }

    /// An owner's login beside an SQLite file would migrate one database and open another.
    fn check_owner_url(&self) -> Option<ConfigProblem> {
        if self.store.owner_url.is_none() || self.store_url().is_postgres() {
            return None;
        }
        Some(ConfigProblem {
            place: self.origin("store", "owner_url"),
            key: Some("store.owner_url".to_owned()),
            what: "`store.owner_url` is set, but `store.url` is not a Postgres database".to_owned(),
            hint: Some("set store.url to the Postgres database, or remove owner_url".to_owned()),
        })
    }

    /// Says beside an empty value what it comes to.
    fn explain(&mut self) {
        let (url, workers) = (self.store_url(), self.job_workers());
        let background = self.background_places();
        let owner = (self.store.owner_url.is_none() && url.is_postgres()).then(|| url.to_string());
        let meanings = [
            ("store", "url", self.store.url.is_none().then(|| url.to_string())),
            ("store", "owner_url", owner),
            ("jobs", "workers", self.jobs.workers.is_none().then(|| workers.to_string())),
            (
                "runs",
                "background_places",
                self.runs.background_places.is_none().then(|| background.to_string()),
            ),
            (
                "vault",
                "key_file",
                self.vault.key_file.is_none().then(|| self.vault_key_file().display().to_string()),
            ),
            ("keys", "url", self.keys.url.is_none().then(|| self.keys_url().to_string())),
            (
                "blobs",
                "folder",
                self.blobs.folder.is_none().then(|| self.blobs_folder().display().to_string()),
            ),
            ("routes", "default", self.routes.default.is_empty().then(|| self.default_route().join(", "))),
        ];
        for (section, key, means) in meanings {
            for entry in self.entries.iter_mut().filter(|entry| entry.matches(section, key)) {
                entry.means.clone_from(&means);
            }
        }
    }

    fn entry(&self, section: &str, key: &str) -> Option<&EffectiveSetting> {
        self.entries.iter().find(|entry| entry.matches(section, key))
    }
}
