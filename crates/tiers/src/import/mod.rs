//! A workspace of seven markdown files to a human, a team, an agent and a binding.
//!
//! | file | goes to |
//! |---|---|
//! | `SOUL.md` | what it has lived through, voice and languages to the human; rules of the work to the team |
//! | `IDENTITY.md` | the human's name and identity |
//! | `AGENTS.md` | the binding (name, channels); how the work is done to the team |
//! | `TOOLS.md` | the agent's tools and guidance |
//! | `MEMORY.md` | the agent's memory policy; memories themselves stay where they are |
//! | `USER.md` | nowhere: who is spoken with is known from the conversation |
//! | `HEARTBEAT.md` | nowhere: the time is told in every turn; tasks become schedules by hand |
//!
//! [`import`] is pure: files in, drafts and a report out; [`read`] and [`ImportedWorkspace::tier_files`] are the way from and to folders.
//! Nothing is lost in silence: what went nowhere is in the report, and so is
//! everything that wants a human eye. A line that holds a secret is not copied, and its report does not repeat it.
//!
//! # Layout
//! - `markdown`: a file in sections; `secrets`: lines that must not be copied
//! - `persona`, `agents_file`, `runtime_files`: the files of each tier; `language`: which ones it speaks; `rules`: sentences that are shipped rules
//! - `report`: what went where; `tier_files`: the drafts as files; `folder`: reading and writing folders

mod agents_file;
mod folder;
mod language;
mod markdown;
mod persona;
mod report;
mod rules;
mod runtime_files;
mod secrets;
mod tier_files;

use std::collections::BTreeMap;

use munshi_types::tier::{
    Agent, Audience, Binding, Channel, GuardrailRef, Human, PromptBudgets, Team, TierKind, TierName,
};

use crate::prompt::{PromptTiers, StaticPrompt};
pub use folder::{ExistingFilePolicy, WrittenFiles, read};
use markdown::MarkdownFile;
pub use report::{ImportConcern, ImportDestination, WorkspaceImportEntry, WorkspaceImportReport};

/// The files, in the order they were read to a model.
pub const FILES: [&str; 7] =
    ["AGENTS.md", "IDENTITY.md", "SOUL.md", "TOOLS.md", "MEMORY.md", "USER.md", "HEARTBEAT.md"];

/// What a workspace became. The names of all four are the binding's.
#[derive(Clone, Debug)]
pub struct ImportedWorkspace {
    pub name: TierName,
    pub human: Human,
    pub team: Team,
    pub agent: Agent,
    pub binding: Binding,
    pub report: WorkspaceImportReport,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no persona found: a workspace contains SOUL.md or IDENTITY.md")]
pub struct NoPersonaError;

/// Sorts a workspace into tiers. `files` are names and texts; names count in either letter case, others are left
/// aside. `fallback` names the four where no file does.
pub fn import(fallback: &TierName, files: &[(&str, &str)]) -> Result<ImportedWorkspace, NoPersonaError> {
    let mut report = WorkspaceImportReport::default();
    let pages = parse_files(files, &mut report);
    if !pages.contains_key("SOUL.md") && !pages.contains_key("IDENTITY.md") {
        return Err(NoPersonaError);
    }
    let page = |name: &str| pages.get(name).cloned().unwrap_or_default();
    let mut draft = Draft::default();
    agents_file::read(&page("AGENTS.md"), &mut draft, &mut report);
    persona::read_identity(&page("IDENTITY.md"), &mut draft, &mut report);
    persona::read_soul(&page("SOUL.md"), &mut draft, &mut report);
    runtime_files::read_tools(&page("TOOLS.md"), &mut draft, &mut report);
    runtime_files::read_memory(&page("MEMORY.md"), &mut draft, &mut report);
    runtime_files::read_user(&page("USER.md"), &mut report);
    runtime_files::read_heartbeat(&page("HEARTBEAT.md"), &mut report);
    let imported = draft.finish(fallback, report);
    Ok(imported.check_sizes())
}

/// The known files without their secrets.
fn parse_files(
    files: &[(&str, &str)],
    report: &mut WorkspaceImportReport,
) -> BTreeMap<&'static str, MarkdownFile> {
    let mut pages = BTreeMap::new();
    for (name, text) in files {
        let Some(known) = FILES.into_iter().find(|known| known.eq_ignore_ascii_case(name)) else { continue };
        if pages.contains_key(known) {
            report.flag(known, 1, "a second file with this name", ImportConcern::Twice);
            continue;
        }
        let safe = secrets::redact(text, |line, kind| {
            report.flag(known, line, kind, ImportConcern::Secret);
        });
        let page = MarkdownFile::read(known, &safe);
        for (line, aside) in &page.asides {
            report.flag(known, *line, aside.description(), ImportConcern::Program);
        }
        pages.insert(known, page);
    }
    for missing in FILES.into_iter().filter(|known| !pages.contains_key(known)) {
        report.note(missing, 1, "the file", ImportDestination::Missing);
    }
    pages
}

