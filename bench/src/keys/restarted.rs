//! What a process that has just started does with the keys of many persons: how long their rows take without keys in memory and
//! with them, how often a key is missing, and what the keys weigh.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, ensure};
use munshi_conversations::messages;
use munshi_identity::persons;
use munshi_store::{Error, Keyring, Tx, params};
use munshi_types::{DataKeyId, Random, SeededRandom, TenantId};
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::population::{MESSAGES, phone_of};
use crate::planted_thread::session_of;
use crate::process::{OWN, resident_kilobytes};
use crate::report::{Table, render_count};
use crate::sealed_database::{CACHED, SealedAddress, SealedNode};

/// How this program calls itself for it.
pub(crate) const CHILD: &str = "read-persons";

/// Persons who are read once without their keys, and once with them.
const ASKED: usize = 5_000;
/// Persons who are read one after the other, as they happen to write.
const MIXED: usize = 40_000;
/// Keys that are fetched with one request.
const FETCHED: usize = 500;
/// A prime: steps of it come to every person once, unless their number is a multiple.
const STEP: usize = 7_919;

/// Whose turn it is, out of so many persons.
type Pick = fn(&SeededRandom, usize) -> usize;

const MIXES: [(&str, Pick); 2] =
    [("a fifth of them write four of five messages", pick_frequent), ("everybody writes alike", pick_any)];

/// A process's database with its tenant.
struct PlantedShop {
    address: SealedAddress,
    tenant: TenantId,
    persons: usize,
}

/// How long reads took, and how often a key was missing meanwhile.
struct ReadFigures {
    /// Microseconds.
    took: Vec<f64>,
    misses: u64,
}

/// What the child does: where everything is, the tenant, and how many persons it has.
pub(crate) fn measure([database, keys, master, tenant, persons]: [&str; 5]) -> Result<()> {
    let address =
        SealedAddress { database: database.to_owned(), keys: keys.to_owned(), master: PathBuf::from(master) };
    let shop = PlantedShop { address, tenant: tenant.parse()?, persons: persons.parse()? };
    let runtime = Runtime::new()?;
    runtime.block_on(async {
        // First, while memory holds nothing that was let go of.
        shop.weigh_keys().await?;
        shop.list_contacts().await?;
        shop.read_some().await?;
        shop.read_mixed().await
    })
}

impl PlantedShop {
    async fn weigh_keys(&self) -> Result<()> {
        let node = self.address.open(self.persons * 2).await?;
        let owners = node.db.read(self.tenant, list_key_owners).await?;
        let (tenant, keyring) = (self.tenant, node.keyring.clone());
        let before = resident_kilobytes(OWN)?;
        let began = Instant::now();
        // The keyring waits for its thread, which a task may not.
        let fetch = move || {
            for part in owners.chunks(FETCHED) {
                let keys: Vec<DataKeyId> = part.iter().map(|(_, key)| *key).collect();
                keyring.prefetch_keys(tenant, &keys)?;
                part.iter().for_each(|(owner, key)| keyring.remember_key(tenant, *owner, *key));
            }
            Ok::<_, Error>(owners)
        };
        let owners = tokio::task::spawn_blocking(fetch).await??;
        let took = began.elapsed().as_secs_f64() * 1e3;
        let (after, count) = (resident_kilobytes(OWN)?, owners.len());
        let mut table = Table::new([
            "keys",
            "fetched, ms",
            "requests",
            "keys, MB",
            "bytes each",
            "process, MB",
            "before, MB",
        ]);
        table.add_row([
            render_count(count as f64),
            format!("{took:.0}"),
            node.keyring.misses().to_string(),
            format!("{:.1}", (after - before) / 1024.0),
            format!("{:.0}", (after - before) * 1024.0 / count.max(1) as f64),
            format!("{:.1}", after / 1024.0),
            format!("{:.1}", before / 1024.0),
        ]);
        table.print(&format!("All keys in memory, with whose they are ({})", node.db.engine()));
        Ok(())
    }

