//! What the attacker does, move by move, and what the people of the tenant do meanwhile.

use std::sync::Arc;
use std::time::Duration;

use munshi_identity::{Principal, Role, persons};
use munshi_safety::approvals::{
    self, ApprovalAnswerOutcome, ApprovalCoverage, ApprovalDecision as Said, ApprovalKind,
};
use munshi_safety::policy;
use munshi_store::tenants::{TENANTS, set_status};
use munshi_tools::{NoActJournal, ToolCallRequest};
use munshi_types::{ActId, Clock, TenantStatus};

use super::attack;
use super::oracle::{Invariant, Yes, is_rightful};
use super::victim::Victim;

impl Victim {
    /// One move of the attacker.
    pub(super) async fn step(&mut self) {
        let millis = self.dice.below(1_500);
        self.clock.advance(Duration::from_millis(millis as u64));
        let rate = f64::from(self.policy.rates.writes_per_minute);
        self.room = rate.min(self.room + rate * millis as f64 / 60_000.0);
        match self.dice.below(20) {
            0..=10 => self.propose().await,
            11..=13 => self.replay().await,
            14..=16 => self.take_up().await,
            17 => self.steal().await,
            18 if self.dice.one_in(2) => self.change_policy().await,
            18 if self.dice.one_in(2) => self.flood().await,
            18 => self.pause_or_resume().await,
            _ => self.change_people().await,
        }
        if self.paused && self.dice.one_in(4) {
            self.pause_or_resume().await;
        }
        for _ in 0..8 {
            self.answer().await;
        }
    }

    fn who(&self) -> Principal {
        if self.dice.one_in(8) {
            return Principal::anonymous(self.tenant);
        }
        if self.dice.one_in(2) { self.people[0].clone() } else { self.dice.pick(&self.people).clone() }
    }

    async fn propose(&mut self) {
        let stolen = self.stolen.of_another(&self.dice, self.tenant).filter(|_| !self.dice.one_in(3));
        let want = attack::want(&self.dice, self.who(), stolen);
        if stolen.is_some() {
            self.tally.attempt(Invariant::OwnTenant);
        }
        self.call(want).await;
    }

    /// The same harmless note, again and again within a moment.
    async fn flood(&mut self) {
        self.clock.advance(Duration::from_secs(60));
        self.room = f64::from(self.policy.rates.writes_per_minute);
        for _ in 0..12 {
            self.call(attack::harmless(&self.dice, self.people[0].clone())).await;
        }
    }

    async fn replay(&mut self) {
        if self.order.is_empty() {
            return;
        }
        let done: Vec<ActId> = self.order.iter().copied().filter(|act| self.done.contains(act)).collect();
        let from = if self.dice.one_in(3) || done.is_empty() { &self.order } else { &done };
        let known = self.wants[self.dice.pick(from)].clone();
        let want = attack::replay(&self.dice, &known, self.who());
        self.call(want).await;
    }

    async fn call(&mut self, want: ToolCallRequest) {
        self.tally.proposals += 1;
        let before = self.judge(&want);
        let answer = self.dispatcher.call(want.clone(), Arc::new(NoActJournal)).await.unwrap();
        self.settle(want, &before, vec![answer]);
    }

    /// Goes on with an act that waits, twice at once, with the agent and the people as they are now.
    async fn take_up(&mut self) {
        let waiting: Vec<ActId> = self.open.iter().map(|open| open.approval.act).collect();
        let granted: Vec<ActId> =
            self.granted.keys().copied().filter(|act| !self.done.contains(act)).collect();
        let from = if self.dice.one_in(5) || granted.is_empty() { waiting } else { granted };
        if from.is_empty() {
            return;
        }
        let act = *self.dice.pick(&from);
        self.tally.proposals += 1;
        let mut want = self.wants[&act].clone();
        if !self.dice.one_in(3) {
            want.agent = Arc::new(attack::conduct(&self.dice));
        }
        let mut tools: Vec<_> =
            self.dispatcher.registry().all().map(|tool| tool.known.spec.name.clone()).collect();
        if self.dice.one_in(6) {
            tools.retain(|name| name.as_str() != want.name);
        }
        want.offered = tools.iter().any(|name| name.as_str() == want.name);
        if let Some(person) = want.caller.principal.person {
            let now = self.people.iter().find(|known| known.person == Some(person));
            let gone = Principal { person: Some(person), ..Principal::anonymous(self.tenant) };
            want.caller.principal = now.cloned().unwrap_or(gone);
        }
        let before = self.judge(&want);
        let resume =
            || self.dispatcher.resume(self.tenant, act, want.agent.clone(), &tools, Arc::new(NoActJournal));
        let (one, other) = tokio::join!(resume(), resume());
        let answers = vec![one.unwrap().unwrap(), other.unwrap().unwrap()];
        self.tally.attempt(Invariant::Once);
        self.settle(want, &before, answers);
    }

