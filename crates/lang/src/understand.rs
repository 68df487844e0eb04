//! Everything the crate reads in one message.

use jiff::civil::Date;
use munshi_types::Language;
use serde::Serialize;

use crate::amounts::{self, Amount};
use crate::dates::times::TimeFound;
use crate::dates::{self, DateFound};
use crate::detect::{self, Form};
use crate::reader::Reader;
use crate::token::tokens;

/// What is known before a message is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'c> {
    /// The language, when the channel already knows it (speech does).
    pub language: Option<Language>,
    /// The languages of the messages before, the latest last; five are looked at.
    pub last_languages: &'c [Language],
    /// The language the person chose.
    pub profile: Option<Language>,
    /// Today where the person is, so that `kal` becomes a date.
    pub today: Option<Date>,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Understanding {
    pub language: Language,
    /// Whether it was written in the language's own script or in Latin letters.
    pub script: Form,
    /// How sure the language is, from 0 to 1.
    pub confidence: f32,
    pub numbers: Vec<Amount>,
    pub dates: Vec<DateFound>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<TimeFound>,
}

/// Reads a message.
pub fn understand(message: &str, context: &Context<'_>) -> Understanding {
    let tokens = tokens(message);
    let detection = detect::detect_tokens(&tokens);
    let language = context
        .language
        .unwrap_or_else(|| detect::choose(detection.as_ref(), context.last_languages, context.profile));
    let script = detection.as_ref().map_or(Form::Latin, detect::Detection::form);
    let confidence = match (context.language, &detection) {
        (Some(_), _) => 1.0,
        (None, Some(found)) => found.confidence,
        (None, None) => 0.0,
    };
    let mut languages = vec![language];
    if let (None, Some(found)) = (context.language, &detection)
        && !found.is_sure()
    {
        languages.extend(found.plausible.iter().copied().filter(|other| *other != language));
    }
    let reader = Reader::new(tokens, languages);
    let dated = dates::find(&reader);
    let timed = dates::times::find(&reader);
    let taken: Vec<(usize, usize)> =
        dated.iter().map(|d| (d.from, d.to)).chain(timed.iter().map(|t| (t.from, t.to))).collect();
    let numbers = amounts::find(&reader, message, &taken);
    Understanding {
        language,
        script,
        confidence,
        numbers,
        dates: dated.iter().map(|dated| dates::finish(&reader, message, dated, context.today)).collect(),
        times: timed.iter().map(|timed| dates::times::finish(&reader, message, timed)).collect(),
    }
}
