//! Forms on packs' pages: from our own pages alone, by those who may write, once, and told to the audit.

use munshi_identity::Role;
use munshi_safety::policy;
use munshi_test_support::database::MORNING;

use crate::api::support::{Browser, Installation, PAGE_KEY};

const PAGE: &str = "/pages/shop/notes/write";
const NOTES: &str = "SELECT COUNT(*) FROM notes WHERE tenant_id = $1";
const TOLD: &str = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'notes.written'";

/// The hidden fields of a page that somebody has open.
async fn open_form(browser: &mut Browser<'_>) -> (String, String) {
    let page = browser.get(PAGE).await;
    assert_eq!(page.status, 200, "{}", page.text());
    (page.between("name=\"form\" value=\"", "\""), page.between("name=\"once\" value=\"", "\""))
}

on_both! {
    async fn a_form_is_carried_out_once_and_told(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop.tenant;
        let mut asha = house.operator("asha@shop.example", shop, Role::Owner).await;
        let (token, once) = open_form(&mut asha).await;
        let form = [("form", token.as_str()), ("once", once.as_str()), ("text", "eggs & milk/2")];
        for _ in 0..3 {
            asha.post(PAGE, &form).await.moved("/pages/shop/notes/list/eggs%20%26%20milk/2");
        }
        assert_eq!((house.number(shop, NOTES).await, house.number(shop, TOLD).await), (1, 1));
        let other = [("form", token.as_str()), ("once", once.as_str()), ("text", "bread")];
        assert_eq!(asha.post(PAGE, &other).await.status, 409, "the same key for something else");
        let (token, once) = open_form(&mut asha).await;
        let again = [("form", token.as_str()), ("once", once.as_str()), ("text", "eggs & milk/2")];
        test.clock.advance(std::time::Duration::from_secs(1));
        asha.post(PAGE, &again).await.moved("/pages/shop/notes/list/eggs%20%26%20milk/2");
        assert_eq!((house.number(shop, NOTES).await, house.number(shop, TOLD).await), (2, 2));
        let (token, once) = open_form(&mut asha).await;
        let query = [("form", token.as_str()), ("once", once.as_str()), ("text", "eggs?done=1&for=a b#\r\nx&at=//c")];
        test.clock.advance(std::time::Duration::from_secs(1));
        asha.post(PAGE, &query).await.moved("/pages/shop/notes/list/eggs?done=1&for=a%20b%23%0D%0Ax&at=%2F%2Fc");
    }

    async fn what_can_not_be_done_changes_nothing_and_may_be_sent_again(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop.tenant;
        let mut asha = house.operator("asha@shop.example", shop, Role::Owner).await;
        let (token, once) = open_form(&mut asha).await;
        let fill = |text: &'static str| [("form", token.as_str()), ("once", once.as_str()), ("text", text)];
        let wrong = asha.post(PAGE, &fill("")).await;
        let page = wrong.says(422, "Nothing &#60;b&#62;written&#60;/b&#62;.");
        assert!(page.contains(&once), "the same form may be sent again");
        // What changes something and tells nobody is undone.
        assert_eq!(asha.post(PAGE, &fill("unsaid")).await.status, 500);
        assert_eq!((house.number(shop, NOTES).await, house.number(shop, TOLD).await), (0, 0));
        asha.post(PAGE, &fill("eggs")).await.moved("/pages/shop/notes/list/eggs");
        for path in ["/pages/shop/notes/write/gone", "/pages/shop/notes/list", "/pages/shop/notes/nothing", "/pages/nobody/notes/write"] {
            let (token, once) = open_form(&mut asha).await;
            let form = [("form", token.as_str()), ("once", once.as_str()), ("text", "eggs")];
            assert_eq!(asha.post(path, &form).await.status, 404, "{path}");
        }
        assert_eq!(house.number(shop, NOTES).await, 1);
    }

    async fn nobody_else_sends_a_form(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop.tenant;
        let rules = policy::parse("[roles.staff]\ndeny = [\"notes.note.add\"]\n").unwrap();
        house.db.write(shop, move |tx| policy::apply(tx, &rules, "test", "", MORNING)).await.unwrap();
        let mut asha = house.operator("asha@shop.example", shop, Role::Owner).await;
        let mut staff = house.operator("bina@shop.example", shop, Role::Staff).await;
        let mut stranger = house.operator("evil@other.example", house.other.tenant, Role::Owner).await;
        let (token, once) = open_form(&mut asha).await;
        let theirs = [("form", token.as_str()), ("once", once.as_str()), ("text", "eggs")];
        // Staff see the page, and may not write.
        let (own, key) = open_form(&mut staff).await;
        assert_eq!(staff.post(PAGE, &[("form", &own), ("once", &key), ("text", "eggs")]).await.status, 404);
        assert_eq!(stranger.submit(PAGE, &[("once", &once), ("text", "eggs")]).await.status, 404);
        // Another's token, none, another site, no key, and nobody.
        assert_eq!(staff.post(PAGE, &theirs).await.status, 403);
        assert_eq!(asha.post(PAGE, &[("once", &once), ("text", "eggs")]).await.status, 403);
        let foreign = [("origin", "https://evil.example")];
        assert_eq!(asha.send("POST", PAGE, &foreign, Some(&theirs)).await.status, 403);
        assert_eq!(asha.post(PAGE, &[("form", &token), ("text", "eggs")]).await.status, 409);
        let mut nobody = house.browser();
        assert!(nobody.post(PAGE, &theirs).await.status != 200);
        // A link of the page's own opens it for reading alone.
        let open = nobody.get(&format!("{PAGE}/{PAGE_KEY}")).await;
        assert!(open.status == 200 && !open.text().contains("name=\"once\""), "{}", open.text());
        assert!(nobody.post(&format!("{PAGE}/{PAGE_KEY}"), &theirs).await.status != 200);
        assert_eq!((house.number(shop, NOTES).await, house.number(shop, TOLD).await), (0, 0));
    }
}
