//! Pages that packs bring: who sees them, and what they look like to everybody else.

use munshi_identity::Role;
use munshi_safety::policy;
use munshi_test_support::database::MORNING;

use crate::api::support::{Installation, PAGE_KEY};

on_both! {
    async fn those_who_may_see_a_page_do(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut asha = house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let page = asha.get("/pages/shop/notes/list/a%20b?x=%3Cb%3E").await;
        assert_eq!(page.status, 200, "{}", page.text());
        assert!(page.text().contains("<p>a b &#60;b&#62;</p>"), "what was asked is shown as text: {}", page.text());
        assert!(page.text().contains("<h1>Notes</h1>"), "{}", page.text());
        for header in ["cache-control", "referrer-policy"] {
            let value = page.headers[header].to_str().unwrap();
            assert!(["no-store", "no-referrer"].contains(&value), "{header}: {value}");
        }
        let by_id = asha.get(&format!("/pages/{}/notes/list", house.shop.tenant)).await;
        assert_eq!(by_id.status, 200);
        assert_eq!(asha.get("/pages/shop/notes/list/gone").await.status, 404);
        let json = asha.get("/pages/shop/notes/count").await;
        assert_eq!((json.status, json.text().as_str()), (200, "{\"count\":2}"));
    }

    async fn nobody_else_learns_even_that_there_is_one(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut nobody = house.browser();
        let mut other = house.operator("evil@other.example", house.other.tenant, Role::Owner).await;
        for browser in [&mut nobody, &mut other] {
            let closed = browser.get("/pages/shop/notes/list").await;
            assert_eq!(closed.status, 404);
            assert!(closed.text().contains("not open to you"), "{}", closed.text());
            for path in ["/pages/shop/notes/nothing", "/pages/nobody/notes/list", "/pages/shop/none/list", "/pages/shop/notes"] {
                let missing = browser.get(path).await;
                let told = |text: &str| text.replace(&path.replace('/', "%2F"), "").len();
                assert_eq!(missing.status, 404, "{path}");
                assert!(told(&missing.text()).abs_diff(told(&closed.text())) < 40, "{path}: {}", missing.text());
            }
        }
        assert!(nobody.get("/pages/shop/notes/list").await.text().contains("/account/sign-in?next="));
        assert!(!other.get("/pages/shop/notes/list").await.text().contains("/account/sign-in?next="));
    }

    async fn a_key_of_the_page_opens_it_and_nothing_else(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut customer = house.browser();
        let open = customer.get(&format!("/pages/shop/notes/list/{PAGE_KEY}")).await;
        assert_eq!(open.status, 200, "{}", open.text());
        assert_eq!(customer.get("/pages/shop/notes/list/another").await.status, 404);
        assert_eq!(customer.get(&format!("/pages/shop/notes/count/{PAGE_KEY}")).await.status, 404);
    }

    async fn a_role_that_the_policy_denies_sees_nothing(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let rules = policy::parse("[roles.staff]\ndeny = [\"notes.*\"]\n").unwrap();
        let put = house.db.write(house.shop.tenant, move |tx| policy::apply(tx, &rules, "test", "", MORNING));
        put.await.unwrap();
        let mut staff = house.operator("bina@shop.example", house.shop.tenant, Role::Staff).await;
        let mut owner = house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        assert_eq!(staff.get("/pages/shop/notes/list").await.status, 404);
        assert_eq!(owner.get("/pages/shop/notes/list").await.status, 200);
    }
}
