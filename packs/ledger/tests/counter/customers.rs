//! Payment links and reminders.

use std::time::Duration;

use munshi_types::attachment::Attachment;

use crate::counter::support::Shop;
use crate::counter::told::{on_both, tell};

on_both! {
    async fn a_payment_link_is_of_what_is_owed_and_has_a_code(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("Ramesh ko 500 udhaar diya").await;
        let before = shop.say("payment link for Ramesh").await;
        assert!(before.contains("UPI id"), "it asks for the address first: {before}");
        let noted = shop.say("my UPI id is gupta@okbank").await;
        assert!(noted.contains("gupta@okbank"), "{noted}");
        shop.say("my shop's name is Gupta & Sons").await;
        let told = tell(&shop, "payment link for Ramesh").await;
        let wanted = "upi://pay?pa=gupta@okbank&pn=Gupta%20%26%20Sons&am=500.00&tn=Ramesh&cu=INR";
        let attached = told.attached();
        let [Attachment::Qr { text, .. }, Attachment::Link { url, .. }] = attached.as_slice() else {
            panic!("no code and link: {}", told.text)
        };
        assert_eq!((text.as_str(), url.as_str()), (wanted, wanted));
        assert!(told.text.contains("₹500"), "{}", told.text);
        let other = tell(&shop, "upi link for 120").await;
        assert!(other.link().contains("&am=120.00&cu=INR"), "{}", other.link());
    }

    async fn a_reminder_is_drafted_and_never_sent(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("Ramesh ko 500 udhaar diya").await;
        let told = tell(&shop, "Ramesh ko yaad dilao").await;
        assert!(told.text.contains("Namaste Ramesh ji") && told.text.contains("₹500"), "{}", told.text);
        assert!(told.text.contains("phone number bahi mein nahi"), "{}", told.text);
        assert!(told.attached().is_empty(), "without a number there is nothing to send to");
        let draft = tell(&shop, "Ramesh ko tamil mein yaad dilao").await;
        assert!(draft.text.contains("வணக்கம் Ramesh"), "in the language that was asked for: {}", draft.text);
        shop.say("Ramesh ka number 9812345678 likh lo").await;
        shop.say("haan").await;
        let told = tell(&shop, "Ramesh ko yaad dilao").await;
        assert!(told.text.contains("வணக்கம்"), "and from then on: {}", told.text);
        assert!(told.link().starts_with("https://wa.me/919812345678?text=%E0"), "{}", told.link());
        let waiting = shop.db.read(shop.tenant, |tx| tx.one(
            "SELECT count(*) FROM ledger_reminders WHERE tenant_id = $1 AND state = 'waiting'", &[], |row| row.get::<i64>(0),
        ));
        assert_eq!(waiting.await.unwrap(), 1, "the last draft alone waits");
        let sent = shop.say("Ramesh ko reminder bhej diya").await;
        assert!(sent.contains("yaad dilaya gaya"), "{sent}");
        test.clock.advance(Duration::from_secs(2 * 86_400));
        let soon = shop.say("Ramesh ko yaad dilao").await;
        assert!(soon.contains("teen din"), "{soon}");
        test.clock.advance(Duration::from_secs(86_400 + 60));
        assert!(shop.say("Ramesh ko yaad dilao").await.contains("வணக்கம்"));
        shop.say("Ramesh ne 500 diye").await;
        let even = shop.say("Ramesh ko yaad dilao").await;
        assert!(even.contains("kuch lena baaki nahi"), "{even}");
    }
}
