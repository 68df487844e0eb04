//! `IDENTITY.md` and `SOUL.md`: who speaks, and what of it is really about the work.

use munshi_types::tier::TierKind;

use super::markdown::{MarkdownFile, MarkdownSection, has_placeholder, parse_item, parse_pair};
use super::report::{ImportConcern, ImportDestination, WorkspaceImportReport};
use super::{Draft, agents_file, language, rules};

const fn human(key: &'static str) -> ImportDestination {
    ImportDestination::Tier(TierKind::Human, key)
}

pub(super) fn read_identity(page: &MarkdownFile, draft: &mut Draft, report: &mut WorkspaceImportReport) {
    let mut told = Vec::new();
    for section in &page.sections {
        for (line, text) in section.lines() {
            match parse_pair(text) {
                Some((key, value)) if key == "name" && !value.is_empty() && !has_placeholder(&value) => {
                    draft.human.name = value;
                    report.note(page.file, line, "the name", human("name"));
                }
                Some((key, value)) if matches!(key.as_str(), "vibe" | "tone") => {
                    draft.human.voice.tone = value;
                    report.note(page.file, line, "the tone", human("voice.tone"));
                }
                Some((key, _)) if matches!(key.as_str(), "emoji" | "avatar") => {
                    report.note(page.file, line, key, ImportDestination::Nowhere);
                }
                Some((key, value)) if is_introduction(&key) && !value.is_empty() => told.push((line, value)),
                _ => told.push((line, parse_item(text).unwrap_or(text).replace("**", ""))),
            }
        }
    }
    if draft.human.name.is_empty() {
        let found = told.iter().find_map(|(line, text)| Some((*line, parse_introduced_name(text)?)));
        if let Some((line, name)) = found {
            draft.human.name = name;
            report.note(page.file, line, "the name", human("name"));
        }
    }
    for (line, text) in &told {
        if let Some((rule, place)) = rules::adopt_rule(parse_item(text).unwrap_or(text), draft) {
            report.note(page.file, *line, format!("the rule {rule}"), place);
        }
    }
    let text: Vec<&str> = told.iter().map(|(_, text)| text.as_str()).collect();
    draft.human.identity = strip_name(&text.join(" "), &draft.human.name);
    if let Some((line, _)) = told.first() {
        let concern = has_placeholder(&draft.human.identity).then_some(ImportConcern::Template);
        match concern {
            Some(concern) => {
                report.note_with_concern(page.file, *line, "the introduction", human("identity"), concern);
            }
            None => report.note(page.file, *line, "the introduction", human("identity")),
        }
    }
}

/// A key that only says that an introduction follows.
fn is_introduction(key: &str) -> bool {
    matches!(key, "role" | "who" | "identity" | "description" | "about" | "bio" | "introduction")
}

