//! A tenant's configuration as a folder of files: compared with what is stored, applied, and taken out.
//!
//! # Layout
//! - [`DiffFolder`], [`ApplyFolder`], [`ExportFolder`]: the verbs
//! - `files`: the files as they are sent, and what they would change; `rules`: who may change which of them
//! - `logins`: what becomes of logins at connectors that are taken away; `secrets`: what is not shown of connectors

mod apply;
mod diff;
mod export;
mod files;
mod logins;
mod rules;
mod secrets;

pub use apply::{ApplyFolder, ApplyFolderInput};
pub use diff::{DiffFolder, DiffFolderInput, FolderPlansView};
pub use export::{ExportFolder, ExportFolderInput, ExportedFolderView};
pub use files::{CHANNELS_FILE, CONNECTORS_FILE, FolderFileInput, FolderInput, POLICY_FILE};
pub use logins::RevokedFolderLoginView;
pub(crate) use rules::{check_change, check_note, check_reach, check_tiers};
