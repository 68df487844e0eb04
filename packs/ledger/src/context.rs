//! What a prompt should know of the books: how the day stands, and whose names no model elsewhere may see.

use munshi_lang::format;
use munshi_pack::{ContextSource, Gathered, Scene};
use munshi_safety::privacy::{Entity, Kind};
use munshi_store::{PageRequest, Tx};
use munshi_tiers::prompt::Data;

use crate::books::{Day, Days, balances, contacts, days};
use crate::error::{Error, Result};

/// So many pages of contacts are hidden by name. Past them the veil's own search for names remains.
const PAGES: usize = 10;

pub(crate) struct Standing;

impl ContextSource for Standing {
    fn gather(&self, tx: &mut Tx<'_>, scene: &Scene) -> munshi_store::Result<Gathered> {
        // Customers have no business with the shop's figures, and no need of its contacts.
        if scene.principal.role().is_none() {
            return Ok(Gathered::default());
        }
        gathered(tx, scene).map_err(|error| match error {
            Error::Store(error) => error,
            other => munshi_store::Error::Decode(other.to_string()),
        })
    }
}

fn gathered(tx: &mut Tx<'_>, scene: &Scene) -> Result<Gathered> {
    let today = days::totals(tx, Days::day(Day::of(scene.now, &scene.zone)))?;
    let standing = balances::standing(tx)?;
    let line = format!(
        "Books today: sales {}, payments received {}, expenses {}. Customers owe {} in all; the shop owes {}.",
        format::rupees(today.sales),
        format::rupees(today.payments_received),
        format::rupees(today.expenses),
        format::rupees(standing.receivable),
        format::rupees(standing.payable),
    );
    Ok(Gathered { profile: vec![Data::new(&line)], people: people(tx)?, ..Gathered::default() })
}

fn people(tx: &mut Tx<'_>) -> Result<Vec<Entity>> {
    let (mut people, mut after) = (Vec::new(), None);
    for _ in 0..PAGES {
        let page = contacts::list(tx, &PageRequest::new(after, PageRequest::LARGEST))?;
        people.extend(page.items.into_iter().map(|contact| Entity {
            names: vec![contact.name],
            values: contact.phone.map(|phone| (Kind::Phone, phone)).into_iter().collect(),
        }));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok(people)
}
