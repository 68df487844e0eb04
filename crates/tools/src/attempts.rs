//! Calling what is elsewhere, and calling again where that is harmless.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use munshi_privacy::Scrubber;
use munshi_safety::acts::{ActOutcome, Permit};
use munshi_store::Db;
use munshi_types::Effect;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::consent_check::{ConsentCheck, no_consent_result};
use crate::handler::{
    EffectCertainty, LookupOutcome, ReadToolHandler, RemoteToolHandler, ToolFailure, ToolOutput,
};
use crate::result::{sanitize_output, sanitize_text, to_failed_outcome};

/// A read, or a write under a key, is tried so often.
const MOST: u32 = 3;
const PAUSE: Duration = Duration::from_millis(200);

/// What came of a call: as it is stored, and as it goes on.
pub(crate) struct ToolAttemptResult {
    pub outcome: ActOutcome,
    pub done: Option<ToolOutput>,
    pub mismatch: Option<String>,
}

/// Calls until it is done, surely not done, or nobody can tell. `earlier` says whether a try before this one may have
/// done it: a later no does not take that back. Before each try it is asked whether the person still agrees to what it is for.
pub(crate) async fn call(
    far: &dyn RemoteToolHandler,
    permit: &Permit,
    limit: Duration,
    earlier: EffectCertainty,
    consent: &ConsentCheck,
) -> ToolAttemptResult {
    if !consent.holds().await {
        return no_consent_result(permit, earlier);
    }
    let mut happened = earlier;
    for attempt in 1..=MOST {
        let failure = match call_once(far, permit, limit).await {
            Ok(done) => return verify_applied(far, permit, done, limit).await,
            Err(failure) => failure,
        };
        if failure.happened == EffectCertainty::Maybe {
            happened = EffectCertainty::Maybe;
        }
        let is_last = attempt == MOST;
        // What can be looked up is not left in doubt after the last try either.
        if !failure.retryable || (is_last && permit.effect() != Effect::Checked) {
            return classify_failure(permit.effect(), ToolFailure { happened, ..failure }, &far.scrubber());
        }
        tokio::time::sleep(PAUSE * 2u32.pow(attempt - 1)).await;
        let again = match permit.effect() {
            Effect::Read | Effect::Keyed => true,
            Effect::Checked => match look_up(far, permit, limit).await {
                LookupOutcome::Happened(done) => return verify_applied(far, permit, done, limit).await,
                LookupOutcome::DidNot => {
                    happened = EffectCertainty::No;
                    !is_last
                }
                LookupOutcome::CanNotTell => false,
            },
            Effect::Inside | Effect::Once => false,
        };
        if !again || !consent.holds().await {
            return classify_failure(permit.effect(), ToolFailure { happened, ..failure }, &far.scrubber());
        }
    }
    unknown_result("it was never tried")
}

/// What a look at our own tables makes before its transaction; a panic and too long a wait are failures of the tool.
pub(crate) async fn prepare(
    look: &dyn ReadToolHandler,
    (permit, db): (&Permit, &Db),
    limit: Duration,
) -> Result<Value, ToolAttemptResult> {
    let prepared = timeout(limit, AssertUnwindSafe(look.prepare(permit, db)).catch_unwind()).await;
    let failure = match prepared {
        Ok(Ok(Ok(prepared))) => return Ok(prepared),
        Ok(Ok(Err(failure))) => failure,
        Ok(Err(_)) => ToolFailure::permanent("broke", "the tool broke; somebody has to look at it"),
        Err(_) => ToolFailure::transient("timeout", "the tool took too long"),
    };
    let outcome = to_failed_outcome(failure, &Scrubber::default());
    Err(ToolAttemptResult { outcome, done: None, mismatch: None })
}

/// Looks first, after a crash.
pub(crate) async fn look_then_call(
    far: &dyn RemoteToolHandler,
    permit: &Permit,
    limit: Duration,
    consent: &ConsentCheck,
) -> ToolAttemptResult {
    match look_up(far, permit, limit).await {
        LookupOutcome::Happened(done) => verify_applied(far, permit, done, limit).await,
        LookupOutcome::DidNot => call(far, permit, limit, EffectCertainty::No, consent).await,
        LookupOutcome::CanNotTell => unknown_result("whether it happened can't be told"),
    }
}

