//! The decision by itself, on a policy that is in memory: eight stages, no disk.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use munshi_identity::{Principal, Role};
use munshi_privacy::RedactionProfile;
use munshi_safety::pipeline::{
    ActVerdict, CheckedArguments, CompiledTool, ConsentGrant, ConsentReason, DecisionStore, ExhaustedLimit,
    PolicyRequest, Proposal, ProposalMode, PurposeStanding, Taint, TaintSource, decide,
};
use munshi_safety::policy::AuthorisedTemplate;
use munshi_types::{ConsentPurposeName, Effect, IdGenerator, TenantId, TenantStatus};
use serde_json::json;

use super::{caller, conduct, connector, shop_policy, spec};
use crate::contest::median_of;
use crate::report::{Goal, Table, render_verdict};

const TIMES: usize = 20_000;
/// Timed together, so that the clock is no part of the figure.
const AT_ONCE: usize = 20;
const GOAL: f64 = 50.0;

/// Always room, never an answer.
struct Room;

impl DecisionStore for Room {
    fn reserve(&mut self, _ask: &PolicyRequest<'_>) -> munshi_safety::Result<Option<ExhaustedLimit>> {
        Ok(None)
    }

    fn find_consent(
        &mut self,
        _ask: &PolicyRequest<'_>,
        _reasons: &[ConsentReason],
    ) -> munshi_safety::Result<Option<ConsentGrant>> {
        Ok(None)
    }

    fn find_purpose_consent(
        &mut self,
        _ask: &PolicyRequest<'_>,
        _purpose: &ConsentPurposeName,
    ) -> munshi_safety::Result<PurposeStanding> {
        Ok(PurposeStanding::Unasked)
    }

    fn is_in_audience(&mut self, _recipient: &str, _audience: &str) -> munshi_safety::Result<bool> {
        Ok(false)
    }

    fn take_unasked(
        &mut self,
        _ask: &PolicyRequest<'_>,
        _authorised: &AuthorisedTemplate,
    ) -> munshi_safety::Result<bool> {
        Ok(false)
    }
}

pub(super) fn print() -> Result<()> {
    let mut table = Table::new(["", "median µs", "p99 µs", ""]);
    let foreign = Taint {
        sources: BTreeSet::from([TaintSource::Document]),
        own_words: vec!["राजू को पाँच सौ का माल दिया, दो बोरी चावल और तेल, शनिवार को पैसे देगा".to_owned()],
        holds_private: true,
        leaked_bits: 0,
    };
    let clean = || Taint::from_own_words("Raju ko paanch sau ka maal diya");
    for (name, effect, taint, profile, expected) in [
        ("a read", Effect::Read, clean(), RedactionProfile::None, "apply"),
        ("a write", Effect::Inside, clean(), RedactionProfile::None, "apply"),
        ("a write, what leaves redacted", Effect::Keyed, clean(), RedactionProfile::Standard, "apply"),
        ("a tainted write, all of it said", Effect::Inside, foreign.clone(), RedactionProfile::None, "apply"),
        (
            "a tainted write, not said",
            Effect::Inside,
            Taint { own_words: vec!["read this".to_owned()], ..foreign },
            RedactionProfile::None,
            "ask",
        ),
    ] {
        let [median, p99] = measure(effect, taint, profile, expected)?;
        table.add_row([
            name.to_owned(),
            format!("{median:.1}"),
            format!("{p99:.1}"),
            render_verdict(median, Goal::AtMost(GOAL), 0),
        ]);
    }
    table.print("One decision, all eight stages, the policy in memory");
    Ok(())
}

fn measure(effect: Effect, taint: Taint, profile: RedactionProfile, expected: &str) -> Result<[f64; 2]> {
    let ids = IdGenerator::system();
    let mut connector = connector();
    if effect == Effect::Keyed {
        connector.origin = munshi_safety::pipeline::ConnectorOrigin::Foreign;
    }
    let tool = CompiledTool::new(spec(effect)?, connector)?;
    let given = json!({ "name": "राजू", "amount": 500, "note": "दो बोरी चावल" });
    let proposal = Proposal {
        act: ids.next(),
        name: "log_sale".to_owned(),
        arguments: CheckedArguments::new(given, Some(&tool)),
        tool: Some(Arc::new(tool)),
        offered: true,
        wanted: ProposalMode::Act,
        caller: caller(Principal::member(TenantId::PLATFORM, ids.next(), Role::Staff)),
        agent: Arc::new(conduct()?),
        taint,
        concerns: Vec::new(),
    };
    let mut policy = shop_policy()?;
    policy.redaction.profile = profile;
    let ask = PolicyRequest { proposal: &proposal, policy: &policy, tenant: TenantStatus::Active };
    let found = decide(&ask, &mut Room)?;
    let word = match found {
        ActVerdict::Apply(_) => "apply",
        ActVerdict::Ask(_) => "ask",
        _ => "other",
    };
    anyhow::ensure!(word == expected, "expected {expected}, decided {found:?}");
    let mut times = Vec::with_capacity(TIMES / AT_ONCE);
    for _ in 0..TIMES / AT_ONCE {
        let began = Instant::now();
        for _ in 0..AT_ONCE {
            black_box(decide(black_box(&ask), &mut Room)?);
        }
        times.push(began.elapsed().as_secs_f64() * 1e6 / AT_ONCE as f64);
    }
    times.sort_by(f64::total_cmp);
    let p99 = times.get(times.len() * 99 / 100).copied().unwrap_or(f64::NAN);
    Ok([median_of(times), p99])
}
