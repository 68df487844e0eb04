//! `POST /v1/test`: the test door. A turn of somebody who is made for it, and all that happened in it.

use munshi_agent::{KeyUse, decisions};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::{Person, Role as Stands, persons};
use munshi_safety::budget;
use munshi_store::Tx;
use munshi_types::tier::{Channel, TierName};
use munshi_types::{InboundMessage, InboundSender, InboundTarget, PersonId, RunId, TenantId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::access::AuthorizedCaller;
use crate::api::{ApiState, ask};
use crate::error::{ApiError, ApiErrorCode};
use crate::json::Json;
use crate::routes::chat::send::place;
use crate::views::outcome::{PromptTokensView, TurnOutcomeView};

/// What people who were made for a test are tagged with.
const TAG: &str = "test";

/// Something to try.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TestMessage {
    /// The name of the binding that answers.
    #[schema(value_type = String, pattern = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", example = "counter")]
    binding: TierName,
    #[schema(min_length = 1, max_length = 65536, example = "Raju ko 500 udhaar diya")]
    text: String,
    /// As whom: `known` for a customer, `visitor`, or a role, but none above the key's own or above admin. Without it,
    /// as the key stands.
    #[serde(rename = "as")]
    standing: Option<TestStanding>,
    /// What the person's device is set to.
    #[schema(min_length = 2, max_length = 35, pattern = "^[A-Za-z0-9_-]+$", example = "en-IN")]
    locale: Option<String>,
    /// Do what the agent wants to do. Without it, acts are rehearsed. Needs `test` and not only `test:read`.
    #[serde(default)]
    act: bool,
}

/// What the one who speaks is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TestStanding {
    Visitor,
    Known,
    Viewer,
    Staff,
    Admin,
}

/// All that happened in the turn.
#[derive(Serialize, ToSchema)]
pub(crate) struct TestReport {
    /// Whether acts were rehearsed and not done.
    rehearsed: bool,
    /// What the prompt was made of.
    prompt: PromptTokensView,
    #[serde(flatten)]
    outcome: TurnOutcomeView,
}

/// A turn in a fresh conversation of somebody who is made for it, and all that happened in it: the tools called with
/// their arguments and results, the reply, what one could say next, how long each stage took, and what the prompt was
/// made of. It counts as an interaction.
#[utoipa::path(post, path = "/v1/test", tag = "test",
    responses((status = 200, description = "What happened.", body = TestReport)))]
pub(crate) async fn run_test(
    key: AuthorizedCaller,
    Json(test): Json<TestMessage>,
) -> Result<Json<TestReport>, ApiError> {
    if test.act {
        key.may(Area::Test, ApiAccess::Write)?;
    }
    test.locale.as_deref().map(ask::locale).transpose()?;
    let role = role(&key, test.standing)?;
    let place = place(&key, &test.binding).await?;
    let (api, tenant) = (&key.api, key.tenant());
    let office = api.office.clone();
    let plan = api.db.read(tenant, move |tx| budget::plan(tx, office.governor.settings())).await?;
    api.count_limits(tenant, vec![api.limits.tenant(tenant, plan)?]).await?;
    let mut inbound = InboundMessage {
        channel: Channel::Api,
        to: InboundTarget::Binding { tenant: place.tenant_name.clone(), binding: test.binding },
        from: InboundSender::default(),
        outside_id: api.ids.next::<RunId>().to_string(),
        text: test.text,
        attached: Vec::new(),
        locale: test.locale,
        sent_at: None,
        reply_to: None,
        screen: Default::default(),
    };
    munshi_agent::fit::check(&inbound)?;
    let (visitor, doing) = (test.standing == Some(TestStanding::Visitor), api.clone());
    let through = test.act.then(|| key.usage());
    // Whoever was made for it leaves, even if the client goes before the end.
    let task = api.tasks.spawn(async move {
        let person = make(&doing, tenant, role, visitor).await?;
        inbound.from.person = Some(person);
        let report = turn(&doing, tenant, inbound, through).await;
        leave(&doing, tenant, person).await?;
        report
    });
    task.await.map_err(ApiError::internal)?.map(Json)
}

fn role(key: &AuthorizedCaller, wanted: Option<TestStanding>) -> Result<Option<Stands>, ApiError> {
    let role = match wanted {
        None => key.role().map(|own| own.max(Stands::Admin)),
        Some(TestStanding::Visitor | TestStanding::Known) => None,
        Some(TestStanding::Viewer) => Some(Stands::Viewer),
        Some(TestStanding::Staff) => Some(Stands::Staff),
        Some(TestStanding::Admin) => Some(Stands::Admin),
    };
    if key.is_above(role) {
        return Ok(role);
    }
    Err(ApiError::new(ApiErrorCode::Forbidden, "`as` stands higher than the key.")
        .hint("Choose a lower one, or ask an owner of the workspace."))
}

/// Somebody with no name and no address: nobody else can be them.
async fn make(
    api: &ApiState,
    tenant: TenantId,
    role: Option<Stands>,
    visitor: bool,
) -> Result<PersonId, ApiError> {
    let person =
        Person { role, visitor, tags: vec![TAG.to_owned()], ..Person::new(&api.ids, "", api.clock.now()) };
    let id = person.id;
    api.db.write(tenant, move |tx| persons::put(tx, &person)).await?;
    Ok(id)
}

/// From now on they can do nothing, and stand in no list of those who are here.
async fn leave(api: &ApiState, tenant: TenantId, id: PersonId) -> Result<(), ApiError> {
    let now = api.clock.now();
    let unit = move |tx: &mut Tx<'_>| match persons::find(tx, id)? {
        Some(person) => persons::put(tx, &Person { left_at: Some(now), role: None, ..person }),
        None => Ok(()),
    };
    Ok(api.db.write(tenant, unit).await?)
}

/// Acts are done where the key is named through which they are asked for.
async fn turn(
    api: &ApiState,
    tenant: TenantId,
    inbound: InboundMessage,
    through: Option<KeyUse>,
) -> Result<TestReport, ApiError> {
    let act = through.is_some();
    let received = match through {
        Some(key) => api.engine.receive_through(inbound, key).await?,
        None => api.engine.rehearse(inbound).await?,
    };
    let run = received.run;
    let Ok(outcome) = tokio::time::timeout(api.patience, api.engine.outcome(tenant, run)).await else {
        api.engine.cancel(tenant, run).await?;
        let what = "The turn took longer than a request may, and was stopped.";
        return Err(
            ApiError::new(ApiErrorCode::Timeout, what).hint(format!("GET /v1/runs/{run} has its steps."))
        );
    };
    let outcome = outcome?;
    let prompt = api.db.read(tenant, move |tx| decisions::prompt_of(tx, run)).await?;
    let prompt = prompt.map(PromptTokensView::from).unwrap_or_default();
    Ok(TestReport { rehearsed: !act, prompt, outcome: outcome.into() })
}
