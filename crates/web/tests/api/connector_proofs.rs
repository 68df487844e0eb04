//! Somebody who has no account and is not known in this browser shows in their own conversation that a link is theirs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use munshi_connectors::{AllowedHosts, Confinement, ConnectorHost, ConnectorHostParts, ConnectorTimings};
use munshi_identity::Role;
use munshi_store::Tx;
use munshi_test_support::TestDb;
use munshi_tools::{TenantToolSource, ToolRegistry};
use munshi_types::{PersonId, SystemRandom};

use crate::api::connector_links::{BY_A_PERSON, NOT_THEIRS, YOURS};
use crate::api::connector_logins::House;
use crate::api::support::Browser;

const MINUTE: Duration = Duration::from_secs(60);

/// Hears what somebody says in their conversation, as the engine does.
pub(crate) struct Ear<'h> {
    house: &'h House,
    host: ConnectorHost,
}

impl<'h> Ear<'h> {
    pub(crate) fn of(house: &'h House, test: &TestDb) -> Self {
        let host = ConnectorHost::new(ConnectorHostParts {
            db: test.db.clone(),
            vault: None,
            logins: None,
            base: None,
            random: Arc::new(SystemRandom),
            ids: test.ids.clone(),
            clock: test.clock.clone(),
            registry: Arc::new(ToolRegistry::default()),
            folder: test.place.folder(),
            basics: Vec::new(),
            confinement: Confinement::default(),
            allowed: AllowedHosts::default(),
            inside: BTreeMap::new(),
            pace: ConnectorTimings::default(),
        });
        Self { house, host }
    }

    /// The connector that was spoken of, if any.
    pub(crate) async fn hears(&self, person: PersonId, words: &str) -> Option<String> {
        let (host, words) = (self.host.clone(), words.to_owned());
        let hear = move |tx: &mut Tx<'_>| host.verify_login_code(tx, person, &words);
        self.house.installation.db.write(self.house.shop(), hear).await.unwrap()
    }
}

/// Has a code shown, and reads it.
async fn code_of(browser: &mut Browser<'_>, link: &str) -> String {
    browser.post(&format!("{link}/code"), &[]).await.moved(link);
    browser.get(link).await.between("<p class=\"code\">", "<")
}

on_both! {
    async fn a_code_said_in_the_conversation_opens_the_page(test: TestDb) {
        let house = House::open(&test, None).await;
        let (ear, owner, staff) = (Ear::of(&house, &test), house.installation.shop.owner, house.installation.shop.staff);
        let link = house.link_for(house.shop(), Some(owner)).await;
        let (mut phone, mut thief) = (house.installation.browser(), house.installation.browser());
        let page = phone.get(&link).await.says(200, YOURS);
        assert!(!page.contains("class=\"code\"") && !page.contains("far"), "nothing is told or shown yet: {page}");
        assert!(page.contains("/account/sign-in?next=%2Fconnectors%2Flogin%2F"), "an account will do too: {page}");
        let (code, other) = (code_of(&mut phone, &link).await, code_of(&mut thief, &link).await);
        assert_eq!(phone.get(&link).await.between("<p class=\"code\">", "<"), code, "a page that is loaded again shows the same");
        assert_eq!(ear.hears(staff, &code).await, None, "it was sent to somebody else");
        let wrong = if code == "000 000" || other == "000 000" { "999 999" } else { "000 000" };
        assert_eq!(ear.hears(owner, wrong).await, None);
        assert_eq!(ear.hears(owner, "add rice").await, None);
        for browser in [&mut phone, &mut thief] {
            browser.get(&link).await.says(200, YOURS);
            browser.post(&link, &[("form", "")]).await.says(403, NOT_THEIRS);
        }
        for _ in 0..2 {
            assert_eq!(ear.hears(owner, &format!("यह रहा {code}")).await.as_deref(), Some("far"));
        }
        thief.get(&link).await.says(200, YOURS);
        let to = house.begin(&mut phone, &link).await;
        let back = house.come_back(&to);
        thief.cookies.insert("munshi_connector".to_owned(), phone.cookies["munshi_connector"].clone());
        thief.get(&back).await.says(403, NOT_THEIRS);
        house.is_in(&mut phone, &back).await;
        assert_eq!(house.installation.number(house.shop(), BY_A_PERSON).await, 1);
    }

    async fn a_code_has_its_end(test: TestDb) {
        let house = House::open(&test, None).await;
        let (ear, owner) = (Ear::of(&house, &test), house.installation.shop.owner);
        let link = house.link_for(house.shop(), Some(owner)).await;
        let mut phone = house.installation.browser();
        let code = code_of(&mut phone, &link).await;
        test.clock.advance(10 * MINUTE);
        assert_eq!(ear.hears(owner, &code).await, None, "ten minutes are over");
        let page = phone.get(&link).await.says(200, YOURS);
        assert!(!page.contains("class=\"code\""), "{page}");
        // What was shown opens the door for half an hour, and while they may.
        let code = code_of(&mut phone, &link).await;
        assert!(ear.hears(owner, &code).await.is_some());
        house.begin(&mut phone, &link).await;
        house.becomes(owner, Some(Role::Staff)).await;
        let first = format!("/account/sign-in?next={}", link.replace('/', "%2F"));
        phone.get(&link).await.moved(&first);
        phone.post(&format!("{link}/code"), &[]).await.says(403, NOT_THEIRS);
        house.becomes(owner, Some(Role::Owner)).await;
        house.begin(&mut phone, &link).await;
        test.clock.advance(30 * MINUTE);
        phone.get(&link).await.says(200, YOURS);
    }

    /// Whoever has many pages opened at one link keeps nobody out for long, and no other site has codes shown.
    async fn codes_are_few_and_of_our_own_pages(test: TestDb) {
        let house = House::open(&test, None).await;
        let (ear, owner, staff) = (Ear::of(&house, &test), house.installation.shop.owner, house.installation.shop.staff);
        let link = house.link_for(house.shop(), Some(owner)).await;
        let mut first = house.installation.browser();
        let old = code_of(&mut first, &link).await;
        for last in 1..=5 {
            code_of(&mut house.installation.browser().at(last), &link).await;
        }
        assert_eq!(ear.hears(owner, &old).await, None, "the oldest begins anew");
        let code = code_of(&mut first, &link).await;
        assert!(ear.hears(owner, &code).await.is_some());
        // It opens the links that were sent to this person, and no others.
        house.becomes(staff, Some(Role::Admin)).await;
        let theirs = house.link_for(house.shop(), Some(staff)).await;
        first.get(&theirs).await.says(200, YOURS);
        let operators = house.link(house.shop()).await;
        first.post(&format!("{operators}/code"), &[]).await.says(403, NOT_THEIRS);
        let foreign = [("origin", "https://evil.example")];
        let reply = house.installation.browser().send("POST", &format!("{link}/code"), &foreign, Some(&[])).await;
        assert_eq!(reply.status, 403);
        house.installation.browser().post("/connectors/login/x/code", &[]).await.says(404, "This link was used or has expired");
    }
}
