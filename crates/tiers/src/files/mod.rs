//! Tiers as files: `NAME/{humans,teams,agents,bindings,knowledge}/`, where NAME is the tenant's.
//!
//! Humans and teams are markdown with TOML between two `+++` lines on top; agents and bindings are TOML.
//!
//! # Layout
//! - `folder`: which files there are, and which must not be read; `source`: what they say, as data; `parse`: one file
//! - `export`: the way back

mod export;
mod folder;
mod parse;
mod source;

pub(crate) use export::write_plain;
pub use export::{FolderExport, export, render, render_path};
pub use folder::{CollectedFolders, collect, read, read_with_extensions};
pub use parse::parse;
pub use source::{FolderSource, TenantFolder, parse_sources};
