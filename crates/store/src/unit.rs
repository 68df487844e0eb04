//! A unit of work on its way to a thread and back.
//!
//! The caller holds the other end: it waits for the answer, and while the unit is still queued it may walk
//! away (its future is dropped, or it has waited too long), after which the unit never runs.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use munshi_types::TenantId;
use tokio::sync::oneshot;

use crate::announcement::{Announcement, Announcer};
use crate::error::{Error, Result};
use crate::lane::UnitLane;
use crate::session::{CommitHook, UnitSession};
use crate::tx::PlatformScope;

const QUEUED: u8 = 0;
const RUNNING: u8 = 1;
const ABANDONED: u8 = 2;

/// Who the transaction is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UnitScope {
    Tenant(TenantId),
    Platform(PlatformScope),
}

/// What became of a unit when its closure returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnitVerdict {
    Commit,
    RollBack,
}

/// The caller's end of a queued unit.
pub(crate) struct UnitHandle(Arc<AtomicU8>);

impl UnitHandle {
    /// True when the unit had not begun and now never will.
    pub(crate) fn abandon(&self) -> bool {
        self.0.compare_exchange(QUEUED, ABANDONED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl Drop for UnitHandle {
    fn drop(&mut self) {
        self.abandon();
    }
}

/// A closure's own answer, whatever its type: units are many, and what carries them is compiled once.
pub(crate) type UnitAnswer = Result<Box<dyn Any + Send>, Box<dyn Any + Send>>;
pub(crate) type UnitBody = Box<dyn FnOnce(&mut UnitSession) -> UnitAnswer + Send>;

/// Takes the types out of a closure. `answered` puts them back.
pub(crate) fn erase_types<T, E>(
    act: impl FnOnce(&mut UnitSession) -> Result<T, E> + Send + 'static,
) -> UnitBody
where
    T: Send + 'static,
    E: Send + 'static,
{
    Box::new(move |session| match act(session) {
        Ok(value) => Ok(Box::new(value)),
        Err(error) => Err(Box::new(error)),
    })
}

/// A unit's answer as its caller knows it: the closure's own, or what went wrong around it.
pub(crate) fn downcast_answer<T: 'static, E: From<Error> + 'static>(
    answer: Result<UnitAnswer>,
) -> Result<T, E> {
    match answer? {
        Ok(value) => value.downcast().map(|value| *value).map_err(|_| Error::closed().into()),
        Err(error) => Err(error.downcast().map_or_else(|_| Error::closed().into(), |error| *error)),
    }
}

/// A unit as the threads see it.
pub(crate) struct UnitOfWork {
    scope: UnitScope,
    lane: UnitLane,
    act: Option<UnitBody>,
    outcome: Option<Result<UnitAnswer>>,
    hooks: Vec<CommitHook>,
    announced: Vec<Announcement>,
    announcer: Announcer,
    reply: oneshot::Sender<Result<UnitAnswer>>,
    state: Arc<AtomicU8>,
}

impl UnitOfWork {
    pub(crate) fn new(
        (scope, lane): (UnitScope, UnitLane),
        act: UnitBody,
        announcer: Announcer,
    ) -> (Self, oneshot::Receiver<Result<UnitAnswer>>, UnitHandle) {
        let (reply, answer) = oneshot::channel();
        let state = Arc::new(AtomicU8::new(QUEUED));
        let claim = UnitHandle(state.clone());
        let unit = Self {
            scope,
            lane,
            act: Some(act),
            outcome: None,
            hooks: Vec::new(),
            announced: Vec::new(),
            announcer,
            reply,
            state,
        };
        (unit, answer, claim)
    }

    pub(crate) fn scope(&self) -> UnitScope {
        self.scope
    }

    pub(crate) fn lane(&self) -> UnitLane {
        self.lane
    }

    /// Whether somebody waits for it still.
    pub(crate) fn is_wanted(&self) -> bool {
        self.state.load(Ordering::Acquire) != ABANDONED
    }

    /// Marks the unit as running; false when its caller has walked away.
    pub(crate) fn claim(&self) -> bool {
        self.state.compare_exchange(QUEUED, RUNNING, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Runs the closure. Whether to commit is the verdict; what to tell the caller stays inside until `settle`.
    pub(crate) fn run(&mut self, session: &mut UnitSession) -> UnitVerdict {
        session.reset();
        let Some(act) = self.act.take() else { return UnitVerdict::RollBack };
        let inside = Inside::enter();
        let outcome = catch_unwind(AssertUnwindSafe(|| act(session)));
        drop(inside);
        let outcome = match outcome {
            Ok(Ok(value)) => match session.failure() {
                None => Ok(Ok(value)),
                Some(failure) => Err(failure.clone()),
            },
            Ok(Err(error)) => Ok(Err(error)),
            Err(panic) => Err(Error::Panicked(message_of(panic.as_ref()))),
        };
        let verdict = if matches!(outcome, Ok(Ok(_))) { UnitVerdict::Commit } else { UnitVerdict::RollBack };
        self.hooks = session.take_hooks();
        self.announced = session.take_announced();
        self.outcome = Some(outcome);
        verdict
    }

    /// Answers the caller: with the closure's own result, or with what went wrong around it.
    pub(crate) fn settle(self, committed: Result<()>) {
        let outcome = match (committed, self.outcome) {
            (Ok(()), Some(outcome)) => outcome,
            (Ok(()), None) => Err(Error::closed()),
            (Err(error), _) => Err(error),
        };
        if matches!(outcome, Ok(Ok(_))) {
            for hook in self.hooks {
                // A wake-up that panics must not take the store's thread with it.
                if catch_unwind(AssertUnwindSafe(hook)).is_err() {
                    tracing::error!("after-commit hook panicked");
                }
            }
            self.announced.into_iter().for_each(|one| self.announcer.tell(one));
        }
        // A caller that has gone away learns nothing; what was committed stays committed.
        let _gone = self.reply.send(outcome);
    }
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as running a unit, so that a unit started from within is refused: it would wait for itself.
struct Inside;

impl Inside {
    fn enter() -> Self {
        INSIDE.set(true);
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}

pub(crate) fn refuse_nesting() -> Result<()> {
    if INSIDE.get() {
        let advice = "pass the transaction along instead of starting another";
        return Err(Error::Misuse(format!("a unit of work can't start another: {advice}")));
    }
    Ok(())
}
