//! A shop with a customer who writes to it and stands in its books, and somebody else who does the same.

use std::sync::Arc;

use munshi_conversations::RunState;
use munshi_erasure::{ErasureRequest, ErasureService, begin};
use munshi_identity::{ContactAddress, Role, persons};
use munshi_ledger::LedgerPack;
use munshi_ledger::books::{
    BookingContext, Contact, CreditAsset, EntryKey, EntryProvenance, LedgerEntryId, LedgerEntrySource,
    NewContact, NewLedgerEntry, ShopTransaction, book, contacts,
};
use munshi_pack::PackRegistry;
use munshi_store::{Migration, SealedColumn, Tx, params};
use munshi_test_app::notes::{self, NoteTool, build_house_connector, build_spec};
use munshi_test_app::{TenantFiles, TestApp, build_message, list_migrations, parse_target};
use munshi_test_support::models::{ScriptedModel, ScriptedTurn};
use munshi_test_support::{DatabaseEngine, TestDb, administer};
use munshi_tools::{ToolHandler, ToolRegistry};
use munshi_types::{ApprovalId, ConsentId, Effect, ErasureId, Id, Money, PersonId, TenantId, Zone};
use serde_json::json;

/// What she says, is called and is reached by.
pub(crate) const PLANTED: [&str; 4] = ["Rameshwari", "9876501234", "zanzibar", "marigold"];
pub(crate) const PHONE: &str = "+919876501234";

const AGENT: &str = "name = \"Plain\"\ntools = [\"note\", \"drop\"]\n\
    [policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";

pub(crate) fn migrations() -> Vec<&'static [Migration]> {
    list_migrations(&[munshi_ledger::MIGRATIONS, notes::MIGRATIONS])
}

pub(crate) struct Shop {
    pub(crate) app: TestApp,
    pub(crate) tenant: TenantId,
    /// Who is to be forgotten, with somebody who turned out to be her.
    pub(crate) person: PersonId,
    pub(crate) merged: PersonId,
    pub(crate) other: PersonId,
    pub(crate) contact: Contact,
}

impl Shop {
    pub(crate) async fn open(test: &TestDb) -> Self {
        let script = [
            ScriptedTurn::call("note", &json!({ "text": "marigold" })),
            ScriptedTurn::text("Rameshwari, the marigold is noted."),
            ScriptedTurn::text("Noted for Sunita."),
            ScriptedTurn::call("drop", &json!({ "text": "zanzibar of Rameshwari" })),
            ScriptedTurn::text("It is gone."),
        ];
        let ledger = LedgerPack::new(test.clock.clone(), test.ids.clone());
        let packs = PackRegistry::install_all(&[Arc::new(ledger)]).unwrap();
        let builder = TestApp::builder(test).with_model(Arc::new(ScriptedModel::new(script)));
        let app = builder.with_packs(packs).with_tools(registry()).build();
        // What models are told is stored too.
        let policy = format!("{}[retention]\nprompts_days = 7\n", notes::OPEN_POLICY);
        let files = TenantFiles::shop("shop").with_agent(AGENT).with_policy(&policy);
        let tenant = app.apply_tenant(&files).await;
        let person = app.add_person(tenant, "Rameshwari", Some(Role::Staff)).await;
        let other = app.add_person(tenant, "Sunita", Some(Role::Staff)).await;
        let merged = app.add_person(tenant, "Rameshwari on the web", None).await;
        let (phone, mail) =
            (ContactAddress::phone(PHONE).unwrap(), ContactAddress::email("zanzibar@shop.example").unwrap());
        let tie = move |tx: &mut Tx<'_>| {
            persons::add_address(tx, person, &phone)?;
            persons::add_address(tx, merged, &mail)?;
            persons::merge(tx, merged, person).map(drop)
        };
        app.db.write(tenant, tie).await.unwrap();
        let contact = add_books(&app, tenant).await;
        let shop = Self { app, tenant, person, merged, other, contact };
        assert_eq!(shop.say(person, "1", "note marigold for zanzibar").await, RunState::Done);
        assert_eq!(shop.say(other, "2", "a note for Sunita").await, RunState::Done);
        assert_eq!(shop.say(person, "3", "take zanzibar out").await, RunState::WaitingApproval);
        shop.add_consent().await;
        shop
    }

    pub(crate) async fn say(&self, who: PersonId, id: &str, text: &str) -> RunState {
        let message = build_message(parse_target("handle:shop"), who, id, text);
        let received = self.app.engine.receive(message).await.unwrap();
        self.app.wait_for_outcome(&received).await.state
    }

    /// What she agreed to, as her yes leaves it.
    async fn add_consent(&self) {
        const WORDS: SealedColumn = SealedColumn::new("consents", "words");
        let (id, approval): (ConsentId, ApprovalId) = (self.app.ids.next(), self.app.ids.next());
        let (person, now) = (self.person, self.app.clock.now());
        let add = move |tx: &mut Tx<'_>| {
            let by = persons::seal_by_person(tx, person)?;
            let words = tx.seal(by, WORDS.cell(id), "May we tell zanzibar?")?;
            tx.execute(
                "INSERT INTO consents (tenant_id, id, person_id, purpose, words, approval_id, given_via, given_at, ends_at)
                 VALUES ($1, $2, $3, 'marketing', $4, $5, 'chat', $6, $6)",
                params![id, person, words, approval, now],
            )
        };
        self.app.db.write(self.tenant, add).await.unwrap();
    }

    pub(crate) fn service(&self) -> ErasureService {
        let TestApp { db, packs, queue, clock, ids, .. } = self.app.clone();
        ErasureService { db, packs, addressed: Vec::new(), queue, clock, ids }
    }

    /// Asks for her to be forgotten, with her account in the books.
    pub(crate) async fn begin(&self) -> ErasureId {
        self.begin_for(Some(self.person)).await
    }

    /// The same of a person, or of the account alone.
    pub(crate) async fn begin_for(&self, person: Option<PersonId>) -> ErasureId {
        let (service, now, id) = (self.service(), self.app.clock.now(), self.app.ids.next());
        let request = ErasureRequest {
            id,
            person,
            records: [("ledger".to_owned(), vec![self.contact.id.as_uuid()])].into(),
            asked_by: "a test".to_owned(),
        };
        let ask = move |tx: &mut Tx<'_>| administer(tx, |tx| begin(tx, &service, request, now));
        self.app.db.write(self.tenant, ask).await.unwrap().id
    }
}

