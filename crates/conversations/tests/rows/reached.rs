//! Who of a tenant is told of what, and where.

use std::sync::Arc;
use std::time::Duration;

use munshi_conversations::human_requests::{self, NewHumanRequest};
use munshi_conversations::outbox::{
    self, DuplicateConsent, OutboxChange, OutboxState, SendFault, SendIdempotency,
};
use munshi_conversations::reach::preferences;
use munshi_conversations::reach::{NewsTeller, NewsTellerParts, ReachKind, ReachPreferences};
use munshi_conversations::sessions;
use munshi_identity::operators::roles;
use munshi_identity::operators::{self, AddOperatorOutcome, NewOperator, OPERATORS};
use munshi_identity::{ContactAddress, Person, Role, persons};
use munshi_pack::alerts::{self, AlertSource, WordedAlert};
use munshi_pack::{Alert, AlertSeverity, PackRegistry};
use munshi_safety::acts::ActServices;
use munshi_safety::acts::Permit;
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PlatformTx, Tx, params};
use munshi_tools::{
    ReadToolHandler, TenantToolSource, TenantTools, ToolFailure, ToolHandler, ToolOutput, builtin,
};
use munshi_types::tier::Channel;
use munshi_types::{
    ActId, ApprovalId, HOUSE, HumanRequestId, Language, MessageId, PersonId, ReplyAddress, Tenant, TenantId,
    Timestamp, ToolSpec,
};

use crate::rows::outgoing_support::{
    Account, Directory, MEERA, address, alerts_of, ask as ask_outbox, at, row, runner,
};
use crate::rows::support::{Shop, tables};

/// People ask for it in Hindi alone.
struct HindiNote;

impl ReadToolHandler for HindiNote {
    fn read(&self, _: &Permit, _: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        Ok(ToolOutput::new(serde_json::Value::Null))
    }
}

const PAUSE: Duration = Duration::from_secs(15 * 60);

/// At half past eleven in the shop's morning, with an account that sends.
pub(crate) async fn open(
    test: munshi_test_support::TestDb,
    account: &Arc<Account>,
) -> (Shop, NewsTeller, Arc<Directory>) {
    open_with(test, account, PackRegistry::default(), NoTools).await
}

/// No connectors.
struct NoTools;

impl TenantToolSource for NoTools {
    fn tenant_tools(&self, _: TenantId) -> Arc<TenantTools> {
        Arc::default()
    }

    fn is_settled(&self, _: TenantId) -> bool {
        true
    }
}

pub(crate) async fn open_with(
    test: munshi_test_support::TestDb,
    account: &Arc<Account>,
    packs: PackRegistry,
    logins: impl TenantToolSource + 'static,
) -> (Shop, NewsTeller, Arc<Directory>) {
    let shop = Shop::open(test).await;
    shop.test.clock.set(at("2026-11-19T06:00:00Z"));
    let directory = Directory::of(account);
    let teller = build_teller_with(&shop, shop.test.db.clone(), (directory.clone(), packs), Arc::new(logins));
    (shop, teller, directory)
}

/// As one node has it.
pub(crate) fn build_teller(shop: &Shop, db: Db, parts: (Arc<Directory>, PackRegistry)) -> NewsTeller {
    build_teller_with(shop, db, parts, Arc::new(NoTools))
}

fn build_teller_with(
    shop: &Shop,
    db: Db,
    (senders, packs): (Arc<Directory>, PackRegistry),
    logins: Arc<dyn TenantToolSource>,
) -> NewsTeller {
    NewsTeller::new(NewsTellerParts {
        db,
        queue: shop.desk.queue.clone(),
        clock: shop.test.clock.clone(),
        ids: shop.test.ids.clone(),
        senders,
        act_services: Arc::new(build_act_services(shop)),
        logins,
        packs: Arc::new(packs),
        public_url: Some("https://munshi.example".to_owned()),
        next_after: PAUSE,
    })
}

