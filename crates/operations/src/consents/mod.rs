//! What people have agreed to, and taking it back. Giving is theirs alone, so there is no verb for it.

mod list;
mod show;
mod view;
mod withdraw;

pub use list::{ListConsents, ListConsentsInput};
pub use show::{ConsentInput, ShowConsent};
pub use view::ConsentView;
pub use withdraw::{WithdrawConsent, WithdrawnConsentView};
