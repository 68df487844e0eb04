//! `munshi host-key add KID`

use std::path::{Path, PathBuf};

use clap::Args;
use munshi_identity::jwt::JwtAlgorithm;
use munshi_operations::host_keys::{AddHostKey, AddHostKeyInput};
use munshi_wiring::failure::{CommandFailure, Result};

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

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
    let From { secret, public_key, jwks } = &arguments.from;
    let input = AddHostKeyInput {
        kid: arguments.kid.clone(),
        host: Some(arguments.host.clone()),
        algorithm: arguments.algorithm,
        secret: secret.clone(),
        public_key: public_key.as_deref().map(read_file).transpose()?,
        jwks: jwks.clone(),
    };
    let target = OperationTarget { of: &arguments.of, operator: Some(&arguments.operator) };
    let added = context.run_operation::<AddHostKey>(&target, &input)?;
    context.output.print_result(&added, |added, _| {
        format!(
            "Added key {} of {} for {}. Tokens must carry kid: {}.",
            added.kid, added.host, added.algorithm, added.kid
        )
    })
}

fn read_file(file: &Path) -> Result<String> {
    std::fs::read_to_string(file)
        .map_err(|error| CommandFailure::not_found(format!("can't read {}: {error}", file.display())))
}
