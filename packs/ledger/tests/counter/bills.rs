//! Bills: which kind, which number, which tax, and who may see them.

use std::time::Duration;

use munshi_identity::Principal;
use munshi_ledger::LedgerPack;
use munshi_pack::{Pack, PackPageBody, PackPageContent, PackPageRequest, PackRegistry};
use munshi_test_support::TestDb;
use munshi_types::{Clock, Money, Zone};
use std::sync::Arc;

use crate::counter::support::Shop;
use crate::counter::told::{on_both, tell};

/// What somebody sees who has this link and no role; none where it does not open.
async fn opened(test: &TestDb, shop: &Shop, link: &str) -> Option<String> {
    let clock: Arc<dyn Clock> = test.clock.clone();
    let pack: Arc<dyn Pack> = Arc::new(LedgerPack::new(clock, test.ids.clone()));
    let house = PackRegistry::install_all(&[pack]).unwrap();
    let path = link.split_once("/ledger/").unwrap().1.to_owned();
    let (page, rest) = house.find_page("ledger", &path).unwrap();
    let visit = PackPageRequest {
        principal: Principal::anonymous(shop.tenant),
        rest: rest.to_owned(),
        query: Vec::new(),
        language: None,
        now: test.clock.now(),
        zone: Zone::default(),
        form: None,
    };
    let page = page.clone();
    let shown: Option<PackPageContent> = shop
        .db
        .read(shop.tenant, move |tx| match page.allows_link_access(tx, &visit)? {
            true => page.show(tx, &visit),
            false => Ok(None),
        })
        .await
        .unwrap();
    shown.map(|shown| match shown.body {
        PackPageBody::Html(html) => html.as_str().to_owned(),
        PackPageBody::Json(value) => value.to_string(),
    })
}

on_both! {
    async fn without_gst_it_is_a_bill_of_supply(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("dukaan ka naam Gupta <Kirana> hai").await;
        let none = shop.say("bill banao").await;
        assert!(none.contains("koi bikri nahi"), "{none}");
        shop.say("Ramesh ko 500 udhaar diya").await;
        shop.say("aaj 1250 ki bikri hui").await;
        let told = tell(&shop, "Ramesh ka bill banao").await;
        assert!(told.text.contains("BOS/26-27/1") && told.text.contains("₹500"), "{}", told.text);
        let link = told.link();
        let page = opened(&test, &shop, &link).await.unwrap();
        assert!(page.contains("Bill of supply") && page.contains("Ramesh") && page.contains("To pay"), "{page}");
        assert!(page.contains("Gupta &lt;Kirana&gt;") && !page.contains("CGST"), "{page}");
        let same = tell(&shop, "Ramesh ka bill banao").await;
        assert!(same.text.contains("BOS/26-27/1") && same.link() != link, "one bill, another link");
        let next = tell(&shop, "bill banao").await;
        assert!(next.text.contains("BOS/26-27/2") && next.text.contains("₹1,250"), "{}", next.text);
        shop.say("pichhli entry hatao").await;
        assert!(opened(&test, &shop, &next.link()).await.unwrap().contains("Cancelled"), "the sale was taken back");
        // Another's key, a key that was made up, and one that has ended open nothing.
        let (own, key) = link.rsplit_once('/').unwrap();
        let other = next.link();
        assert!(opened(&test, &shop, &format!("{}/{key}", other.rsplit_once('/').unwrap().0)).await.is_none());
        assert!(opened(&test, &shop, own).await.is_none());
        assert!(opened(&test, &shop, &format!("{own}/{}", "a".repeat(key.len()))).await.is_none());
        test.clock.advance(Duration::from_secs(30 * 86_400 + 1));
        assert!(opened(&test, &shop, &link).await.is_none(), "it has ended");
    }

    async fn with_gst_it_is_an_invoice_with_the_tax_in_it(test: TestDb) {
        let shop = Shop::open(&test).await;
        let noted = shop.say("my gst number is 27AAPFU0939F1ZV").await;
        assert!(noted.contains("27AAPFU0939F1ZV (regular)"), "{noted}");
        shop.say("20 kilo cheeni aayi").await;
        let sold = shop.say("2 kilo cheeni 105 mein bechi").await;
        assert!(sold.contains("₹105"), "{sold}");
        let unnamed = shop.say("bill banao").await;
        assert!(unnamed.contains("dukaan ka naam aur pata hona chahiye"), "{unnamed}");
        shop.say("dukaan ka naam Gupta Kirana hai").await;
        let unplaced = shop.say("bill banao").await;
        assert!(unplaced.contains("dukaan ka naam aur pata hona chahiye"), "{unplaced}");
        shop.say("dukaan ka pata 12 MG Road, Pune hai").await;
        let unknown = shop.say("bill banao").await;
        assert!(unknown.contains("GST rate pata nahi"), "{unknown}");
        let noted = shop.say("cheeni par 5% gst hai").await;
        assert!(noted.contains("5%"), "{noted}");
        let told = tell(&shop, "bill banao").await;
        assert!(told.text.contains("INV/26-27/1"), "{}", told.text);
        let page = opened(&test, &shop, &told.link()).await.unwrap();
        for part in ["Tax invoice", "Gupta Kirana", "12 MG Road, Pune", "27AAPFU0939F1ZV", "27 Maharashtra", "CGST", "SGST", "₹2.50", "₹100", "₹105"] {
            assert!(page.contains(part), "{part} is missing in {page}");
        }
        assert!(!page.contains("IGST"));
        assert_eq!(told.results.last().unwrap()["result"]["tax_amount"], Money::from_paise(500).as_paise());
        shop.assert_sound().await;
    }

    async fn a_rate_that_no_law_has_is_refused_when_it_is_said(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.say("stock in 20 kg ghee").await;
        for said in ["gst on ghee is 12%", "gst on ghee is 28%", "gst on ghee is 13%"] {
            let refused = shop.say(said).await;
            assert!(refused.contains("no such GST rate") && refused.contains("5%, 7.5%, 18%, 40%"), "{said}: {refused}");
        }
        let kept = shop.say("gst on ghee is 5%").await;
        assert!(kept.contains("ghee: GST 5%"), "{kept}");
    }

    async fn a_gstin_that_is_none_is_told_why(test: TestDb) {
        let shop = Shop::open(&test).await;
        for said in ["my gst number is 27AAPFU0939F1ZX", "my GSTIN is 27AAPFU0939F1Z", "dukaan ka gstin 27AAPFU0939F1ZVV hai"] {
            let refused = shop.say(said).await;
            assert!(refused.contains("GSTIN") && refused.to_lowercase().contains("certificate"), "{said}: {refused}");
            assert!(!refused.contains("UPI"), "{said}: {refused}");
        }
    }
}
