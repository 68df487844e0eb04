//! Whom a tenant's calls are about, on both engines.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use munshi_identity::{ContactAddress, Person, Role, persons};
use munshi_llm::gateway::Redactor;
use munshi_llm::{ChatMessage, ChatRequest};
use munshi_privacy::{
    KnownPeopleCache, PiiKind, ProtectedEntity, ProtectedPeople, PseudonymRedactor, PseudonymTable,
};
use munshi_store::{Db, KeyErasure, Keyring, Result, StoreOptions};
use munshi_test_support::{RecordingKeyring, TestDb, on_both_engines};
use munshi_types::{Clock, IdGenerator, PersonId, Script, TenantId};
use serde_json::json;

/// A shop on a database whose keyring counts what it opens.
struct CountedShop {
    db: Db,
    keyring: Arc<RecordingKeyring>,
    tenant: TenantId,
    lists: Arc<KnownPeopleCache>,
}

impl CountedShop {
    async fn open(test: &TestDb) -> Self {
        let tenant = test.add_tenant("shop").await;
        let keyring = RecordingKeyring::new(test.options.keyring.clone().unwrap());
        let options = StoreOptions { keyring: Some(keyring.clone()), ..test.options.clone() };
        let db = Db::open(&test.address, &options, &test.migrations).await.unwrap();
        Self { db, keyring, tenant, lists: Arc::default() }
    }

