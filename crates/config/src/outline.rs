//! Sections and their keys as values, for those that walk over them.

/// One key as its section's file defines it; the example, the docs and the hints are made from this.
#[derive(Clone, Copy, Debug)]
pub struct SettingDefinition {
    pub section: &'static str,
    /// Whether the section stands for many, each under a name.
    pub many: SectionCardinality,
    pub name: &'static str,
    /// The doc comment, a line each, as the compiler hands it over (with its leading space).
    pub doc: &'static [&'static str],
    /// The default as it would stand in the file; where there are many, an example.
    pub default: &'static str,
    /// What may be written, in words: "a whole number from 1 to 3600".
    pub expects: fn() -> String,
}

/// How often a section can stand in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionCardinality {
    No,
    /// As often as one likes, `[section.name]` each; with a name for the example.
    Named(&'static str),
}

impl SectionCardinality {
    /// What stands for the name people choose.
    const NAME: &'static str = "NAME";

    const fn name(self) -> Option<&'static str> {
        match self {
            Self::No => None,
            Self::Named(_) => Some(Self::NAME),
        }
    }
}

impl SettingDefinition {
    /// `server.listen`, `models.NAME.key`
    pub fn path(&self) -> String {
        self.path_in(self.many.name())
    }

    /// `MUNSHI__SERVER__LISTEN`, `MUNSHI__MODELS__NAME__KEY`
    pub fn variable(&self) -> String {
        self.variable_in(self.many.name())
    }

    /// `models.sonnet.key` for `sonnet`.
    pub(crate) fn path_in(&self, name: Option<&str>) -> String {
        format!("{}.{}", heading(self.section, name), self.name)
    }

    pub(crate) fn variable_in(&self, name: Option<&str>) -> String {
        let name = name.map(|name| format!("__{}", name.replace('-', "_"))).unwrap_or_default();
        format!("{PREFIX}{}{name}__{}", self.section, self.name).to_uppercase()
    }

    pub fn doc_lines(&self) -> impl Iterator<Item = &'static str> {
        self.doc.iter().map(|line| line.trim())
    }
}

/// `server`, or `models.sonnet` for `sonnet`.
pub(crate) fn heading(section: &str, name: Option<&str>) -> String {
    name.map_or_else(|| section.to_owned(), |name| format!("{section}.{name}"))
}

/// What every variable of ours begins with.
pub const PREFIX: &str = "MUNSHI__";

/// A section as a value, for those that walk over all of them.
#[derive(Clone, Copy, Debug)]
pub struct SectionOutline {
    pub name: &'static str,
    pub many: SectionCardinality,
    pub doc: &'static [&'static str],
    pub keys: &'static [SettingDefinition],
}

impl SectionOutline {
    /// `server`, `models.NAME`
    pub(crate) fn heading(&self) -> String {
        heading(self.name, self.many.name())
    }
}

/// Every section that the settings may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownSections(pub(crate) &'static [SectionOutline]);

impl KnownSections {
    pub(crate) fn iter(self) -> impl Iterator<Item = &'static SectionOutline> {
        self.0.iter()
    }

    pub(crate) fn find(self, name: &str) -> Option<&'static SectionOutline> {
        self.iter().find(|outline| outline.name == name)
    }

    pub(crate) fn keys(self) -> impl Iterator<Item = &'static SettingDefinition> {
        self.iter().flat_map(|outline| outline.keys)
    }

    /// Those that stand many times, each under a name.
    pub(crate) fn named(self) -> impl Iterator<Item = &'static SectionOutline> {
        self.iter().filter(|outline| outline.many != SectionCardinality::No)
    }
}
