//! One file per section. A key is one entry there: its doc, its kind and its default.
//! A section that stands many times has no defaults but examples.

mod audit;
mod budget;
mod connectors;
mod data;
mod jobs;
mod log;
mod models;
mod routes;
mod server;
mod sign_in;
mod store;
mod telemetry;
mod vault;
mod web;

pub use audit::Audit;
pub use budget::{Budget, TenantPlan};
pub use connectors::Connectors;
pub use data::Data;
pub use jobs::Jobs;
pub use log::{Log, LogFormat};
pub use models::{JsonMode, Model, ModelSize, ModelWire, Models, OutputLimit, Provider, ThinkingMode};
pub use routes::{Routes, Strategy};
pub use server::Server;
pub use sign_in::{NewcomerRole, SignIn};
pub use store::Store;
pub use telemetry::Telemetry;
pub use vault::Vault;
pub use web::Web;
