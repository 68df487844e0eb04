//! Tools that are called for somebody only while they agree to what they are for.

mod withdrawals;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use munshi_identity::{ContactAddress, Person, Principal, persons};
use munshi_safety::acts::{self, ActState, Permit};
use munshi_safety::approvals::{
    self, AnswerSource, Approval, ApprovalAnswer, ApprovalAnswerOutcome, ApprovalCoverage, ApprovalDecision,
};
use munshi_safety::consents::{self, ConsentState, PurposeConsent};
use munshi_safety::pipeline::{CallerAudience, ConsentGiver, ConsentReason};
use munshi_safety::policy;
use munshi_store::{Db, PageRequest, Tx};
use munshi_test_support::{TestDb, on_both_engines, wait_until};
use munshi_tools::{
    LookupOutcome, NoActJournal, ReadToolHandler, RemoteToolHandler, ToolAnswer, ToolDispatcher, ToolFailure,
    ToolHandler, ToolOutput, ToolRegistry,
};
use munshi_types::{Clock, ConsentId, Effect, Reach, RunId, TenantId, ToolSpec};
use serde_json::json;

use crate::stack::support::{MIGRATIONS, Shop, foreign, house};

const WORDS: &str = "May we ask the bureau about your credit? You can take this back at any time.";
const POLICY: &str = "[connectors.shop]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n\
    [connectors.elsewhere]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n\
    [consent.purposes.credit_check]\ndays = 30\n\
    words = \"May we ask the bureau about your credit? You can take this back at any time.\"\n";

/// A bureau, where consents may be withdrawn while it is asked.
#[derive(Clone)]
struct Bureau {
    db: Db,
    tenant: TenantId,
    clock: Arc<dyn Clock>,
    asked: Arc<AtomicU32>,
    /// Withdrawn while it is asked.
    withdraws: Arc<Mutex<Option<ConsentId>>>,
    fails: Arc<AtomicBool>,
    hangs: Arc<AtomicBool>,
}

#[async_trait]
impl RemoteToolHandler for Bureau {
    async fn call(&self, _permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.withdraw().await;
        if self.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        match self.fails.load(Ordering::SeqCst) {
            true => Err(ToolFailure::transient("busy", "the line is busy")),
            false => Ok(ToolOutput::new(json!({ "score": 741 }))),
        }
    }

    async fn rehearse(&self, _permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        self.withdraw().await;
        Ok(ToolOutput::new(json!({ "would_lend": 5_000 })))
    }

    async fn look_up(&self, _permit: &Permit) -> Result<LookupOutcome, ToolFailure> {
        self.withdraw().await;
        Ok(LookupOutcome::DidNot)
    }
}

impl Bureau {
    /// What is to be withdrawn while it is asked.
    async fn withdraw(&self) {
        let withdrawn = self.withdraws.lock().unwrap().take();
        if let Some(consent) = withdrawn {
            let now = self.clock.now();
            let unit = move |tx: &mut Tx<'_>| consents::withdraw(tx, consent, "test", now);
            self.db.write(self.tenant, unit).await.unwrap();
        }
    }
}

struct OwnBooks(Arc<AtomicU32>);

impl ReadToolHandler for OwnBooks {
    fn read(&self, _permit: &Permit, _tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(ToolOutput::new(json!({ "score": 12 })))
    }
}

/// Tools for a credit check; of what those say that look it up, something is kept or nothing.
fn build_registry(bureau: &Bureau, transient: bool) -> ToolRegistry {
    let spec = |name: &str, effect: Effect| ToolSpec {
        parameters: json!({ "type": "object", "properties": { "of": { "type": "string" } } }),
        effect,
        reach: Reach::Person,
        timeout: Duration::from_secs(2),
        consent: Some("credit_check".parse().unwrap()),
        transient: transient && !effect.writes(),
        ..ToolSpec::read_only(name.parse().unwrap(), format!("Does {name}."), format!("shop.{name}"))
    };
    let far = || ToolHandler::Remote(Arc::new(bureau.clone()));
    let mut registry = ToolRegistry::default();
    registry.add(spec("score", Effect::Read), foreign(), far()).unwrap();
    let own = ToolHandler::Read(Arc::new(OwnBooks(bureau.asked.clone())));
    registry.add(spec("own_score", Effect::Read), house(), own).unwrap();
    let mut of_anybody = ToolSpec { subject: Some("of".to_owned()), ..spec("score_of", Effect::Read) };
    of_anybody.parameters["required"] = json!(["of"]);
    registry.add(of_anybody, foreign(), far()).unwrap();
    registry.add(spec("report", Effect::Checked), foreign(), far()).unwrap();
    let lends = ToolSpec { dangerous: true, dry_run: true, ..spec("lend", Effect::Keyed) };
    registry.add(lends, foreign(), far()).unwrap();
    let other = ToolSpec { consent: Some("marketing".parse().unwrap()), ..spec("advertise", Effect::Read) };
    registry.add(other, foreign(), far()).unwrap();
    registry
}

