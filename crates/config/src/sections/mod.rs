//! One file per section. A key is one entry there: its doc, its kind and its default.
//! A section that stands many times has no defaults but examples.

mod alerts;
mod audit;
mod blobs;
mod budget;
mod connectors;
mod data;
mod jobs;
mod keys;
mod log;
mod mail;
mod models;
mod routes;
mod runs;
mod server;
mod sign_in;
mod store;
mod telemetry;
mod vault;
mod web;

pub use alerts::AlertsSection;
pub use audit::AuditSection;
pub use blobs::BlobsSection;
pub use budget::{BudgetSection, TenantPlan};
pub use connectors::ConnectorsSection;
pub use data::DataSection;
pub use jobs::JobsSection;
pub use keys::KeysSection;
pub use log::{LogFormat, LogSection};
pub use mail::{MailSection, MailSecurityChoice};
pub use models::{
    ConfiguredModel, JsonModeChoice, ModelSize, ModelWire, ModelsSection, OutputLimitChoice, ProviderChoice,
    ThinkingModeChoice,
};
pub use routes::{RoutesSection, RoutingStrategyChoice};
pub use runs::RunsSection;
pub use server::ServerSection;
pub use sign_in::{NewcomerRole, SignInSection};
pub use store::StoreSection;
pub use telemetry::TelemetrySection;
pub use vault::VaultSection;
pub use web::WebSection;
