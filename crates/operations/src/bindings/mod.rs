//! Bindings: whom one can write to.

mod list;
mod show;
mod view;

pub use list::ListBindings;
pub use show::{BindingInput, ShowBinding};
pub use view::{BindingView, BindingWithVersionsView};
