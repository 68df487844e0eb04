//! The tenant's people are told by a real mail server: of alerts, and of questions that wait for them.

use std::sync::Arc;
use std::time::Duration;

use munshi_conversations::reach::{NewsTeller, NewsTellerParts};
use munshi_identity::{ContactAddress, Person, Role, persons};
use munshi_jobs::JobQueue;
use munshi_pack::alerts::{self, AlertSource, WordedAlert};
use munshi_pack::{Alert, AlertSeverity, PackRegistry};
use munshi_safety::acts::ActServices;
use munshi_safety::budget::{BudgetGovernor, BudgetSettings};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{PlatformTx, Tx, params};
use munshi_test_support::on_both_engines;
use munshi_tools::{TenantToolSource, TenantTools};
use munshi_types::{ActId, ApprovalId, Clock, HOUSE, Language, TenantId, Timestamp};

use super::leaving::build_runner;
use super::support::{Shop, migrations, open_shop};

struct NoTools;

impl TenantToolSource for NoTools {
    fn tenant_tools(&self, _: TenantId) -> Arc<TenantTools> {
        Arc::default()
    }

    fn is_settled(&self, _: TenantId) -> bool {
        true
    }
}

fn build_teller(shop: &Shop) -> NewsTeller {
    let ids = shop.test.ids.clone();
    NewsTeller::new(NewsTellerParts {
        db: shop.test.db.clone(),
        queue: JobQueue::new(shop.test.clock.clone(), ids.clone()),
        clock: shop.test.clock.clone(),
        ids: ids.clone(),
        senders: Arc::new(shop.senders.clone()),
        act_services: Arc::new(ActServices::new(
            ids.clone(),
            BudgetGovernor::new(BudgetSettings::default(), ids),
        )),
        logins: Arc::new(NoTools),
        packs: Arc::new(PackRegistry::default()),
        public_url: Some("https://munshi.example".to_owned()),
        next_after: Duration::from_secs(15 * 60),
    })
}

/// Looks once, and sends what that made.
async fn tell(shop: &Shop) {
    let id = shop.tenant;
    let read = move |tx: &mut PlatformTx<'_>| tenants::find(tx, id);
    let tenant = shop.test.db.platform(TENANTS).read(read).await.unwrap().unwrap();
    build_teller(shop).tell(&tenant).await.unwrap();
    build_runner(&shop.test.db, shop.test.clock.clone(), shop.senders.clone()).drain().await.unwrap();
}

async fn add_member(shop: &Shop, role: Role, email: &str) {
    let person = Person {
        role: Some(role),
        language: Some(Language::English),
        ..Person::new(&shop.test.ids, "Asha", shop.test.clock.now())
    };
    let address = ContactAddress::email(email).unwrap();
    let add = move |tx: &mut Tx<'_>| -> munshi_store::Result<()> {
        persons::upsert(tx, &person)?;
        persons::add_address(tx, person.id, &address)
    };
    shop.test.db.write(shop.tenant, add).await.unwrap();
}

async fn raise(shop: &Shop) {
    let source = AlertSource {
        pack: HOUSE,
        heartbeat: "trial",
        now: shop.test.clock.now(),
        ids: shop.test.ids.clone(),
    };
    let alert = Alert {
        key: "stock".to_owned(),
        severity: AlertSeverity::Urgent,
        phrase: "none".to_owned(),
        slots: Vec::new(),
    };
    let one = WordedAlert { alert, text: "Look at the stock, see https://evil.example".to_owned() };
    let unit = move |tx: &mut Tx<'_>| alerts::raise(tx, &source, &one);
    shop.test.db.write(shop.tenant, unit).await.unwrap();
}

/// A question of nobody's conversation that owners and admins may answer.
async fn ask(shop: &Shop) -> ApprovalId {
    let (id, act): (ApprovalId, ActId) = (shop.test.ids.next(), shop.test.ids.next());
    let now = shop.test.clock.now();
    let write = move |tx: &mut Tx<'_>| insert_question(tx, (id, act), now);
    shop.test.db.write(shop.tenant, write).await.unwrap();
    id
}

fn insert_question(
    tx: &mut Tx<'_>,
    (id, act): (ApprovalId, ActId),
    now: Timestamp,
) -> munshi_store::Result<()> {
    tx.execute(
        "INSERT INTO acts (tenant_id, id, tool, connector, effect, arguments, proposal, digest, state, attempt, began_at)
         VALUES ($1, $2, 'note', 'house', 'inside', '{}', 'null', $3, 'waiting', 1, $4)",
        params![act, &[0_u8; 32][..], now],
    )?;
    tx.execute(
        r#"INSERT INTO approvals (tenant_id, id, act_id, kind, tool, scope, words, question, digest, state, covers,
             asked_at, expires_at)
           VALUES ($1, $2, $3, 'act', 'note', 'house.note.add', 'Write down ₹500',
             '{"reasons":["policy"],"needs":"approver","risk":"low"}', $4, 'pending', 'act', $5, $6)"#,
        params![id, act, &[0_u8; 32][..], now, now.plus(Duration::from_secs(72 * 3600))],
    )?;
    Ok(())
}

/// The mail as its reader's program shows it: lines that were too long for one are one again.
fn read_plain(mail: &str) -> String {
    mail.replace("=\n", "").replace("=\r\n", "")
}

on_both_engines! {
    with all migrations();

    async fn alerts_and_questions_arrive_at_those_whom_they_concern_once(test: TestDb) {
        let shop = open_shop(test).await;
        shop.declare(&shop.plain("mail", "")).await;
        let (owner, staff) = (shop.address("meera"), shop.address("asha"));
        add_member(&shop, Role::Owner, &owner).await;
        add_member(&shop, Role::Staff, &staff).await;
        raise(&shop).await;
        let asked = ask(&shop).await;
        tell(&shop).await;
        tell(&shop).await;
        let mails: Vec<String> = shop.server.read_mailbox(&owner).iter().map(|mail| read_plain(mail)).collect();
        let whole = mails.join("\n");
        assert!(whole.contains("Look at the stock") && whole.contains(&asked.to_string()), "{whole}");
        assert_eq!(whole.matches("Message-ID:").count(), mails.len(), "{whole}");
        assert_eq!(whole.matches(&format!("approvals/sharma/{asked}")).count(), whole.matches(&asked.to_string()).count());
        assert!(!whole.contains("https://evil.example"), "what others wrote leads nowhere: {whole}");
        assert!(whole.contains("Auto-Submitted: auto-generated") && !whole.contains("List-Unsubscribe"), "{whole}");
        assert!(shop.server.read_mailbox(&staff).is_empty(), "neither is theirs to see");
        // A server that takes nothing more for now keeps nobody from hearing later, and nobody hears twice.
        let before = mails.len();
        shop.test.clock.advance(Duration::from_secs(3600));
        tell(&shop).await;
        assert_eq!(shop.server.read_mailbox(&owner).len(), before, "once");
    }
}