/// A shop with tools for a credit check.
struct Lender<'a> {
    test: &'a TestDb,
    shop: Shop,
    bureau: Bureau,
}

impl<'a> Lender<'a> {
    async fn open(test: &'a TestDb) -> Self {
        let shop = Shop::open(test).await;
        shop.set_policy(&test.db, POLICY, test.clock.now()).await;
        let bureau = Bureau {
            db: test.db.clone(),
            tenant: shop.tenant,
            clock: test.clock.clone(),
            asked: Arc::default(),
            withdraws: Arc::default(),
            fails: Arc::default(),
            hangs: Arc::default(),
        };
        let dispatcher = ToolDispatcher::new(
            test.db.clone(),
            shop.act_services.clone(),
            Arc::new(build_registry(&bureau, false)),
            test.clock.clone(),
        );
        Self { test, shop: Shop { dispatcher, ..shop }, bureau }
    }

    /// Nothing is kept from here on of what is looked up; another process, in the place of the one before.
    fn keep_nothing(&mut self) {
        self.shop.dispatcher = ToolDispatcher::new(
            self.test.db.clone(),
            self.shop.act_services.clone(),
            Arc::new(build_registry(&self.bureau, true)),
            self.test.clock.clone(),
        );
    }

    async fn ask(&self, tool: &str) -> ToolAnswer {
        self.ask_as(&self.shop.staff, tool).await
    }

    /// In a turn of its own.
    async fn ask_as(&self, who: &Principal, tool: &str) -> ToolAnswer {
        let mut want = self.shop.want(tool, json!({ "of": "Asha" }));
        (want.caller.principal, want.caller.run) = (who.clone(), Some(self.test.ids.next()));
        self.shop.call(want).await
    }

    /// Asked and agreed to; gives the consent.
    async fn agree_as(&self, who: &Principal) -> PurposeConsent {
        let ToolAnswer::Waiting(question) = self.ask_as(who, "score").await else {
            panic!("they are not asked")
        };
        let outcome = self.answer(&question, (who, AnswerSource::Page), ApprovalDecision::Yes).await;
        assert!(matches!(outcome, ApprovalAnswerOutcome::Granted(_)), "{outcome:?}");
        self.consents_of(who).await.remove(0)
    }

    /// Asks, and gives the question.
    async fn question(&self, tool: &str) -> Approval {
        match self.ask(tool).await {
            ToolAnswer::Waiting(approval) => *approval,
            other => panic!("{tool}: {other:?}"),
        }
    }

