//! The demo's own folder.

use std::path::{Path, PathBuf};

use munshi_wiring::data_folder;
use munshi_wiring::failure::{CommandFailure, Result};
use tempfile::TempDir;

pub(super) enum DemoFolder {
    /// Goes at the end.
    Passing(TempDir),
    Kept(PathBuf),
}

/// What a folder holds that was a demo's before.
const DATABASE: &str = "munshi.db";

impl DemoFolder {
    pub(super) fn make(named: Option<&Path>, keep: bool) -> Result<Self> {
        let unusable = |error: std::io::Error| {
            CommandFailure::refused(format!("can't create the demo folder: {error}"))
                .hint("choose another with --dir")
        };
        let Some(named) = named else {
            let made = tempfile::Builder::new().prefix("munshi-demo-").tempdir().map_err(unusable)?;
            return Ok(if keep { Self::Kept(made.keep()) } else { Self::Passing(made) });
        };
        data_folder::create_private(named).map_err(unusable)?;
        let holds = std::fs::read_dir(named).map_err(unusable)?.next().is_some();
        // Nothing that is somebody's own is written beside.
        if holds && !named.join(DATABASE).exists() {
            return Err(CommandFailure::refused(format!("{} is not a demo folder", named.display()))
                .hint("use an empty folder, or one kept by an earlier demo"));
        }
        let whole = named.canonicalize().map_err(unusable)?;
        Ok(Self::Kept(whole))
    }

    pub(super) fn folder(&self) -> &Path {
        match self {
            Self::Passing(folder) => folder.path(),
            Self::Kept(folder) => folder,
        }
    }

    pub(super) fn is_kept(&self) -> bool {
        matches!(self, Self::Kept(_))
    }

    /// Takes it away, or says where it stays.
    pub(super) fn close(self) -> Result<Option<PathBuf>> {
        match self {
            Self::Kept(folder) => Ok(Some(folder)),
            Self::Passing(folder) => {
                let path = folder.path().to_owned();
                let left = |error: std::io::Error| {
                    CommandFailure::failed(format!("can't remove {}: {error}", path.display()))
                        .hint("remove it yourself; the demo left nothing else")
                };
                folder.close().map_err(left).map(|()| None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_or_stays_and_nobody_elses_is_taken() {
        let passing = DemoFolder::make(None, false).unwrap();
        let path = passing.folder().to_owned();
        assert!(path.is_dir() && !passing.is_kept());
        assert_eq!(passing.close().unwrap(), None);
        assert!(!path.exists());
        let own = tempfile::tempdir().unwrap();
        std::fs::write(own.path().join("letters.txt"), "mine").unwrap();
        assert!(DemoFolder::make(Some(own.path()), false).is_err());
        let named = own.path().join("shop");
        let kept = DemoFolder::make(Some(&named), false).unwrap();
        assert!(kept.is_kept());
        assert!(kept.close().unwrap().unwrap().is_dir());
        std::fs::write(named.join(DATABASE), "").unwrap();
        assert!(DemoFolder::make(Some(&named), false).is_ok(), "one that was left goes on");
    }
}
