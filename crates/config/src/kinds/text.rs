//! Plain text that must say something.

use super::{Fault, Home, Kind, Raw};
use crate::show::Shown;

#[derive(Debug)]
pub enum Text {}

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
