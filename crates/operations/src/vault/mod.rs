//! Secrets by name; their values come in and never go out.

mod list;
mod remove;
mod set;

pub use list::{ListSecrets, SecretView};
pub use remove::{RemoveSecret, RemovedSecretView, SecretInput};
pub use set::{SecretText, SetSecret, SetSecretInput, StoredSecretView};

use munshi_pack::operation::OperationError;
use munshi_safety::vault::SecretRef;

/// `razorpay.key`, or as it is written elsewhere, `vault:razorpay.key`.
fn parse_name(text: &str) -> Result<SecretRef, OperationError> {
    Ok(SecretRef::from_name(text.strip_prefix("vault:").unwrap_or(text))?)
}
