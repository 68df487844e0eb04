//! One tenant under attack, beside a model of what may happen to it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use munshi_identity::{Principal, Role, Standing, persons};
use munshi_safety::acts::Office;
use munshi_safety::approvals::{self, Answer as Said, Answered, Approval, Covers, Kind};
use munshi_safety::audit::canonical;
use munshi_safety::policy::{self, Policy};
use munshi_store::Db;
use munshi_tools::{Answer, Dispatcher, NoJournal, Tool, Want};
use munshi_types::{ActId, Clock, FakeClock, PersonId, TenantId};
use serde_json::json;
use uuid::Uuid;

use super::attack::{self, Dice, PHONE, Stolen};
use super::oracle::{Invariant, Yes, against, is_rehearsal, is_rightful, leaks, scope_of, yes_for};
use super::tools::{COST, Outside, SECRETS};

/// How much money a tenant has for its people and for the background, in calls of the paid tools.
pub(super) const CALLS: [i64; 2] = [6, 2];

#[derive(Default)]
pub(super) struct Tally {
    pub attempted: BTreeMap<Invariant, usize>,
    pub broken: Vec<(Invariant, String)>,
    pub proposals: usize,
    pub done: usize,
    pub waited: usize,
    pub refused: usize,
    /// Rows that tools wrote in our own tables.
    pub notes: usize,
    /// Those that did something at least once.
    pub tools: BTreeSet<String>,
}

impl Tally {
    fn attempt(&mut self, invariant: Invariant) {
        *self.attempted.entry(invariant).or_default() += 1;
    }

    pub(super) fn hold(&mut self, holds: bool, invariant: Invariant, what: impl FnOnce() -> String) {
        if !holds {
            self.broken.push((invariant, what()));
        }
    }
}

/// The question of an act, with whose yes the model says it takes.
struct Open {
    approval: Approval,
    yes: Yes,
}

pub(super) struct Victim {
    pub tenant: TenantId,
    pub db: Db,
    pub dispatcher: Dispatcher,
    pub office: Arc<Office>,
    pub clock: Arc<FakeClock>,
    pub world: Outside,
    pub stolen: Stolen,
    pub dice: Dice,
    pub people: Vec<Principal>,
    pub policy: Policy,
    pub tally: Tally,
    /// As first proposed.
    pub wants: HashMap<ActId, Want>,
    order: Vec<ActId>,
    open: Vec<Open>,
    granted: HashMap<ActId, Yes>,
    waived: HashSet<(Uuid, String, String, Option<PersonId>)>,
    /// What was done, once.
    pub done: HashSet<ActId>,
    pub changed: usize,
    spent: [i64; 2],
    /// Writes that may be done now, by the policy's rate.
    room: f64,
}

impl Victim {
    #[allow(clippy::too_many_arguments, reason = "a test's way to say everything")]
    pub(super) fn new(
        tenant: TenantId,
        db: Db,
        dispatcher: Dispatcher,
        office: Arc<Office>,
        clock: Arc<FakeClock>,
        world: Outside,
        stolen: Stolen,
        people: Vec<Principal>,
        policy: Policy,
        seed: u64,
    ) -> Self {
        let room = f64::from(policy.rates.writes_per_minute);
        Self {
            tenant,
            db,
            dispatcher,
            office,
            clock,
            world,
            stolen,
            people,
            policy,
            room,
            dice: Dice::new(seed),
            tally: Tally::default(),
            wants: HashMap::new(),
            order: Vec::new(),
            open: Vec::new(),
            granted: HashMap::new(),
            waived: HashSet::new(),
            done: HashSet::new(),
            changed: 0,
            spent: [0; 2],
        }
    }

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
            18 => self.propose().await,
            _ => self.change_people().await,
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
        let stolen = self.stolen.from_another(&self.dice, self.tenant).filter(|_| !self.dice.one_in(3));
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

    async fn call(&mut self, want: Want) {
        self.tally.proposals += 1;
        let before = self.judge(&want);
        let answer = self.dispatcher.call(want.clone(), Arc::new(NoJournal)).await.unwrap();
        self.settle(want, before, vec![answer]);
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
        let mut tools: Vec<_> = self.dispatcher.registry().names().cloned().collect();
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
            || self.dispatcher.resume(self.tenant, act, want.agent.clone(), &tools, Arc::new(NoJournal));
        let (one, other) = tokio::join!(resume(), resume());
        let answers = vec![one.unwrap().unwrap(), other.unwrap().unwrap()];
        self.tally.attempt(Invariant::Once);
        self.settle(want, before, answers);
    }

