//! A pack with two pages.

use std::sync::Arc;

use askama::Template;
use munshi_pack::{
    InvalidPack, Pack, PackInstaller, PackPageContent, PackPageHandler, PackPageRequest, PackRegistry,
};
use munshi_store::{Result, Tx};
use serde_json::json;

/// Opens the list to whoever has it.
pub(crate) const PAGE_KEY: &str = "a-key-that-nobody-guesses";

struct Notes;

impl Pack for Notes {
    fn name(&self) -> &'static str {
        "notes"
    }

    fn install(&self, room: &mut PackInstaller<'_>) -> std::result::Result<(), InvalidPack> {
        room.add_page(List)?;
        room.add_page(Count)
    }
}

struct List;

#[derive(Template)]
#[template(ext = "html", source = "<p>{{ rest }} {{ asked }}</p>")]
struct NoteList<'a> {
    rest: &'a str,
    asked: String,
}

impl PackPageHandler for List {
    fn path(&self) -> &'static str {
        "list"
    }

    fn scope(&self) -> &'static str {
        "notes.note.read"
    }

    fn allows_link_access(&self, _: &mut Tx<'_>, visit: &PackPageRequest) -> Result<bool> {
        Ok(visit.rest == PAGE_KEY)
    }

    fn show(&self, _: &mut Tx<'_>, visit: &PackPageRequest) -> Result<Option<PackPageContent>> {
        let asked: String = visit.query.iter().map(|(_, value)| value.as_str()).collect();
        let page = || PackPageContent::html("Notes", &NoteList { rest: &visit.rest, asked });
        (visit.rest != "gone").then(page).transpose()
    }
}

struct Count;

impl PackPageHandler for Count {
    fn path(&self) -> &'static str {
        "count"
    }

    fn scope(&self) -> &'static str {
        "notes.note.read"
    }

    fn show(&self, _: &mut Tx<'_>, _: &PackPageRequest) -> Result<Option<PackPageContent>> {
        Ok(Some(PackPageContent::json("Notes", json!({ "count": 2 }))))
    }
}

pub(super) fn house() -> PackRegistry {
    PackRegistry::install_all(&[Arc::new(Notes)]).unwrap()
}