/// The prompt says `You are NAME` by itself.
fn strip_name(text: &str, name: &str) -> String {
    let starts = ["You are ", "I am ", "I'm "].into_iter().find_map(|start| text.strip_prefix(start));
    let rest = starts.and_then(|rest| rest.strip_prefix(name)).filter(|_| !name.is_empty());
    let Some(rest) = rest else { return text.to_owned() };
    let rest = rest.trim_start_matches([',', '.', '—', '–', '-', ':', ';', ' ']);
    let mut letters = rest.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// `You are Aangan — the concierge …` to `Aangan`.
fn parse_introduced_name(text: &str) -> Option<String> {
    let rest = ["You are ", "I am ", "I'm "].into_iter().find_map(|start| text.strip_prefix(start))?;
    let end = rest.find([',', '.', '—', '–', '(', ';', ':', '-']).unwrap_or(rest.len());
    let name = rest.get(..end)?.trim();
    let is_name = !name.is_empty()
        && name.split_whitespace().count() <= 3
        && name.starts_with(|c: char| !c.is_lowercase());
    is_name.then(|| name.to_owned())
}

const WORK: [&str; 9] =
    ["sop", "procedure", "workflow", "process", "policy", "pricing", "escalat", "handoff", "operating"];
const RULES: [&str; 6] = ["rule", "guardrail", "boundar", "limit", "principle", "do and don"];
const NEVER: [&str; 4] = ["never", "don't", "avoid", "anti-pattern"];
const VOICE: [&str; 5] = ["voice", "tone", "style", "sound", "sounds"];
/// A longer text about a voice is a story, and stays with the soul.
const LONGEST_TONE: usize = 400;
const FLAW: [&str; 3] = ["flaw", "weakness", "blind spot"];

pub(super) fn read_soul(page: &MarkdownFile, draft: &mut Draft, report: &mut WorkspaceImportReport) {
    let mut soul: Vec<String> = Vec::new();
    for section in &page.sections {
        if section.is_about(&FLAW) {
            draft.human.flaw = section.text().replace('\n', " ");
            report.note(page.file, section.line, &*section.heading, human("flaw"));
        } else if section.is_about(&WORK) {
            agents_file::add_procedures(page, section, draft, report);
        } else if section.is_about(&NEVER) || section.is_about(&RULES) {
            sort_rules(page, section, draft, report);
        } else if !(section.is_about(&["language"])
            && language::extract_from_section(page, section, draft, report))
        {
            let rest =
                MarkdownSection { body: extract_voice(page, section, draft, report), ..section.clone() };
            if rest.text().is_empty() || extract_tone(page, &rest, draft, report) {
                continue;
            }
            let what = if section.heading.is_empty() { "the text" } else { section.heading.as_str() };
            let whole = rest.full_text();
            if has_placeholder(&whole) {
                report.note_with_concern(
                    page.file,
                    section.line,
                    what,
                    human("soul"),
                    ImportConcern::Template,
                );
            } else {
                report.note(page.file, section.line, what, human("soul"));
            }
            soul.push(whole);
        }
    }
    draft.human.soul = soul.join("\n\n");
}

/// Takes the lines that say how it sounds and which languages it speaks; gives back the others.
fn extract_voice(
    page: &MarkdownFile,
    section: &MarkdownSection,
    draft: &mut Draft,
    report: &mut WorkspaceImportReport,
) -> Vec<(usize, String)> {
    let mut rest = Vec::new();
    for (line, text) in &section.body {
        let voice = &mut draft.human.voice;
        let known = parse_pair(text).and_then(|(key, value)| match key.as_str() {
            "tone" | "voice" | "style" => Some((&mut voice.tone, "voice.tone", value)),
            "sentences" | "sentence length" => Some((&mut voice.sentences, "voice.sentences", value)),
            "humour" | "humor" => Some((&mut voice.humour, "voice.humour", value)),
            "culture" | "cultural register" => {
                Some((&mut draft.human.speech.culture, "speech.culture", value))
            }
            _ => None,
        });
        if let Some((slot, key, value)) = known {
            *slot = if slot.is_empty() { value } else { format!("{slot}; {value}") };
            report.note(page.file, *line, text.trim(), human(key));
            continue;
        }
        match parse_pair(text).filter(|(key, _)| matches!(key.as_str(), "language" | "languages")) {
            Some((_, value)) => language::extract_from_list(page, *line, &value, draft, report),
            None => rest.push((*line, text.clone())),
        }
    }
    rest
}

/// A short section about how it sounds becomes the tone.
fn extract_tone(
    page: &MarkdownFile,
    section: &MarkdownSection,
    draft: &mut Draft,
    report: &mut WorkspaceImportReport,
) -> bool {
    let heading = section.heading.to_lowercase();
    let is_voice = heading.split(|letter: char| !letter.is_alphanumeric()).any(|word| VOICE.contains(&word));
    let lines = section.lines().map(|(line, text)| (line, parse_item(text).unwrap_or(text)));
    let (quoted, said): (Vec<_>, Vec<_>) = lines.partition(|(_, text)| parse_quoted(text).is_some());
    let said = said.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ");
    if !is_voice || said.chars().count() > LONGEST_TONE || has_placeholder(&section.text()) {
        return false;
    }
    for (line, phrase) in quoted.into_iter().filter_map(|(line, text)| Some((line, parse_quoted(text)?))) {
        draft.human.voice.phrases.push(phrase.to_owned());
        report.note(page.file, line, phrase, human("voice.phrases"));
    }
    if said.is_empty() {
        return true;
    }
    let tone = &mut draft.human.voice.tone;
    *tone = if tone.is_empty() { said } else { format!("{tone}; {said}") };
    report.note(page.file, section.line, &*section.heading, human("voice.tone"));
    true
}

/// The phrase of a line that is nothing but one in quotes.
fn parse_quoted(text: &str) -> Option<&str> {
    let text = text.trim();
    let marks = [('"', '"'), ('“', '”'), ('«', '»'), ('‘', '’')];
    let inner = marks.iter().find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close))?;
    (!inner.is_empty() && !inner.contains(['"', '“', '”'])).then(|| inner.trim())
}

/// Rules, one by one: those about who it is to the human, those about the work to the team.
fn sort_rules(
    page: &MarkdownFile,
    section: &MarkdownSection,
    draft: &mut Draft,
    report: &mut WorkspaceImportReport,
) {
    for (line, text) in section.lines() {
        let rule = parse_item(text).unwrap_or(text);
        if let Some((id, place)) = rules::adopt_rule(rule, draft) {
            report.note(page.file, line, format!("the rule {id}"), place);
        }
        let forbids = section.is_about(&NEVER) || rules::is_forbidding(rule);
        if language::extract_from_rule(page, line, rule, draft, report) {
            continue;
        }
        if section.is_about(&NEVER) || (forbids && rules::is_about_persona(rule)) {
            draft.human.nevers.push(rule.to_owned());
            report.note(page.file, line, rule, human("nevers"));
        } else if rules::is_about_voice(rule) {
            let tone = &mut draft.human.voice.tone;
            *tone = if tone.is_empty() { rule.to_owned() } else { format!("{tone}; {rule}") };
            report.note(page.file, line, rule, human("voice.tone"));
        } else {
            if !draft.team.sops.is_empty() {
                draft.team.sops.push('\n');
            }
            draft.team.sops.push_str(&format!("- {rule}"));
            report.note(page.file, line, rule, ImportDestination::Tier(TierKind::Team, "sops"));
        }
    }
}
