//! Secrets by name; their values come in and never go out. And the keys of tenants.

mod list;
mod remove;
mod rotate_tenant_key;
mod set;

pub use list::{ListSecrets, SecretView};
pub use remove::{RemoveSecret, RemovedSecretView, SecretInput};
pub use rotate_tenant_key::{RotateTenantKey, RotateTenantKeyInput, RotatedTenantKeyView};
pub use set::{SecretText, SetSecret, SetSecretInput, StoredSecretView};

use munshi_pack::operation::OperationError;
use munshi_safety::vault::SecretRef;

/// `razorpay.key`, or as it is written elsewhere, `vault:razorpay.key`.
fn parse_name(text: &str) -> Result<SecretRef, OperationError> {
    Ok(SecretRef::from_name(text.strip_prefix("vault:").unwrap_or(text))?)
}