    async fn answer(
        &self,
        approval: &Approval,
        (who, source): (&Principal, AnswerSource),
        answer: ApprovalDecision,
    ) -> ApprovalAnswerOutcome {
        let (id, who) = (approval.id, who.clone());
        let (services, now) = (self.shop.act_services.clone(), self.test.clock.now());
        let unit = move |tx: &mut Tx<'_>| {
            let said = ApprovalAnswer {
                who: &who,
                answer,
                shown: None,
                covers: ApprovalCoverage::Act,
                via: "test",
                key: None,
                source,
            };
            approvals::answer(tx, &services, id, &said, now)
        };
        self.test.db.write(self.shop.tenant, unit).await.unwrap()
    }

    /// Their own yes.
    async fn agree(&self, approval: &Approval) {
        let said = (&self.shop.staff, AnswerSource::Page);
        let outcome = self.answer(approval, said, ApprovalDecision::Yes).await;
        assert!(matches!(outcome, ApprovalAnswerOutcome::Granted(_)), "{outcome:?}");
    }

    async fn consents(&self) -> Vec<PurposeConsent> {
        self.consents_of(&self.shop.staff).await
    }

    async fn consents_of(&self, who: &Principal) -> Vec<PurposeConsent> {
        let person = who.person.unwrap();
        let read = move |tx: &mut Tx<'_>| consents::list(tx, person, &PageRequest::new(None, 10));
        self.test.db.read(self.shop.tenant, read).await.unwrap().items
    }

    /// Consented to, and asked once.
    async fn agreed(test: &'a TestDb) -> Self {
        let lender = Self::open(test).await;
        let question = lender.question("score").await;
        lender.agree(&question).await;
        assert!(matches!(lender.shop.resume(question.act).await, ToolAnswer::Done(_)));
        lender
    }

    async fn withdraw(&self) {
        self.withdraw_as(&self.shop.staff).await;
    }

    async fn withdraw_as(&self, who: &Principal) {
        let (consent, now) = (self.consents_of(who).await.remove(0).id, self.test.clock.now());
        let unit = move |tx: &mut Tx<'_>| consents::withdraw(tx, consent, "test", now);
        let (_, ended) = self.test.db.write(self.shop.tenant, unit).await.unwrap().unwrap();
        assert_eq!(ended, 1);
    }

    /// Of the newest consent.
    async fn state(&self) -> ConsentState {
        let read = |tx: &mut Tx<'_>| policy::load_current(tx);
        let (_, policy) = self.test.db.read(self.shop.tenant, read).await.unwrap();
        self.consents().await[0].state(&policy.consent, self.test.clock.now())
    }

    fn asked(&self) -> u32 {
        self.bureau.asked.load(Ordering::SeqCst)
    }
}

