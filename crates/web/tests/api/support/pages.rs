//! A pack with two pages.

use std::sync::Arc;

use munshi_pack::{BadPack, House, Html, Pack, Page, Room, Shown, Visit};
use munshi_store::{Result, Tx};
use serde_json::json;

/// Opens the list to whoever has it.
pub(crate) const PAGE_KEY: &str = "a-key-that-nobody-guesses";

struct Notes;

impl Pack for Notes {
    fn name(&self) -> &'static str {
        "notes"
    }

    fn install(&self, room: &mut Room<'_>) -> std::result::Result<(), BadPack> {
        room.page(List)?;
        room.page(Count)
    }
}

struct List;

impl Page for List {
    fn path(&self) -> &'static str {
        "list"
    }

    fn scope(&self) -> &'static str {
        "notes.note.read"
    }

    fn opens(&self, _: &mut Tx<'_>, visit: &Visit) -> Result<bool> {
        Ok(visit.rest == PAGE_KEY)
    }

    fn show(&self, _: &mut Tx<'_>, visit: &Visit) -> Result<Option<Shown>> {
        let asked: String = visit.query.iter().map(|(_, value)| value.as_str()).collect();
        let html = Html::new().markup("<p>").text(&visit.rest).text(" ").text(asked).markup("</p>");
        Ok((visit.rest != "gone").then(|| Shown::html("Notes", html)))
    }
}

struct Count;

impl Page for Count {
    fn path(&self) -> &'static str {
        "count"
    }

    fn scope(&self) -> &'static str {
        "notes.note.read"
    }

    fn show(&self, _: &mut Tx<'_>, _: &Visit) -> Result<Option<Shown>> {
        Ok(Some(Shown::json("Notes", json!({ "count": 2 }))))
    }
}

pub(super) fn house() -> House {
    House::install_all(&[Arc::new(Notes)]).unwrap()
}
