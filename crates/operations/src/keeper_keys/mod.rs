//! Keys of whoever keeps the installation.

mod add;
mod list;
mod revoke;
mod view;

pub use add::{AddKeeperKey, AddKeeperKeyInput};
pub use list::ListKeeperKeys;
pub use revoke::{KeeperKeyInput, RevokeKeeperKey, RevokedKeeperKeyView};
pub use view::{IssuedKeeperKeyView, KeeperKeyView};