on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4]];

    async fn the_person_alone_agrees_and_the_act_names_it(test: TestDb) {
        let lender = Lender::open(&test).await;
        let question = lender.question("score").await;
        assert!(question.words.starts_with(WORDS) && question.words.contains("Asha"), "{}", question.words);
        assert_eq!(question.question.needs, ConsentGiver::Subject);
        let (yes, page) = (ApprovalDecision::Yes, AnswerSource::Page);
        let owners = lender.answer(&question, (&lender.shop.owner, page), yes).await;
        assert!(matches!(owners, ApprovalAnswerOutcome::NotYours { .. }), "an owner is somebody else: {owners:?}");
        let programs = lender.answer(&question, (&lender.shop.staff, AnswerSource::Other), yes).await;
        assert_eq!(programs, ApprovalAnswerOutcome::NotTheirWord);
        assert_eq!((lender.asked(), lender.consents().await.len()), (0, 0));
        lender.agree(&question).await;
        let answer = lender.shop.resume(question.act).await;
        assert!(matches!(answer, ToolAnswer::Done(_)), "{answer:?}");
        let consent = lender.consents().await.remove(0);
        assert_eq!((consent.words.as_str(), consent.purpose.as_str()), (WORDS, "credit_check"));
        let days = consent.ends_at.since(consent.given_at);
        assert_eq!((consent.approval, days), (Some(question.id), Duration::from_secs(30 * 24 * 3600)));
        let act = lender.shop.act(&test.db, question.act).await.unwrap();
        assert_eq!(act.consent, Some(consent.id));
        assert!(matches!(lender.ask("own_score").await, ToolAnswer::Done(_)), "once is enough for a purpose");
        test.clock.advance(Duration::from_secs(31 * 24 * 3600));
        lender.question("score").await;
        assert_eq!((lender.asked(), lender.state().await), (2, ConsentState::Ended));
    }

    async fn what_nobody_declared_is_never_done(test: TestDb) {
        let lender = Lender::open(&test).await;
        assert_eq!(lender.ask("advertise").await.render_for_model()["code"], "undeclared_purpose");
    }

    async fn a_no_holds_for_its_turn(test: TestDb) {
        let lender = Lender::open(&test).await;
        let run: RunId = test.ids.next();
        let ask = async |run: RunId| {
            let mut want = lender.shop.want("score", json!({ "of": "Asha" }));
            want.caller.run = Some(run);
            lender.shop.call(want).await
        };
        let ToolAnswer::Waiting(question) = ask(run).await else { panic!("they are not asked") };
        lender.answer(&question, (&lender.shop.staff, AnswerSource::Page), ApprovalDecision::No).await;
        assert_eq!(ask(run).await.render_for_model()["code"], "no_consent");
        assert!(matches!(ask(test.ids.next()).await, ToolAnswer::Waiting(_)), "and for no other");
        assert!(lender.consents().await.is_empty());
    }

    async fn a_program_that_calls_again_and_again_asks_them_once(test: TestDb) {
        let lender = Lender::open(&test).await;
        let call = async || lender.shop.call(lender.shop.want("score", json!({ "of": "Asha" }))).await;
        let ToolAnswer::Waiting(question) = call().await else { panic!("they are not asked") };
        assert_eq!(call().await.render_for_model()["code"], "no_consent", "they have not answered yet");
        lender.answer(&question, (&lender.shop.staff, AnswerSource::Page), ApprovalDecision::No).await;
        assert_eq!(call().await.render_for_model()["code"], "no_consent", "they have said no");
        test.clock.advance(Duration::from_secs(25 * 3600));
        let ToolAnswer::Waiting(question) = call().await else { panic!("they may be asked another day") };
        lender.agree(&question).await;
        assert!(matches!(call().await, ToolAnswer::Done(_)));
    }

    async fn a_question_whose_time_is_over_was_asked_all_the_same(test: TestDb) {
        let lender = Lender::open(&test).await;
        let policy = format!("[approvals]\nhours = 1\n{POLICY}");
        lender.shop.set_policy(&test.db, &policy, test.clock.now()).await;
        let call = async || lender.shop.call(lender.shop.want("score", json!({ "of": "Asha" }))).await;
        assert!(matches!(call().await, ToolAnswer::Waiting(_)));
        for _ in 0..11 {
            test.clock.advance(Duration::from_secs(2 * 3600));
            assert_eq!(call().await.render_for_model()["code"], "no_consent", "once a day at most");
        }
        test.clock.advance(Duration::from_secs(3 * 3600));
        assert!(matches!(call().await, ToolAnswer::Waiting(_)), "they may be asked another day");
    }

    async fn whoever_must_approve_is_asked_besides(test: TestDb) {
        let lender = Lender::open(&test).await;
        let question = lender.question("lend").await;
        assert_eq!(question.question.reasons, [ConsentReason::Purpose, ConsentReason::Dangerous]);
        assert!(question.words.starts_with(WORDS) && question.words.len() > WORDS.len(), "{}", question.words);
        lender.agree(&question).await;
        assert_eq!(lender.shop.resume(question.act).await.render_for_model()["code"], "outgrown", "staff approve nothing dangerous");
        let second = lender.question("lend").await;
        assert_eq!((second.question.reasons.as_slice(), second.question.purpose.is_none()), (&[ConsentReason::Dangerous][..], true));
        lender.withdraw().await;
        let granted = lender.answer(&second, (&lender.shop.owner, AnswerSource::Page), ApprovalDecision::Yes).await;
        assert!(matches!(granted, ApprovalAnswerOutcome::Granted(_)));
        assert_eq!(lender.shop.resume(second.act).await.render_for_model()["code"], "no_consent");
        assert_eq!(lender.asked(), 0);
    }

    async fn what_is_withdrawn_is_used_no_more(test: TestDb) {
        let lender = Lender::agreed(&test).await;
        lender.withdraw().await;
        assert_eq!(lender.state().await, ConsentState::Withdrawn);
        for tool in ["score", "own_score"] {
            lender.question(tool).await;
        }
        assert_eq!(lender.asked(), 1);
    }

    async fn who_turned_out_to_be_somebody_else_says_yes_to_what_they_asked(test: TestDb) {
        let lender = Lender::open(&test).await;
        let met = Person::new(&test.ids, "Asha's phone", test.clock.now());
        let (from, into) = (met.id, lender.shop.staff.person.unwrap());
        let add = move |tx: &mut Tx<'_>| -> munshi_store::Result<Principal> {
            persons::upsert(tx, &met)?;
            Ok(met.principal(tx))
        };
        let visitor = test.db.write(lender.shop.tenant, add).await.unwrap();
        let mut want = lender.shop.want("score", json!({ "of": "Asha" }));
        (want.caller.principal, want.caller.door) = (visitor, CallerAudience::Public);
        let ToolAnswer::Waiting(question) = lender.shop.call(want).await else { panic!("they are not asked") };
        let merge = move |tx: &mut Tx<'_>| -> Result<(), munshi_safety::Error> {
            persons::merge(tx, from, into)
                .map_err(|error| munshi_safety::Error::Invalid(error.to_string()))?;
            approvals::move_asker(tx, from, into)?;
            let _ = consents::move_person(tx, from, into)?;
            Ok(())
        };
        test.db.write(lender.shop.tenant, merge).await.unwrap();
        lender.agree(&question).await;
        let answer = lender.shop.resume(question.act).await;
        assert!(matches!(answer, ToolAnswer::Done(_)), "{answer:?}");
        let act = lender.shop.act(&test.db, question.act).await.unwrap();
        assert_eq!(act.consent, Some(lender.consents().await[0].id));
    }

    async fn other_words_or_another_time_are_asked_anew(test: TestDb) {
        let lender = Lender::agreed(&test).await;
        for changed in [
            POLICY.replace("your credit?", "you and your family?"),
            POLICY.replace("days = 30", "days = 3000"),
            POLICY.replace("words = ", "words = { hi = \"क्या?\", en = ").replace("any time.\"", "any time.\" }"),
        ] {
            lender.shop.set_policy(&test.db, &changed, test.clock.now()).await;
            let holds = changed.contains("hi = ");
            assert_eq!(matches!(lender.ask("score").await, ToolAnswer::Done(_)), holds, "{changed}");
            assert_eq!(lender.state().await, if holds { ConsentState::Valid } else { ConsentState::Outdated });
        }
        lender.shop.set_policy(&test.db, POLICY, test.clock.now()).await;
        assert!(matches!(lender.ask("score").await, ToolAnswer::Done(_)), "as it was when they agreed");
    }

    async fn a_yes_to_words_that_are_no_longer_asked_is_no_consent(test: TestDb) {
        let lender = Lender::open(&test).await;
        let question = lender.question("score").await;
        let changed = POLICY.replace("your credit?", "you and your family?");
        lender.shop.set_policy(&test.db, &changed, test.clock.now()).await;
        lender.agree(&question).await;
        assert!(lender.consents().await.is_empty());
        assert_eq!(lender.shop.resume(question.act).await.render_for_model()["code"], "no_consent");
        let again = lender.question("score").await;
        assert!(again.words.contains("your family?"), "{}", again.words);
        lender.agree(&again).await;
        assert!(matches!(lender.shop.resume(again.act).await, ToolAnswer::Done(_)));
        assert_eq!(lender.asked(), 1);
    }

    async fn whom_it_is_about_agrees_and_nobody_for_them(test: TestDb) {
        let lender = Lender::open(&test).await;
        let (staff, owner) = (&lender.shop.staff, &lender.shop.owner);
        let phone = ContactAddress::phone("+919812345678").unwrap();
        let (known, id) = (phone.clone(), owner.person.unwrap());
        let add = move |tx: &mut Tx<'_>| persons::add_address(tx, id, &known);
        test.db.write(lender.shop.tenant, add).await.unwrap();
        let look = async |of: String| {
            lender.shop.call(lender.shop.want("score_of", json!({ "of": of }))).await
        };
        let owner_id = owner.person.unwrap().to_string();
        for of in [owner_id.clone(), phone.as_str().to_owned(), "+919800000009".to_owned(), "the owner".to_owned()] {
            assert_eq!(look(of.clone()).await.render_for_model()["code"], "no_consent", "{of}");
        }
        let own = look(staff.person.unwrap().to_string()).await;
        let ToolAnswer::Waiting(question) = own else { panic!("they are asked for themself: {own:?}") };
        lender.agree(&question).await;
        assert!(matches!(lender.shop.resume(question.act).await, ToolAnswer::Done(_)));
        let others = look(owner_id.clone()).await.render_for_model();
        assert_eq!(others["code"], "no_consent", "what they agreed to for themself is nobody else's");
        let consent = lender.agree_as(owner).await.id;
        for of in [owner_id.clone(), phone.as_str().to_owned()] {
            assert!(matches!(look(of.clone()).await, ToolAnswer::Done(_)), "{of}");
        }
        lender.withdraw_as(owner).await;
        assert_eq!(look(owner_id).await.render_for_model()["code"], "no_consent");
        assert_eq!(lender.asked(), 3);
        let stored = test.db.read(lender.shop.tenant, |tx| acts::list(tx, &PageRequest::new(None, 10))).await.unwrap();
        assert_eq!(stored.items.iter().filter(|act| act.consent == Some(consent)).count(), 2);
    }

    async fn what_is_withdrawn_while_it_is_asked_is_not_told(test: TestDb) {
        let lender = Lender::agreed(&test).await;
        *lender.bureau.withdraws.lock().unwrap() = Some(lender.consents().await[0].id);
        let want = lender.shop.want("score", json!({ "of": "Asha" }));
        let act = want.act;
        let answer = lender.shop.call(want).await.render_for_model();
        assert_eq!(answer["code"], "no_consent");
        let stored = lender.shop.act(&test.db, act).await.unwrap();
        assert_eq!(stored.state, ActState::Failed);
        assert!(!stored.result.unwrap().to_string().contains("741"));
    }

    async fn what_nothing_is_to_be_kept_of_since_it_was_proposed_is_not_kept(test: TestDb) {
        let mut lender = Lender::open(&test).await;
        let question = lender.question("score").await;
        lender.keep_nothing();
        lender.agree(&question).await;
        let answer = lender.shop.resume(question.act).await;
        assert!(answer.render_for_model().to_string().contains("741"), "whoever asked is told: {answer:?}");
        let stored = lender.shop.act(&test.db, question.act).await.unwrap();
        assert!(stored.is_transient && !stored.result.unwrap().to_string().contains("741"));
    }

    async fn a_look_that_broke_off_is_not_kept_by_whoever_takes_it_over(test: TestDb) {
        let mut lender = Lender::agreed(&test).await;
        lender.bureau.hangs.store(true, Ordering::SeqCst);
        let want = lender.shop.want("score", json!({ "of": "Asha" }));
        let act = want.act;
        tokio::select! {
            () = wait_until(async || lender.asked() == 2) => {}
            answer = lender.shop.call(want) => panic!("it does not hang: {answer:?}"),
        }
        lender.bureau.hangs.store(false, Ordering::SeqCst);
        lender.keep_nothing();
        test.clock.advance(Duration::from_secs(120));
        lender.shop.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap();
        let stored = lender.shop.act(&test.db, act).await.unwrap();
        assert!(stored.is_spent() && stored.state == ActState::Failed, "{stored:?}");
        assert_eq!(lender.asked(), 2, "nobody is there who could hear it");
    }

    async fn a_write_that_is_taken_over_is_not_made_after_they_withdrew(test: TestDb) {
        let lender = Lender::agreed(&test).await;
        lender.bureau.hangs.store(true, Ordering::SeqCst);
        let want = lender.shop.want("report", json!({ "of": "Asha" }));
        let act = want.act;
        tokio::select! {
            () = wait_until(async || lender.asked() == 2) => {}
            answer = lender.shop.call(want) => panic!("it does not hang: {answer:?}"),
        }
        lender.bureau.hangs.store(false, Ordering::SeqCst);
        // They do while it is looked up whether it happened.
        *lender.bureau.withdraws.lock().unwrap() = Some(lender.consents().await[0].id);
        test.clock.advance(Duration::from_secs(120));
        wait_until(async || {
            lender.shop.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap();
            lender.shop.act(&test.db, act).await.unwrap().state != ActState::Intended
        })
        .await;
        let stored = lender.shop.act(&test.db, act).await.unwrap();
        assert_eq!((stored.state, &stored.result.unwrap()["code"]), (ActState::Failed, &json!("no_consent")));
        assert_eq!(lender.asked(), 2, "it did not happen, and is not done");
    }

    async fn what_is_tried_out_rests_on_what_they_agreed_to(test: TestDb) {
        let lender = Lender::agreed(&test).await;
        let consent = lender.consents().await[0].id;
        let question = lender.question("lend").await;
        assert_eq!(question.rehearsal, Some(json!({ "would_lend": 5_000 })));
        assert_eq!(lender.shop.act(&test.db, question.act).await.unwrap().consent, Some(consent));
        *lender.bureau.withdraws.lock().unwrap() = Some(consent);
        let question = lender.question("lend").await;
        let id = question.id;
        let stored = test.db.read(lender.shop.tenant, move |tx| approvals::find(tx, id)).await.unwrap().unwrap();
        for shown in [question, stored] {
            assert_eq!(shown.rehearsal.unwrap()["code"], "no_consent", "they took it back meanwhile");
        }
    }

    async fn what_is_withdrawn_between_tries_is_not_tried_again(test: TestDb) {
        let lender = Lender::agreed(&test).await;
        lender.bureau.fails.store(true, Ordering::SeqCst);
        *lender.bureau.withdraws.lock().unwrap() = Some(lender.consents().await[0].id);
        assert_eq!(lender.ask("score").await.render_for_model()["ok"], false);
        assert_eq!(lender.asked(), 2, "once before, and once now");
    }
}