pub(crate) fn build_act_services(shop: &Shop) -> ActServices {
    ActServices::new(shop.test.ids.clone(), (*shop.desk.governor).clone())
}

pub(crate) async fn find_tenant(shop: &Shop) -> Tenant {
    let id = shop.tenant;
    let read = move |tx: &mut PlatformTx<'_>| tenants::find(tx, id);
    shop.test.db.platform(TENANTS).read(read).await.unwrap().unwrap()
}

/// Looks once and sends what that made; gives how many mails it made.
pub(crate) async fn tell(shop: &Shop, teller: &NewsTeller, directory: &Arc<Directory>) -> usize {
    let told = teller.tell(&find_tenant(shop).await).await.unwrap();
    runner(shop, directory.clone()).drain().await.unwrap();
    told
}

pub(crate) async fn add_member(shop: &Shop, role: Role, emails: &[&str]) -> PersonId {
    let person = Person {
        role: Some(role),
        language: Some(Language::English),
        ..Person::new(&shop.test.ids, "Asha", shop.now())
    };
    let (id, emails) = (person.id, emails.iter().map(|email| (*email).to_owned()).collect::<Vec<_>>());
    shop.write(move |tx| {
        persons::upsert(tx, &person)?;
        emails
            .iter()
            .try_for_each(|email| persons::add_address(tx, person.id, &ContactAddress::email(email).unwrap()))
    })
    .await;
    id
}

fn place(email: &str) -> ReplyAddress {
    ReplyAddress::new(Channel::Email, email.to_owned())
}

async fn choose(shop: &Shop, person: PersonId, kind: ReachKind, emails: &[&str]) {
    let places = emails.iter().map(|email| place(email)).collect();
    let chosen = ReachPreferences { places: [(kind, places)].into(), zone: None };
    let now = shop.now();
    shop.write(move |tx| preferences::save(tx, person, &chosen, now)).await;
}

async fn raise(shop: &Shop, key: &'static str, severity: AlertSeverity) {
    let source = AlertSource { pack: HOUSE, heartbeat: "trial", now: shop.now(), ids: shop.test.ids.clone() };
    let alert = Alert { key: key.to_owned(), severity, phrase: "none".to_owned(), slots: Vec::new() };
    let one = WordedAlert { alert, text: format!("Look at {key}") };
    let unit = move |tx: &mut Tx<'_>| alerts::raise(tx, &source, &one);
    shop.test.db.write(shop.tenant, unit).await.unwrap();
}

/// A question of nobody's conversation that owners and admins may answer.
pub(crate) async fn ask(shop: &Shop) -> ApprovalId {
    ask_often(shop, 1).await.remove(0)
}

async fn ask_often(shop: &Shop, times: usize) -> Vec<ApprovalId> {
    let new: Vec<(ApprovalId, ActId)> =
        (0..times).map(|_| (shop.test.ids.next(), shop.test.ids.next())).collect();
    let (now, asked) = (shop.now(), new.iter().map(|(id, _)| *id).collect());
    shop.write(move |tx| new.iter().try_for_each(|(id, act)| insert_question(tx, (*id, *act), now))).await;
    asked
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

async fn answer(shop: &Shop, approval: ApprovalId) {
    let answer = "UPDATE approvals SET state = 'granted' WHERE tenant_id = $1 AND id = $2";
    shop.write(move |tx| tx.execute(answer, params![approval])).await;
}

/// Somebody who came by an invitation of this tenant.
async fn add_operator(shop: &Shop, email: &str, role: Role) {
    let (ids, now, tenant) = (shop.test.ids.clone(), shop.now(), shop.tenant);
    let new = NewOperator {
        email: email.to_owned(),
        name: "Meera".to_owned(),
        password: None,
        elsewhere: None,
        keeper: false,
        first: false,
        proved: false,
        home: Some(tenant),
    };
    let unit = move |tx: &mut PlatformTx<'_>| -> munshi_identity::Result<_> {
        let AddOperatorOutcome::Made(made) = operators::add(tx, &ids, &new, now)? else {
            panic!("the e-mail is taken")
        };
        roles::grant_invited(tx, made.id, tenant, role, now)
    };
    shop.test.db.platform(OPERATORS).write(unit).await.unwrap();
}

