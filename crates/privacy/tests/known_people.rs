//! Whom a tenant's calls are about, on both engines.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use munshi_identity::{ContactAddress, Person, Role, persons};
use munshi_llm::gateway::Redactor;
use munshi_llm::{ChatMessage, ChatRequest};
use munshi_privacy::{
    KnownPeopleCache, PiiKind, ProtectedEntity, ProtectedPeople, PseudonymRedactor, PseudonymTable,
};
use munshi_store::Result;
use munshi_test_support::on_both_engines;
use munshi_types::{Clock, IdGenerator, Script};

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
}
