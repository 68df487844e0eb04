//! One tenant under attack, beside a model of what may happen to it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use munshi_identity::{Principal, PrincipalStanding};
use munshi_safety::acts::ActServices;
use munshi_safety::approvals::Approval;
use munshi_safety::audit::to_canonical_json;
use munshi_safety::policy::Policy;
use munshi_store::Db;
use munshi_tools::{Tool, ToolAnswer, ToolCallRequest, ToolDispatcher};
use munshi_types::{ActId, ApprovalId, Egress, FakeClock, PersonId, TenantId};
use serde_json::Value;
use serde_json::json;
use uuid::Uuid;

use super::attack::{Dice, Stolen};
use super::oracle::{Invariant, Yes, against, is_rehearsal, leaks, may_carry, scope_of, yes_for};
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
    /// Of these, those past the rate of refusals.
    pub counted: usize,
    /// Rows that tools wrote in our own tables.
    pub notes: usize,
    /// Those that did something at least once.
    pub tools: BTreeSet<String>,
}

impl Tally {
    pub(super) fn attempt(&mut self, invariant: Invariant) {
        *self.attempted.entry(invariant).or_default() += 1;
    }

    pub(super) fn hold(&mut self, holds: bool, invariant: Invariant, what: impl FnOnce() -> String) {
        if !holds {
            self.broken.push((invariant, what()));
        }
    }
}

/// The question of an act, with whose yes the model says it takes.
pub(super) struct Open {
    pub approval: Approval,
    pub yes: Yes,
}

pub(super) struct Victim {
    pub tenant: TenantId,
    pub db: Db,
    pub dispatcher: ToolDispatcher,
    pub act_services: Arc<ActServices>,
    pub clock: Arc<FakeClock>,
    pub world: Outside,
    pub stolen: Stolen,
    pub dice: Dice,
    pub people: Vec<Principal>,
    pub policy: Policy,
    pub tally: Tally,
    /// As first proposed.
    pub wants: HashMap<ActId, ToolCallRequest>,
    pub order: Vec<ActId>,
    pub open: Vec<Open>,
    /// Every question there ever was.
    pub asked: HashSet<ApprovalId>,
    /// What people were shown would leave.
    pub shown: HashMap<ActId, Value>,
    pub granted: HashMap<ActId, Yes>,
    pub waived: HashSet<(Uuid, String, String, Option<PersonId>)>,
    /// What was done, once.
    pub done: HashSet<ActId>,
    /// How often the world was given an act's arguments.
    pub told: HashMap<ActId, usize>,
    pub changed: usize,
    pub paused: bool,
    pub spent: [i64; 2],
    /// Writes that may be done now, by the policy's rate.
    pub room: f64,
}