    /// Tries another tenant's act and another tenant's question.
    async fn steal(&mut self) {
        let stolen = self.stolen.from_another(&self.dice, self.tenant);
        // One that was tried here under the same name is this tenant's own by now.
        let Some((owner, act, approval)) = stolen.filter(|stolen| !self.wants.contains_key(&stolen.1)) else {
            return;
        };
        self.tally.proposals += 1;
        self.tally.attempt(Invariant::OwnTenant);
        let tools: Vec<_> = self.dispatcher.registry().names().cloned().collect();
        let agent = Arc::new(attack::conduct(&self.dice));
        let resumed =
            self.dispatcher.resume(self.tenant, act, agent, &tools, Arc::new(NoJournal)).await.unwrap();
        self.tally.hold(resumed.is_none(), Invariant::OwnTenant, || format!("{resumed:?}"));
        if let Some(approval) = approval {
            let who = Principal { tenant: owner, ..self.people[0].clone() };
            for who in [who, self.people[0].clone()] {
                let (office, now) = (self.office.clone(), self.clock.now());
                let answered = self.db.write(self.tenant, move |tx| {
                    let said = approvals::Said {
                        who: &who,
                        answer: Said::Yes,
                        shown: None,
                        covers: Covers::Session,
                        via: "test",
                    };
                    approvals::answer(tx, &office, approval, &said, now)
                });
                let answered = answered.await.unwrap();
                self.tally
                    .hold(answered == Answered::Unknown, Invariant::OwnTenant, || format!("{answered:?}"));
            }
        }
    }

    async fn change_policy(&mut self) {
        let policy = attack::policy(&self.dice, self.policy.rates);
        let (kept, now) = (policy.clone(), self.clock.now());
        self.db.write(self.tenant, move |tx| policy::put(tx, &kept, "test", "", now)).await.unwrap();
        self.policy = policy;
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
            persons::put(tx, &known)?;
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
        let covers = if self.dice.one_in(2) { Covers::Session } else { Covers::Act };
        // What may have happened is never denied here: the world has the deed.
        let no = approval.kind == Kind::Act && self.dice.one_in(8);
        let own = who.person.is_some() && who.person == approval.asked_by;
        let yes = if approval.kind == Kind::Outcome { Yes::Approvers } else { yes };
        let scope = if approval.kind == Kind::Outcome { String::new() } else { approval.scope.clone() };
        let rightful = is_rightful(&who, &self.policy, &scope, own, yes);
        if !rightful {
            self.tally.attempt(Invariant::AnsweredByTheRight);
        } else if !self.dice.one_in(5) {
            // The right one takes their time.
            return;
        }
        let (office, id, now, as_who) = (self.office.clone(), approval.id, self.clock.now(), who.clone());
        let answered = self.db.write(self.tenant, move |tx| {
            let answer = if no { Said::No } else { Said::Yes };
            let said = approvals::Said { who: &as_who, answer, shown: shown.as_deref(), covers, via: "test" };
            approvals::answer(tx, &office, id, &said, now)
        });
        let counted = matches!(answered.await.unwrap(), Answered::Granted(_) | Answered::Refused(_));
        if !counted {
            return;
        }
        self.tally.hold(rightful, Invariant::AnsweredByTheRight, || format!("{who:?} answered {approval:?}"));
        self.tally.hold(!wrong, Invariant::AnsweredByTheRight, || format!("unseen: {approval:?}"));
        self.open.remove(at);
        if approval.kind == Kind::Outcome || no {
            return;
        }
        self.granted.insert(approval.act, yes);
        let want = &self.wants[&approval.act];
        if let (Covers::Session, Yes::ApproverOnce, Some(session)) = (covers, yes, want.caller.session) {
            self.waived.insert((session, want.name.clone(), scope, want.caller.principal.person));
        }
    }

    fn tool(&self, want: &Want) -> Option<Tool> {
        self.dispatcher.registry().get(&want.name).cloned()
    }

    /// What the model holds against this proposal now.
    fn judge(&mut self, want: &Want) -> Vec<Invariant> {
        let tool = self.tool(want);
        let mut found = against(want, tool.as_ref(), &self.policy);
        if let Some(tool) = &tool {
            let spec = &tool.known.spec;
            let mut hold = |holds: bool, invariant| {
                if !holds {
                    found.push(invariant);
                }
            };
            hold(self.agreed(want, tool), Invariant::Approved);
            hold(!spec.effect.writes() || self.room > 0.999, Invariant::WithinRate);
            let lane = usize::from(want.caller.background);
            hold(spec.cost.is_none() || self.spent[lane] < CALLS[lane], Invariant::WithinBudget);
            hold(!self.done.contains(&want.act), Invariant::Once);
            if leaks(tool, &want.arguments, PHONE) {
                self.tally.attempt(Invariant::Redacted);
            }
        }
        for invariant in found.iter().chain([&Invariant::Audited]) {
            self.tally.attempt(*invariant);
        }
        found
    }

