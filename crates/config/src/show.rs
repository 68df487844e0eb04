//! The settings as they came out: every key, its value, and where that was written.

use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::outline::SettingDefinition;
use crate::problem::SettingOrigin;
use crate::redacted::RedactedSetting;

/// One key and what it came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveSetting {
    /// `server`, or `models.sonnet` where there are many.
    section: String,
    name: &'static str,
    pub value: RedactedSetting,
    pub from: SettingOrigin,
    /// What an empty value comes to, where that is not plain from the value.
    pub means: Option<String>,
}

impl EffectiveSetting {
    pub(crate) fn new(
        section: String,
        key: &SettingDefinition,
        value: RedactedSetting,
        from: SettingOrigin,
    ) -> Self {
        Self { section, name: key.name, value, from, means: None }
    }

    pub(crate) fn matches(&self, section: &str, name: &str) -> bool {
        self.section == section && self.name == name
    }

    /// `server.listen`
    pub fn key(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }
}

impl Serialize for EffectiveSetting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entry = serializer.serialize_struct("Entry", 4)?;
        entry.serialize_field("key", &self.key())?;
        entry.serialize_field("value", &self.value)?;
        entry.serialize_field("from", &self.from)?;
        match &self.means {
            Some(means) => entry.serialize_field("means", means)?,
            None => entry.skip_field("means")?,
        }
        entry.end()
    }
}

/// Every key. As JSON a list of entries; as text it reads like the file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct EffectiveConfig {
    pub entries: Vec<EffectiveSetting>,
}

impl EffectiveConfig {
    pub(crate) fn new(entries: Vec<EffectiveSetting>) -> Self {
        Self { entries }
    }
}

impl fmt::Display for EffectiveConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> =
            self.entries.iter().map(|entry| format!("{} = {}", entry.name, entry.value)).collect();
        let width = lines.iter().map(|line| line.chars().count()).filter(|width| *width <= 60).max();
        let width = width.unwrap_or_default();
        let mut section = "";
        for (entry, line) in self.entries.iter().zip(&lines) {
            if entry.section != section {
                let gap = if section.is_empty() { "" } else { "\n" };
                writeln!(f, "{gap}[{}]", entry.section)?;
                section = &entry.section;
            }
            write!(f, "{line:width$}  # {}", entry.from)?;
            match &entry.means {
                Some(means) => writeln!(f, ": {means}")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}
