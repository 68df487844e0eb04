//! One file per section. A key is one entry there: its doc, its kind and its default.

mod data;
mod jobs;
mod log;
mod server;
mod store;
mod telemetry;

pub use data::Data;
pub use jobs::Jobs;
pub use log::{Log, LogFormat};
pub use server::Server;
pub use store::Store;
pub use telemetry::Telemetry;
