//! The models of the settings: how they are, whether they answer, and which of them answer a tenant.

mod capabilities;
mod house_models;
mod list;
mod set;
mod test;
pub mod trial;
mod view;

pub use capabilities::{ListModelCapabilities, ModelCapabilityView};
pub use house_models::HouseModels;
pub use list::{ListModels, ListModelsInput, ModelsView, list_without_database};
pub use set::{SetModelCapability, SetModelCapabilityInput};
pub use test::{ModelTestView, TestModel, TestModelInput, run_checks};
pub use view::{ModelState, ModelView};
