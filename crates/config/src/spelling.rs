//! Which section or key was probably meant, when a name is not known.

use munshi_toml::find_nearest;

use crate::outline::{KnownSections, SectionCardinality, SettingDefinition};

impl KnownSections {
    /// The key that `name` in `section` was probably meant to be: that name in another section, or a name like
    /// it in this one.
    pub(crate) fn suggest_key(self, section: &str, name: &str) -> Option<&'static SettingDefinition> {
        let meant = self.suggest_section(section);
        let named = |key: &&SettingDefinition| key.name.eq_ignore_ascii_case(name);
        let here =
            || self.iter().filter(|outline| Some(outline.name) == meant).flat_map(|outline| outline.keys);
        // What stands under a name was hardly meant for another section.
        let stays = || here().any(|key| key.many != SectionCardinality::No);
        let elsewhere = || self.keys().find(|key| named(key) && !stays());
        let alike = || {
            find_nearest(name, here().map(|key| key.name))
                .and_then(|word| here().find(|key| key.name == word))
        };
        here().find(named).or_else(elsewhere).or_else(alike)
    }

    pub(crate) fn suggest_section(self, name: &str) -> Option<&'static str> {
        find_nearest(name, self.iter().map(|outline| outline.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SECTIONS;

    #[test]
    fn slips_are_understood_and_strangers_are_not() {
        let path = |section, name| SECTIONS.suggest_key(section, name).map(SettingDefinition::path);
        assert_eq!(path("server", "listn").as_deref(), Some("server.listen"));
        assert_eq!(path("srever", "listen").as_deref(), Some("server.listen"));
        assert_eq!(path("server", "request_timeout").as_deref(), Some("server.request_timeout_seconds"));
        assert_eq!(path("server", "level").as_deref(), Some("log.level"));
        assert_eq!(path("server", "LISTEN").as_deref(), Some("server.listen"));
        assert_eq!(path("server", "colour"), None);
        assert_eq!(SECTIONS.suggest_section("sotre"), Some("store"));
        assert_eq!(SECTIONS.suggest_section("elephant"), None);
        assert_eq!(
            SECTIONS.suggest_key(&"x".repeat(1_000_000), &"y".repeat(1_000_000)).map(SettingDefinition::path),
            None
        );
    }
}
