//! Keys with which a host's own server says who its visitors are.

mod add;
mod list;
mod retire;
mod view;

pub use add::{AddHostKey, AddHostKeyInput};
pub use list::ListHostKeys;
pub use retire::{RetireHostKey, RetireHostKeyInput};
pub use view::HostKeyView;

use munshi_identity::hosts::HostKey;
use munshi_store::AdminTx;
use serde_json::json;

fn note(tx: &mut AdminTx<'_, '_>, event: &'static str, key: &HostKey) {
    let payload = json!({
        "host": key.host,
        "algorithm": key.algorithm,
        "holds": key.holds,
        "ends_at": key.ends_at,
    });
    tx.note(event, key.kid.as_str(), payload);
}
