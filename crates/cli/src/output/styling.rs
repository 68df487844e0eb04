//! Colour, where it shows.

use anstream::{AutoStream, ColorChoice, stream::RawStream};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourMode {
    Never,
    /// On a terminal, unless NO_COLOR is set or the terminal is dumb.
    WhereItShows,
}

impl ColourMode {
    pub fn styler_for(self, stream: &impl RawStream) -> TextStyler {
        let shows = self == Self::WhereItShows && AutoStream::choice(stream) != ColorChoice::Never;
        if shows { TextStyler::Colour } else { TextStyler::Plain }
    }
}

/// Whose part of a prompt it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptPartColour {
    Human,
    Team,
    Agent,
    /// What is otherwise in every turn.
    Turn,
}

/// Dresses words for one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextStyler {
    Plain,
    Colour,
}

impl TextStyler {
    pub(crate) fn good(self, text: &str) -> String {
        self.apply_style("\x1b[32m", text)
    }

    pub(crate) fn doubtful(self, text: &str) -> String {
        self.apply_style("\x1b[33m", text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.apply_style("\x1b[1;31m", text)
    }

    pub fn bold(self, text: &str) -> String {
        self.apply_style("\x1b[1m", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.apply_style("\x1b[2m", text)
    }

    /// In a colour of one's own, line by line, so that a pager shows every line in it.
    pub(crate) fn colour_lines(self, hue: PromptPartColour, text: &str) -> String {
        let code = match hue {
            PromptPartColour::Human => "\x1b[36m",
            PromptPartColour::Team => "\x1b[35m",
            PromptPartColour::Agent => "\x1b[34m",
            PromptPartColour::Turn => "\x1b[33m",
        };
        let line = |line: &str| match line.trim_end_matches('\n') {
            "" => line.to_owned(),
            said => self.apply_style(code, said) + line.get(said.len()..).unwrap_or_default(),
        };
        text.split_inclusive('\n').map(line).collect()
    }

    fn apply_style(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colour => format!("{code}{text}\x1b[0m"),
        }
    }
}