    /// Tries another tenant's act and another tenant's question.
    async fn steal(&mut self) {
        let stolen = self.stolen.of_another(&self.dice, self.tenant);
        // One that was tried here under the same name is this tenant's own by now.
        let Some((owner, act, approval)) = stolen.filter(|stolen| !self.wants.contains_key(&stolen.1)) else {
            return;
        };
        self.tally.proposals += 1;
        self.tally.attempt(Invariant::OwnTenant);
        let tools: Vec<_> =
            self.dispatcher.registry().all().map(|tool| tool.known.spec.name.clone()).collect();
        let agent = Arc::new(attack::conduct(&self.dice));
        let resumed =
            self.dispatcher.resume(self.tenant, act, agent, &tools, Arc::new(NoActJournal)).await.unwrap();
        self.tally.hold(resumed.is_none(), Invariant::OwnTenant, || format!("{resumed:?}"));
        if let Some(approval) = approval {
            let who = Principal { tenant: owner, ..self.people[0].clone() };
            for who in [who, self.people[0].clone()] {
                let (act_services, now) = (self.act_services.clone(), self.clock.now());
                let answered = self.db.write(self.tenant, move |tx| {
                    let said = approvals::ApprovalAnswer {
                        who: &who,
                        answer: Said::Yes,
                        shown: None,
                        covers: ApprovalCoverage::Session,
                        via: "test",
                        key: None,
                        source: munshi_safety::approvals::AnswerSource::Page,
                    };
                    approvals::answer(tx, &act_services, approval, &said, now)
                });
                let answered = answered.await.unwrap();
                self.tally.hold(answered == ApprovalAnswerOutcome::Unknown, Invariant::OwnTenant, || {
                    format!("{answered:?}")
                });
            }
        }
    }

    async fn change_policy(&mut self) {
        let policy = attack::policy(&self.dice, self.policy.rates);
        let (kept, now) = (policy.clone(), self.clock.now());
        self.db.write(self.tenant, move |tx| policy::apply(tx, &kept, "test", "", now)).await.unwrap();
        self.policy = policy;
    }

    /// The installation pauses the tenant for a while.
    async fn pause_or_resume(&mut self) {
        self.paused = !self.paused;
        let status = if self.paused { TenantStatus::Paused } else { TenantStatus::Active };
        let tenant = self.tenant;
        let platform = self.db.platform(TENANTS);
        assert!(
            platform
                .write(move |tx| munshi_test_support::administer_platform(tx, |tx| set_status(
                    tx, tenant, status
                )))
                .await
                .unwrap()
        );
    }

    /// Somebody gets another role, or leaves; never the owner.
    async fn change_people(&mut self) {
        let at = 1 + self.dice.below(self.people.len() - 1);
        let person = self.people[at].person.unwrap();
        let role = *self.dice.pick(&[Some(Role::Admin), Some(Role::Staff), Some(Role::Viewer), None]);
        let leaves = self.dice.one_in(12) && self.people.len() > 4;
        let now = self.clock.now();
        let principal = self.db.write(self.tenant, move |tx| -> Result<_, munshi_safety::Error> {
            let mut known = persons::find(tx, person)?.unwrap();
            known.role = role;
            known.left_at = leaves.then_some(now);
            persons::upsert(tx, &known)?;
            Ok(known.principal(tx))
        });
        let principal = principal.await.unwrap();
        if leaves {
            self.people.remove(at);
        } else {
            self.people[at] = principal;
        }
    }

    /// Somebody answers an open question: the right one or not, having seen it or something else.
    async fn answer(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let at = self.dice.below(self.open.len());
        let (approval, yes) = (self.open[at].approval.clone(), self.open[at].yes);
        let who = self.dice.pick(&self.people).clone();
        let wrong = self.dice.one_in(6);
        let digest = approval.digest.to_string();
        let shown =
            if wrong { Some("0123456789ab".to_owned()) } else { self.dice.one_in(2).then_some(digest) };
        let covers = if self.dice.one_in(2) { ApprovalCoverage::Session } else { ApprovalCoverage::Act };
        // What may have happened is never denied here: the world has the deed.
        let no = approval.kind == ApprovalKind::Act && self.dice.one_in(8);
        let own = who.person.is_some() && who.person == approval.asked_by;
        let yes = if approval.kind == ApprovalKind::Outcome { Yes::Approvers } else { yes };
        let scope =
            if approval.kind == ApprovalKind::Outcome { String::new() } else { approval.scope.clone() };
        let rightful = is_rightful(&who, &self.policy, &scope, own, yes);
        if !rightful {
            self.tally.attempt(Invariant::AnsweredByTheRight);
        } else if !self.dice.one_in(5) {
            // The right one takes their time.
            return;
        }
        let (act_services, id, now, as_who) =
            (self.act_services.clone(), approval.id, self.clock.now(), who.clone());
        let answered = self.db.write(self.tenant, move |tx| {
            let answer = if no { Said::No } else { Said::Yes };
            let said = approvals::ApprovalAnswer {
                who: &as_who,
                answer,
                shown: shown.as_deref(),
                covers,
                via: "test",
                key: None,
                source: munshi_safety::approvals::AnswerSource::Page,
            };
            approvals::answer(tx, &act_services, id, &said, now)
        });
        let counted = matches!(
            answered.await.unwrap(),
            ApprovalAnswerOutcome::Granted(_) | ApprovalAnswerOutcome::Refused(_)
        );
        if !counted {
            return;
        }
        self.tally.hold(rightful, Invariant::AnsweredByTheRight, || format!("{who:?} answered {approval:?}"));
        self.tally.hold(!wrong, Invariant::AnsweredByTheRight, || format!("unseen: {approval:?}"));
        self.open.remove(at);
        if approval.kind == ApprovalKind::Outcome || no {
            return;
        }
        self.granted.insert(approval.act, yes);
        let want = &self.wants[&approval.act];
        if let (ApprovalCoverage::Session, Yes::ApproverOnce, Some(session)) =
            (covers, yes, want.caller.session)
        {
            self.waived.insert((session, want.name.clone(), scope, want.caller.principal.person));
        }
    }
}
