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

use super::tell;
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};
use crate::wiring::database::ConfiguredDatabase;
use crate::wiring::vault;

#[derive(Debug, Args)]
pub(crate) struct HostKeyAddArguments {
    /// What tokens call it (`kid`)
    kid: String,
    #[command(flatten)]
    from: From,
    /// HS256, RS256, ES256 or EdDSA; a public key says it itself
    #[arg(long)]
    algorithm: Option<JwtAlgorithm>,
    /// Whose visitors it vouches for; keys that follow each other have the same
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
    /// The name of a shared secret in the tenant's vault, at least 32 letters of chance (HS256)
    #[arg(long, value_name = "NAME")]
    secret: Option<String>,
    /// A file with a public key: PEM, or a JWK
    #[arg(long, value_name = "FILE")]
    public_key: Option<PathBuf>,
    /// An https address where the host publishes its keys (JWKS)
    #[arg(long, value_name = "URL")]
    jwks: Option<String>,
}

pub(super) fn run(context: &CommandContext, arguments: &HostKeyAddArguments) -> Result<()> {
    let config = context.config()?;
    let database = ConfiguredDatabase::for_one_question(&config)?;
    let added = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?;
        let (algorithm, holds, value) = held(context, &config, &db, tenant.id, arguments).await?;
        let (kid, host) = (arguments.kid.clone(), arguments.host.clone());
        let new = NewHostKey { kid, host, algorithm, holds, value };
        let actor = arguments.operator.known_in(context, &db, tenant.id).await?;
        let now = context.now();
        let unit = move |tx: &mut Tx<'_>| -> Result<_> {
            let added = hosts::add(tx, &new, now)?;
            tell(tx, &actor, "host_key.added", &added, now)?;
            Ok(added)
        };
        db.write(tenant.id, unit).await
    })?;
    context.output.answer(&added, |added, _| {
        format!(
            "Added {} of {} for {}. Tokens say kid: {}.",
            added.kid, added.host, added.algorithm, added.kid
        )
    })
}

async fn held(
    context: &CommandContext,
    config: &Config,
    db: &Db,
    tenant: TenantId,
    arguments: &HostKeyAddArguments,
) -> Result<(JwtAlgorithm, HostKeyValueKind, String)> {
    let From { secret, public_key, jwks } = &arguments.from;
    match (secret, public_key, jwks) {
        (Some(name), _, _) => {
            let name = SecretRef::named(name.strip_prefix("vault:").unwrap_or(name))?;
            let vault = vault::open(config, db.clone(), Arc::clone(&context.clock)).await?;
            let secret = vault.open(tenant, &name).await?;
            if VerificationKey::secret(secret.expose().as_bytes()).is_none() {
                return Err(CommandFailure::usage(
                    "the secret is shorter than 32 letters, so it can be tried out",
                )
                .hint("`openssl rand -base64 32` makes a good one"));
            }
            Ok((
                arguments.algorithm.unwrap_or(JwtAlgorithm::Hs256),
                HostKeyValueKind::Secret,
                name.name().to_owned(),
            ))
        }
        (None, Some(file), _) => public(file, arguments.algorithm),
        (None, None, Some(address)) => {
            let algorithm = arguments.algorithm.ok_or_else(|| {
                CommandFailure::usage("say for which algorithm the keys there are")
                    .hint("--algorithm RS256, ES256 or EdDSA")
            })?;
            Ok((algorithm, HostKeyValueKind::Address, address.clone()))
        }
        (None, None, None) => {
            Err(CommandFailure::usage("say where the key is").hint("--secret, --public-key or --jwks"))
        }
    }
}

fn public(file: &Path, wanted: Option<JwtAlgorithm>) -> Result<(JwtAlgorithm, HostKeyValueKind, String)> {
    let shown = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| CommandFailure::not_found(format!("{shown} can't be read: {error}")))?;
    let jwk: Option<Jwk> = jwt::from_pem(&text).or_else(|| serde_json::from_str(&text).ok());
    let key = jwk.as_ref().and_then(Jwk::key);
    let (Some(jwk), Some(key)) = (jwk, key) else {
        return Err(CommandFailure::usage(format!("{shown} holds no public key that is understood"))
            .hint("`openssl pkey -in private.pem -pubout` writes one: RSA, P-256 or Ed25519"));
    };
    let value = serde_json::to_string(&jwk).map_err(|error| CommandFailure::failed(error.to_string()))?;
    Ok((wanted.unwrap_or_else(|| key.algorithm()), HostKeyValueKind::Public, value))
}
