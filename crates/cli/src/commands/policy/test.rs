//! `munshi policy test TOOL`: what would be decided, and why. Nothing is done.

use std::sync::Arc;

use clap::Args;
use munshi_connectors::rows;
use munshi_identity::Principal;
use munshi_safety::acts;
use munshi_safety::pipeline::{
    ActCaller, CallerAudience, CheckedArguments, CompiledTool, DecisionTrace, Proposal, ProposalMode, Taint,
};
use munshi_store::{Db, Tx};
use munshi_tiers::{BindingResolution, BindingResolver, precedence};
use munshi_types::tier::TierName;
use munshi_types::{Autonomy, Conduct, IdGenerator, Tenant, TenantId};
use munshi_wiring::connectors;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::tools::build_act_services;
use serde_json::Value;

use super::report::{self, PolicyTestReport};
use super::spec::ToolSpecArguments;
use crate::commands::person;
use crate::commands::prompt::binding;
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;

/// Somebody nobody knows.
const ANONYMOUS: &str = "anonymous";

#[derive(Debug, Args)]
pub(crate) struct PolicyTestArguments {
    /// Tool name
    tool: String,
    /// Caller: name, phone, e-mail, @handle or id of a person, or `anonymous`
    #[arg(long = "as", value_name = "PERSON")]
    person: String,
    /// private, work, public, distribution or agents. Default: the binding's
    #[arg(long, required_unless_present = "binding")]
    door: Option<CallerAudience>,
    /// Arguments of the call
    #[arg(long = "args", value_name = "JSON", default_value = "{}")]
    arguments: String,
    /// Binding whose agent's tools and policy apply. Default: an agent without restrictions
    #[arg(long, value_name = "NAME")]
    binding: Option<TierName>,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    described: ToolSpecArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &PolicyTestArguments) -> Result<()> {
    let config = context.config()?;
    let database = ConfiguredDatabase::single_connection(&config)?;
    let given: Value = serde_json::from_str(&arguments.arguments).map_err(|error| {
        CommandFailure::usage(format!("--args is not valid JSON: {error}"))
            .hint("write it as --args '{\"amount\": 500}'")
    })?;
    let tool = arguments.described.find(&arguments.tool)?;
    let (act_services, now) = (build_act_services(&config, context.clock.clone()), context.now());
    let trace = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find(&db).await?;
        let through = resolve_binding(&db, &tenant, arguments.binding.as_ref()).await?;
        let tool = match tool {
            Some(tool) => Some(tool),
            None => find_connector_tool(context, &db, tenant.id, &arguments.tool).await?,
        };
        let proposal = Proposal {
            act: IdGenerator::system().next(),
            name: arguments.tool.clone(),
            arguments: CheckedArguments::new(given.clone(), tool.as_deref()),
            tool: tool.clone(),
            offered: through.as_ref().is_none_or(|through| offers(through, &arguments.tool, tool.as_deref())),
            wanted: ProposalMode::Act,
            caller: caller(&tenant, through.as_deref(), arguments.door)?,
            agent: Arc::new(
                through.map_or_else(build_unrestricted_conduct, |through| through.agent.body.policy.clone()),
            ),
            taint: Taint::default(),
            concerns: Vec::new(),
        };
        let whom = arguments.person.clone();
        let unit = move |tx: &mut Tx<'_>| -> Result<(DecisionTrace, CallerAudience), CommandFailure> {
            let mut proposal = proposal;
            proposal.caller.principal = principal(tx, &whom)?;
            let door = proposal.caller.door;
            Ok((acts::preview(tx, &act_services, &proposal, now)?, door))
        };
        let (trace, door) = db.write(tenant.id, unit).await?;
        Ok((trace, door, tool))
    })?;
    let (trace, door, tool) = trace;
    let shown =
        PolicyTestReport::new(&arguments.tool, tool.as_deref(), &arguments.person, door, &given, trace);
    context.output.print_result(&shown, report::render_text)
}

async fn resolve_binding(
    db: &Db,
    tenant: &Tenant,
    name: Option<&TierName>,
) -> Result<Option<Arc<BindingResolution>>> {
    let Some(name) = name else { return Ok(None) };
    let resolver = BindingResolver::new(db.clone());
    binding::find(&resolver, Some(&tenant.name), name, None).await.map(Some)
}

/// A tool of the tenant's connectors. They are started for it, so only where the name can be one of theirs.
async fn find_connector_tool(
    context: &CommandContext,
    db: &Db,
    tenant: TenantId,
    tool: &str,
) -> Result<Option<Arc<CompiledTool>>> {
    let (_, declared) = db.read(tenant, rows::load_entries).await?;
    if !declared.0.keys().any(|name| tool.starts_with(&format!("{name}_"))) {
        return Ok(None);
    }
    let shelf = connectors::load_tenant_tools(&context.config()?, db, &context.clock, tenant).await?;
    Ok(shelf.get(tool).map(|tool| tool.known.clone()))
}

fn offers(through: &BindingResolution, tool: &str, known: Option<&CompiledTool>) -> bool {
    let (team, agent) = (&through.team.body, &through.agent.body);
    let is_guest = |known: &CompiledTool| {
        precedence::allows_connector_tool(team, agent, &known.connector.name, &known.spec.name)
    };
    precedence::select_tools(team, agent).iter().any(|name| name.as_str() == tool)
        || known.is_some_and(is_guest)
}

/// Whom it is for is found in the transaction.
fn caller(
    tenant: &Tenant,
    through: Option<&BindingResolution>,
    door: Option<CallerAudience>,
) -> Result<ActCaller> {
    let own = through.map(|through| CallerAudience::from(through.binding.door));
    let door = door.or(own).ok_or_else(|| CommandFailure::usage("no door given: use --door DOOR"))?;
    Ok(ActCaller {
        principal: Principal::anonymous(tenant.id),
        door,
        binding: through.map(|through| through.binding_id),
        run: None,
        session: None,
        zone: tenant.zone.clone(),
        background: false,
        key: None,
        ceiling: None,
    })
}

fn principal(tx: &mut Tx<'_>, whom: &str) -> Result<Principal> {
    if whom == ANONYMOUS {
        return Ok(Principal::anonymous(tx.tenant()));
    }
    Ok(person::find(tx, whom)?.principal(tx))
}

/// An agent that stands in nobody's way, so that everything else is seen.
fn build_unrestricted_conduct() -> Conduct {
    let everything: Vec<_> = "*".parse().into_iter().collect();
    Conduct { autonomy: Autonomy::Act, read: everything.clone(), write: everything, ..Conduct::default() }
}
