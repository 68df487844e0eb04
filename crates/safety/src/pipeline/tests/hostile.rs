//! A hostile model against random policies: whatever it proposes, no invariant breaks.

use std::collections::BTreeMap;

use super::super::{ActVerdict, PipelineStage, STAGES, StageName, run_stages};
use super::oracle::{ALL, Invariant, Truth, against, counts_in_rehearsal, leaks};
use super::world::{Dice, World};
use crate::acts::ActDigest;

const PROPOSALS: usize = 100_000;
const PER_WORLD: usize = 100;

#[derive(Default)]
struct Tally {
    /// How often an invariant would have been broken if the stages had let it through.
    attempted: BTreeMap<Invariant, usize>,
    broken: BTreeMap<Invariant, usize>,
    applied: usize,
    rehearsed: usize,
    asked: usize,
    refused: usize,
}

/// Runs the attack on these stages, or as much of it as it takes.
fn attack(stages: &[PipelineStage], proposals: usize, is_over: impl Fn(&Tally) -> bool) -> Tally {
    let (dice, mut tally) = (Dice::new(20_261_115), Tally::default());
    for _ in 0..proposals / PER_WORLD {
        if is_over(&tally) {
            break;
        }
        let mut world = World::new(&dice);
        for _ in 0..PER_WORLD {
            one(stages, &dice, &mut world, &mut tally);
        }
    }
    tally
}

fn one(stages: &[PipelineStage], dice: &Dice, world: &mut World, tally: &mut Tally) {
    let proposal = world.proposal(dice);
    world.people_speak(dice, &proposal);
    let truth = Truth {
        room_left: world.ground.taken.max(world.applied) < world.ground.room,
        approved: world.ground.granted.contains_key(&ActDigest::compute(&proposal).to_string()),
        waived: proposal
            .caller
            .session
            .is_some_and(|session| world.ground.waived.contains(&(session, proposal.name.clone()))),
    };
    let mut ground = world.ground.clone();
    let ask = world.ask(&proposal);
    let against = against(&ask, &truth);
    for invariant in &against {
        *tally.attempted.entry(*invariant).or_default() += 1;
    }
    let verdict = run_stages(stages, &ask, &mut ground).unwrap();
    let applied = matches!(verdict, ActVerdict::Apply(_));
    let tool = proposal.tool.as_deref();
    match verdict {
        // A rehearsal hands the arguments to the tool as an act does.
        ActVerdict::Apply(cleared) | ActVerdict::Rehearse(cleared) => {
            *if applied { &mut tally.applied } else { &mut tally.rehearsed } += 1;
            let leak = tool.is_some_and(|tool| leaks(&ask, tool, &cleared.arguments));
            let leak = leak.then_some(Invariant::Redacted);
            let others = against.into_iter().filter(|invariant| *invariant != Invariant::Redacted);
            for invariant in others.chain(leak) {
                if applied || counts_in_rehearsal(tool, invariant) {
                    *tally.broken.entry(invariant).or_default() += 1;
                }
            }
        }
        ActVerdict::Ask(_) => tally.asked += 1,
        ActVerdict::Refuse(refusal) => {
            assert!(!refusal.suggestion.is_empty());
            tally.refused += 1;
        }
    }
    world.ground = ground;
    world.applied += usize::from(applied);
}

#[test]
fn no_proposal_of_a_hundred_thousand_breaks_an_invariant() {
    let tally = attack(&STAGES, PROPOSALS, |_| false);
    assert_eq!(tally.broken, BTreeMap::new());
    for invariant in ALL {
        let attempted = tally.attempted.get(&invariant).copied().unwrap_or_default();
        println!("{invariant:?}: attempted {attempted} times");
        assert!(attempted >= 1_000, "{invariant:?} was attempted {attempted} times only");
    }
    let Tally { applied, rehearsed, asked, refused, .. } = tally;
    assert!(
        applied > 500 && rehearsed > 100 && asked > 500 && refused > 10_000,
        "{applied} applied, {rehearsed} rehearsed, {asked} asked, {refused} refused"
    );
}

#[test]
fn without_any_one_stage_its_invariant_breaks() {
    for (stage, invariant) in [
        (StageName::Schema, Invariant::KnownAndFitting),
        (StageName::Permission, Invariant::Permitted),
        (StageName::Door, Invariant::InPalette),
        (StageName::Scope, Invariant::InScope),
        (StageName::Autonomy, Invariant::WithinAutonomy),
        (StageName::Limits, Invariant::WithinLimits),
        (StageName::Redaction, Invariant::Redacted),
        (StageName::Consent, Invariant::Consented),
        (StageName::Consent, Invariant::KeptIn),
    ] {
        let others: Vec<PipelineStage> = STAGES.into_iter().filter(|known| known.name != stage).collect();
        assert_eq!(others.len(), STAGES.len() - 1);
        let tally = attack(&others, PROPOSALS, |tally| tally.broken.contains_key(&invariant));
        let broken = tally.broken.get(&invariant).copied().unwrap_or_default();
        assert!(broken > 0, "without {stage:?} nothing broke {invariant:?}");
    }
}
