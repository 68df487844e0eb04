//! One administrative verb, the same from every surface: a command, a route, a page and another agent parse what is given,
//! run it, and show its view. Who may, what it changes and what the audit hears are said here alone.
//!
//! # To add an operation
//! 1. Write its input (the body, the form and the arguments are it), its view (what every surface shows) and its `run`,
//!    in a file of its own: `<resource>/<verb>.rs`.
//! 2. Declare it in an [`OperationSpec`]: who may, where, what it does.
//! 3. List it: one of the house in `HOUSE` (`crates/operations/src/lib.rs`), a pack's with `room.add_operation::<NAME>()` in its `install`. The
//!    route, the command, the document and `docs/operations.md` follow; `UPDATE_DOCS=1 cargo test -p munshi-wiring` writes the page.
//! 4. One of the house needs a request in `crates/web/tests/api/operation_samples.rs`: a test runs every operation through its route.
//!
//! A list by time takes a [`ListInput`] and answers with a [`ListView`], so that all of them page and sort alike.

mod caller;
mod entry;
mod error;
mod idempotency;
mod list;
mod spec;

use std::future::Future;
use std::sync::Arc;

use munshi_safety::audit::{AuditStamp, administer, administer_platform};
use munshi_store::{AdminTx, Db, PlatformAdminTx, PlatformScope, PlatformTx, Tx};
use munshi_types::{IdGenerator, Random, Tenant, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;

pub use crate::services::PackServices;

pub use caller::{CallerIdentity, OperationCaller};
pub use entry::{OperationEntry, OperationField, OperationShape};
pub use error::{OperationError, OperationErrorCode, sentence};
pub use idempotency::{IdempotencyKey, forget_answers};
pub use list::{ListInput, ListView, describe_order};
pub use spec::{CallerClass, OperationEffect, OperationScope, OperationSpec, RouteMethod};

/// A verb. `S` is what it works with.
pub trait Operation<S>: 'static {
    /// Refuses fields it does not know.
    type Input: DeserializeOwned + Serialize + ToSchema + Send + 'static;
    /// What is shown, and what `--json` prints. The command line reads it from a server, too.
    type View: Serialize + DeserializeOwned + ToSchema + Send + 'static;

    const SPEC: OperationSpec;

    /// Whether the view may be kept for whoever sends the same again: not where it holds what is shown once.
    const KEEPS_VIEW: bool = true;

    /// The view in words for somebody at a terminal, where its names and values do not do; see [`render_as`].
    const RENDER: Option<RenderView> = None;

    /// What makes two requests under one idempotency key the same; a hash of it is kept.
    fn describe_request(input: &Self::Input) -> serde_json::Result<Value> {
        serde_json::to_value(input)
    }

    /// Does it, for a caller who may.
    fn run(
        call: &OperationCall<S>,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::View, OperationError>> + Send;
}

/// Gives a view words of its own.
pub type RenderView = fn(&Value) -> Option<String>;

/// Words for a view that is read from JSON; none where it can't be.
pub fn render_as<T: DeserializeOwned>(view: &Value, render: impl FnOnce(&T) -> String) -> Option<String> {
    serde_json::from_value(view.clone()).ok().map(|view| render(&view))
}

/// One call: by whom, for which tenant, and with what.
pub struct OperationCall<S> {
    pub db: Db,
    pub ids: IdGenerator,
    pub random: Arc<dyn Random>,
    pub now: Timestamp,
    pub caller: OperationCaller,
    /// [`Tenant::installation`] where what is meant belongs to none.
    pub tenant: Tenant,
    /// The key under which a write is sent, if there is one.
    pub idempotency: IdempotencyKey,
    /// What the operations of one pack, or of the house, need besides.
    pub services: S,
}

/// A call of a pack's operation.
pub type PackCall = OperationCall<PackServices>;

impl<S> OperationCall<S> {
    /// The same call with other services; its idempotency key is the same, too.
    pub fn with_services<T>(&self, services: T) -> OperationCall<T> {
        OperationCall {
            db: self.db.clone(),
            ids: self.ids.clone(),
            random: self.random.clone(),
            now: self.now,
            caller: self.caller.clone(),
            tenant: self.tenant.clone(),
            idempotency: self.idempotency.clone(),
            services,
        }
    }

    pub async fn read<T, F>(&self, unit: F) -> Result<T, OperationError>
    where
        F: FnOnce(&mut Tx<'_>) -> Result<T, OperationError> + Send + 'static,
        T: Send + 'static,
    {
        self.db.read(self.tenant.id, unit).await
    }

    /// Reads what is not read unseen: the audit is told what the unit notes, in the same transaction.
    pub async fn read_audited<T, F>(&self, unit: F) -> Result<T, OperationError>
    where
        F: FnOnce(&mut AdminTx<'_, '_>) -> Result<T, OperationError> + Send + 'static,
        T: Send + 'static,
    {
        self.write(unit).await
    }

    /// Changes something, and tells the audit what the unit notes.
    pub async fn write<T, F>(&self, unit: F) -> Result<T, OperationError>
    where
        F: FnOnce(&mut AdminTx<'_, '_>) -> Result<T, OperationError> + Send + 'static,
        T: Send + 'static,
    {
        administer(&self.db, self.tenant.id, self.stamp(), unit).await
    }

    pub async fn read_platform<T, F>(&self, scope: PlatformScope, unit: F) -> Result<T, OperationError>
    where
        F: FnOnce(&mut PlatformTx<'_>) -> Result<T, OperationError> + Send + 'static,
        T: Send + 'static,
    {
        self.db.platform(scope).read(unit).await
    }

    /// Changes something of the installation, and tells the chains that the unit names.
    pub async fn write_platform<T, F>(&self, scope: PlatformScope, unit: F) -> Result<T, OperationError>
    where
        F: FnOnce(&mut PlatformAdminTx<'_, '_>) -> Result<T, OperationError> + Send + 'static,
        T: Send + 'static,
    {
        administer_platform(&self.db, scope, self.tenant.id, self.stamp(), unit).await
    }

    fn stamp(&self) -> AuditStamp {
        let (actor, claim) = (self.caller.actor().clone(), self.idempotency.next_claim());
        AuditStamp { actor, ids: self.ids.clone(), now: self.now, claim }
    }
}
