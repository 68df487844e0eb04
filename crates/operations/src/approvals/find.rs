//! Which approval is meant.

use munshi_conversations::sessions;
use munshi_pack::operation::{OperationCaller, OperationError, OperationErrorCode};
use munshi_safety::acts;
use munshi_safety::approvals::{self, Approval, ApprovalStatus};
use munshi_store::Tx;
use munshi_types::{ApprovalId, SessionId};

/// The approval whose id begins so, if the caller reaches the binding it was asked in. Where several do, the one that still
/// waits is meant.
pub(super) fn find(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    given: &str,
) -> Result<Approval, OperationError> {
    let known = match given.parse::<ApprovalId>() {
        Ok(id) => approvals::find(tx, id)?.into_iter().collect(),
        Err(_) => approvals::list_by_prefix(tx, given)?,
    };
    let mut found = Vec::with_capacity(known.len());
    for approval in known {
        if is_reachable(tx, caller, &approval)? {
            found.push(approval);
        }
    }
    if found.iter().filter(|one| one.state == ApprovalStatus::Pending).count() == 1 {
        found.retain(|one| one.state == ApprovalStatus::Pending);
    }
    match found.len() {
        0 => Err(OperationError::not_found("approval", given)
            .hint("`munshi approvals list` and GET /v1/approvals show pending ones.")),
        1 => Ok(found.remove(0)),
        _ => {
            let ids: Vec<String> = found.iter().map(|one| one.id.to_string()).collect();
            let what = format!("Several approvals begin with {given}.");
            Err(OperationError::new(OperationErrorCode::Invalid, what)
                .hint(format!("Use more of the id: {}.", ids.join(", "))))
        }
    }
}

pub(super) fn is_reachable(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    approval: &Approval,
) -> Result<bool, OperationError> {
    if caller.bindings().is_none() {
        return Ok(true);
    }
    let Some(session) = approval.session.map(SessionId::from_uuid) else {
        // A program called the tool itself, in a binding's name.
        let act = acts::find(tx, approval.act)?;
        return Ok(act.and_then(|act| act.rests_on.caller.binding).is_some_and(|id| caller.reaches(id)));
    };
    Ok(sessions::find(tx, session)?.is_some_and(|session| caller.reaches(session.binding)))
}