async fn look_up(far: &dyn RemoteToolHandler, permit: &Permit, limit: Duration) -> LookupOutcome {
    match timeout(limit, AssertUnwindSafe(far.look_up(permit)).catch_unwind()).await {
        Ok(Ok(Ok(looked))) => looked,
        Ok(Ok(Err(_)) | Err(_)) | Err(_) => LookupOutcome::CanNotTell,
    }
}

/// One try. A tool that takes too long or panics may have done its work.
pub(crate) async fn call_once(
    far: &dyn RemoteToolHandler,
    permit: &Permit,
    limit: Duration,
) -> Result<ToolOutput, ToolFailure> {
    if permit.effect().writes() && permit.is_too_late_for(limit) {
        return Err(ToolFailure::permanent(
            "lapsed",
            "the act was left for so long that somebody else may do it",
        ));
    }
    match timeout(limit, AssertUnwindSafe(far.call(permit)).catch_unwind()).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Err(ToolFailure::uncertain("broke", "the tool broke; somebody has to look at it")),
        Err(_) => Err(ToolFailure::uncertain("too_slow", format!("no answer within {} s", limit.as_secs()))),
    }
}

async fn verify_applied(
    far: &dyn RemoteToolHandler,
    permit: &Permit,
    done: ToolOutput,
    limit: Duration,
) -> ToolAttemptResult {
    let scrubber = far.scrubber();
    let mismatch = match timeout(limit, AssertUnwindSafe(far.read_back(permit, &done)).catch_unwind()).await {
        Ok(Ok(Ok(mismatch))) => mismatch,
        Ok(Ok(Err(failure))) => Some(format!("reading it back failed: {}", failure.detail)),
        Ok(Err(_)) => Some("reading it back broke".to_owned()),
        Err(_) => Some("reading it back took too long".to_owned()),
    };
    let mismatch = mismatch.map(|what| sanitize_text(&what, &scrubber));
    let done = sanitize_output(done, &scrubber);
    let value = match &mismatch {
        None => done.value.clone(),
        Some(what) => json!({ "result": done.value, "mismatch": what }),
    };
    ToolAttemptResult { outcome: ActOutcome::Applied(value), done: Some(done), mismatch }
}

/// What can't be told apart is not called a failure: a write that may have happened is unknown.
fn classify_failure(effect: Effect, failure: ToolFailure, scrubber: &Scrubber) -> ToolAttemptResult {
    if effect.writes() && failure.happened == EffectCertainty::Maybe {
        return unknown_result(&sanitize_text(&failure.detail, scrubber));
    }
    ToolAttemptResult { outcome: to_failed_outcome(failure, scrubber), done: None, mismatch: None }
}

/// A tool that is not there has done nothing.
pub(crate) fn unknown_tool_result() -> ToolAttemptResult {
    ToolAttemptResult {
        outcome: ActOutcome::Failed {
            code: "unknown_tool".to_owned(),
            retryable: false,
            detail: "the tool is not installed".to_owned(),
            next: None,
        },
        done: None,
        mismatch: None,
    }
}

/// A tool that is no longer installed can neither be asked nor called.
pub(crate) fn missing_tool_result() -> ToolAttemptResult {
    unknown_result("the tool is no longer installed")
}

pub(crate) fn unknown_result(detail: &str) -> ToolAttemptResult {
    ToolAttemptResult {
        outcome: ActOutcome::Unknown { detail: detail.to_owned() },
        done: None,
        mismatch: None,
    }
}

/// A rehearsal, which changes nothing and so can only fail.
pub(crate) async fn rehearse(far: &dyn RemoteToolHandler, permit: &Permit, limit: Duration) -> ActOutcome {
    let tried = timeout(limit, AssertUnwindSafe(far.rehearse(permit)).catch_unwind()).await;
    let failure = match tried {
        Ok(Ok(Ok(done))) => return ActOutcome::Applied(sanitize_output(done, &far.scrubber()).value),
        Ok(Ok(Err(failure))) => failure,
        Ok(Err(_)) => ToolFailure::permanent("broke", "the tool broke while it was tried out"),
        Err(_) => ToolFailure::transient("too_slow", "trying it out took too long"),
    };
    to_failed_outcome(failure, &far.scrubber())
}
