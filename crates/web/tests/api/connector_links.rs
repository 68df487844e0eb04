//! Who may follow a link to a connector's service: nobody by the link alone.

use munshi_identity::operators::{OPERATORS, roles};
use munshi_identity::{ContactAddress, Person, Role, persons};
use munshi_store::{PlatformTx, Tx};
use munshi_test_support::administer_platform;
use munshi_test_support::database::MORNING;
use munshi_types::PersonId;
use sha2::{Digest, Sha256};

use crate::api::connector_logins::{ANEW, House, OWNERS};
use crate::api::support::Browser;

pub(crate) const NOT_THEIRS: &str = "Only an owner or admin of this business can use this link";
pub(crate) const YOURS: &str = "Is this link yours?";
const ON_THEIR_WAY: &str = "SELECT COUNT(*) FROM connector_logins WHERE tenant_id = $1 AND kind = 'state'";
pub(crate) const BY_A_PERSON: &str = "SELECT COUNT(*) FROM audit_entries
                           WHERE tenant_id = $1 AND event = 'connector.logged_in' AND actor_kind = 'person'";

impl House {
    /// A browser that talks with us, and the person it is of.
    async fn talking(&self, person: PersonId, letter: &str) -> Browser<'_> {
        let token = format!("mv_{}", letter.repeat(43));
        let id: String = Sha256::digest(token.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let add =
            move |tx: &mut Tx<'_>| persons::add_address(tx, person, &ContactAddress::visitor(&id).unwrap());
        self.installation.db.write(self.shop(), add).await.unwrap();
        let mut browser = self.installation.browser();
        browser.cookies.insert("munshi_visitor".to_owned(), token);
        browser
    }

    /// Somebody of the shop is this from now on.
    pub(crate) async fn becomes(&self, person: PersonId, role: Option<Role>) {
        let put = move |tx: &mut Tx<'_>| -> Result<(), munshi_store::Error> {
            let known = persons::find(tx, person)?.unwrap();
            persons::upsert(tx, &Person { role, ..known })
        };
        self.installation.db.write(self.shop(), put).await.unwrap();
    }
}

on_both! {
    /// Whoever got hold of it, or only shows a preview of it, begins nothing.
    async fn a_link_alone_opens_nothing(test: TestDb) {
        let house = House::open(&test, None).await;
        let link = house.link(house.shop()).await;
        let first = format!("/account/sign-in?next={}", link.replace('/', "%2F"));
        house.installation.browser().get(&link).await.moved(&first);
        house.installation.browser().post(&link, &[("form", "")]).await.says(403, NOT_THEIRS);
        for role in [Role::Staff, Role::Viewer] {
            let email = format!("{role}@shop.example");
            let mut browser = house.installation.operator(&email, house.shop(), role).await;
            browser.get(&link).await.says(403, NOT_THEIRS);
            let form = browser.token().await;
            browser.post(&link, &[("form", &form)]).await.says(403, NOT_THEIRS);
        }
        let page = house.owner(house.installation.other.tenant).get(&link).await.says(403, NOT_THEIRS);
        assert!(!page.contains("far"), "nothing is told of another's connector: {page}");
        // The owner looks at it as often as they like, and no page but ours says yes for them.
        let mut owner = house.owner(house.shop());
        for method in ["GET", "HEAD", "GET"] {
            assert_eq!(owner.send(method, &link, &[], None).await.status, 200);
        }
        let form = owner.get(&link).await.between("name=\"form\" value=\"", "\"");
        for site in [&[("origin", "https://evil.example")][..], &[("sec-fetch-site", "cross-site")], &[]] {
            let reply = owner.send("POST", &link, site, Some(&[("form", &form)])).await;
            assert_eq!(reply.status, 403, "{site:?}");
        }
        let theirs = house.owner(house.installation.other.tenant).token().await;
        for form in ["", "x", &theirs] {
            assert_eq!(owner.post(&link, &[("form", form)]).await.status, 403, "{form}");
        }
        assert!(!owner.cookies.contains_key("munshi_connector"));
        assert_eq!(house.installation.number(house.shop(), ON_THEIR_WAY).await, 0, "nothing was begun");
        house.begin(&mut owner, &link).await;
        assert_eq!(house.installation.number(house.shop(), ON_THEIR_WAY).await, 1);
    }

    /// A link that was sent into a conversation: the very person it was sent to, in the browser they talk in.
    async fn the_person_it_was_sent_to_may_follow_it(test: TestDb) {
        let house = House::open(&test, None).await;
        let (owner, staff) = (house.installation.shop.owner, house.installation.shop.staff);
        let link = house.link_for(house.shop(), Some(owner)).await;
        let mut browser = house.talking(owner, "o").await;
        // Others of the same conversation, even one who may answer for the business, have a link of their own.
        let mut customer = house.talking(house.installation.customer("Meena").await, "c").await;
        customer.get(&link).await.says(200, YOURS);
        customer.post(&link, &[("form", "")]).await.says(403, NOT_THEIRS);
        let mut other = house.talking(staff, "s").await;
        house.becomes(staff, Some(Role::Admin)).await;
        other.get(&link).await.says(200, YOURS);
        let form = other.get(&house.link_for(house.shop(), Some(staff)).await).await;
        let form = form.between("name=\"form\" value=\"", "\"");
        browser.post(&link, &[("form", &form)]).await.says(403, "on another site");
        let operators = house.link(house.shop()).await;
        let first = format!("/account/sign-in?next={}", operators.replace('/', "%2F"));
        browser.get(&operators).await.moved(&first);
        // They are nobody there any more when they come back.
        let to = house.begin(&mut browser, &link).await;
        let back = house.come_back(&to);
        house.becomes(owner, Some(Role::Staff)).await;
        browser.get(&back).await.says(403, NOT_THEIRS);
        assert!(house.kept(house.shop()).await.is_none());
        house.becomes(owner, Some(Role::Owner)).await;
        house.is_in(&mut browser, &back).await;
        assert_eq!(house.installation.number(house.shop(), BY_A_PERSON).await, 1);
    }

    /// Signed out, or put out of the business, between going there and coming back.
    async fn who_comes_back_must_still_be_who_may(test: TestDb) {
        let house = House::open(&test, None).await;
        let (mut browser, back) = house.returning(house.shop()).await;
        let mut alone = house.installation.browser();
        alone.cookies.insert("munshi_connector".to_owned(), browser.cookies["munshi_connector"].clone());
        alone.get(&back).await.says(403, NOT_THEIRS);
        let mut another = house.installation.operator("meena@shop.example", house.shop(), Role::Owner).await;
        another.cookies.insert("munshi_connector".to_owned(), browser.cookies["munshi_connector"].clone());
        another.get(&back).await.says(403, ANEW);
        let shop = house.shop();
        let put_out = move |tx: &mut PlatformTx<'_>| -> Result<(), munshi_identity::Error> {
            let members = roles::list_members(tx, shop)?;
            let asha = members.iter().find(|member| member.operator.email == OWNERS[0]).unwrap();
            administer_platform(tx, |tx| roles::revoke(tx, asha.operator.id, shop, MORNING).map(drop))
        };
        house.installation.db.platform(OPERATORS).write(put_out).await.unwrap();
        browser.get(&back).await.says(403, NOT_THEIRS);
        assert!(house.kept(shop).await.is_none() && house.service.count_grants("authorization_code") == 0);
    }
}
