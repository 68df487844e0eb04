//! Whether the server can do its work, asked from outside.

use std::future::Future;
use std::pin::Pin;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One readiness check and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Check)]
pub struct ReadinessCheck {
    /// The subsystem, such as `store` or `jobs`.
    pub name: String,
    pub ok: bool,
    /// What the check found.
    pub detail: String,
    /// What to do if the check failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl ReadinessCheck {
    pub fn pass(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { name: name.into(), ok: true, detail: detail.into(), hint: None }
    }

    pub fn fail(name: impl Into<String>, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name: name.into(), ok: false, detail: detail.into(), hint: Some(hint.into()) }
    }
}

/// Looks after what the server needs. The binary implements it over the store and the job runner, as a type or as
/// a closure that returns a future. It is asked once per probe, so an answer should take milliseconds; and anyone who
/// reaches the port can read it, so it holds no secrets and no paths.
pub trait Readiness: Send + Sync + 'static {
    fn run_checks(&self) -> Pin<Box<dyn Future<Output = Vec<ReadinessCheck>> + Send + '_>>;
}

impl<F, Checks> Readiness for F
where
    F: Fn() -> Checks + Send + Sync + 'static,
    Checks: Future<Output = Vec<ReadinessCheck>> + Send + 'static,
{
    fn run_checks(&self) -> Pin<Box<dyn Future<Output = Vec<ReadinessCheck>> + Send + '_>> {
        Box::pin(self())
    }
}
