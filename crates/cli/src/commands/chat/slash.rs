//! Commands within the conversation.

use munshi_toml::render_hint;

/// Every command, with what it does.
pub(super) const COMMANDS: [(&str, &str); 6] = [
    ("/tools", "list the tools"),
    ("/why", "explain the last answer: tools, model, rules, cost"),
    ("/language", "set the language: /language hi"),
    ("/cost", "show the cost of this conversation"),
    ("/help", "this"),
    ("/quit", "quit; Ctrl-D does the same"),
];

/// What was typed, if it is for the program and not for the binding.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChatSlashCommand {
    Tools,
    Why,
    Language(Option<String>),
    Cost,
    Help,
    Quit,
    /// With what may have been meant.
    Unknown(String),
}

/// None for what is said. Two slashes say one.
pub(super) fn parse(typed: &str) -> Option<ChatSlashCommand> {
    let line = typed.trim();
    if !line.starts_with('/') || line.starts_with("//") || line.contains('\n') {
        return None;
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
    Some(match word {
        "/tools" => ChatSlashCommand::Tools,
        "/why" => ChatSlashCommand::Why,
        "/language" | "/lang" => ChatSlashCommand::Language(rest),
        "/cost" => ChatSlashCommand::Cost,
        "/help" | "/?" => ChatSlashCommand::Help,
        "/quit" | "/exit" | "/q" => ChatSlashCommand::Quit,
        other => ChatSlashCommand::Unknown(render_unknown(other)),
    })
}

/// What is said: two slashes at the beginning are one.
pub(super) fn unescape_slash(typed: &str) -> &str {
    typed.strip_prefix('/').filter(|rest| rest.starts_with('/')).unwrap_or(typed)
}

/// The rest of a command that was begun, where only one begins so.
pub(super) fn complete_command(begun: &str) -> Option<&'static str> {
    let mut fitting = COMMANDS.iter().filter_map(|(name, _)| name.strip_prefix(begun));
    let rest = fitting.next()?;
    fitting.next().is_none().then_some(rest).filter(|rest| !rest.is_empty())
}

fn render_unknown(word: &str) -> String {
    let names = COMMANDS.iter().map(|(name, _)| *name);
    format!("unknown command {word}: {}", render_hint(word, names, "/help lists the commands"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_is_for_the_program_and_two_are_for_the_binding() {
        assert_eq!(parse(" /tools "), Some(ChatSlashCommand::Tools));
        assert_eq!(parse("/language  hi"), Some(ChatSlashCommand::Language(Some("hi".to_owned()))));
        assert_eq!(parse("/language"), Some(ChatSlashCommand::Language(None)));
        assert!(matches!(parse("/tool"), Some(ChatSlashCommand::Unknown(hint)) if hint.contains("/tools")));
        for said in ["hello", "1/2 kg", "//etc", "राम / श्याम", "/tools\nand more"] {
            assert_eq!(parse(said), None, "{said}");
        }
        assert_eq!((unescape_slash("//etc"), unescape_slash("/x"), unescape_slash("a")), ("/etc", "/x", "a"));
    }

    #[test]
    fn every_command_that_is_listed_is_known() {
        for (name, _) in COMMANDS {
            assert!(!matches!(parse(name), None | Some(ChatSlashCommand::Unknown(_))), "{name}");
        }
        assert_eq!(
            (complete_command("/w"), complete_command("/"), complete_command("/why")),
            (Some("hy"), None, None)
        );
    }
}
