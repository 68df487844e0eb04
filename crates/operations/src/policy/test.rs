//! What would be decided about a call, and why. Nothing is done.

use std::sync::Arc;

use munshi_identity::Principal;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationCaller, OperationEffect, OperationError, OperationErrorCode,
    OperationSpec, RouteMethod,
};
use munshi_safety::acts;
use munshi_safety::pipeline::{
    ActCaller, CallerAudience, CheckedArguments, CompiledTool, ConnectorOrigin, Proposal, ProposalMode,
    Taint, ToolConnector,
};
use munshi_store::Tx;
use munshi_tiers::{AddressResolution, BindingResolution, BindingResolver, precedence};
use munshi_types::tier::TierName;
use munshi_types::{Autonomy, Conduct, PersonId, Tenant, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::decision::PolicyDecisionView;
use crate::folders::check_reach;
use crate::{HouseCall, HouseServices, persons};

/// Somebody nobody knows.
const ANONYMOUS: &str = "anonymous";
/// More than any call and any description has.
const LARGEST: usize = 1 << 20;

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PolicyTest)]
pub struct TestPolicyInput {
    /// The tool's name.
    #[schema(max_length = 200, example = "log_sale")]
    pub tool: String,
    /// Who calls it: an id, name, phone, e-mail or @handle of a person, or `anonymous`.
    #[serde(rename = "as")]
    #[schema(example = "anonymous")]
    pub person: String,
    /// `private`, `work`, `public`, `distribution` or `agents`. Default: the binding's.
    #[schema(value_type = Option<crate::schemas::DoorSchema>)]
    pub door: Option<CallerAudience>,
    /// The arguments of the call. Default: none.
    #[schema(value_type = Option<Value>)]
    pub arguments: Option<Value>,
    /// The binding whose agent's tools and policy apply. Default: an agent without restrictions.
    #[schema(value_type = Option<String>, max_length = 63)]
    pub binding: Option<TierName>,
    /// A tool that is not installed: its scope, effect, reach, parameters and so on.
    pub spec: Option<DescribedToolInput>,
}

/// A tool that is not installed.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = DescribedTool)]
pub struct DescribedToolInput {
    /// What differs from a tool that only reads; `scope` is needed.
    #[schema(value_type = Value, example = json!({ "scope": "ledger.sale.add", "effect": "checked" }))]
    pub tool: Map<String, Value>,
    /// The tool's connector. Default: foreign.
    pub connector: Option<String>,
    /// Whether it is a built-in pack's, not a third party's.
    pub built_in: Option<bool>,
    /// Whether the connector does not declare its tools.
    pub undeclared: Option<bool>,
}

pub struct TestPolicy;

impl Operation<HouseServices> for TestPolicy {
    type Input = TestPolicyInput;
    type View = PolicyDecisionView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "policy",
        noun: "policy",
        command: "policy",
        verb: "test",
        about: "Evaluate a call stage by stage: what would be decided, and why. Nothing is done.",
        needs: CallerClass::Member(Area::Tiers, ApiAccess::Write),
        effect: OperationEffect::Read,
        method: RouteMethod::Post,
        path: "/v1/policy/test",
    };

    async fn run(call: &HouseCall, input: TestPolicyInput) -> Result<PolicyDecisionView, OperationError> {
        check_reach(&call.caller)?;
        check_person(&call.caller, &input.person)?;
        let given = input.arguments.unwrap_or_else(|| Value::Object(Map::new()));
        if given.to_string().len() > LARGEST {
            return Err(OperationError::field("arguments", "they are too long"));
        }
        let through = resolve_binding(call, input.binding.as_ref()).await?;
        let tool = match &input.spec {
            Some(described) => Some(compile(&input.tool, described)?),
            None => call.services.find_tool(call.tenant.id, &input.tool).await?,
        };
        let caller = build_caller(&call.tenant, through.as_deref(), input.door)?;
        let offered =
            through.as_ref().is_none_or(|through| is_offered(through, &input.tool, tool.as_deref()));
        let conduct =
            through.map_or_else(build_unrestricted_conduct, |through| through.agent.body.policy.clone());
        let proposal = Proposal {
            act: call.ids.next(),
            name: input.tool.clone(),
            arguments: CheckedArguments::new(given.clone(), tool.as_deref()),
            tool: tool.clone(),
            offered,
            wanted: ProposalMode::Act,
            caller,
            agent: Arc::new(conduct),
            taint: Taint::default(),
            concerns: Vec::new(),
        };
        let (act_services, now) = ((call.services.act_services)()?, call.now);
        let (whom, door) = (input.person.clone(), proposal.caller.door);
        // What is counted on the way is undone, so nothing is left for the audit to hear of.
        let unit = move |tx: &mut Tx<'_>| -> Result<_, OperationError> {
            let mut proposal = proposal;
            proposal.caller.principal = find_principal(tx, &whom)?;
            Ok(acts::preview(tx, &act_services, &proposal, now)?)
        };
        let trace = call.db.write(call.tenant.id, unit).await?;
        Ok(PolicyDecisionView::new(&input.tool, tool.as_deref(), &input.person, door, trace))
    }
}

