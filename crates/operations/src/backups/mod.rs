//! Verified copies of the database, in a folder of the machine it runs on.

mod list;
mod make;
mod view;

pub use list::ListBackups;
pub use make::{MakeBackup, MakeBackupInput};
pub use view::BackupView;