    async fn list_contacts(&self) -> Result<()> {
        let node = self.address.open(CACHED).await?;
        let mut table = Table::new(["contacts", "when", "ms", "requests for keys"]);
        for when in ["after a restart", "again"] {
            let (began, misses) = (Instant::now(), node.keyring.misses());
            let listed = node.db.read(self.tenant, persons::list_contacts).await?;
            table.add_row([
                render_count(listed.len() as f64),
                when.to_owned(),
                format!("{:.1}", began.elapsed().as_secs_f64() * 1e3),
                (node.keyring.misses() - misses).to_string(),
            ]);
        }
        table.print("The list of contacts, opened");
        Ok(())
    }

    async fn read_some(&self) -> Result<()> {
        let node = self.address.open(CACHED).await?;
        let mut table = read_table();
        let asked = ASKED.min(self.persons);
        for what in ["without their keys in memory", "the same again"] {
            let numbers = (0..asked).map(|number| number * STEP % self.persons);
            self.read_each(&node, numbers).await?.add_to(&mut table, what);
        }
        table.print("A person's row and conversation read, as a turn begins, one after the other");
        Ok(())
    }

    async fn read_mixed(&self) -> Result<()> {
        let mut table = read_table();
        for (what, pick) in MIXES {
            let (node, random) = (self.address.open(CACHED).await?, SeededRandom::new(7));
            // The first half fills the memory.
            for half in ["at first", "then"] {
                let numbers = (0..MIXED / 2).map(|_| pick(&random, self.persons));
                self.read_each(&node, numbers).await?.add_to(&mut table, &format!("{what}, {half}"));
            }
        }
        let (cached, persons) = (render_count(CACHED as f64), render_count(self.persons as f64));
        table.print(&format!("The same with {cached} keys kept in memory, of {persons}"));
        Ok(())
    }

    async fn read_each(
        &self,
        node: &SealedNode,
        numbers: impl Iterator<Item = usize>,
    ) -> Result<ReadFigures> {
        let misses = node.keyring.misses();
        let mut took = Vec::new();
        for number in numbers {
            let began = Instant::now();
            let read = node.db.read(self.tenant, move |tx| read_conversation(tx, number)).await?;
            took.push(began.elapsed().as_secs_f64() * 1e6);
            ensure!(read == MESSAGES, "{read} messages of person {number}");
        }
        took.sort_by(f64::total_cmp);
        Ok(ReadFigures { took, misses: node.keyring.misses() - misses })
    }
}

impl ReadFigures {
    fn add_to(&self, table: &mut Table<7>, what: &str) {
        let count = self.took.len();
        let at = |part: usize| {
            self.took.get((count * part).div_ceil(100).saturating_sub(1)).copied().unwrap_or(f64::NAN)
        };
        table.add_row([
            what.to_owned(),
            render_count(count as f64),
            render_count(at(50)),
            render_count(at(95)),
            render_count(at(99)),
            render_count(self.misses as f64),
            format!("{:.1}%", self.misses as f64 * 100.0 / count.max(1) as f64),
        ]);
    }
}

fn read_table() -> Table<7> {
    Table::new(["who", "reads", "p50 µs", "p95 µs", "p99 µs", "misses", "of reads"])
}

/// What a turn reads of whoever writes: who has the phone, which key is theirs, and what was said last. Says how many messages that is.
fn read_conversation(tx: &mut Tx<'_>, number: usize) -> munshi_store::Result<usize> {
    let phone = phone_of(number)?;
    let nobody = || Error::Decode(format!("nobody has {}", phone.as_str()));
    let person = persons::find_by_address(tx, &phone)?.ok_or_else(nobody)?;
    persons::find_seal(tx, person.id)?.ok_or_else(nobody)?;
    Ok(messages::list_newest(tx, session_of(person.id), i64::MAX, messages::READ)?.len())
}

fn list_key_owners(tx: &mut Tx<'_>) -> munshi_store::Result<Vec<(Uuid, DataKeyId)>> {
    tx.all("SELECT person_id, key_id FROM person_keys WHERE tenant_id = $1", params![], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

fn pick_frequent(random: &SeededRandom, persons: usize) -> usize {
    let is_frequent = random.next_below(5) < 4;
    pick_any(random, if is_frequent { persons.div_ceil(5) } else { persons })
}

fn pick_any(random: &SeededRandom, persons: usize) -> usize {
    usize::try_from(random.next_below(persons as u64)).unwrap_or_default()
}