    fn agreed(&self, want: &Want, tool: &Tool) -> bool {
        let same = self.wants.get(&want.act).is_some_and(|known| essence(known) == essence(want));
        let given = self.granted.get(&want.act).filter(|_| same).copied();
        let approver = matches!(given, Some(Yes::ApproverOnce | Yes::Approvers));
        match yes_for(want, tool, &self.policy) {
            Yes::Nobodys => true,
            Yes::Askers => given.is_some(),
            Yes::Approvers => approver,
            Yes::ApproverOnce => {
                let scope = scope_of(tool, &want.arguments);
                let person = want.caller.principal.person;
                let waived =
                    |session| self.waived.contains(&(session, want.name.clone(), scope.clone(), person));
                approver || want.caller.session.is_some_and(waived)
            }
        }
    }

    /// Compares what happened with what was held against it.
    fn settle(&mut self, want: Want, against: Vec<Invariant>, answers: Vec<Answer>) {
        let (tool, act) = (self.tool(&want), want.act);
        let deeds: Vec<_> = self
            .world
            .deeds()
            .into_iter()
            .filter(|deed| deed.tenant == self.tenant && deed.act == act)
            .collect();
        let was_done = self.done.contains(&act);
        let fresh = answers.iter().any(|answer| matches!(answer, Answer::Done(_)));
        let is_far = tool.as_ref().is_some_and(|tool| tool.known.connector.name != "shop");
        let writes = tool.as_ref().is_some_and(|tool| tool.known.spec.effect.writes());
        let happened = !was_done && if is_far && writes { !deeds.is_empty() } else { fresh };
        self.tally.hold(deeds.len() <= 1, Invariant::Once, || format!("{deeds:?}"));
        if happened {
            for invariant in against.iter().filter(|invariant| **invariant != Invariant::Once) {
                self.tally
                    .hold(false, *invariant, || format!("{want:?} under {:?}: {answers:?}", self.policy));
            }
            let done = !is_rehearsal(&want);
            self.tally.hold(done || !writes, Invariant::Approved, || format!("a rehearsal did it: {want:?}"));
            self.count(&want, tool.as_ref(), writes);
            for deed in &deeds {
                let leak = tool.as_ref().is_some_and(|tool| leaks(tool, &deed.arguments, PHONE));
                self.tally.hold(!leak && deed.tool == want.name, Invariant::Redacted, || format!("{deed:?}"));
            }
        }
        for answer in answers {
            self.look(&want, tool.as_ref(), answer);
        }
        if !self.wants.contains_key(&act) {
            self.order.push(act);
            self.wants.insert(act, want);
        }
    }

    fn count(&mut self, want: &Want, tool: Option<&Tool>, writes: bool) {
        self.done.insert(want.act);
        self.tally.done += 1;
        self.room -= f64::from(u8::from(writes));
        if tool.is_some_and(|tool| tool.known.spec.cost == Some(COST)) {
            self.spent[usize::from(want.caller.background)] += 1;
        }
    }

    /// What was said may hold no secret and nothing of another tenant; questions are kept for later.
    fn look(&mut self, want: &Want, tool: Option<&Tool>, answer: Answer) {
        let said = format!("{answer:?} {}", answer.for_model());
        self.tally.attempt(Invariant::NoSecret);
        let told = SECRETS.iter().find(|secret| said.contains(**secret));
        self.tally.hold(told.is_none(), Invariant::NoSecret, || format!("{told:?} in {said}"));
        let foreign = said
            .match_indices("mark of ")
            .any(|(at, _)| !said[at + 8..].starts_with(&self.tenant.to_string()));
        self.tally.hold(!foreign, Invariant::OwnTenant, || said.clone());
        match answer {
            Answer::Refused(refusal) => {
                self.tally.refused += 1;
                self.changed += usize::from(refusal.code.as_str() == "changed");
            }
            Answer::Waiting(approval) => {
                self.tally.waited += 1;
                // Asking takes its turn too.
                self.room -= 1.0;
                self.stolen.add(self.tenant, want.act, Some(approval.id));
                let yes = tool.map_or(Yes::Nobodys, |tool| yes_for(want, tool, &self.policy));
                self.open.push(Open { approval: *approval, yes });
            }
            _ => self.stolen.add(self.tenant, want.act, None),
        }
    }
}

/// What makes an act this act and no other.
fn essence(want: &Want) -> String {
    let caller = &want.caller;
    canonical(&json!([
        want.name,
        want.arguments,
        caller.principal.person,
        caller.binding,
        caller.door,
        caller.session
    ]))
}

/// Nobody is a member here without a person.
pub(super) fn is_member(who: &Principal) -> bool {
    matches!(who.standing, Standing::Member(_)) && who.person.is_some()
}
