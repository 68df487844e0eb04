//! Where settings come from: at most one file, and the variables.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::kinds::HomeFolders;

/// The file and the variables to read. The default has neither: every setting is then its default.
#[derive(Clone, Debug, Default)]
pub struct ConfigSources {
    pub(crate) file: Option<ConfigFileSource>,
    pub(crate) variables: BTreeMap<OsString, OsString>,
}

#[derive(Clone, Debug)]
pub(crate) enum ConfigFileSource {
    Path(PathBuf),
    /// Held in memory; the name stands in messages.
    Text {
        name: String,
        bytes: Vec<u8>,
    },
}

impl ConfigSources {
    /// The real environment and the file, or the first that exists of `munshi.toml` here, in the person's
    /// config folder and in `/etc/munshi`. Nothing else in Munshi reads the environment.
    #[allow(clippy::disallowed_methods, reason = "this is munshi-config, where it is loaded once")]
    pub fn system(file: Option<PathBuf>) -> Self {
        let sources = Self::default().with_variables(std::env::vars_os());
        match file.or_else(|| sources.search()) {
            Some(path) => sources.with_file(path),
            None => sources,
        }
    }

    /// A file that must exist.
    #[must_use]
    pub fn with_file(self, path: impl Into<PathBuf>) -> Self {
        Self { file: Some(ConfigFileSource::Path(path.into())), ..self }
    }

    /// A file's content that is already in memory, under the name that messages call it by.
    #[must_use]
    pub fn with_text(self, name: &str, content: impl Into<Vec<u8>>) -> Self {
        Self { file: Some(ConfigFileSource::Text { name: name.to_owned(), bytes: content.into() }), ..self }
    }

    #[must_use]
    pub fn with_variables<N, V>(mut self, variables: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<OsString>,
        V: Into<OsString>,
    {
        self.variables.extend(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// The file that will be read, if any.
    pub fn file(&self) -> Option<&Path> {
        match &self.file {
            Some(ConfigFileSource::Path(path)) => Some(path),
            _ => None,
        }
    }

    pub(crate) fn home(&self) -> HomeFolders {
        HomeFolders {
            folder: self.folder("HOME"),
            data: self.folder("XDG_DATA_HOME"),
            config: self.folder("XDG_CONFIG_HOME"),
        }
    }

    /// An empty or relative one counts as unset, as the XDG rules say.
    fn folder(&self, variable: &str) -> Option<PathBuf> {
        self.variables.get(OsStr::new(variable)).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    fn search(&self) -> Option<PathBuf> {
        self.candidates().into_iter().find(|path| is_there(path))
    }

    fn candidates(&self) -> Vec<PathBuf> {
        let home = self.home();
        let personal = home.config.or_else(|| home.folder.map(|folder| folder.join(".config")));
        let personal = personal.map(|folder| folder.join("munshi").join("munshi.toml"));
        let system = PathBuf::from("/etc/munshi/munshi.toml");
        [Some(PathBuf::from("munshi.toml")), personal, Some(system)].into_iter().flatten().collect()
    }
}

/// A file we may not look at counts as there: reading it then says so, where passing it over would quietly
/// run with other settings.
fn is_there(path: &Path) -> bool {
    match path.try_exists() {
        Ok(there) => there,
        Err(error) => error.kind() == ErrorKind::PermissionDenied,
    }
}

/// Whether there is a screen to open a browser on.
#[allow(clippy::disallowed_methods, reason = "this is munshi-config, where the environment is read")]
pub fn has_display() -> bool {
    cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|at| !at.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(variables: &[(&str, &str)]) -> Vec<String> {
        let sources = ConfigSources::default().with_variables(variables.iter().copied());
        sources.candidates().iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn the_file_is_looked_for_near_first() {
        assert_eq!(candidates(&[]), ["munshi.toml", "/etc/munshi/munshi.toml"]);
        assert_eq!(
            candidates(&[("HOME", "/home/asha")]),
            ["munshi.toml", "/home/asha/.config/munshi/munshi.toml", "/etc/munshi/munshi.toml"]
        );
        assert_eq!(
            candidates(&[("HOME", "/home/asha"), ("XDG_CONFIG_HOME", "/conf")])[1],
            "/conf/munshi/munshi.toml"
        );
        assert_eq!(candidates(&[("HOME", ""), ("XDG_CONFIG_HOME", "conf")]).len(), 2, "relative is unset");
    }

    #[test]
    fn a_file_in_the_config_folder_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let sources = ConfigSources::default().with_variables([("XDG_CONFIG_HOME", folder.path())]);
        assert_eq!(sources.search().filter(|path| path.starts_with(folder.path())), None);
        let file = folder.path().join("munshi").join("munshi.toml");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "").unwrap();
        assert_eq!(sources.search(), Some(file));
    }
}
