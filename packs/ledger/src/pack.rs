//! The pack itself: what it puts into the house.

use std::sync::Arc;

use munshi_lang::{Phrasebook, phrase_files};
use munshi_pack::{BadPack, Pack, ReadyTenant, Room, ready_files};
use munshi_store::Migration;
use munshi_types::{Autonomy, Clock, Conduct, Ids, Random, SystemRandom};

use crate::MIGRATIONS;
use crate::check::Careful;
use crate::commands;
use crate::context::Standing;
use crate::forwarded::Forwarded;
use crate::pages::{Bills, DayBookPage};
use crate::tools::{self, Desk};

/// Keeps the books of a shop.
pub struct Ledger {
    clock: Arc<dyn Clock>,
    ids: Ids,
    /// For the keys of links.
    random: Arc<dyn Random>,
}

impl Ledger {
    pub fn new(clock: Arc<dyn Clock>, ids: Ids) -> Self {
        Self { clock, ids, random: Arc::new(SystemRandom) }
    }

    #[must_use]
    pub fn with_random(self, random: Arc<dyn Random>) -> Self {
        Self { random, ..self }
    }

    /// What its tools have at hand. Words for others than the one who asks are made by the pack itself.
    fn desk(&self, book: Phrasebook) -> Desk {
        Desk {
            clock: self.clock.clone(),
            ids: self.ids.clone(),
            random: self.random.clone(),
            book: Arc::new(book),
        }
    }
}

impl Pack for Ledger {
    fn name(&self) -> &'static str {
        "ledger"
    }

    fn migrations(&self) -> &'static [Migration] {
        MIGRATIONS
    }

    /// Writing down what happened is what it is for; whoever may not is kept out by their role.
    fn conduct(&self) -> Conduct {
        let own: Vec<_> = "ledger.*".parse().into_iter().collect();
        Conduct { autonomy: Autonomy::Act, read: own.clone(), write: own, ..Conduct::default() }
    }

    fn install(&self, room: &mut Room<'_>) -> Result<(), BadPack> {
        let phrases = phrase_files!("../phrases");
        room.phrases(&phrases)?;
        let mut book = Phrasebook::default();
        let bad = |why| BadPack::Phrases { pack: "ledger".to_owned(), why };
        book.add_files(&phrases).map_err(bad)?;
        tools::install(room, &self.desk(book))?;
        commands::install(room)?;
        room.page(Bills)?;
        room.page(DayBookPage)?;
        room.check(Careful);
        room.context(Standing);
        room.reader(Forwarded);
        room.tenant(ReadyTenant {
            name: "kirana",
            about: "A shop whose munshi keeps the books",
            files: ready_files!(
                "../tenants/kirana",
                "policy.toml",
                "humans/gopal.md",
                "teams/counter.md",
                "agents/books.toml",
                "bindings/counter.toml",
            ),
        })
    }
}
