//! The pack itself: what it puts into the house.

use std::sync::Arc;

use munshi_lang::phrase_files;
use munshi_pack::{BadPack, Pack, ReadyTenant, Room, ready_files};
use munshi_store::Migration;
use munshi_types::{Autonomy, Clock, Conduct, Ids};

use crate::MIGRATIONS;
use crate::check::Careful;
use crate::context::Standing;
use crate::forwarded::Forwarded;
use crate::tools::{self, Desk};

/// Keeps the books of a shop.
pub struct Ledger {
    desk: Desk,
}

impl Ledger {
    pub fn new(clock: Arc<dyn Clock>, ids: Ids) -> Self {
        Self { desk: Desk { clock, ids } }
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
        room.phrases(&phrase_files!("../phrases"))?;
        tools::install(room, &self.desk)?;
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