/// What the files have said so far.
#[derive(Debug, Default)]
struct Draft {
    title: Option<String>,
    human: Human,
    team: Team,
    agent: Agent,
    channels: Vec<Channel>,
    /// Whether a file said which languages it speaks.
    is_language_told: bool,
}

impl Draft {
    fn finish(mut self, fallback: &TierName, mut report: WorkspaceImportReport) -> ImportedWorkspace {
        let named = [self.title.as_deref(), Some(self.human.name.as_str())];
        let name = named.into_iter().flatten().find_map(slugify).unwrap_or_else(|| fallback.clone());
        if self.human.name.is_empty() {
            self.human.name = self.title.clone().unwrap_or_else(|| name.to_string());
            report.flag("IDENTITY.md", 1, "the name", ImportConcern::Guessed);
        }
        if self.human.identity.is_empty() {
            self.human.identity = format!("The voice of {}.", self.title.as_deref().unwrap_or(name.as_str()));
            report.flag("IDENTITY.md", 1, "the identity", ImportConcern::Guessed);
        }
        if self.team.role.is_empty() {
            self.team.role = format!("You do the work of {}.", self.human.name);
            report.flag("AGENTS.md", 1, "the team's role", ImportConcern::Guessed);
        }
        self.team.name = self.title.clone().unwrap_or_else(|| self.human.name.clone());
        self.agent.name.clone_from(&self.team.name);
        if self.channels.is_empty() {
            self.channels = vec![Channel::Web];
            report.flag("AGENTS.md", 1, "the channels", ImportConcern::Guessed);
        }
        self.team.members = vec![name.clone()];
        self.add_default_rules(&mut report);
        let binding = Binding {
            human: name.clone(),
            team: name.clone(),
            agent: name.clone(),
            door: Audience::Distribution,
            channels: self.channels,
            keys: Vec::new(),
            slices: Vec::new(),
        };
        ImportedWorkspace { name, human: self.human, team: self.team, agent: self.agent, binding, report }
    }
}

/// What every persona and every agent keeps to, whatever its files say.
const OF_HUMANS: [&str; 2] = ["never-human", "admits-ai"];
const OF_AGENTS: [&str; 5] = ["model-name", "prompt-leak", "no-secrets", "identity-numbers", "no-internals"];

impl Draft {
    fn add_default_rules(&mut self, report: &mut WorkspaceImportReport) {
        let humans = ("IDENTITY.md", TierKind::Human, &mut self.human.guardrails, &OF_HUMANS[..]);
        let agents = ("TOOLS.md", TierKind::Agent, &mut self.agent.guardrails, &OF_AGENTS[..]);
        for (file, tier, rules, house) in [humans, agents] {
            for id in house {
                if !rules.iter().any(|rule| rule.id == *id) {
                    rules.push(GuardrailRef::new(*id));
                    report.note(
                        file,
                        1,
                        format!("added: the rule {id}"),
                        ImportDestination::Tier(tier, "guardrails"),
                    );
                }
            }
        }
    }
}

impl ImportedWorkspace {
    /// Says which of the tiers are larger than they may be. They are not cut: somebody has to choose.
    fn check_sizes(mut self) -> Self {
        let tiers = PromptTiers { human: &self.human, team: &self.team, agent: &self.agent, installed: &[] };
        let static_prompt = StaticPrompt::new(&tiers);
        let most = PromptBudgets::RUNTIME;
        let sizes = [
            ("SOUL.md", TierKind::Human, most.human),
            ("SOUL.md", TierKind::Team, most.team),
            ("TOOLS.md", TierKind::Agent, most.agent),
        ];
        for (file, tier, most) in sizes {
            let tokens = static_prompt.tokens(tier);
            if tokens > most {
                self.report.flag(file, 1, tier.as_str(), ImportConcern::TooLarge { tokens, most });
            }
        }
        self.report.sort();
        self
    }
}

/// `Aangan Concierge (Pro)` to `aangan-concierge-pro`; none where no letter is plain.
pub fn slugify(text: &str) -> Option<TierName> {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { ' ' };
    let words: String = text.chars().map(plain).collect();
    let joined = words.split_whitespace().collect::<Vec<_>>().join("-");
    let short: String = joined.chars().take(63).collect();
    short.trim_end_matches('-').parse().ok()
}
