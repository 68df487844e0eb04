//! The shops and businesses of the installation.

mod add;
mod find;
mod list;
mod show;
mod status;
mod view;

pub use add::{AddTenant, AddTenantInput};
pub use find::find_selected;
pub use list::ListTenants;
pub use show::{ShowTenant, TenantInput};
pub use status::{ArchiveTenant, ChangedTenantView, PauseTenant, ResumeTenant};
pub use view::TenantView;
