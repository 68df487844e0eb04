//! Names with values: headers and the parts of a query. The values may be secret, so no message repeats them.

use super::list::items;
use super::{Fault, HeaderName, Home, Kind, Raw};
use crate::secret::{DOTS, Secret};
use crate::show::Shown;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub name: String,
    pub value: Secret,
}

/// `Name: value`, each a text of its own; in a variable, a line each.
#[derive(Debug)]
pub enum Headers {}

/// `name=value`, with `&` between.
#[derive(Debug)]
pub enum Query {}

impl Kind for Headers {
    type Value = Vec<Pair>;

    fn expects() -> String {
        "a list of texts such as [\"X-Team: shop\"]; in a variable, a line each".to_owned()
    }

    fn read(raw: &Raw, _: &Home) -> Result<Vec<Pair>, Fault> {
        items(raw, "\n")?.iter().map(header).collect()
    }

    fn show(value: &Vec<Pair>) -> Shown {
        Shown::List(value.iter().map(|pair| format!("{}: {DOTS}", pair.name)).collect())
    }
}

fn header(raw: &Raw) -> Result<Pair, Fault> {
    let (name, value) =
        raw.text()?.split_once(':').ok_or_else(|| Fault::new("a header has no colon after its name"))?;
    let (name, value) = (name.trim(), value.trim());
    if !HeaderName::is(name) {
        return Err(Fault::new("a header's name has a sign in it that no header's name has"));
    }
    if value.is_empty() || !value.chars().all(|letter| letter == ' ' || letter.is_ascii_graphic()) {
        return Err(Fault::new("a header's value is empty, or has a sign in it that can't be sent"));
    }
    Ok(Pair { name: name.to_owned(), value: Secret::new(value.to_owned()) })
}

impl Kind for Query {
    type Value = Vec<Pair>;

    fn expects() -> String {
        "text such as \"api-version=2024-10-21\", with & between more than one, or \"\" for none".to_owned()
    }

    fn read(raw: &Raw, _: &Home) -> Result<Vec<Pair>, Fault> {
        let text = raw.text()?.trim().trim_start_matches('?');
        text.split('&').filter(|part| !part.is_empty()).map(part).collect()
    }

    fn show(value: &Vec<Pair>) -> Shown {
        let parts: Vec<String> = value.iter().map(|pair| format!("{}={DOTS}", pair.name)).collect();
        Shown::Text(parts.join("&"))
    }
}

fn part(text: &str) -> Result<Pair, Fault> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok(Pair { name: name.trim().to_owned(), value: Secret::new(value.trim().to_owned()) })
        }
        _ => Err(Fault::new("a part of the query has no name with an `=` after it")),
    }
}
