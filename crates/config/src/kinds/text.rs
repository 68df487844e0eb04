//! Plain text: any, a single word, the name of a header.

use super::{Fault, Home, Kind, Quoted, Raw};
use crate::show::Shown;

/// It must say something.
#[derive(Debug)]
pub enum Text {}

/// Empty says that there is to be none, whatever a preset has.
#[derive(Debug)]
pub enum TextOrNone {}

/// Small letters, digits, dashes and underscores, as names and places are written.
#[derive(Debug)]
pub enum Word {}

#[derive(Debug)]
pub enum HeaderName {}

impl Kind for Text {
    type Value = String;

    fn expects() -> String {
        "text, in double quotes".to_owned()
    }

    fn read(raw: &Raw, _: &Home) -> Result<String, Fault> {
        let text = raw.text()?.trim();
        if text.is_empty() { Err(Fault::new("the text is empty")) } else { Ok(text.to_owned()) }
    }

    fn show(value: &String) -> Shown {
        Shown::Text(value.clone())
    }
}

impl Kind for TextOrNone {
    type Value = String;

    fn expects() -> String {
        "text, in double quotes, or \"\" for none".to_owned()
    }

    fn read(raw: &Raw, _: &Home) -> Result<String, Fault> {
        Ok(raw.text()?.trim().to_owned())
    }

    fn show(value: &String) -> Shown {
        Shown::Text(value.clone())
    }
}

impl Kind for Word {
    type Value = String;

    fn expects() -> String {
        "a word of small letters, digits, dashes and underscores, such as \"in\"".to_owned()
    }

    fn read(raw: &Raw, home: &Home) -> Result<String, Fault> {
        let text = Text::read(raw, home)?;
        let fits =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter);
        if text.chars().all(fits) {
            return Ok(text);
        }
        Err(Fault::new(format!(
            "{} is not a word of small letters, digits, dashes and underscores",
            Quoted(&text)
        )))
    }

    fn show(value: &String) -> Shown {
        Shown::Text(value.clone())
    }
}

impl Kind for HeaderName {
    type Value = String;

    fn expects() -> String {
        "\"documented\" for the wire's own header, \"bearer\", or the header's name, such as \"api-key\""
            .to_owned()
    }

    fn read(raw: &Raw, home: &Home) -> Result<String, Fault> {
        let text = Text::read(raw, home)?.to_lowercase();
        if Self::is(&text) {
            return Ok(text);
        }
        // It may be a key that was written in the wrong place, so it is not repeated.
        Err(Fault::new("there is a sign in it that no header's name has"))
    }

    fn show(value: &String) -> Shown {
        Shown::Text(value.clone())
    }
}

impl HeaderName {
    pub(super) fn is(text: &str) -> bool {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
        !text.is_empty() && text.chars().all(fits)
    }
}
