//! What went where, and what wants a human eye.

use std::fmt;

use munshi_types::tier::TierKind;
use serde::Serialize;

/// All that happened, in the order of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WorkspaceImportReport {
    pub entries: Vec<WorkspaceImportEntry>,
}

/// One part of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkspaceImportEntry {
    pub file: &'static str,
    pub line: usize,
    /// Which part, in a few words: its heading or what it is.
    pub what: String,
    pub place: ImportDestination,
    /// Why somebody should look at it; none where all is well.
    pub concern: Option<ImportConcern>,
}

/// Where a part went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportDestination {
    /// A tier, and the key in it.
    Tier(TierKind, &'static str),
    /// It is made anew in every turn.
    EveryTurn,
    /// It was not copied.
    Nowhere,
    /// There was no such file.
    Missing,
}

/// Why a human should look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportConcern {
    /// A secret stood there.
    Secret,
    /// More than the tier's budget.
    TooLarge { tokens: u32, most: u32 },
    /// About a person: it belongs into that person's memory.
    Personal,
    /// Something to do again and again: it becomes a schedule.
    Schedule,
    /// A value that was filled in by whatever ran the workspace.
    Template,
    /// Nobody said it, so something was put there.
    Guessed,
    /// Arguments in words; the tool's own schema is what counts.
    ToolSchema,
    /// It could not be told what it is.
    Unclear,
    /// A way to reach it that there is none of here.
    Channel,
    /// Code, or settings of whatever ran the workspace.
    Program,
    /// Where a machine is reached, which a tool has to know and a model has not.
    Machine,
    /// The same file in two spellings; the first was taken.
    Twice,
}

impl WorkspaceImportReport {
    pub(super) fn note(
        &mut self,
        file: &'static str,
        line: usize,
        what: impl Into<String>,
        place: ImportDestination,
    ) {
        self.entries.push(WorkspaceImportEntry { file, line, what: what.into(), place, concern: None });
    }

    /// A part that was not copied, or not surely right.
    pub(super) fn flag(
        &mut self,
        file: &'static str,
        line: usize,
        what: impl Into<String>,
        concern: ImportConcern,
    ) {
        let what = what.into();
        self.entries.push(WorkspaceImportEntry {
            file,
            line,
            what,
            place: ImportDestination::Nowhere,
            concern: Some(concern),
        });
    }

    /// A part that was copied and still wants looking at.
    pub(super) fn note_with_concern(
        &mut self,
        file: &'static str,
        line: usize,
        what: &str,
        place: ImportDestination,
        concern: ImportConcern,
    ) {
        self.entries.push(WorkspaceImportEntry {
            file,
            line,
            what: what.to_owned(),
            place,
            concern: Some(concern),
        });
    }

    /// By file and line, as somebody who has the files open reads it.
    pub(super) fn sort(&mut self) {
        let place = |file| super::FILES.iter().position(|known| *known == file);
        self.entries.sort_by_key(|entry| (place(entry.file), entry.line));
    }

    /// What somebody should look at before it is used.
    pub fn concerns(&self) -> impl Iterator<Item = &WorkspaceImportEntry> {
        self.entries.iter().filter(|entry| entry.concern.is_some())
    }
}

impl fmt::Display for WorkspaceImportEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, what, .. } = self;
        write!(f, "{file}:{line}: {what} → ")?;
        match self.place {
            ImportDestination::Tier(tier, key) => write!(f, "{tier}, {key}")?,
            ImportDestination::EveryTurn => write!(f, "added to every turn automatically")?,
            ImportDestination::Missing => write!(f, "missing")?,
            ImportDestination::Nowhere if self.concern.is_none() => write!(f, "left out")?,
            ImportDestination::Nowhere => {}
        }
        let Some(concern) = self.concern else { return Ok(()) };
        if self.place != ImportDestination::Nowhere {
            write!(f, "; ")?;
        }
        match concern {
            ImportConcern::Secret => {
                write!(f, "not copied; store it in the vault and rotate it, because it was in a file")
            }
            ImportConcern::TooLarge { tokens, most } => {
                write!(f, "{tokens} tokens, {} over the limit of {most}; shorten it", tokens - most)
            }
            ImportConcern::Personal => {
                write!(f, "not copied; it is about a person and belongs in their memory")
            }
            ImportConcern::Schedule => write!(f, "not copied; create a schedule for it"),
            ImportConcern::Template => {
                write!(f, "it contains {{{{…}}}} placeholders, which are not filled in")
            }
            ImportConcern::Guessed => {
                write!(f, "no file defines it, so a default is used; write your own")
            }
            ImportConcern::ToolSchema => {
                write!(f, "its arguments are prose; the installed tool's schema applies")
            }
            ImportConcern::Unclear => write!(f, "not copied; its purpose is unclear"),
            ImportConcern::Channel => write!(f, "not copied; this channel is not supported"),
            ImportConcern::Program => write!(f, "not copied; it is for a program, not a model"),
            ImportConcern::Machine => {
                write!(f, "not copied; connection details belong in the tool's settings")
            }
            ImportConcern::Twice => write!(f, "ignored; the first one was used"),
        }
    }
}

impl fmt::Display for WorkspaceImportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.iter().try_for_each(|entry| writeln!(f, "{entry}"))
    }
}
