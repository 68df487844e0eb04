//! The conversation, message by message, until somebody leaves.

use munshi_agent::TurnUsage;
use munshi_config::Config;
use munshi_tiers::contract;
use munshi_types::Language;

use super::editor::EditorColours;
use super::input::{ChatTerminalInput, ChatTerminalSource};
use super::keys::TerminalModeGuard;
use super::screen::ChatScreen;
use super::slash::{self, COMMANDS, ChatSlashCommand};
use super::{past, why};
use crate::commands::ask::checked;
use crate::commands::ask::desk::AskClient;
use crate::commands::ask::reply::AskReply;
use crate::commands::ask::who::AskSpeaker;
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};
use crate::output::TextStyler;
use crate::output::shown::count;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell, harmless};
use crate::wiring::installed;

struct Talk<'a> {
    context: &'a CommandContext,
    desk: &'a mut AskClient,
    person: Option<String>,
    who: AskSpeaker,
    last: Option<AskReply>,
    /// What the numbers stand for that were shown last.
    offered: Vec<String>,
    used: TurnUsage,
    /// Whether nobody knows the price of something that was used.
    is_unpriced: bool,
    turns: u32,
}

pub(super) async fn talk(
    context: &CommandContext,
    config: &Config,
    desk: &mut AskClient,
    person: Option<&str>,
) -> Result<()> {
    let who = desk.who(person).await?;
    let colours = match context.output.paint().on(&std::io::stdout()) {
        TextStyler::Colour => EditorColours::Shown,
        TextStyler::Plain => EditorColours::Plain,
    };
    let mut input = ChatTerminalSource::open(|| past::file(config, desk.place()), colours)?;
    let mut talk = Talk {
        context,
        desk,
        person: person.map(str::to_owned),
        who,
        last: None,
        offered: Vec::new(),
        used: TurnUsage::default(),
        is_unpriced: false,
        turns: 0,
    };
    talk.greet(input.is_terminal());
    let mut was_dropped = false;
    loop {
        let typed = tokio::select! {
            typed = input.next() => typed?,
            // At a terminal this is a key like any other.
            failure = talk.desk.interruption(), if !input.is_terminal() => return Err(failure),
        };
        let line = match typed {
            ChatTerminalInput::End => return Ok(()),
            ChatTerminalInput::Dropped if was_dropped => return Ok(()),
            ChatTerminalInput::Dropped => {
                talk.aside("(Ctrl-C once more, Ctrl-D or /quit leaves)");
                was_dropped = true;
                continue;
            }
            ChatTerminalInput::Line(line) => line,
        };
        was_dropped = false;
        match slash::read(&line) {
            Some(ChatSlashCommand::Quit) => return Ok(()),
            Some(command) => talk.command(command).await?,
            None if line.trim().is_empty() => {}
            None => talk.say(slash::said(&line), input.is_terminal()).await?,
        }
    }
}

