//! `POST /v1/test`: the test door. A turn of somebody who is made for it, and all that happened in it.

use munshi_conversations::{KeyUse, decisions};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::{Person, Role, persons};
use munshi_safety::budget;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::parameters;
use munshi_store::Tx;
use munshi_types::tier::{Channel, TierName};
use munshi_types::{InboundMessage, InboundSender, InboundTarget, PersonId, RunId, TenantId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::access::AuthorizedCaller;
use crate::api::chat_admission::resolve_binding;
use crate::api::turn_errors::convert_turn_error;
use crate::app::api::ApiState;
use crate::views::outcome::{PromptTokensView, TurnOutcomeView};

/// What people who were made for a test are tagged with.
const TAG: &str = "test";

/// A message to test.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TestMessage {
    /// The name of the binding that answers.
    #[schema(value_type = String, pattern = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", example = "counter")]
    binding: TierName,
    #[schema(min_length = 1, max_length = 65536, example = "Raju ko 500 udhaar diya")]
    text: String,
    /// The role to test as: `known` for a customer, `visitor`, or a role, at most the key's own and at most admin.
    /// Default: the key's own role.
    #[serde(rename = "as")]
    standing: Option<TestStanding>,
    /// The locale of the person's device.
    #[schema(min_length = 2, max_length = 35, pattern = "^[A-Za-z0-9_-]+$", example = "en-IN")]
    locale: Option<String>,
    /// Execute acts. Without it, acts are a dry run. Requires `test`, not only `test:read`.
    #[serde(default)]
    act: bool,
}

/// The role of the test speaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TestStanding {
    Visitor,
    Known,
    Viewer,
    Staff,
    Admin,
}

/// Everything that happened in the turn.
#[derive(Serialize, ToSchema)]
pub(crate) struct TestReport {
    /// Whether acts were a dry run.
    rehearsed: bool,
    /// Tokens of the prompt by source.
    prompt: PromptTokensView,
    #[serde(flatten)]
    outcome: TurnOutcomeView,
}

/// Run a test turn in a new session of a temporary person. The report has the tool calls with arguments and results,
/// the reply, the suggestions, the duration of each stage and the prompt's composition. It counts as an interaction.
#[utoipa::path(post, path = "/v1/test", tag = "test",
    responses((status = 200, description = "The test report.", body = TestReport)))]
pub(crate) async fn run_test(
    key: AuthorizedCaller,
    Json(test): Json<TestMessage>,
) -> Result<Json<TestReport>, ApiError> {
    if test.act {
        key.require_access(Area::Test, ApiAccess::Write)?;
    }
    test.locale.as_deref().map(parameters::validate_locale).transpose()?;
    let role = resolve_role(&key, test.standing)?;
    let place = resolve_binding(&key, &test.binding).await?;
    let (api, tenant) = (&key.api, key.tenant());
    let act_services = api.act_services.clone();
    let plan = api.db.read(tenant, move |tx| budget::load_plan(tx, act_services.governor.settings())).await?;
    api.count_limits(tenant, vec![api.limits.check_tenant(tenant, plan)?]).await?;
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
    munshi_conversations::inbound::validate(&inbound).map_err(convert_turn_error)?;
    let (visitor, doing) = (test.standing == Some(TestStanding::Visitor), api.clone());
    let through = test.act.then(|| key.key_use());
    // Whoever was made for it leaves, even if the client goes before the end.
    let task = api.tasks.spawn(async move {
        let person = create_test_person(&doing, tenant, role, visitor).await?;
        inbound.from.person = Some(person);
        let report = run_turn(&doing, tenant, inbound, through).await;
        deactivate_person(&doing, tenant, person).await?;
        report
    });
    task.await.map_err(ApiError::internal)?.map(Json)
}

fn resolve_role(key: &AuthorizedCaller, wanted: Option<TestStanding>) -> Result<Option<Role>, ApiError> {
    let role = match wanted {
        None => key.role().map(|own| own.max(Role::Admin)),
        Some(TestStanding::Visitor | TestStanding::Known) => None,
        Some(TestStanding::Viewer) => Some(Role::Viewer),
        Some(TestStanding::Staff) => Some(Role::Staff),
        Some(TestStanding::Admin) => Some(Role::Admin),
    };
    if key.covers_role(role) {
        return Ok(role);
    }
    Err(ApiError::new(ApiErrorCode::Forbidden, "`as` is a higher role than the key's.")
        .hint("Choose a lower role, or ask an owner of the workspace."))
}

/// Somebody with no name and no address: nobody else can be them.
async fn create_test_person(
    api: &ApiState,
    tenant: TenantId,
    role: Option<Role>,
    visitor: bool,
) -> Result<PersonId, ApiError> {
    let person =
        Person { role, visitor, tags: vec![TAG.to_owned()], ..Person::new(&api.ids, "", api.clock.now()) };
    let id = person.id;
    api.db.write(tenant, move |tx| persons::upsert(tx, &person)).await?;
    Ok(id)
}

/// From now on they can do nothing, and stand in no list of those who are here.
async fn deactivate_person(api: &ApiState, tenant: TenantId, id: PersonId) -> Result<(), ApiError> {
    let now = api.clock.now();
    let unit = move |tx: &mut Tx<'_>| match persons::find(tx, id)? {
        Some(person) => persons::upsert(tx, &Person { left_at: Some(now), role: None, ..person }),
        None => Ok(()),
    };
    Ok(api.db.write(tenant, unit).await?)
}

/// Acts are done where the key is named through which they are asked for.
async fn run_turn(
    api: &ApiState,
    tenant: TenantId,
    inbound: InboundMessage,
    through: Option<KeyUse>,
) -> Result<TestReport, ApiError> {
    let act = through.is_some();
    let received = match through {
        Some(key) => api.engine.receive_with_key(inbound, key).await.map_err(convert_turn_error)?,
        None => api.engine.receive_dry_run(inbound).await.map_err(convert_turn_error)?,
    };
    let run = received.run;
    let Ok(outcome) = tokio::time::timeout(api.reply_timeout, api.engine.wait_for_outcome(tenant, run)).await
    else {
        api.engine.cancel(tenant, run).await.map_err(convert_turn_error)?;
        let what = "The turn exceeded the request timeout and was stopped.";
        return Err(ApiError::new(ApiErrorCode::Timeout, what)
            .hint(format!("See its steps with GET /v1/runs/{run}.")));
    };
    let outcome = outcome.map_err(convert_turn_error)?;
    let prompt = api.db.read(tenant, move |tx| decisions::find_prompt_tokens(tx, run)).await?;
    let prompt = prompt.map(PromptTokensView::from).unwrap_or_default();
    Ok(TestReport { rehearsed: !act, prompt, outcome: outcome.into() })
}
