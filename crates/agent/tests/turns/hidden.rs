//! What is kept from the store, and what from models elsewhere.

use munshi_agent::Halt;
use munshi_test_support::models::Turn;
use munshi_types::{Attached, Sender};

use crate::support::Shop;

on_both! {
    async fn a_number_in_the_name_of_a_file_is_not_kept(test: TestDb) {
        let shop = Shop::open(&test, []).await;
        let mut inbound = shop.message(shop.staff, "1", "here is my card");
        let name = Some("aadhaar_2345_6789_0124.jpg".to_owned());
        inbound.attached = vec![Attached { media_type: "image/jpeg".to_owned(), name, reference: "f/1".to_owned() }];
        let received = shop.engine.receive(inbound).await.unwrap();
        let outcome = shop.outcome(&received).await;
        assert!(matches!(outcome.halt, Some(Halt::RefusedAtDoor(_))), "{outcome:?}");
        let kept = "SELECT COUNT(*) FROM messages WHERE tenant_id = $1 AND CAST(attached AS TEXT) LIKE '%6789%'";
        assert_eq!(shop.number(kept).await, 0);
    }

    async fn a_number_in_somebodys_name_is_not_kept(test: TestDb) {
        let shop = Shop::open(&test, [Turn::text("Welcome.")]).await;
        let mut inbound = shop.message(shop.staff, "1", "hello there");
        let name = Some("Ravi UID 2345/6789/0124".to_owned());
        inbound.from = Sender { phone: Some("+919812345678".to_owned()), name, ..Sender::default() };
        let received = shop.engine.receive(inbound).await.unwrap();
        assert_eq!(shop.outcome(&received).await.text, "Welcome.", "the message itself is taken");
        let kept = "SELECT COUNT(*) FROM persons WHERE tenant_id = $1 AND name LIKE '%6789%'";
        assert_eq!(shop.number(kept).await, 0);
    }
}