/// Somebody writes and asks for a human.
async fn call_for_human(shop: &Shop, team: Option<&str>) -> HumanRequestId {
    call_for_human_from(shop, MEERA, team).await
}

async fn call_for_human_from(shop: &Shop, phone: &str, team: Option<&str>) -> HumanRequestId {
    let to = ReplyAddress { address: phone.to_owned(), ..address() };
    let session = shop.say_from(phone, &format!("w1 {phone}"), &to).await.session;
    let new = NewHumanRequest {
        id: shop.test.ids.next(),
        run: None,
        team: team.map(str::to_owned),
        reason: "Wants her money back".to_owned(),
        is_callback: false,
        callback_to: None,
        note: None,
        now: shop.now(),
    };
    let id = new.id;
    shop.write(move |tx| {
        let session = sessions::find(tx, session)?.unwrap();
        human_requests::add(tx, &session, &new)
    })
    .await;
    id
}

async fn count_notices(shop: &Shop, sql: &'static str) -> i64 {
    shop.read(move |tx| tx.one(sql, params![], |row| row.get(0))).await
}

pub(crate) fn recipients(account: &Account) -> Vec<String> {
    account.sent.lock().unwrap().iter().map(|sent| sent.to.address.clone()).collect()
}

tables! {
    async fn an_alert_is_told_once_to_owners_and_whoever_asked(test: TestDb) {
        let account = Account::new(SendIdempotency::Once);
        let (shop, teller, directory) = open(test, &account).await;
        add_member(&shop, Role::Owner, &["asha@shop.example", "asha@home.example"]).await;
        add_member(&shop, Role::Staff, &["till@shop.example"]).await;
        let other = add_member(&shop, Role::Staff, &["meera@shop.example"]).await;
        choose(&shop, other, ReachKind::Alerts, &["meera@shop.example"]).await;
        raise(&shop, "cash", AlertSeverity::Warning).await;
        raise(&shop, "stock", AlertSeverity::Urgent).await;
        raise(&shop, "rain", AlertSeverity::Notice).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 2, "one mail each for both");
        let mut told = recipients(&account);
        told.sort();
        assert_eq!(told.len(), 2);
        assert_eq!(told[1], "meera@shop.example");
        for text in account.texts() {
            assert!(text.contains("Look at cash") && text.contains("Look at stock") && !text.contains("rain"), "{text}");
            assert!(text.contains("https://munshi.example/"), "{text}");
        }
        shop.test.clock.advance(PAUSE * 10);
        assert_eq!(tell(&shop, &teller, &directory).await, 0, "it has arrived");
        raise(&shop, "bank", AlertSeverity::Warning).await;
        tell(&shop, &teller, &directory).await;
        assert!(account.texts()[2..].iter().all(|text| text.contains("bank") && !text.contains("cash")));
    }

    async fn a_question_goes_to_the_next_address_until_it_is_answered(test: TestDb) {
        let account = Account::new(SendIdempotency::Once);
        let (shop, teller, directory) = open(test, &account).await;
        let owner = add_member(&shop, Role::Owner, &["asha@shop.example", "asha@home.example", "asha@far.example"]).await;
        let order = ["asha@home.example", "asha@shop.example", "asha@far.example", "nobody@else.example"];
        choose(&shop, owner, ReachKind::Approvals, &order).await;
        let approval = ask(&shop).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        assert_eq!(tell(&shop, &teller, &directory).await, 0, "it has its time");
        shop.test.clock.advance(PAUSE);
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        assert_eq!(recipients(&account), order[..2]);
        let text = account.texts().remove(0);
        let page = format!("https://munshi.example/account/approvals/sharma/{approval}");
        assert!(text.starts_with("sharma: ") && text.contains("Write down ₹500") && text.ends_with(&page), "{text}");
        answer(&shop, approval).await;
        shop.test.clock.advance(PAUSE);
        assert_eq!(tell(&shop, &teller, &directory).await, 0);
        assert_eq!(recipients(&account).len(), 2, "nobody is asked what was answered");
    }

    async fn a_question_that_is_answered_in_the_night_is_not_told_in_the_morning(test: TestDb) {
        let account = Account::new(SendIdempotency::Once);
        let (shop, teller, directory) = open(test, &account).await;
        add_member(&shop, Role::Owner, &["asha@shop.example", "asha@home.example"]).await;
        shop.test.clock.set(at("2026-11-19T17:00:00Z"));
        let approval = ask(&shop).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        shop.test.clock.advance(PAUSE * 2);
        assert_eq!(tell(&shop, &teller, &directory).await, 0, "the morning is waited for, and no other address tried");
        answer(&shop, approval).await;
        tell(&shop, &teller, &directory).await;
        shop.test.clock.set(at("2026-11-20T04:00:00Z"));
        tell(&shop, &teller, &directory).await;
        assert_eq!(account.texts(), [""; 0]);
    }

    async fn what_fails_goes_to_the_next_address_and_what_is_unknown_makes_no_news_of_itself(test: TestDb) {
        let faults = [SendFault::refused("no such mailbox"), SendFault::unknown("no answer")];
        let account = Account::answering(SendIdempotency::Once, faults);
        let (shop, teller, directory) = open(test, &account).await;
        let owner = add_member(&shop, Role::Owner, &["asha@shop.example", "asha@home.example"]).await;
        choose(&shop, owner, ReachKind::Alerts, &["asha@shop.example", "asha@home.example"]).await;
        raise(&shop, "cash", AlertSeverity::Warning).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        assert_eq!(tell(&shop, &teller, &directory).await, 1, "at once: the first has failed");
        assert_eq!(alerts_of(&shop).await.len(), 2, "one of the mail itself");
        shop.test.clock.advance(PAUSE * 2);
        assert_eq!(tell(&shop, &teller, &directory).await, 0, "a mail about a mail would never end");
    }

    async fn an_empty_choice_reaches_nobody_and_without_an_account_nothing_is_noted(test: TestDb) {
        let account = Account::new(SendIdempotency::Once);
        let (shop, teller, directory) = open(test, &account).await;
        let owner = add_member(&shop, Role::Owner, &["asha@shop.example"]).await;
        choose(&shop, owner, ReachKind::Alerts, &[]).await;
        raise(&shop, "cash", AlertSeverity::Warning).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 0);
        choose(&shop, owner, ReachKind::Alerts, &["asha@shop.example"]).await;
        *directory.account.lock().unwrap() = None;
        assert_eq!(tell(&shop, &teller, &directory).await, 0);
        *directory.account.lock().unwrap() = Some(account.clone());
        assert_eq!(tell(&shop, &teller, &directory).await, 1, "as soon as there is one");
        assert_eq!(recipients(&account), ["asha@shop.example"]);
    }

    async fn what_comes_at_night_stands_in_the_mail_after_the_one_that_waits(test: TestDb) {
        let account = Account::new(SendIdempotency::Once);
        let (shop, teller, directory) = open(test, &account).await;
        add_member(&shop, Role::Owner, &["asha@shop.example", "asha@home.example"]).await;
        shop.test.clock.set(at("2026-11-19T17:00:00Z"));
        ask(&shop).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        ask_often(&shop, 2).await;
        shop.test.clock.advance(PAUSE * 4);
        assert_eq!(tell(&shop, &teller, &directory).await, 0, "neither at this address nor at the next");
        shop.test.clock.set(at("2026-11-20T03:30:01Z"));
        tell(&shop, &teller, &directory).await;
        assert_eq!(recipients(&account), ["asha@home.example"]);
        assert_eq!(tell(&shop, &teller, &directory).await, 1, "the pause of the first counts from when it was sent");
        assert_eq!(recipients(&account), ["asha@home.example", "asha@home.example"]);
        assert_eq!(account.texts()[1].matches("Write down").count(), 2, "{}", account.texts()[1]);
        shop.test.clock.advance(PAUSE);
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        assert_eq!(recipients(&account)[2], "asha@shop.example");
        assert_eq!(account.texts()[2].matches("Write down").count(), 3);
    }

    async fn whoever_came_by_invitation_is_told_at_the_e_mail_of_their_account(test: TestDb) {
        let account = Account::new(SendIdempotency::Once);
        let (shop, teller, directory) = open(test, &account).await;
        add_operator(&shop, "Meera@Shop.example", Role::Owner).await;
        add_operator(&shop, "raju@shop.example", Role::Staff).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 0);
        assert_eq!(shop.count("persons").await, 0, "nobody is added while there is nothing to tell");
        ask(&shop).await;
        raise(&shop, "cash", AlertSeverity::Warning).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 2, "a question and an alert");
        assert_eq!(recipients(&account), ["meera@shop.example", "meera@shop.example"]);
        assert_eq!(tell(&shop, &teller, &directory).await, 0);
        assert_eq!(shop.count("persons").await, 2);
    }

    async fn a_flood_of_questions_is_a_few_mails(test: TestDb) {
        let account = Account::new(SendIdempotency::Once);
        let (shop, teller, directory) = open(test, &account).await;
        add_member(&shop, Role::Owner, &["asha@shop.example"]).await;
        ask_often(&shop, 30).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        let asked = |text: &String| text.matches("Write down").count();
        assert_eq!(account.texts().iter().map(asked).collect::<Vec<_>>(), [20, 10]);
        for _ in 0..20 {
            ask(&shop).await;
            shop.test.clock.advance(Duration::from_secs(60));
            tell(&shop, &teller, &directory).await;
        }
        assert_eq!(account.texts().len(), 12, "no more in an hour");
        shop.test.clock.advance(Duration::from_secs(3600));
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        assert_eq!(asked(&account.texts()[12]), 10, "all the rest in one");
    }

    async fn however_many_ask_for_a_human_what_presses_is_told_too(test: TestDb) {
        let account = Account::new(SendIdempotency::Once);
        let (shop, teller, directory) = open(test, &account).await;
        add_member(&shop, Role::Owner, &["asha@shop.example"]).await;
        for number in 0..14 {
            call_for_human_from(&shop, &format!("+9198123456{number:02}"), None).await;
            shop.test.clock.advance(Duration::from_secs(121));
            tell(&shop, &teller, &directory).await;
        }
        assert_eq!(account.texts().len(), 4, "{:?}", account.texts());
        raise(&shop, "fire", AlertSeverity::Urgent).await;
        ask(&shop).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 2, "a question and what is urgent have their own share");
        assert!(account.texts()[4..].iter().any(|text| text.contains("Look at fire")));
        shop.test.clock.advance(Duration::from_secs(3600));
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        assert_eq!(account.texts()[6].matches("Wants her money back").count(), 10, "all the rest in one");
    }

    async fn alerts_that_come_and_go_are_three_mails_a_day_unless_one_is_urgent(test: TestDb) {
        let account = Account::new(SendIdempotency::Once);
        let (shop, teller, directory) = open(test, &account).await;
        add_member(&shop, Role::Owner, &["asha@shop.example"]).await;
        for key in ["a", "b", "c", "d", "e"] {
            raise(&shop, key, AlertSeverity::Warning).await;
            tell(&shop, &teller, &directory).await;
            shop.test.clock.advance(Duration::from_secs(1800));
        }
        assert_eq!(account.texts().len(), 3);
        raise(&shop, "fire", AlertSeverity::Urgent).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        let last = account.texts().remove(3);
        assert!(["d", "e", "fire"].iter().all(|key| last.contains(&format!("Look at {key}"))), "{last}");
    }

    async fn what_no_page_holds_is_told_and_not_over(test: TestDb) {
        let account = Account::new(SendIdempotency::Once);
        let (shop, teller, directory) = open(test, &account).await;
        add_member(&shop, Role::Owner, &["asha@shop.example"]).await;
        let first = ask(&shop).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        shop.test.clock.advance(Duration::from_secs(60));
        ask_often(&shop, 501).await;
        raise(&shop, "cash", AlertSeverity::Warning).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 2);
        raise(&shop, "cash", AlertSeverity::Notice).await;
        tell(&shop, &teller, &directory).await;
        let ended = "SELECT count(*) FROM reach_notices WHERE tenant_id = $1 AND ended_at IS NOT NULL";
        assert_eq!(count_notices(&shop, ended).await, 0, "the first is asked still, and the alert has not cleared");
        answer(&shop, first).await;
        tell(&shop, &teller, &directory).await;
        assert_eq!(count_notices(&shop, ended).await, 1);
        let told = account.texts().len();
        raise(&shop, "cash", AlertSeverity::Warning).await;
        tell(&shop, &teller, &directory).await;
        assert!(account.texts()[told..].iter().all(|text| !text.contains("cash")), "it was told");
    }

    async fn who_has_left_or_lost_the_address_is_sent_nothing_that_waited(test: TestDb) {
        let account = Account::new(SendIdempotency::Once);
        let (shop, teller, directory) = open(test, &account).await;
        let leaver = add_member(&shop, Role::Owner, &["asha@shop.example"]).await;
        let mover = add_member(&shop, Role::Owner, &["raju@old.example"]).await;
        shop.test.clock.set(at("2026-11-19T17:00:00Z"));
        ask(&shop).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 2);
        let now = shop.now();
        shop.write(move |tx| {
            let person = persons::find(tx, leaver)?.unwrap();
            persons::upsert(tx, &Person { left_at: Some(now), ..person })?;
            persons::remove_address(tx, mover, &ContactAddress::email("raju@old.example").unwrap())?;
            persons::add_address(tx, mover, &ContactAddress::email("raju@new.example").unwrap())
        })
        .await;
        tell(&shop, &teller, &directory).await;
        shop.test.clock.set(at("2026-11-20T04:00:00Z"));
        for _ in 0..3 {
            tell(&shop, &teller, &directory).await;
        }
        assert_eq!(recipients(&account), ["raju@new.example"]);
    }

    async fn words_of_what_was_told_are_kept_no_longer(test: TestDb) {
        let account = Account::answering(SendIdempotency::Once, [SendFault::refused("no such mailbox")]);
        let (shop, teller, directory) = open(test, &account).await;
        add_member(&shop, Role::Owner, &["asha@shop.example", "asha@home.example"]).await;
        let approval = ask(&shop).await;
        tell(&shop, &teller, &directory).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 1, "at the next: the first was refused");
        tell(&shop, &teller, &directory).await;
        let sent = account.sent.lock().unwrap()[0].id;
        let text = |message: MessageId| shop.read(move |tx| Ok(outbox::find_body(tx, message)?.unwrap().text));
        assert_eq!(text(sent).await, "", "it has left");
        let all = "SELECT message_id FROM outbox WHERE tenant_id = $1 AND message_id <> $2";
        let failed = shop.read(move |tx| tx.one(all, params![sent], |row| row.get(0))).await;
        assert_ne!(text(failed).await, "", "somebody may send it again");
        answer(&shop, approval).await;
        tell(&shop, &teller, &directory).await;
        assert_eq!(text(failed).await, "", "it is over");
        let again = ask_outbox(&shop, failed, Some(DuplicateConsent::NotGiven)).await;
        assert_eq!(again, OutboxChange::NotNow(OutboxState::Failed));
        assert_eq!(row(&shop, failed).await.state, OutboxState::Failed);
    }

    async fn an_old_question_is_told_by_lists_alone(test: TestDb) {
        let account = Account::new(SendIdempotency::Once);
        let (shop, teller, directory) = open(test, &account).await;
        add_member(&shop, Role::Owner, &["asha@shop.example"]).await;
        ask(&shop).await;
        shop.test.clock.advance(Duration::from_secs(25 * 3600));
        assert_eq!(tell(&shop, &teller, &directory).await, 0);
        ask(&shop).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        assert_eq!(account.texts()[0].matches("Write down").count(), 1);
    }

    async fn what_lists_alone_tell_is_not_even_read(test: TestDb) {
        let account = Account::new(SendIdempotency::Once);
        let (shop, teller, directory) = open(test, &account).await;
        add_member(&shop, Role::Owner, &["asha@shop.example"]).await;
        let old = ask(&shop).await;
        let spoil = "UPDATE approvals SET question = '{}' WHERE tenant_id = $1 AND id = $2";
        shop.write(move |tx| tx.execute(spoil, params![old])).await;
        shop.test.clock.advance(Duration::from_secs(25 * 3600));
        ask_often(&shop, 2).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        assert_eq!(account.texts()[0].matches("Write down").count(), 2, "none of a day ago");
    }

    async fn who_asks_for_a_human_is_told_to_their_team_until_somebody_comes(test: TestDb) {
        let account = Account::new(SendIdempotency::Once);
        let (shop, teller, directory) = open(test, &account).await;
        add_member(&shop, Role::Viewer, &["nina@shop.example"]).await;
        add_member(&shop, Role::Staff, &["till@shop.example"]).await;
        let returns = add_member(&shop, Role::Staff, &["meera@shop.example", "meera@home.example"]).await;
        shop.write(move |tx| {
            let person = persons::find(tx, returns)?.unwrap();
            persons::upsert(tx, &Person { tags: vec!["returns".to_owned()], ..person })
        })
        .await;
        let request = call_for_human(&shop, Some("returns")).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 0, "somebody at the desk may come first");
        shop.test.clock.advance(Duration::from_secs(121));
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        assert_eq!(recipients(&account), ["meera@home.example"]);
        let text = account.texts().remove(0);
        assert!(text.contains("Wants her money back") && text.contains("https://munshi.example/account/desk/"), "{text}");
        let take = "UPDATE human_requests SET state = 'held' WHERE tenant_id = $1 AND id = $2";
        shop.write(move |tx| tx.execute(take, params![request])).await;
        shop.test.clock.advance(PAUSE);
        assert_eq!(tell(&shop, &teller, &directory).await, 0, "somebody has come");
    }

    async fn a_question_is_told_in_the_readers_language_where_the_tool_has_words_in_it(test: TestDb) {
        let spec = ToolSpec {
            phrases: [(Language::Hindi, vec!["सब लिख लो".to_owned()])].into(),
            ..ToolSpec::read_only("note".parse().unwrap(), "Writes something down.", "house.note.add")
        };
        let mut packs = PackRegistry::default();
        packs.tools.add(spec, builtin::connector(), ToolHandler::Read(Arc::new(HindiNote))).unwrap();
        let account = Account::new(SendIdempotency::Once);
        let (shop, teller, directory) = open_with(test, &account, packs, NoTools).await;
        add_member(&shop, Role::Owner, &["asha@shop.example"]).await;
        let hindi = add_member(&shop, Role::Owner, &["meera@shop.example"]).await;
        shop.write(move |tx| {
            let person = persons::find(tx, hindi)?.unwrap();
            persons::upsert(tx, &Person { language: Some(Language::Hindi), ..person })
        })
        .await;
        ask(&shop).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 2);
        for sent in account.sent.lock().unwrap().iter() {
            let is_hindi = sent.to.address == "meera@shop.example";
            assert_eq!(sent.text.contains("सब लिख लो"), is_hindi, "{}", sent.text);
            assert_eq!(sent.text.contains("Write down ₹500"), !is_hindi, "{}", sent.text);
        }
    }
}
