//! The conversation, message by message, until somebody leaves.

use munshi_config::Config;
use munshi_conversations::TurnUsage;
use munshi_tiers::precedence;
use munshi_types::Language;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::installation;

use super::editor::EditorColours;
use super::input::{ChatTerminalInput, ChatTerminalSource};
use super::screen::ChatScreen;
use super::slash::{self, COMMANDS, ChatSlashCommand};
use super::terminal_mode::TerminalModeGuard;
use super::{explanation, history};
use crate::commands::ask::client::AskClient;
use crate::commands::ask::reply::AskReply;
use crate::commands::ask::speaker::AskSpeaker;
use crate::commands::ask::validate_text;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_count;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell, sanitize_line};

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
    let who = desk.resolve_speaker(person).await?;
    let colours = match context.output.colour_mode().styler_for(&std::io::stdout()) {
        TextStyler::Colour => EditorColours::Shown,
        TextStyler::Plain => EditorColours::Plain,
    };
    let mut input = ChatTerminalSource::open(|| history::ensure_file(config, desk.binding()), colours)?;
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
            failure = talk.desk.wait_for_interrupt(), if !input.is_terminal() => return Err(failure),
        };
        let line = match typed {
            ChatTerminalInput::End => return Ok(()),
            ChatTerminalInput::Dropped if was_dropped => return Ok(()),
            ChatTerminalInput::Dropped => {
                talk.print_note("(press Ctrl-C again, Ctrl-D or /quit to leave)");
                was_dropped = true;
                continue;
            }
            ChatTerminalInput::Line(line) => line,
        };
        was_dropped = false;
        match slash::parse(&line) {
            Some(ChatSlashCommand::Quit) => return Ok(()),
            Some(command) => talk.command(command).await?,
            None if line.trim().is_empty() => {}
            None => talk.send_line(slash::unescape_slash(&line), input.is_terminal()).await?,
        }
    }
}

impl Talk<'_> {
    fn greet(&self, is_terminal: bool) {
        if self.who.is_new {
            self.print_note(&self.who.render_introduction());
        }
        if !is_terminal {
            return;
        }
        let place = self.desk.binding();
        let human = sanitize_line(&place.human.body.name);
        let through =
            self.desk.server_address().map(|at| format!(", through the server at {at}")).unwrap_or_default();
        let line = format!(
            "{human} ({}, {}{through}). /help lists the commands.",
            place.binding_name, place.tenant_name
        );
        self.context.output.print_note(|paint| paint.dim(&line));
    }

    fn print_note(&self, text: &str) {
        self.context.output.print_note(|paint| paint.dim(&crate::output::sanitize_text(text)));
    }

    /// What goes wrong with one message is told, and the conversation goes on; piped, it ends.
    async fn send_line(&mut self, line: &str, is_terminal: bool) -> Result<()> {
        let text = self.expand_choice(line);
        if let Err(failure) = validate_text(&text) {
            return self.report_failure(failure, is_terminal);
        }
        let mut screen = ChatScreen::new(self.context.output, self.desk.server_address());
        let kept = if is_terminal { TerminalModeGuard::start() } else { None };
        let asked = self.desk.ask(&self.who, &text, &mut screen).await;
        drop(kept);
        match asked {
            Ok(told) => {
                self.add_usage(&told);
                self.offered = screen.finish(&told)?;
                self.last = Some(told);
                Ok(())
            }
            Err(_) if self.desk.clear_interruption() => screen.finish_stopped(),
            Err(failure) => {
                screen.finish_failed()?;
                self.report_failure(failure, is_terminal)
            }
        }
    }

    fn report_failure(&self, failure: CommandFailure, is_terminal: bool) -> Result<()> {
        if !is_terminal {
            return Err(failure);
        }
        self.context.output.print_failure(&failure);
        Ok(())
    }

    /// A number of what was offered is what stood there.
    fn expand_choice(&self, line: &str) -> String {
        let number = line.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let offered = number.and_then(|at| self.offered.get(at));
        if let Some(offered) = offered {
            self.print_note(&format!("› {offered}"));
        }
        offered.cloned().unwrap_or_else(|| line.to_owned())
    }

    fn add_usage(&mut self, told: &AskReply) {
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
                    let words = explanation::render_text(self.desk, told).await?;
                    self.context.output.print(&words)
                }
                None => {
                    self.print_note("there is no answer yet");
                    Ok(())
                }
            },
            ChatSlashCommand::Unknown(hint) => {
                self.print_note(&hint);
                Ok(())
            }
            ChatSlashCommand::Quit => Ok(()),
        }
    }

    fn help(&self) -> Result<()> {
        let mut lines: Vec<String> =
            COMMANDS.iter().map(|(name, about)| format!("  {name:<10} {about}")).collect();
        lines.push(
            "A number picks a suggestion. Alt-Enter, or \\ at the end of a line, continues on the next line."
                .to_owned(),
        );
        lines.push(
            "Ctrl-C stops an answer. ↑ recalls the input history; // at the start sends one slash."
                .to_owned(),
        );
        self.context.output.print(&lines.join("\n"))
    }

    fn tools(&self) -> Result<()> {
        let place = self.desk.binding();
        let known = installation::tools()?;
        let mut table = OutputTable::new(&["TOOL", "DOES", "WHAT"]);
        for name in precedence::select_tools(&place.team.body, &place.agent.body) {
            let spec = known.iter().find(|spec| name.means(spec));
            let does = match spec {
                Some(spec) if spec.effect.writes() => "writes",
                Some(_) => "reads",
                None => "not installed",
            };
            let about = spec.map_or("", |spec| spec.description.split(". ").next().unwrap_or_default());
            table.add_row([
                OutputTableCell::new(name.to_string(), OutputCellStyle::Plain),
                OutputTableCell::new(does, OutputCellStyle::Plain),
                OutputTableCell::truncated(&sanitize_line(about), 70, OutputCellStyle::Dim),
            ]);
        }
        let painter = self.context.output.colour_mode().styler_for(&std::io::stdout());
        self.context.output.print(&table.render(painter))
    }

    fn cost(&self) -> Result<()> {
        let used = &self.used;
        let price = match (used.cost_micros, self.is_unpriced) {
            (_, true) => "price partly unknown".to_owned(),
            (None | Some(0), false) => "free".to_owned(),
            (Some(micros), false) => munshi_llm::pricing::Cost::from_micros(micros).to_string(),
        };
        let turns = format_count(u64::from(self.turns), "answer");
        let calls = format_count(u64::from(used.model_calls), "model call");
        let (input, output) = (used.input_tokens, used.output_tokens);
        self.context.output.print(&format!("{turns}, {calls}, {input} tokens in, {output} out: {price}"))
    }

    async fn language(&mut self, wanted: Option<String>) -> Result<()> {
        let Some(wanted) = wanted else {
            let speech = &self.desk.binding().human.body.speech;
            let spoken = speech.languages.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let last = self.last.as_ref().and_then(|told| told.outcome.language.as_ref());
            let now = last.map(|code| format!("The last answer was in {code}. ")).unwrap_or_default();
            let line = format!(
                "{now}Languages: {spoken}. Your message sets the language; /language CODE sets the default."
            );
            return self.context.output.print(&line);
        };
        match wanted.parse::<Language>() {
            Ok(language) => {
                self.desk.set_language(language);
                self.who = self.desk.resolve_speaker(self.person.as_deref()).await?;
                self.print_note(&format!("default language: {language:?}"));
            }
            Err(error) => self.print_note(&error.to_string()),
        }
        Ok(())
    }
}