/// Whoever may not look at people learns nothing of them by their names and numbers.
fn check_person(caller: &OperationCaller, given: &str) -> Result<(), OperationError> {
    match given == ANONYMOUS || given.parse::<PersonId>().is_ok() {
        true => Ok(()),
        false => caller.authorize(CallerClass::Member(Area::Persons, ApiAccess::Read)),
    }
}

async fn resolve_binding(
    call: &HouseCall,
    name: Option<&TierName>,
) -> Result<Option<Arc<BindingResolution>>, OperationError> {
    let Some(name) = name else { return Ok(None) };
    let resolver = BindingResolver::new(call.db.clone());
    let refuse = |what: String| OperationError::new(OperationErrorCode::Forbidden, what);
    let tenant = &call.tenant.name;
    match resolver.resolve_by_name(tenant, name, None).await? {
        AddressResolution::Bound(resolution) => Ok(Some(resolution)),
        AddressResolution::Unknown => Err(OperationError::not_found("binding", name.as_str())
            .hint("List them with GET /v1/bindings or `munshi tier list`.")),
        AddressResolution::BindingArchived { .. } => {
            Err(refuse(format!("Binding {name} is archived.")).hint("Apply its file again to restore it."))
        }
        AddressResolution::TenantPaused(_) => Err(refuse(format!("Tenant {tenant} is paused."))
            .hint(format!("Run `munshi tenant resume {tenant}`."))),
        AddressResolution::TenantArchived(_) => Err(OperationError::archived(tenant)),
    }
}

fn is_offered(through: &BindingResolution, tool: &str, known: Option<&CompiledTool>) -> bool {
    let (team, agent) = (&through.team.body, &through.agent.body);
    let is_connectors = |known: &CompiledTool| {
        precedence::allows_connector_tool(team, agent, &known.connector.name, &known.spec.name)
    };
    precedence::select_tools(team, agent).iter().any(|name| name.bare() == tool || name.as_str() == tool)
        || known.is_some_and(is_connectors)
}

/// Whom it is for is found in the transaction.
fn build_caller(
    tenant: &Tenant,
    through: Option<&BindingResolution>,
    door: Option<CallerAudience>,
) -> Result<ActCaller, OperationError> {
    let own = through.map(|through| CallerAudience::from(through.binding.door));
    let door = door.or(own).ok_or_else(|| {
        OperationError::field("door", "none is given")
            .hint("Use --door DOOR, or --binding NAME for a binding's own.")
    })?;
    Ok(ActCaller {
        principal: Principal::anonymous(tenant.id),
        door,
        binding: through.map(|through| through.binding_id),
        run: None,
        session: None,
        zone: tenant.zone.clone(),
        language: None,
        background: false,
        key: None,
        ceiling: None,
    })
}

fn find_principal(tx: &mut Tx<'_>, whom: &str) -> Result<Principal, OperationError> {
    match whom == ANONYMOUS {
        true => Ok(Principal::anonymous(tx.tenant())),
        false => Ok(persons::find(tx, whom)?.principal(tx)),
    }
}

/// An agent that stands in nobody's way, so that everything else is seen.
fn build_unrestricted_conduct() -> Conduct {
    let everything: Vec<_> = "*".parse().into_iter().collect();
    Conduct { autonomy: Autonomy::Act, read: everything.clone(), write: everything, ..Conduct::default() }
}

/// What is described over what a tool that only looks would be.
fn compile(name: &str, described: &DescribedToolInput) -> Result<Arc<CompiledTool>, OperationError> {
    let wrong = |what: String| OperationError::field("spec", &what);
    let given = &described.tool;
    if given.get("name").is_some_and(|other| other != name) {
        return Err(wrong(format!("it describes another tool than {name}")));
    }
    if !given.contains_key("scope") {
        return Err(wrong("`scope` is missing, such as ledger.sale.add".to_owned()));
    }
    let name = name.parse().map_err(|error: munshi_types::ToolNameError| wrong(error.to_string()))?;
    let usual = serde_json::to_value(ToolSpec::read_only(name, "", "")).map_err(OperationError::internal)?;
    let Value::Object(mut whole) = usual else { return Err(wrong("it can't be read".to_owned())) };
    if let Some(other) = given.keys().find(|key| !whole.contains_key(*key)) {
        let known: Vec<&str> = whole.keys().map(String::as_str).collect();
        return Err(
            wrong(format!("unknown key `{other}`")).hint(format!("Known keys: {}.", known.join(", ")))
        );
    }
    whole.extend(given.clone());
    let spec: ToolSpec =
        serde_json::from_value(Value::Object(whole)).map_err(|error| wrong(error.to_string()))?;
    let connector = ToolConnector {
        name: described.connector.clone().unwrap_or_else(|| "foreign".to_owned()),
        origin: match described.built_in {
            Some(true) => ConnectorOrigin::BuiltIn,
            _ => ConnectorOrigin::Foreign,
        },
        declares: described.undeclared != Some(true),
        conduct: None,
    };
    let known = CompiledTool::new(spec, connector).map_err(|bad| wrong(bad.to_string()))?;
    Ok(Arc::new(known))
}
