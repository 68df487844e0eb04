//! `TOOLS.md`, `MEMORY.md`, `USER.md` and `HEARTBEAT.md`: what runs under the persona, or is made anew in every turn.

use munshi_types::ToolName;
use munshi_types::tier::{MemoryScope, RecallMode, TierKind};

use super::Draft;
use super::markdown::{MarkdownFile, MarkdownSection, has_placeholder, parse_item, parse_pair};
use super::report::{ImportConcern, ImportDestination, WorkspaceImportReport};

const TOOLS: ImportDestination = ImportDestination::Tier(TierKind::Agent, "tools");

const GUIDANCE: ImportDestination = ImportDestination::Tier(TierKind::Agent, "guidance");

pub(super) fn read_tools(page: &MarkdownFile, draft: &mut Draft, report: &mut WorkspaceImportReport) {
    let mut guidance: Vec<String> = Vec::new();
    for section in &page.sections {
        match tool(&section.heading) {
            Some((name, arguments)) => {
                add(page, section.line, name.clone(), arguments, draft, report);
                let mut said = Vec::new();
                for (line, text) in section.lines() {
                    if !flag_machine_access(page, line, text, report) {
                        report.note(page.file, line, text, GUIDANCE);
                        said.push(text);
                    }
                }
                if !said.is_empty() {
                    guidance.push(format!("{name}: {}", said.join(" ")));
                }
            }
            None => {
                for (line, text) in section.lines() {
                    if flag_machine_access(page, line, text, report) {
                        continue;
                    }
                    // `- search_catalog(query): when a buyer asks`
                    let named = parse_item(text)
                        .and_then(|text| tool(text.split([':', '—', '–']).next().unwrap_or(text)));
                    match named {
                        Some((name, arguments)) => add(page, line, name, arguments, draft, report),
                        None => report.note(page.file, line, text, GUIDANCE),
                    }
                    guidance.push(parse_item(text).unwrap_or(text).to_owned());
                }
            }
        }
    }
    draft.agent.guidance = guidance.join("\n");
}

/// Tells of a line that says how a machine is reached: `ssh`, an address in numbers, a name of the house network.
fn flag_machine_access(
    page: &MarkdownFile,
    line: usize,
    text: &str,
    report: &mut WorkspaceImportReport,
) -> bool {
    let lower = text.to_lowercase();
    let words = lower.split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '.' | '-')));
    let is_numbered = |word: &str| {
        let parts: Vec<&str> = word.split('.').collect();
        parts.len() == 4 && parts.iter().all(|part| part.parse::<u8>().is_ok())
    };
    let mut words = words.map(|word| word.trim_matches('.'));
    let found = words.any(|word| {
        matches!(word, "ssh" | "sftp" | "localhost" | "rdp")
            || is_numbered(word)
            || [".local", ".lan", ".internal"].iter().any(|end| word.ends_with(end))
    });
    if found {
        report.flag(page.file, line, "connection details", ImportConcern::Machine);
    }
    found
}

fn add(
    page: &MarkdownFile,
    line: usize,
    name: ToolName,
    arguments: bool,
    draft: &mut Draft,
    report: &mut WorkspaceImportReport,
) {
    let what = format!("the tool {name}");
    if arguments {
        report.note_with_concern(page.file, line, &what, TOOLS, ImportConcern::ToolSchema);
    } else {
        report.note(page.file, line, what, TOOLS);
    }
    if !draft.agent.tools.contains(&name) {
        draft.agent.tools.push(name);
    }
}

/// `lead_capture(name, email)` and whether it had arguments. A plain word is a heading, not a tool.
fn tool(text: &str) -> Option<(ToolName, bool)> {
    let text = text.trim().trim_matches('`').trim_matches('*');
    let (name, arguments) = match text.split_once('(') {
        Some((name, rest)) if rest.trim_end().ends_with(')') => (name, !rest.starts_with(')')),
        Some(_) => return None,
        None if text.contains('_') => (text, false),
        None => return None,
    };
    let name = name.trim().trim_matches('`').replace(['-', '.'], "_").to_lowercase();
    Some((name.parse().ok()?, arguments))
}

/// A policy is understood where it is one; memories are a person's and stay where they are.
pub(super) fn read_memory(page: &MarkdownFile, draft: &mut Draft, report: &mut WorkspaceImportReport) {
    let policy = ImportDestination::Tier(TierKind::Agent, "memory");
    for section in &page.sections {
        for (line, text) in section.lines() {
            let lower = text.to_lowercase();
            let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
            let memory = &mut draft.agent.memory;
            if says(&["session only", "this session", "across sessions", "for the session"]) {
                memory.scope = MemoryScope::Session;
                memory.facts = false;
                memory.recall = RecallMode::Never;
                report.note(page.file, line, text, policy);
            } else if let Some(turns) = turns(&lower) {
                memory.history = turns;
                report.note(page.file, line, text, policy);
            } else if says(&["remember", "store", "persist", "forget", "retain", "memory policy"]) {
                report.flag(page.file, line, text, ImportConcern::Unclear);
            } else {
                report.flag(page.file, line, "a memory", ImportConcern::Personal);
            }
        }
    }
}

/// `the last 10 turns`.
fn turns(lower: &str) -> Option<u8> {
    let rest = lower.split_once("last ")?.1;
    let (number, rest) = rest.split_once(' ')?;
    let is_turns = rest.starts_with("turn") || rest.starts_with("message");
    number.parse::<u8>().ok().filter(|turns| is_turns && *turns <= 100)
}

/// Who is spoken with is known from the conversation. What is filled in there is somebody's data.
pub(super) fn read_user(page: &MarkdownFile, report: &mut WorkspaceImportReport) {
    for (line, text) in page.sections.iter().flat_map(MarkdownSection::lines) {
        let is_empty = parse_pair(text).is_some_and(|(_, value)| value.is_empty());
        if has_placeholder(text) || is_empty {
            report.note(page.file, line, text, ImportDestination::EveryTurn);
        } else {
            report.flag(page.file, line, "a fact about the user", ImportConcern::Personal);
        }
    }
}

/// The time, the place and the channel are told in every turn. Anything else is something to do.
pub(super) fn read_heartbeat(page: &MarkdownFile, report: &mut WorkspaceImportReport) {
    for (line, text) in page.sections.iter().flat_map(MarkdownSection::lines) {
        let key = parse_pair(text).map(|(key, _)| key).unwrap_or_default();
        let told =
            ["time", "date", "channel", "locale", "zone", "status"].iter().any(|word| key.contains(word));
        if has_placeholder(text) || told {
            report.note(page.file, line, text, ImportDestination::EveryTurn);
        } else if text.starts_with("<!--") {
            report.note(page.file, line, "a note", ImportDestination::Nowhere);
        } else {
            report.flag(page.file, line, text, ImportConcern::Schedule);
        }
    }
}
