//! `AGENTS.md`: which agent this is, where it is reached, and how the work is done.

use munshi_types::tier::{Channel, TierKind};

use super::markdown::{MarkdownFile, MarkdownSection, has_placeholder, parse_item, parse_pair};
use super::report::{ImportConcern, ImportDestination, WorkspaceImportReport};
use super::{Draft, rules};

const CHANNELS: ImportDestination = ImportDestination::Tier(TierKind::Binding, "channels");
const SOPS: ImportDestination = ImportDestination::Tier(TierKind::Team, "sops");

pub(super) fn read(page: &MarkdownFile, draft: &mut Draft, report: &mut WorkspaceImportReport) {
    for section in &page.sections {
        let heading = section.heading.as_str();
        let titled = heading.split_once(':').filter(|(key, _)| key.trim().eq_ignore_ascii_case("agent"));
        if let Some((_, title)) = titled {
            draft.title = Some(title.trim().to_owned());
            report.note(
                page.file,
                section.line,
                heading,
                ImportDestination::Tier(TierKind::Binding, "its name"),
            );
        }
        let rest = header(page, section, draft, report);
        let heading = if titled.is_some() { String::new() } else { heading.to_owned() };
        let rest = MarkdownSection { heading, body: rest, ..section.clone() };
        if !rest.text().is_empty() {
            add_procedures(page, &rest, draft, report);
        }
    }
}

/// Takes the lines that say what this is; gives back the others.
fn header(
    page: &MarkdownFile,
    section: &MarkdownSection,
    draft: &mut Draft,
    report: &mut WorkspaceImportReport,
) -> Vec<(usize, String)> {
    let mut rest = Vec::new();
    for (line, text) in &section.body {
        let known = parse_pair(text).and_then(|(key, value)| match key.as_str() {
            "scope" | "role" | "purpose" if draft.team.role.is_empty() => {
                draft.team.role = value;
                Some(ImportDestination::Tier(TierKind::Team, "role"))
            }
            "channel" | "channels" => {
                let known = channels(&value);
                for other in list_unknown_channels(&value) {
                    report.flag(page.file, *line, format!("the channel {other}"), ImportConcern::Channel);
                }
                let place = if known.is_empty() { ImportDestination::Nowhere } else { CHANNELS };
                draft.channels.extend(known);
                Some(place)
            }
            "active files" | "files" => Some(ImportDestination::EveryTurn),
            _ => None,
        });
        match known {
            Some(place) => report.note(page.file, *line, text.trim(), place),
            None => rest.push((*line, text.clone())),
        }
    }
    rest
}

fn channels(text: &str) -> Vec<Channel> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|letter: char| !letter.is_alphanumeric()).collect();
    let is_named = |channel: &Channel| {
        words.contains(&channel.as_str()) || (*channel == Channel::Whatsapp && words.contains(&"wa"))
    };
    Channel::ALL.into_iter().filter(is_named).collect()
}

/// The names in a list that are no channel here.
fn list_unknown_channels(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split([',', ';', '/', '+', '&', '|']).flat_map(|part| part.split(" and "));
    parts.map(|part| part.trim().trim_end_matches('.')).filter(|part| {
        part.chars().any(char::is_alphanumeric) && channels(part).is_empty() && !has_placeholder(part)
    })
}

/// How the work is done: the whole section, and the shipped rules it speaks of.
pub(super) fn add_procedures(
    page: &MarkdownFile,
    section: &MarkdownSection,
    draft: &mut Draft,
    report: &mut WorkspaceImportReport,
) {
    let whole = section.full_text();
    let what = if section.heading.is_empty() { "the text" } else { section.heading.as_str() };
    if has_placeholder(&whole) {
        report.note_with_concern(page.file, section.line, what, SOPS, ImportConcern::Template);
    } else {
        report.note(page.file, section.line, what, SOPS);
    }
    if !draft.team.sops.is_empty() {
        draft.team.sops.push_str("\n\n");
    }
    draft.team.sops.push_str(&whole);
    for (line, text) in section.lines() {
        if let Some((rule, place)) = rules::adopt_rule(parse_item(text).unwrap_or(text), draft) {
            report.note(page.file, line, format!("the rule {rule}"), place);
        }
    }
}