    /// Somebody with a name and a phone.
    async fn meet(&self, person: Person, phone: &str) -> PersonId {
        let (id, phone) = (person.id, ContactAddress::phone(phone).unwrap());
        let meet = move |tx: &mut munshi_store::Tx<'_>| -> Result<()> {
            persons::upsert(tx, &person)?;
            persons::add_address(tx, id, &phone)
        };
        self.db.write(self.tenant, meet).await.unwrap();
        id
    }

    /// How many values a turn opens for the people whom the shop has met, and what a model sees of a text.
    async fn load(&self, text: &str) -> (usize, String) {
        self.keyring.take_opened();
        let lists = self.lists.clone();
        let met = self.db.read(self.tenant, move |tx| lists.load_met(tx, None)).await.unwrap();
        let opened = self.keyring.take_opened();
        let table = PseudonymTable::new(self.tenant, IdGenerator::system().next());
        let known = self.lists.get_or_build(self.tenant, &met);
        let request = ChatRequest { messages: vec![ChatMessage::user(text)], ..ChatRequest::default() };
        let redactor = PseudonymRedactor::new(known, table, Script::Latin).unwrap();
        (opened, redactor.redact(&request).messages[0].text())
    }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS];

    async fn everybody_who_is_known_is_hidden_from_the_next_turn_on(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let (ids, now) = (IdGenerator::system(), test.clock.now());
        let owner = Person { role: Some(Role::Owner), ..Person::new(&ids, "Farid Qureshi", now) };
        let writer = Person::new(&ids, "मीरा", now);
        let (first, second) = (owner.id, writer.id);
        test.db.write(shop, move |tx| -> Result<()> {
            persons::upsert(tx, &owner)?;
            persons::upsert(tx, &writer)?;
            persons::add_address(tx, first, &ContactAddress::phone("9812345678").unwrap())?;
            persons::add_address(tx, first, &ContactAddress::handle("qureshi.traders").unwrap())?;
            persons::add_address(tx, second, &ContactAddress::channel("telegram", "88123456").unwrap())
        }).await.unwrap();
        let lists = Arc::new(KnownPeopleCache::default());
        let hidden = |mut found: ProtectedPeople| {
            let contact = ProtectedEntity { names: vec!["Lakshmi".into()], values: vec![(PiiKind::Account, "50100123456789".into())] };
            found.others.push(contact);
            let known = lists.get_or_build(shop, &found);
            let text = "Meera (88123456) asks Farid, +91 98123 45678, qureshi.traders: Lakshmi 5010 0123 456789, Zubeida 12";
            let request = ChatRequest { messages: vec![ChatMessage::user(text)], ..ChatRequest::default() };
            let veil = PseudonymRedactor::new(known.clone(), PseudonymTable::new(shop, second), Script::Latin).unwrap();
            (known, veil.redact(&request).messages[0].text())
        };
        let read = || {
            let lists = lists.clone();
            test.db.read(shop, move |tx| lists.load_met(tx, Some(second)))
        };
        let (known, seen) = hidden(read().await.unwrap());
        for shown in ["Meera", "88123456", "Farid", "98123", "ureshi", "Lakshmi", "5010"] {
            assert!(!seen.contains(shown), "{shown} in {seen}");
        }
        assert!(seen.contains("Zubeida 12"), "{seen}");
        assert!(Arc::ptr_eq(&known, &hidden(read().await.unwrap()).0), "made ready once");

        let new = Person { role: Some(Role::Staff), ..Person::new(&ids, "Zubeida", now) };
        test.db.write(shop, move |tx| persons::upsert(tx, &new)).await.unwrap();
        let (_, seen) = hidden(read().await.unwrap());
        assert!(!seen.contains("Zubeida"), "who came a moment ago is hidden too: {seen}");
    }

    async fn somebody_new_costs_the_opening_of_their_own_names(test: TestDb) {
        const MET: usize = 120;
        let shop = CountedShop::open(&test).await;
        let (ids, now) = (IdGenerator::system(), test.clock.now());
        let mut met = Vec::new();
        for number in 0..MET {
            // Names of their own, of letters that no text here has.
            let name = format!("Vikram{}", char::from(b'a' + u8::try_from(number % 26).unwrap()));
            met.push(shop.meet(Person::new(&ids, name, now), &format!("98{number:08}")).await);
        }
        let said = "Farid, Zubeida";
        assert_eq!(shop.load(said).await, (2 * MET, said.to_owned()), "all of them, once");
        assert_eq!(shop.load(said).await.0, 0);

        let zubeida = Person::new(&ids, "Zubeida", now);
        shop.meet(zubeida.clone(), "9712345678").await;
        let (opened, seen) = shop.load(said).await;
        assert_eq!(opened, 2, "the name and the phone of who is new");
        assert!(!seen.contains("Zubeida") && seen.contains("Farid"), "{seen}");
        let farid = Person { name: "Farid".to_owned(), ..zubeida };
        shop.db.write(shop.tenant, move |tx| persons::upsert(tx, &farid)).await.unwrap();
        let (opened, seen) = shop.load(said).await;
        assert_eq!(opened, 2, "of whose row has changed");
        assert!(seen.contains("Zubeida") && !seen.contains("Farid"), "{seen}");
        let gone = met[0];
        shop.db.write(shop.tenant, move |tx| persons::detach(tx, gone, now)).await.unwrap();
        assert_eq!(shop.load(said).await.0, 1, "their name is there still, their phone is not");
    }

    async fn whose_key_is_destroyed_is_not_found_any_longer(test: TestDb) {
        let shop = CountedShop::open(&test).await;
        let (ids, now) = (IdGenerator::system(), test.clock.now());
        let gone = shop.meet(Person::new(&ids, "Zubeida", now), "9812345678").await;
        shop.meet(Person::new(&ids, "Farid", now), "9712345678").await;
        let said = "Farid, Zubeida";
        let (opened, seen) = shop.load(said).await;
        assert!(!seen.contains("Zubeida") && !seen.contains("Farid"), "{seen}");
        assert_eq!((opened, shop.load(said).await.0), (4, 0));
        // No row has changed yet.
        let keys = shop.db.read(shop.tenant, move |tx| persons::list_keys(tx, gone)).await.unwrap();
        assert_eq!(keys.len(), 1);
        let entry = KeyErasure { tenant: shop.tenant, id: ids.next(), keys, body: json!({}) };
        shop.keyring.destroy_keys(&entry).unwrap();
        let (_, seen) = shop.load(said).await;
        assert!(seen.contains("Zubeida") && !seen.contains("Farid"), "{seen}");
        assert_eq!(shop.load(said).await.0, 0);
    }
}