impl Victim {
    #[allow(clippy::too_many_arguments, reason = "a test's way to say everything")]
    pub(super) fn new(
        tenant: TenantId,
        db: Db,
        dispatcher: ToolDispatcher,
        act_services: Arc<ActServices>,
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
            act_services,
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
            asked: HashSet::new(),
            shown: HashMap::new(),
            granted: HashMap::new(),
            waived: HashSet::new(),
            done: HashSet::new(),
            told: HashMap::new(),
            changed: 0,
            paused: false,
            spent: [0; 2],
        }
    }

    fn tool(&self, want: &ToolCallRequest) -> Option<Tool> {
        self.dispatcher.registry().get(&want.name).cloned()
    }

    /// What the model holds against this proposal now.
    pub(super) fn judge(&mut self, want: &ToolCallRequest) -> Vec<Invariant> {
        let tool = self.tool(want);
        let mut found = against(want, tool.as_ref(), &self.policy);
        if self.paused {
            found.push(Invariant::Permitted);
        }
        if let Some(tool) = &tool {
            let spec = &tool.known.spec;
            let mut hold = |holds: bool, invariant| {
                if !holds {
                    found.push(invariant);
                }
            };
            hold(self.agreed(want, tool), Invariant::Approved);
            hold(self.keeps_in(want, tool), Invariant::KeptIn);
            hold(!spec.effect.writes() || self.room > 0.999, Invariant::WithinRate);
            let lane = usize::from(want.caller.background);
            hold(spec.cost.is_none() || self.spent[lane] < CALLS[lane], Invariant::WithinBudget);
            hold(!self.done.contains(&want.act), Invariant::Once);
            if leaks(tool, &want.arguments, &self.policy) {
                self.tally.attempt(Invariant::Redacted);
            }
        }
        for invariant in found.iter().chain([&Invariant::Audited]) {
            self.tally.attempt(*invariant);
        }
        found
    }

    fn agreed(&self, want: &ToolCallRequest, tool: &Tool) -> bool {
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

    /// Whether nothing is carried out, or somebody has agreed to that who may.
    fn keeps_in(&self, want: &ToolCallRequest, tool: &Tool) -> bool {
        let same = self.wants.get(&want.act).is_some_and(|known| essence(known) == essence(want));
        let agreed = same && self.granted.contains_key(&want.act) && !is_rehearsal(want);
        let spec = &tool.known.spec;
        !may_carry(want, tool) || (agreed && (spec.egress == Egress::Ask || spec.effect.writes()))
    }

    /// Compares what happened with what was held against it.
    pub(super) fn settle(&mut self, want: ToolCallRequest, against: &[Invariant], answers: Vec<ToolAnswer>) {
        let (tool, act) = (self.tool(&want), want.act);
        let deeds: Vec<_> = self
            .world
            .deeds()
            .into_iter()
            .filter(|deed| deed.tenant == self.tenant && deed.act == act)
            .collect();
        let was_done = self.done.contains(&act);
        let fresh = answers.iter().any(|answer| matches!(answer, ToolAnswer::Done(_)));
        let is_far = tool.as_ref().is_some_and(|tool| tool.known.connector.name != "shop");
        let writes = tool.as_ref().is_some_and(|tool| tool.known.spec.effect.writes());
        let happened = !was_done && if is_far && writes { !deeds.is_empty() } else { fresh };
        self.tally.hold(deeds.len() <= 1, Invariant::Once, || format!("{deeds:?}"));
        // Whatever came of it, and also where it was only tried out: what was told is told.
        let told = self.world.told(self.tenant, act);
        let is_new = self.told.insert(act, told).unwrap_or_default() < told;
        let carried = is_new && against.contains(&Invariant::KeptIn);
        self.tally.hold(!carried, Invariant::KeptIn, || format!("{want:?}: {answers:?}"));
        if happened {
            for invariant in against.iter().filter(|invariant| **invariant != Invariant::Once) {
                self.tally
                    .hold(false, *invariant, || format!("{want:?} under {:?}: {answers:?}", self.policy));
            }
            let done = !is_rehearsal(&want);
            self.tally.hold(done || !writes, Invariant::Approved, || format!("a rehearsal did it: {want:?}"));
            self.count(&want, tool.as_ref(), writes);
            for deed in &deeds {
                let leak = tool.as_ref().is_some_and(|tool| leaks(tool, &deed.arguments, &self.policy));
                self.tally.hold(!leak && deed.tool == want.name, Invariant::Redacted, || format!("{deed:?}"));
                let agreed = self.shown.get(&act).is_none_or(|shown| *shown == deed.arguments);
                self.tally.hold(agreed, Invariant::Approved, || format!("not as it was shown: {deed:?}"));
            }
        }
        let is_counted = |answer: &ToolAnswer| answer.render_for_model()["code"] == "too_many_refused";
        let only_counted = answers.iter().all(is_counted);
        for answer in answers {
            self.look(&want, tool.as_ref(), answer);
        }
        if !only_counted && !self.wants.contains_key(&act) {
            self.order.push(act);
            self.wants.insert(act, want);
        }
    }

    fn count(&mut self, want: &ToolCallRequest, tool: Option<&Tool>, writes: bool) {
        self.done.insert(want.act);
        self.tally.done += 1;
        self.room -= f64::from(u8::from(writes));
        if tool.is_some_and(|tool| tool.known.spec.cost == Some(COST)) {
            self.spent[usize::from(want.caller.background)] += 1;
        }
    }

    /// What was said may hold no secret and nothing of another tenant; questions are kept for later.
    fn look(&mut self, want: &ToolCallRequest, tool: Option<&Tool>, answer: ToolAnswer) {
        let said = format!("{answer:?} {}", answer.render_for_model());
        self.tally.attempt(Invariant::NoSecret);
        let told = SECRETS.iter().find(|secret| said.contains(**secret));
        self.tally.hold(told.is_none(), Invariant::NoSecret, || format!("{told:?} in {said}"));
        let foreign = said
            .match_indices("mark of ")
            .any(|(at, _)| !said[at + 8..].starts_with(&self.tenant.to_string()));
        self.tally.hold(!foreign, Invariant::OwnTenant, || said.clone());
        match answer {
            ToolAnswer::Refused(refusal) => {
                self.tally.refused += 1;
                self.changed += usize::from(refusal.code.as_str() == "changed");
                self.tally.counted += usize::from(refusal.code.as_str() == "too_many_refused");
            }
            // Told again what waits: nothing new was asked.
            ToolAnswer::Waiting(approval) if self.open.iter().any(|open| open.approval.id == approval.id) => {
            }
            ToolAnswer::Waiting(approval) => {
                self.tally.waited += 1;
                // Asking takes its turn too, once: to be told again what waits takes none.
                let writes = tool.is_some_and(|tool| tool.known.spec.effect.writes());
                if self.asked.insert(approval.id) && writes {
                    self.room -= 1.0;
                }
                self.stolen.add(self.tenant, want.act, Some(approval.id));
                let yes = tool.map_or(Yes::Nobodys, |tool| yes_for(want, tool, &self.policy));
                let shown = approval.leaving.as_ref().unwrap_or(&approval.arguments);
                self.shown.insert(want.act, shown.clone());
                self.open.push(Open { approval: *approval, yes });
            }
            _ => self.stolen.add(self.tenant, want.act, None),
        }
    }
}

/// What makes an act this act and no other.
fn essence(want: &ToolCallRequest) -> String {
    let caller = &want.caller;
    to_canonical_json(&json!([
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
    matches!(who.standing, PrincipalStanding::Member(_)) && who.person.is_some()
}
