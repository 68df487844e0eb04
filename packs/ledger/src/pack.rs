//! The pack itself: what it puts into the house.

use std::sync::Arc;

use munshi_lang::{Phrasebook, phrase_files};
use munshi_pack::outgoing::OutboxReader;
use munshi_pack::{InvalidPack, Pack, PackInstaller, TenantTemplate, ready_files};
use munshi_store::Migration;
use munshi_types::{Autonomy, Clock, Conduct, IdGenerator, Random, SystemRandom};

use crate::MIGRATIONS;
use crate::check::BookingCheck;
use crate::commands;
use crate::context::BooksContext;
use crate::forwarded_sms::ForwardedSmsReader;
use crate::operations;
use crate::pages::{BillPage, DayBookPage};
use crate::subjects::ContactRecords;
use crate::tools::{self, LedgerServices};

/// Keeps the books of a shop.
pub struct LedgerPack {
    clock: Arc<dyn Clock>,
    ids: IdGenerator,
    /// For the keys of links.
    random: Arc<dyn Random>,
    outbox: Option<Arc<dyn OutboxReader>>,
}

impl LedgerPack {
    pub fn new(clock: Arc<dyn Clock>, ids: IdGenerator) -> Self {
        Self { clock, ids, random: Arc::new(SystemRandom), outbox: None }
    }

    #[must_use]
    pub fn with_random(self, random: Arc<dyn Random>) -> Self {
        Self { random, ..self }
    }

    /// Where it looks whether a reminder can be sent, and whether one failed.
    #[must_use]
    pub fn with_outbox(self, outbox: Arc<dyn OutboxReader>) -> Self {
        Self { outbox: Some(outbox), ..self }
    }

    /// What its tools have at hand. Words for others than the one who asks are made by the pack itself.
    fn build_services(&self, book: Phrasebook) -> LedgerServices {
        LedgerServices {
            clock: self.clock.clone(),
            ids: self.ids.clone(),
            random: self.random.clone(),
            book: Arc::new(book),
            outbox: self.outbox.clone(),
        }
    }
}

impl Pack for LedgerPack {
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

    fn install(&self, room: &mut PackInstaller<'_>) -> Result<(), InvalidPack> {
        let book = room.add_phrases(&phrase_files!("../phrases"))?;
        let services = self.build_services(book);
        tools::install(room, &services)?;
        commands::install(room)?;
        operations::install(room)?;
        room.add_page(BillPage)?;
        room.add_page(DayBookPage)?;
        room.add_check(BookingCheck { book: services.book });
        room.add_context_source(BooksContext);
        room.add_subject_records(ContactRecords)?;
        room.add_reader(ForwardedSmsReader);
        room.add_tenant_template(TenantTemplate {
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
