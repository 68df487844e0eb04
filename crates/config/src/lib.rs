//! Munshi's settings: one TOML file plus `MUNSHI__SECTION__KEY` environment variables.
//!
//! A variable wins over the file and the file over the default. [`Config::load`] reads everything once at
//! the start and reports every problem it finds, not just the first; after that the values are plain Rust
//! types and nobody reads the environment again. What a tenant may change for itself is not here: that
//! lives in the database.
//!
//! # Layout
//! - [`sections`]: one file per section; each key is one line with its doc, kind and default
//! - [`kinds`]: how a value is read, refused and shown (address, folder, numbers in bounds, choices, URLs)
//! - [`outline`]: sections and keys as values
//! - [`section`]: the `section!` and `named_section!` macros that turn those lines into a struct and a table of keys
//! - [`sources`]: the file and the variables, and where the file is looked for
//! - `file`, `variables`: what was written where (`sourced`); `reader`: who wins; `names`: the names of `[models.NAME]`;
//!   `retired`: keys that are no more
//! - [`redacted`]: a value as it is shown
//! - [`problem`]: what is wrong, where, and what to do
//! - [`show`], [`render_example`], [`render_docs`]: the settings as people see them, all from the table of keys
//!
//! # To add a setting
//! 1. Add a line to its section in `sections/`: a doc comment (it becomes the documentation), the key, its kind from
//!    [`kinds`] and its default. The environment variable `MUNSHI__SECTION__KEY` follows from the names.
//! 2. For a new section, add a file to `sections`, name it in `sections/mod.rs` and in the list in `config.rs`.
//! 3. `UPDATE_DOCS=1 INSTA_UPDATE=always cargo test -p munshi-config` writes `docs/configuration.md` and the snapshots of
//!    `munshi config example` and `show`; read the difference.
//! 4. Pass the value on in `crates/wiring/` or, where only the web server needs it, in `crates/munshi/`, to the options of the crate that
//!    uses it. Besides these two, only `crates/cli/` takes a [`Config`].

mod config;
mod docs;
mod example;
mod file;
pub mod kinds;
mod names;
pub mod outline;
pub mod problem;
pub mod reader;
pub mod redacted;
mod retired;
pub mod secret;
pub mod section;
pub mod sections;
pub mod show;
mod sourced;
pub mod sources;
mod spelling;
mod variables;

pub use config::Config;
pub use docs::render_docs;
pub use example::render_example;
pub use names::OFFLINE;
pub use problem::{ConfigProblem, ConfigProblems, SettingOrigin};
pub use redacted::RedactedSetting;
pub use secret::{ConfigSecret, RedactedUrl};
pub use sections::{
    AlertsSection, AuditSection, BlobsSection, BudgetSection, ConfiguredModel, DataSection, JobsSection,
    JsonModeChoice, KeysSection, LogFormat, LogSection, MailSection, MailSecurityChoice, ModelSize,
    ModelWire, ModelsSection, NewcomerRole, OutputLimitChoice, ProviderChoice, RoutesSection,
    RoutingStrategyChoice, RunsSection, ServerSection, SignInSection, StoreSection, TelemetrySection,
    TenantPlan, ThinkingModeChoice, VaultSection,
};
pub use show::{EffectiveConfig, EffectiveSetting};
pub use sources::{ConfigSources, has_display};
