//! The files of a tenant's folder as data, wherever they come from: what they say, and which are none.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use munshi_toml::{QuotedValue, render_hint};
use munshi_types::TenantName;
use munshi_types::tier::{TierKind, TierName, TierNameError};

use super::parse;
use super::parse::decode_text;
use crate::draft::TierDraft;
use crate::error::Result;
use crate::folder_extension::{ExtensionFile, FolderExtension};
use crate::problem::{FolderProblem, FolderProblems};

/// Larger files are no tiers.
pub(super) const LARGEST: u64 = 256 * 1024;
pub(super) const KNOWLEDGE: &str = "knowledge";

/// What stands in a tenant's folder.
#[derive(Clone, Debug)]
pub struct FolderSource {
    pub tenant: TenantName,
    /// How problems name the folder; nothing is looked for there. Empty where it has no name.
    pub place: String,
    /// Texts by their path in the folder: `agents/plain.toml`.
    pub files: BTreeMap<String, String>,
}

/// What a tenant's folder says.
#[derive(Clone, Debug)]
pub struct TenantFolder {
    pub tenant: TenantName,
    pub drafts: Vec<TierDraft>,
    /// Files that are no tiers.
    pub beside: Vec<ExtensionFile>,
}

/// What all of them say. Everything that is wrong is told at once, with the problems that are known already.
pub fn parse_sources(
    sources: &[FolderSource],
    companions: &[Arc<dyn FolderExtension>],
    mut problems: Vec<FolderProblem>,
) -> Result<Vec<TenantFolder>> {
    let folders =
        sources.iter().map(|source| source.parse(companions, &mut problems)).collect::<Vec<TenantFolder>>();
    FolderProblems::ensure_none(problems)?;
    Ok(folders)
}

impl FolderSource {
    fn display_path(&self, path: &str) -> String {
        Path::new(&self.place).join(path).display().to_string()
    }

    fn parse(
        &self,
        companions: &[Arc<dyn FolderExtension>],
        problems: &mut Vec<FolderProblem>,
    ) -> TenantFolder {
        let mut drafts: BTreeMap<(TierKind, TierName), TierDraft> = BTreeMap::new();
        for (path, text) in &self.files {
            let shown = self.display_path(path);
            if companions.iter().any(|companion| companion.file_name() == path) {
                continue;
            }
            match parse_file(path, &shown, text) {
                Ok(draft) => {
                    drafts.insert((draft.kind, draft.name.clone()), draft);
                }
                Err(found) => problems.extend(found),
            }
        }
        let beside = companions.iter().map(|companion| {
            let text = self.files.get(companion.file_name());
            let shown = self.display_path(companion.file_name());
            let read = text.map(|text| {
                check_size(&shown, text)?;
                decode_text(&shown, text.as_bytes()).and_then(|text| companion.read(&shown, &text))
            });
            let found = read.and_then(|read| read.map_err(|found| problems.extend(found)).ok());
            ExtensionFile { companion: companion.clone(), found }
        });
        let beside = beside.collect();
        TenantFolder { tenant: self.tenant.clone(), drafts: drafts.into_values().collect(), beside }
    }
}

fn parse_file(path: &str, shown: &str, text: &str) -> Result<TierDraft, Vec<FolderProblem>> {
    let foreign = || {
        let problem = FolderProblem::in_file(shown, "this is no file of a tenant's folder");
        vec![problem.hint("a tier is a file in humans/, teams/, agents/ or bindings/")]
    };
    let (folder, name) = path.split_once('/').ok_or_else(foreign)?;
    if name.contains('/') || folder == KNOWLEDGE {
        return Err(foreign());
    }
    let kind = find_kind(folder).ok_or_else(|| vec![unknown_folder(shown, folder)])?;
    let name = parse_name(kind, name, shown).map_err(|problem| vec![*problem])?;
    check_size(shown, text)?;
    parse(kind, name, shown, text.as_bytes())
}

fn check_size(shown: &str, text: &str) -> Result<(), Vec<FolderProblem>> {
    match text.len() as u64 {
        size if size > LARGEST => Err(vec![too_large(shown, size)]),
        _ => Ok(()),
    }
}

pub(super) fn find_kind(folder: &str) -> Option<TierKind> {
    TierKind::ALL.into_iter().find(|kind| kind.folder() == folder)
}

/// Whether a tier's file can stand there.
pub(super) fn is_tier_path(path: &str) -> bool {
    path.split_once('/').is_some_and(|(folder, name)| {
        find_kind(folder).is_some_and(|kind| parse_name(kind, name, path).is_ok())
    })
}

pub(super) fn unknown_folder(shown: &str, name: &str) -> FolderProblem {
    let known: Vec<&str> = TierKind::ALL.iter().map(|kind| kind.folder()).chain([KNOWLEDGE]).collect();
    let otherwise = format!("the folders are {}", known.join(", "));
    let hint = render_hint(name, known, &otherwise);
    FolderProblem::in_file(shown, format!("unknown folder {}", QuotedValue(name))).hint(hint)
}

pub(super) fn too_large(shown: &str, size: u64) -> FolderProblem {
    let what = format!("the file has {size} bytes; the maximum is {LARGEST}");
    FolderProblem::in_file(shown, what).hint("move long texts to knowledge/")
}

/// The name of the tier in a file of this name.
pub(super) fn parse_name(kind: TierKind, file: &str, shown: &str) -> Result<TierName, Box<FolderProblem>> {
    let ending = format!(".{}", kind.extension());
    let Some(stem) = file.strip_suffix(&ending) else {
        let what = format!("this is not a valid {kind} file");
        let article = if kind == TierKind::Agent { "an" } else { "a" };
        let hint = format!("{article} {kind} is a file NAME{ending} in {}/", kind.folder());
        return Err(Box::new(FolderProblem::in_file(shown, what).hint(hint)));
    };
    let wrong =
        |error: TierNameError| FolderProblem::in_file(shown, error.to_string()).hint("rename the file");
    stem.parse().map_err(|error| Box::new(wrong(error)))
}
