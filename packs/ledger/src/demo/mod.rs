//! A shop that never was: ninety days of believable books, to try things on.
//!
//! Everything goes through the books' own functions, so that what is seen is what a shop would see. Chance is seeded: the
//! same seed and day give the same shop.
//!
//! # Layout
//! - `setup`: the shop, its people and its goods; `calendar`: how busy a day is
//! - `history`: what happens on a day; [`open`] and [`play`] write it

mod calendar;
mod history;
mod setup;

use munshi_store::Tx;
use munshi_types::{IdGenerator, Random, Timestamp, Zone};

use crate::books::{LedgerDay, balances};
use crate::error::Result;

pub use history::DemoHistory;

/// A history of this many days and the hours of today.
pub const DAYS: u16 = 90;

/// How a demo is written.
#[derive(Clone, Copy, Debug)]
pub struct DemoContext<'a> {
    pub ids: &'a IdGenerator,
    pub random: &'a dyn Random,
    pub now: Timestamp,
    pub zone: &'a Zone,
}

/// Opens the shop: profile, people, goods, and how things stood when its books began. None where the books are not
/// empty: nobody's own books are played with.
pub fn create(tx: &mut Tx<'_>, telling: &DemoContext<'_>, days: u16) -> Result<Option<DemoHistory>> {
    if balances::load_totals(tx)?.entries > 0 {
        return Ok(None);
    }
    let today = LedgerDay::of(telling.now, telling.zone);
    let first = (0..days).fold(today, |day, _| day.previous());
    setup::create_shop(tx, telling, first).map(Some)
}

/// Writes the next day of the history; false when today is written.
pub fn write_next_day(tx: &mut Tx<'_>, telling: &DemoContext<'_>, play: &mut DemoHistory) -> Result<bool> {
    play.write_day(tx, telling)
}
