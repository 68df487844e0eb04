//! Which binding to talk with, where none was named.

use std::io::{BufRead, IsTerminal, Write};

use munshi_config::Config;
use munshi_pack::TenantTemplate;
use munshi_store::Db;
use munshi_tiers::history;
use munshi_types::TenantName;
use munshi_types::tier::{TierKind, TierName, TierStatus};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::{create_tenant, packs, tenant_templates};

use super::ChatArguments;
use crate::commands::ask::binding::open_tenants;
use crate::context::CommandContext;

/// So many are offered; whoever has more names one.
const MOST: usize = 30;

type Chosen = (Option<TenantName>, TierName);

/// One that can be talked with.
struct Offer {
    tenant: TenantName,
    binding: TierName,
    about: String,
}

/// None where somebody was asked and chose nothing.
pub(super) async fn choose(
    context: &CommandContext,
    config: &Config,
    arguments: &ChatArguments,
) -> Result<Option<Chosen>> {
    let database = ConfiguredDatabase::from_config(config)?;
    let is_new = database.file().is_some_and(|file| !file.exists());
    if let (Some(binding), false) = (&arguments.binding, is_new) {
        return Ok(Some((arguments.tenant.clone(), binding.clone())));
    }
    let mut offers = match is_new {
        true => Vec::new(),
        false => offers(&database.open().await?, arguments.tenant.as_ref()).await?,
    };
    if offers.is_empty() {
        let Some(tenant) = create_ready_tenant(context, config).await? else { return Ok(None) };
        offers = self::offers(&database.open().await?, Some(&tenant)).await?;
        if let Some(binding) = &arguments.binding {
            return Ok(Some((None, binding.clone())));
        }
    }
    choose_one(offers)
}

async fn offers(db: &Db, only: Option<&TenantName>) -> Result<Vec<Offer>> {
    let mut offers = Vec::new();
    let tenants = open_tenants(db).await?;
    for tenant in tenants.iter().filter(|tenant| only.is_none_or(|only| only == *tenant)) {
        for tier in history::list_tiers(db, tenant).await? {
            if tier.kind == TierKind::Binding && tier.status == TierStatus::Active {
                let about = tenant.to_string();
                offers.push(Offer { tenant: tenant.clone(), binding: tier.name, about });
            }
        }
    }
    offers.sort_by(|one, other| (&one.tenant, &one.binding).cmp(&(&other.tenant, &other.binding)));
    Ok(offers)
}

fn choose_one(mut offers: Vec<Offer>) -> Result<Option<Chosen>> {
    match offers.len() {
        0 => Err(CommandFailure::not_found("there is no binding yet")
            .hint("add some with `munshi apply DIR`, for example from tenants/rangoli")),
        1 => Ok(offers.pop().map(|offer| (Some(offer.tenant), offer.binding))),
        _ => {
            let names: Vec<String> = offers.iter().map(|offer| offer.binding.to_string()).collect();
            let lines: Vec<String> =
                offers.iter().map(|offer| format!("{} ({})", offer.binding, offer.about)).collect();
            let at = ask("Which binding?", &names, &lines)?;
            Ok(at.map(|at| offers.swap_remove(at)).map(|offer| (Some(offer.tenant), offer.binding)))
        }
    }
}

/// A tenant that comes with the program, made for whoever has none yet.
async fn create_ready_tenant(context: &CommandContext, config: &Config) -> Result<Option<TenantName>> {
    let registry = packs::load_registry()?;
    let packs = registry.tenants.iter().map(|(_, tenant)| *tenant);
    let tenants: Vec<TenantTemplate> = packs.chain(tenant_templates::READY.iter().copied()).collect();
    if !std::io::stdin().is_terminal() {
        let names = tenants.iter().map(|tenant| tenant.name).collect::<Vec<_>>().join(", ");
        return Err(CommandFailure::not_found("there is no tenant yet").hint(format!(
            "run `munshi chat` in a terminal to install a template ({names}), or `munshi apply DIR` with your own folder"
        )));
    }
    context.output.print_note(|paint| paint.bold("There is no tenant yet. Choose a template:"));
    let names: Vec<String> = tenants.iter().map(|tenant| tenant.name.to_owned()).collect();
    let lines: Vec<String> =
        tenants.iter().map(|tenant| format!("{}: {}", tenant.name, tenant.about)).collect();
    let Some(at) = ask("Which one?", &names, &lines)? else { return Ok(None) };
    let Some(tenant) = tenants.get(at) else { return Ok(None) };
    create_tenant::apply_template(config, tenant, context.now()).await.map(Some)
}

/// Asks at the terminal for a number or a name. None for an empty line or the end.
fn ask(question: &str, names: &[String], lines: &[String]) -> Result<Option<usize>> {
    let told = || {
        let shown = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if names.len() > MOST { " and more" } else { "" };
        CommandFailure::usage("there are several bindings")
            .hint(format!("name one: munshi chat BINDING (known: {shown}{more})"))
    };
    if !std::io::stdin().is_terminal() || names.len() > MOST {
        return Err(told());
    }
    let broken = |error: std::io::Error| CommandFailure::failed(format!("can't prompt: {error}"));
    let mut err = std::io::stderr();
    for (number, line) in lines.iter().enumerate() {
        writeln!(err, "  {}  {line}", number + 1).map_err(broken)?;
    }
    loop {
        write!(err, "{question} ").and_then(|()| err.flush()).map_err(broken)?;
        let mut typed = String::new();
        let read = std::io::stdin().lock().read_line(&mut typed).map_err(broken)?;
        let typed = typed.trim();
        if read == 0 || typed.is_empty() {
            return Ok(None);
        }
        if let Some(at) = parse_choice(typed, names) {
            return Ok(Some(at));
        }
        writeln!(err, "Type a number from 1 to {} or a name; press Enter to quit.", names.len())
            .map_err(broken)?;
    }
}

/// By its number or its name; of two alike only by number.
fn parse_choice(typed: &str, names: &[String]) -> Option<usize> {
    if let Ok(number) = typed.parse::<usize>() {
        return number.checked_sub(1).filter(|at| *at < names.len());
    }
    let mut alike = names.iter().enumerate().filter(|(_, name)| name.as_str() == typed);
    let (at, _) = alike.next()?;
    alike.next().is_none().then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_a_name_that_is_one_s_alone() {
        let names = ["counter", "public", "counter"].map(str::to_owned);
        assert_eq!((parse_choice("2", &names), parse_choice("public", &names)), (Some(1), Some(1)));
        assert_eq!(
            (parse_choice("0", &names), parse_choice("4", &names), parse_choice("counter", &names)),
            (None, None, None)
        );
    }
}
