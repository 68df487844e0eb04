//! A hostile model against the whole stack: whatever it proposes, replays, forges or answers, no invariant of
//! `docs/safety.md` breaks, as a model of the world sees it that knows nothing of what the pipeline decided.

#[path = "attack.rs"]
mod attack;
#[path = "ends.rs"]
mod ends;
#[path = "log.rs"]
mod log;
#[path = "moves.rs"]
mod moves;
#[path = "oracle.rs"]
mod oracle;
#[path = "tools.rs"]
mod tools;
#[path = "victim.rs"]
mod victim;

use std::collections::BTreeSet;
use std::sync::Arc;

use munshi_identity::{Person, Principal, Role, persons};
use munshi_llm::pricing::Cost;
use munshi_safety::acts::ActServices;
use munshi_safety::budget::{BudgetGovernor, BudgetSettings};
use munshi_safety::policy::{self, ToolRateLimits};
use munshi_test_support::database::MORNING;
use munshi_test_support::{TestDb, on_both_engines};
use munshi_tools::{ToolDispatcher, ToolRegistry};
use munshi_types::FakeClock;

use crate::stack::support::MIGRATIONS;
use attack::{Dice, Stolen, TOOLS};
use oracle::Invariant;
use tools::{Outside, SECRETS};
use victim::{CALLS, Tally, Victim};

/// Calls of the dispatcher, over all tenants.
const PROPOSALS: usize = 3_000;
/// Writes a minute of each tenant.
const RATES: [u32; 3] = [120, 40, 6];
/// Refusals a minute of each person there.
const REFUSALS: [u32; 3] = [30, 4, 8];

/// Enough money for a few calls of the paid tools, which cost a tenth of a dollar.
fn settings() -> BudgetSettings {
    let calls = |calls: i64| Cost::from_micros(calls * 100_000);
    BudgetSettings {
        tenant_money_day: Some(calls(CALLS[0])),
        person_money_day: None,
        background_money_day: calls(CALLS[1]),
        ..BudgetSettings::default()
    }
}

struct Stage {
    act_services: Arc<ActServices>,
    registry: Arc<ToolRegistry>,
    world: Outside,
    stolen: Stolen,
}

async fn victim(test: &TestDb, stage: &Stage, number: usize) -> Victim {
    let tenant = test.add_tenant(&format!("shop-{number}")).await;
    let seed = 20_261_115 + number as u64;
    let rates = ToolRateLimits {
        calls_per_minute: 600,
        writes_per_minute: RATES[number],
        refused_per_minute: REFUSALS[number],
    };
    let policy = attack::policy(&Dice::new(seed), rates);
    let (first, ids) = (policy.clone(), test.ids.clone());
    let made = test.db.write(tenant, move |tx| -> Result<Vec<Principal>, munshi_safety::Error> {
        policy::apply(tx, &first, "test", "", MORNING)?;
        let roles = [
            Some(Role::Owner),
            Some(Role::Admin),
            Some(Role::Staff),
            Some(Role::Staff),
            Some(Role::Viewer),
            None,
        ];
        let mut people = Vec::new();
        for role in roles {
            let person = Person { role, ..Person::new(&ids, "Somebody", MORNING) };
            persons::upsert(tx, &person)?;
            people.push(person.principal(tx));
        }
        Ok(people)
    });
    let people = made.await.unwrap();
    let clock = Arc::new(FakeClock::new(MORNING));
    let dispatcher = ToolDispatcher::new(
        test.db.clone(),
        stage.act_services.clone(),
        stage.registry.clone(),
        clock.clone(),
    );
    let (world, stolen) = (stage.world.clone(), stage.stolen.clone());
    Victim::new(
        tenant,
        test.db.clone(),
        dispatcher,
        stage.act_services.clone(),
        clock,
        world,
        stolen,
        people,
        policy,
        seed,
    )
}

fn judge(tallies: &[Tally]) {
    let broken: Vec<_> = tallies.iter().flat_map(|tally| &tally.broken).collect();
    assert!(
        broken.is_empty(),
        "{} broken, such as {:#?}",
        broken.len(),
        broken.iter().take(3).collect::<Vec<_>>()
    );
    let sum = |of: fn(&Tally) -> usize| tallies.iter().map(of).sum::<usize>();
    let attempted = |invariant| -> usize {
        tallies.iter().map(|tally| tally.attempted.get(&invariant).copied().unwrap_or_default()).sum()
    };
    let figures = format!(
        "{} proposals: {} done, {} waited, {} refused, of which {} were only counted",
        sum(|tally| tally.proposals),
        sum(|tally| tally.done),
        sum(|tally| tally.waited),
        sum(|tally| tally.refused),
        sum(|tally| tally.counted)
    );
    println!("{figures}");
    for invariant in ALL {
        println!("{invariant:?}: attempted {} times", attempted(invariant));
    }
    assert!(sum(|tally| tally.done) > 300 && sum(|tally| tally.waited) > 100, "{figures}");
    assert!(sum(|tally| tally.notes) > 30, "too little was written to tell: {}", sum(|tally| tally.notes));
    assert!(sum(|tally| tally.counted) > 50, "{figures}");
    let tools: BTreeSet<&String> = tallies.iter().flat_map(|tally| &tally.tools).collect();
    // All but the one that never may: its connector says nothing of what it does.
    assert_eq!(tools.len(), TOOLS.len() - 1, "{tools:?}");
    // Seen only here: with the other engine, a thousand times.
    for invariant in [
        Invariant::OwnTenant,
        Invariant::NoSecret,
        Invariant::Audited,
        Invariant::Once,
        Invariant::AnsweredByTheRight,
    ] {
        assert!(
            attempted(invariant) >= 500,
            "{invariant:?} was attempted {} times only",
            attempted(invariant)
        );
    }
    for invariant in ALL {
        assert!(
            attempted(invariant) >= 20,
            "{invariant:?} was attempted {} times only",
            attempted(invariant)
        );
    }
}

const ALL: [Invariant; 14] = [
    Invariant::Fitting,
    Invariant::Permitted,
    Invariant::InScope,
    Invariant::WithinAutonomy,
    Invariant::Approved,
    Invariant::AnsweredByTheRight,
    Invariant::WithinBudget,
    Invariant::WithinRate,
    Invariant::OwnTenant,
    Invariant::NoSecret,
    Invariant::Redacted,
    Invariant::KeptIn,
    Invariant::Audited,
    Invariant::Once,
];

on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4]];

    async fn three_thousand_proposals_break_nothing(test: TestDb) {
        let lines = log::catch();
        let world = Outside::default();
        let stage = Stage {
            act_services: Arc::new(ActServices::new(test.ids.clone(), BudgetGovernor::new(settings(), test.ids.clone()))),
            registry: Arc::new(tools::registry(&world)),
            world,
            stolen: Stolen::default(),
        };
        let [mut one, mut two, mut three] =
            [victim(&test, &stage, 0).await, victim(&test, &stage, 1).await, victim(&test, &stage, 2).await];
        let share = PROPOSALS.div_ceil(RATES.len());
        let attack = async |victim: &mut Victim| {
            while victim.tally.proposals < share {
                victim.step().await;
            }
        };
        tokio::join!(attack(&mut one), attack(&mut two), attack(&mut three));
        let mut victims = [one, two, three];
        for victim in &mut victims {
            ends::check(victim).await;
        }
        let all = lines.lock().unwrap().concat();
        assert!(SECRETS.iter().all(|secret| !all.contains(secret)), "a secret in the log");
        judge(&victims.map(|victim| victim.tally));
    }
}