fn registry() -> ToolRegistry {
    let mut registry = ToolRegistry::default();
    let note = || ToolHandler::Write(Arc::new(NoteTool));
    registry.add(build_spec("note", Effect::Inside), build_house_connector(), note()).unwrap();
    let drop = munshi_types::ToolSpec { destructive: true, ..build_spec("drop", Effect::Inside) };
    registry.add(drop, build_house_connector(), note()).unwrap();
    registry
}

/// Her account, with an entry in her words.
async fn add_books(app: &TestApp, tenant: TenantId) -> Contact {
    let (ids, now) = (app.ids.clone(), app.clock.now());
    let write = move |tx: &mut Tx<'_>| {
        let new = NewContact {
            name: "Rameshwari Devi".to_owned(),
            phone: Some(PHONE.to_owned()),
            ..NewContact::default()
        };
        let contact = contacts::add(tx, &ids, now, &new)?;
        let act = ShopTransaction::CreditGiven {
            party: contact.id,
            amount: Money::from_paise(50_000),
            lent: CreditAsset::Goods,
            lines: Vec::new(),
        };
        let said = EntryProvenance::new(LedgerEntrySource::Owner, "Rameshwari ko zanzibar udhaar", now);
        let key = EntryKey::new(ids.next::<LedgerEntryId>().as_uuid());
        book(
            tx,
            &BookingContext { ids: &ids, now, zone: &Zone::default() },
            &NewLedgerEntry { key, act, said },
        )?;
        contacts::get(tx, contact.id)
    };
    app.db.write(tenant, write).await.unwrap()
}

/// Table, column and value of whatever is text in any table of the product, JSON included.
pub(crate) fn list_texts(
    engine: DatabaseEngine,
    tx: &mut Tx<'_>,
) -> munshi_store::Result<Vec<(String, String)>> {
    let columns = match engine {
        DatabaseEngine::Sqlite => {
            "SELECT t.name, c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c
             WHERE t.type = 'table' AND c.type = 'TEXT' AND $1 IS NOT NULL
               AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) k WHERE k.name = 'tenant_id')"
        }
        DatabaseEngine::Postgres => {
            "SELECT c.table_name::text, c.column_name::text FROM information_schema.columns c
             WHERE c.data_type IN ('text', 'jsonb') AND $1::uuid IS NOT NULL
               AND EXISTS (SELECT 1 FROM information_schema.columns k
                           WHERE k.table_name = c.table_name AND k.column_name = 'tenant_id')"
        }
    };
    let columns: Vec<(String, String)> = tx.all(columns, params![], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut texts = Vec::new();
    // The notes of a test's tool are no table of the product.
    for (table, column) in columns.iter().filter(|(table, _)| table != "notes") {
        // Names come from the catalogue of the database itself.
        let values = ["SELECT CAST(", column, " AS TEXT) FROM ", table, " WHERE tenant_id = $1"].concat();
        let place = format!("{table}.{column}");
        let values: Vec<Option<String>> = tx.all(&*values.leak(), params![], |row| row.get(0))?;
        texts.extend(values.into_iter().flatten().map(|value| (place.clone(), value)));
    }
    Ok(texts)
}

/// Where something planted stands in plain words.
pub(crate) async fn find_planted(test: &TestDb, tenant: TenantId) -> Vec<String> {
    let engine = test.engine();
    let texts = test.db.read(tenant, move |tx| list_texts(engine, tx)).await.unwrap();
    let shown = |(_, text): &(String, String)| PLANTED.iter().any(|word| text.contains(word));
    texts.into_iter().filter(shown).map(|(place, text)| format!("{place}: {text}")).collect()
}
