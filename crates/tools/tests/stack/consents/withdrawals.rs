//! Consents that end: by whom, in whose name, and while two turn out to be one.

use std::time::Duration;

use munshi_identity::{Person, Principal, persons};
use munshi_safety::consents::{self, ConsentState, WithdrawalRequest, WithdrawnConsents};
use munshi_safety::policy;
use munshi_store::{Tx, params};
use munshi_test_support::on_both_engines;
use munshi_tools::ToolAnswer;
use munshi_types::tier::Channel;
use munshi_types::{Clock, PersonId};
use serde_json::{Value, json};

use super::{Lender, POLICY};
use crate::stack::support::MIGRATIONS;

impl Lender<'_> {
    async fn merge(&self, from: PersonId, into: PersonId) {
        let (services, now) = (self.shop.act_services.clone(), self.test.clock.now());
        let unit = move |tx: &mut Tx<'_>| consents::move_person(tx, from, into)?.record(tx, &services, now);
        self.test.db.write(self.shop.tenant, unit).await.unwrap();
    }

    /// What the audit was told of withdrawals by somebody.
    async fn told(&self, actor: &'static str) -> Vec<Value> {
        let read = move |tx: &mut Tx<'_>| -> munshi_store::Result<Vec<String>> {
            tx.all(
                "SELECT payload FROM audit_entries
                 WHERE tenant_id = $1 AND event = 'consent.withdrawn' AND actor_id = $2 ORDER BY seq",
                params![actor],
                |row| row.get::<String>(0),
            )
        };
        let told: Vec<String> = self.test.db.read(self.shop.tenant, read).await.unwrap();
        told.iter().map(|payload| serde_json::from_str(payload).unwrap()).collect()
    }

    /// All that somebody has agreed to; gives how many purposes.
    async fn withdraw_all(&self, request: WithdrawalRequest<'static>) -> usize {
        let (services, now) = (self.shop.act_services.clone(), self.test.clock.now());
        let unit = move |tx: &mut Tx<'_>| -> Result<usize, munshi_safety::Error> {
            let WithdrawnConsents { consents, audit } = consents::withdraw_all(tx, &request, now)?;
            audit.record(tx, &services, now)?;
            Ok(consents.len())
        };
        self.test.db.write(self.shop.tenant, unit).await.unwrap()
    }
}

on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4]];

    async fn what_is_withdrawn_stays_so_when_two_turn_out_to_be_one(test: TestDb) {
        let lender = Lender::open(&test).await;
        let (staff, owner) = (&lender.shop.staff, &lender.shop.owner);
        lender.agree_as(staff).await;
        lender.agree_as(owner).await;
        test.clock.advance(Duration::from_secs(60));
        lender.withdraw_as(owner).await;
        let withdrawn_at = test.clock.now();
        test.clock.advance(Duration::from_secs(60));
        let (from, into) = (owner.person.unwrap(), staff.person.unwrap());
        lender.merge(from, into).await;
        assert_eq!(lender.told("merge").await, [json!({
            "purpose": "credit_check", "person": into, "was": from, "ended": 1, "via": "merge",
        })]);
        let all = lender.consents().await;
        assert!(all.iter().all(|consent| consent.withdrawn_at == Some(withdrawn_at)), "{all:?}");
        assert!(matches!(lender.ask("score").await, ToolAnswer::Waiting(_)), "they are asked anew");
        // What was agreed to after that stays, whichever row it is of.
        for (from, into) in [(owner, staff), (staff, owner)] {
            let later = lender.agree_as(staff).await;
            let (source, target) = (from.person.unwrap(), into.person.unwrap());
            lender.merge(source, target).await;
            let read = move |tx: &mut Tx<'_>| consents::find(tx, later.id);
            let kept = test.db.read(lender.shop.tenant, read).await.unwrap().unwrap();
            assert_eq!((kept.person, kept.state(&policy::parse(POLICY).unwrap().consent, test.clock.now())), (target, ConsentState::Valid));
            lender.withdraw_as(into).await;
            test.clock.advance(Duration::from_secs(60));
        }
    }

    async fn the_audit_tells_whose_word_ended_them(test: TestDb) {
        let lender = Lender::open(&test).await;
        let person = lender.shop.staff.person.unwrap();
        let (message, key) = (test.ids.next(), test.ids.next());
        let own = WithdrawalRequest { person, via: "chat", message: Some((message, Channel::Web)), key: None, is_vouched: false };
        let by_key = WithdrawalRequest { key: Some(key), message: Some((message, Channel::Api)), ..own };
        let by_host = WithdrawalRequest { is_vouched: true, ..own };
        let at_machine = WithdrawalRequest { message: Some((message, Channel::Api)), ..own };
        let names = [(own, person.to_string()), (by_key, format!("api key {key}")), (by_host, "host".to_owned()), (at_machine, "api".to_owned())];
        for (request, name) in names {
            lender.agree_as(&lender.shop.staff).await;
            assert_eq!(lender.withdraw_all(request).await, 1);
            assert_eq!(lender.withdraw_all(request).await, 0, "once");
            let told = lender.told(name.leak()).await;
            let channel = request.message.map(|(_, channel)| channel);
            let (named, by) = (told[0]["channel"].clone(), told[0]["key"].clone());
            assert_eq!((told.len(), named, by), (1, json!(channel), json!(request.key)));
            test.clock.advance(Duration::from_secs(60));
        }
    }

    async fn who_withdraws_while_two_become_one_withdraws_all(test: TestDb) {
        let lender = Lender::open(&test).await;
        let (staff, owner) = (lender.shop.staff.clone(), lender.shop.owner.clone());
        lender.agree_as(&staff).await;
        let met = Person::new(&test.ids, "Asha's phone", test.clock.now());
        let (from, into) = (met.id, staff.person.unwrap());
        let add = move |tx: &mut Tx<'_>| -> munshi_store::Result<Principal> {
            persons::upsert(tx, &met)?;
            Ok(met.principal(tx))
        };
        let visitor = test.db.write(lender.shop.tenant, add).await.unwrap();
        let merge = async {
            let services = (lender.shop.act_services.clone(), test.clock.now());
            let unit = move |tx: &mut Tx<'_>| -> Result<(), munshi_safety::Error> {
                persons::merge(tx, from, into)
                    .map_err(|error| munshi_safety::Error::Invalid(error.to_string()))?;
                let audit = consents::move_person(tx, from, into)?;
                audit.record(tx, &services.0, services.1)
            };
            test.db.write(lender.shop.tenant, unit).await.unwrap();
        };
        let request = WithdrawalRequest {
            person: visitor.person.unwrap(), via: "chat", message: None, key: None, is_vouched: false,
        };
        let (mine, theirs) = (lender.withdraw_all(request), lender.withdraw_all(request));
        tokio::join!(merge, mine, theirs);
        // Whichever came first: nobody of the two has anything left once they say it as one.
        lender.withdraw_all(WithdrawalRequest { person: into, ..request }).await;
        assert_eq!(lender.state().await, ConsentState::Withdrawn);
        assert!(lender.consents_of(&owner).await.is_empty());
    }
}
