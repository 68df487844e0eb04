//! `munshi host-key add KID`

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use munshi_config::Config;
use munshi_identity::hosts::{self, HostKeyValueKind, NewHostKey};
use munshi_identity::jwt::{self, Jwk, JwtAlgorithm, VerificationKey};
use munshi_safety::vault::SecretRef;
use munshi_store::{Db, Tx};
use munshi_types::TenantId;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::vault;

use super::record_audit;
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct HostKeyAddArguments {
    /// Key id in tokens (`kid`)
    kid: String,
    #[command(flatten)]
    from: From,
    /// HS256, RS256, ES256 or EdDSA. Default: derived from a public key
    #[arg(long)]
    algorithm: Option<JwtAlgorithm>,
    /// Host whose visitors it verifies; rotated keys share it
    #[arg(long, value_name = "NAME", default_value = "host")]
    host: String,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct From {
    /// Name of a shared secret in the tenant's vault, at least 32 random characters (HS256)
    #[arg(long, value_name = "NAME")]
    secret: Option<String>,
    /// File with a public key: PEM or JWK
    #[arg(long, value_name = "FILE")]
    public_key: Option<PathBuf>,
    /// HTTPS URL of the host's JWKS
    #[arg(long, value_name = "URL")]
    jwks: Option<String>,
}

pub(super) fn run(context: &CommandContext, arguments: &HostKeyAddArguments) -> Result<()> {
    let config = context.config()?;
    let database = ConfiguredDatabase::single_connection(&config)?;
    let added = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?;
        let (algorithm, holds, value) =
            resolve_key_value(context, &config, &db, tenant.id, arguments).await?;
        let (kid, host) = (arguments.kid.clone(), arguments.host.clone());
        let new = NewHostKey { kid, host, algorithm, holds, value };
        let actor = arguments.operator.resolve_actor(context, &db, tenant.id).await?;
        let now = context.now();
        let unit = move |tx: &mut Tx<'_>| -> Result<_> {
            let added = hosts::add(tx, &new, now)?;
            record_audit(tx, &actor, "host_key.added", &added, now)?;
            Ok(added)
        };
        db.write(tenant.id, unit).await
    })?;
    context.output.print_result(&added, |added, _| {
        format!(
            "Added key {} of {} for {}. Tokens must carry kid: {}.",
            added.kid, added.host, added.algorithm, added.kid
        )
    })
}

async fn resolve_key_value(
    context: &CommandContext,
    config: &Config,
    db: &Db,
    tenant: TenantId,
    arguments: &HostKeyAddArguments,
) -> Result<(JwtAlgorithm, HostKeyValueKind, String)> {
    let From { secret, public_key, jwks } = &arguments.from;
    match (secret, public_key, jwks) {
        (Some(name), _, _) => {
            let name = SecretRef::from_name(name.strip_prefix("vault:").unwrap_or(name))?;
            let vault = vault::open(config, db.clone(), Arc::clone(&context.clock)).await?;
            let secret = vault.open(tenant, &name).await?;
            if VerificationKey::from_secret(secret.expose().as_bytes()).is_none() {
                return Err(CommandFailure::usage(
                    "the secret is too short: it needs at least 32 characters",
                )
                .hint("create one with `openssl rand -base64 32`"));
            }
            Ok((
                arguments.algorithm.unwrap_or(JwtAlgorithm::Hs256),
                HostKeyValueKind::Secret,
                name.name().to_owned(),
            ))
        }
        (None, Some(file), _) => read_public_key(file, arguments.algorithm),
        (None, None, Some(address)) => {
            let algorithm = arguments.algorithm.ok_or_else(|| {
                CommandFailure::usage("--jwks needs an algorithm")
                    .hint("add --algorithm RS256, ES256 or EdDSA")
            })?;
            Ok((algorithm, HostKeyValueKind::Address, address.clone()))
        }
        (None, None, None) => {
            Err(CommandFailure::usage("no key given").hint("use --secret, --public-key or --jwks"))
        }
    }
}

fn read_public_key(
    file: &Path,
    wanted: Option<JwtAlgorithm>,
) -> Result<(JwtAlgorithm, HostKeyValueKind, String)> {
    let shown = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| CommandFailure::not_found(format!("can't read {shown}: {error}")))?;
    let jwk: Option<Jwk> = jwt::from_pem(&text).or_else(|| serde_json::from_str(&text).ok());
    let key = jwk.as_ref().and_then(Jwk::to_verification_key);
    let (Some(jwk), Some(key)) = (jwk, key) else {
        return Err(CommandFailure::usage(format!("{shown} contains no supported public key")).hint(
            "supported: RSA, P-256 and Ed25519; export one with `openssl pkey -in private.pem -pubout`",
        ));
    };
    let value = serde_json::to_string(&jwk).map_err(|error| CommandFailure::failed(error.to_string()))?;
    Ok((wanted.unwrap_or_else(|| key.algorithm()), HostKeyValueKind::Public, value))
}