impl Talk<'_> {
    fn greet(&self, is_terminal: bool) {
        if self.who.is_new {
            self.aside(&self.who.introduced());
        }
        if !is_terminal {
            return;
        }
        let place = self.desk.place();
        let human = harmless(&place.human.body.name);
        let through =
            self.desk.server().map(|at| format!(", through the server at {at}")).unwrap_or_default();
        let line = format!(
            "{human} ({}, {}{through}). /help lists what else can be typed.",
            place.binding_name, place.tenant_name
        );
        self.context.output.aside(|paint| paint.dim(&line));
    }

    fn aside(&self, text: &str) {
        self.context.output.aside(|paint| paint.dim(&crate::output::without_commands(text)));
    }

    /// What goes wrong with one message is told, and the conversation goes on; piped, it ends.
    async fn say(&mut self, line: &str, is_terminal: bool) -> Result<()> {
        let text = self.meant(line);
        if let Err(failure) = checked(&text) {
            return self.told(failure, is_terminal);
        }
        let mut screen = ChatScreen::new(self.context.output, self.desk.server());
        let kept = if is_terminal { TerminalModeGuard::keep() } else { None };
        let asked = self.desk.ask(&self.who, &text, &mut screen).await;
        drop(kept);
        match asked {
            Ok(told) => {
                self.count(&told);
                self.offered = screen.end(&told)?;
                self.last = Some(told);
                Ok(())
            }
            Err(_) if self.desk.forgive_interruption() => screen.stopped(),
            Err(failure) => {
                screen.failed()?;
                self.told(failure, is_terminal)
            }
        }
    }

    fn told(&self, failure: CommandFailure, is_terminal: bool) -> Result<()> {
        if !is_terminal {
            return Err(failure);
        }
        self.context.output.failure(&failure);
        Ok(())
    }

    /// A number of what was offered is what stood there.
    fn meant(&self, line: &str) -> String {
        let number = line.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let offered = number.and_then(|at| self.offered.get(at));
        if let Some(offered) = offered {
            self.aside(&format!("› {offered}"));
        }
        offered.cloned().unwrap_or_else(|| line.to_owned())
    }

    fn count(&mut self, told: &AskReply) {
        let usage = &told.outcome.usage;
        self.turns += 1;
        self.used.input_tokens += usage.input_tokens;
        self.used.output_tokens += usage.output_tokens;
        self.used.model_calls += usage.model_calls;
        self.used.tool_calls += usage.tool_calls;
        match usage.cost_micros {
            Some(cost) => self.used.cost_micros = Some(self.used.cost_micros.unwrap_or(0) + cost),
            None => self.is_unpriced |= usage.model_calls > 0,
        }
    }

    async fn command(&mut self, command: ChatSlashCommand) -> Result<()> {
        match command {
            ChatSlashCommand::Help => self.help(),
            ChatSlashCommand::Tools => self.tools(),
            ChatSlashCommand::Cost => self.cost(),
            ChatSlashCommand::Language(language) => self.language(language).await,
            ChatSlashCommand::Why => match &self.last {
                Some(told) => {
                    let words = why::words(self.desk, told).await?;
                    self.context.output.say(&words)
                }
                None => {
                    self.aside("nothing was answered yet");
                    Ok(())
                }
            },
            ChatSlashCommand::Unknown(hint) => {
                self.aside(&hint);
                Ok(())
            }
            ChatSlashCommand::Quit => Ok(()),
        }
    }

    fn help(&self) -> Result<()> {
        let mut lines: Vec<String> =
            COMMANDS.iter().map(|(name, about)| format!("  {name:<10} {about}")).collect();
        lines.push("A number takes what was offered by it. Alt-Enter, or \\ at the end of a line, goes on in the next.".to_owned());
        lines.push(
            "Ctrl-C stops an answer. ↑ brings back what was typed; // at the beginning says one slash."
                .to_owned(),
        );
        self.context.output.say(&lines.join("\n"))
    }

    fn tools(&self) -> Result<()> {
        let place = self.desk.place();
        let known = installed::tools()?;
        let mut table = OutputTable::new(&["TOOL", "DOES", "WHAT"]);
        for name in contract::tools(&place.team.body, &place.agent.body) {
            let spec = known.iter().find(|spec| spec.name == name);
            let does = match spec {
                Some(spec) if spec.effect.writes() => "writes",
                Some(_) => "looks",
                None => "is not here",
            };
            let about = spec.map_or("", |spec| spec.description.split(". ").next().unwrap_or_default());
            table.row([
                OutputTableCell::new(name.to_string(), OutputCellStyle::Plain),
                OutputTableCell::new(does, OutputCellStyle::Plain),
                OutputTableCell::short(&harmless(about), 70, OutputCellStyle::Dim),
            ]);
        }
        let painter = self.context.output.paint().on(&std::io::stdout());
        self.context.output.say(&table.render(painter))
    }

    fn cost(&self) -> Result<()> {
        let used = &self.used;
        let price = match (used.cost_micros, self.is_unpriced) {
            (_, true) => "at a price that is not wholly known".to_owned(),
            (None | Some(0), false) => "free".to_owned(),
            (Some(micros), false) => munshi_llm::money::Cost::from_micros(micros).to_string(),
        };
        let turns = count(u64::from(self.turns), "answer");
        let calls = count(u64::from(used.model_calls), "model call");
        let (input, output) = (used.input_tokens, used.output_tokens);
        self.context.output.say(&format!("{turns}, {calls}, {input} tokens in, {output} out: {price}"))
    }

    async fn language(&mut self, wanted: Option<String>) -> Result<()> {
        let Some(wanted) = wanted else {
            let speech = &self.desk.place().human.body.speech;
            let spoken = speech.languages.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let last = self.last.as_ref().and_then(|told| told.outcome.language.as_ref());
            let now = last.map(|code| format!("The last answer was in {code}. ")).unwrap_or_default();
            let line = format!(
                "{now}Spoken here: {spoken}. Your message tells the language; /language CODE says it where none does."
            );
            return self.context.output.say(&line);
        };
        match wanted.parse::<Language>() {
            Ok(language) => {
                self.desk.speak(language);
                self.who = self.desk.who(self.person.as_deref()).await?;
                self.aside(&format!("{language:?} it is, where a message does not tell otherwise"));
            }
            Err(error) => self.aside(&error.to_string()),
        }
        Ok(())
    }
}
