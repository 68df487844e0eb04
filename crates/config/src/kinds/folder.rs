//! A folder or a file on this machine. `~` is the home of whoever runs Munshi.

use std::path::{Path, PathBuf};

use munshi_toml::QuotedValue;

use super::{RawSetting, SettingFault, SettingKind};
use crate::redacted::RedactedSetting;

/// What the machine says of the person's folders, taken from the variables once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HomeFolders {
    /// `HOME`
    pub folder: Option<PathBuf>,
    /// `XDG_DATA_HOME`
    pub data: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`
    pub config: Option<PathBuf>,
}

/// The folder for everything Munshi keeps. Its default follows the machine: `XDG_DATA_HOME`, then the home
/// folder, then the current one.
#[derive(Debug)]
pub enum DataFolderKind {}

impl SettingKind for DataFolderKind {
    type Value = PathBuf;

    fn expects() -> String {
        "a path, such as \"/var/lib/munshi\" or \"~/munshi\"".to_owned()
    }

    fn read(raw: &RawSetting, home: &HomeFolders) -> Result<PathBuf, SettingFault> {
        let text = raw.text()?;
        if text.trim().is_empty() {
            return Err(SettingFault::new("the path is empty"));
        }
        if text.contains('\0') {
            return Err(SettingFault::new("the path contains a zero byte"));
        }
        expand(text, home)
    }

    fn default(raw: &RawSetting, home: &HomeFolders) -> Result<PathBuf, SettingFault> {
        match (&home.data, &home.folder) {
            (Some(data), _) => Ok(data.join("munshi")),
            (None, Some(_)) => Self::read(raw, home),
            (None, None) => Ok(Path::new(".").join("munshi-data")),
        }
    }

    fn show(value: &PathBuf) -> RedactedSetting {
        RedactedSetting::Text(value.display().to_string())
    }
}

/// A file; empty for the default one.
#[derive(Debug)]
pub enum OptionalFileKind {}

impl SettingKind for OptionalFileKind {
    type Value = Option<PathBuf>;

    fn expects() -> String {
        "a path, such as \"/etc/munshi/vault.key\"".to_owned()
    }

    fn read(raw: &RawSetting, home: &HomeFolders) -> Result<Option<PathBuf>, SettingFault> {
        let text = raw.text()?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        DataFolderKind::read(raw, home).map(Some)
    }

    fn show(value: &Option<PathBuf>) -> RedactedSetting {
        RedactedSetting::Text(value.as_ref().map(|path| path.display().to_string()).unwrap_or_default())
    }
}

fn expand(text: &str, home: &HomeFolders) -> Result<PathBuf, SettingFault> {
    let Some(rest) = text.strip_prefix('~') else {
        return Ok(PathBuf::from(text));
    };
    if !rest.is_empty() && !rest.starts_with('/') {
        return Err(SettingFault::new(format!("{} points to another user's home folder", QuotedValue(text)))
            .with_hint("write the full path"));
    }
    match &home.folder {
        Some(folder) => Ok(folder.join(rest.trim_start_matches('/'))),
        None => Err(SettingFault::new("can't expand `~`: HOME is not set")
            .with_hint("write the full path, or set HOME")),
    }
}
