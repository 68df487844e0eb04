//! Channels: `channels.toml` in a tenant's folder, and what sends by the accounts in it.

use std::fmt;
use std::sync::Arc;

use munshi_channels::accounts::{
    self, ChannelAccount, ChannelAccountKind, ChannelAccountName, ChannelAccounts, ChannelTransport,
    MailSecurity,
};
use munshi_channels::email::{MailSender, MailSenderParts, MailTimings, TenantConnectionPlaces};
use munshi_channels::{
    AllowedHosts, BlobFiles, ChannelSenderParts, ChannelSenders, Error as ChannelError, rows,
};
use munshi_config::{Config, MailSection, MailSecurityChoice};
use munshi_http::build_tls_config;
use munshi_operations::folders::CHANNELS_FILE;
use munshi_safety::vault::{SecretRef, VaultSecret};
use munshi_store::{Db, Tx};
use munshi_tiers::{
    Authorship, Error, ExtensionBodies, ExtensionChange, FolderExtension, FolderProblem, Result, TierBody,
};
use munshi_types::{Clock, TenantId};
use serde_json::Value;

use crate::failure::{self, CommandFailure, Exit};
use crate::{account, blobs, connectors, vault};

/// What the file is called in a plan.
const CHANNELS: &str = "channels";

/// What sends by tenants' accounts.
pub async fn build_senders(
    config: &Config,
    db: &Db,
    clock: &Arc<dyn Clock>,
) -> failure::Result<ChannelSenders> {
    let parts = ChannelSenderParts {
        db: db.clone(),
        vault: vault::open(config, db.clone(), clock.clone()).await?,
        allowed: connectors::build_allowed_hosts(config),
        files: Some(Arc::new(BlobFiles(blobs::build(config, db, clock)?))),
        clock: clock.clone(),
        timings: MailTimings::default(),
        base_url: account::public_url(config).filter(|url| url.starts_with("https://")),
        public_url: account::public_url(config),
        tls: None,
    };
    ChannelSenders::new(parts).map_err(|error| CommandFailure::failed(error.to_string()))
}

/// What the installation's own mails leave by; none where the settings name no mail server.
pub async fn build_installation_mail(
    config: &Config,
    db: &Db,
    clock: &Arc<dyn Clock>,
) -> failure::Result<Option<Arc<MailSender>>> {
    let settings = &config.mail;
    if settings.host.is_empty() {
        return Ok(None);
    }
    let wrong = |what: String| {
        CommandFailure::new(Exit::Settings, format!("[mail] can't be used: {what}"))
            .hint("docs/configuration.md lists every key of the section")
    };
    let given = settings.password.reveal();
    let stored = given.strip_prefix("vault:");
    let reference = SecretRef::from_name(stored.unwrap_or(GIVEN_PASSWORD))?;
    let password = match (given, stored) {
        ("", _) | (_, Some(_)) => None,
        (given, None) => Some(Arc::new(VaultSecret::new(given.to_owned())?)),
    };
    let reference = (!given.is_empty()).then_some(reference);
    let account = match build_installation_account(settings, reference).resolve_transport().map_err(wrong)? {
        ChannelTransport::Email(account) => *account,
        ChannelTransport::Link(_) | ChannelTransport::Log => return Ok(None),
    };
    let tls = build_tls_config().map_err(|error| CommandFailure::failed(error.to_string()))?;
    let base_url = crate::account::public_url(config).filter(|url| url.starts_with("https://"));
    // Whoever writes these settings says which server it is, also one in their own network.
    let own = format!("{}:{}", account.host, account.port);
    let allowed = AllowedHosts::new(config.connectors.private_hosts.iter().cloned().chain([own]));
    Ok(Some(Arc::new(MailSender::new(MailSenderParts {
        tenant: TenantId::PLATFORM,
        name: INSTALLATION_ACCOUNT.parse::<ChannelAccountName>().map_err(|error| wrong(error.to_string()))?,
        account,
        db: db.clone(),
        vault: vault::open(config, db.clone(), clock.clone()).await?,
        password,
        keeps_password: true,
        tls: Arc::new(tls),
        allowed,
        files: None,
        clock: clock.clone(),
        timings: MailTimings::default(),
        tenant_places: TenantConnectionPlaces::default(),
        base_url,
    }))))
}

/// What the installation's own account is called in logs.
const INSTALLATION_ACCOUNT: &str = "installation";
/// What stands for a password that is in the settings itself; it is looked up nowhere.
const GIVEN_PASSWORD: &str = "mail.password";

fn build_installation_account(settings: &MailSection, password: Option<SecretRef>) -> ChannelAccount {
    let filled = |text: &String| (!text.is_empty()).then(|| text.clone());
    let small = |count: Option<usize>| count.and_then(|count| u16::try_from(count).ok());
    ChannelAccount {
        host: filled(&settings.host),
        port: small(settings.port),
        security: Some(match settings.security {
            MailSecurityChoice::Tls => MailSecurity::Tls,
            MailSecurityChoice::Starttls => MailSecurity::Starttls,
            MailSecurityChoice::None => MailSecurity::None,
        }),
        login: filled(&settings.login),
        password,
        from: filled(&settings.from),
        reply_to: filled(&settings.reply_to),
        per_minute: small(settings.per_minute),
        ..ChannelAccount::new(ChannelAccountKind::Email)
    }
}

/// The file of a tenant's folder.
pub(crate) struct ChannelsFile;

impl fmt::Debug for ChannelsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(CHANNELS_FILE)
    }
}

fn parse_accounts(body: &TierBody) -> Result<ChannelAccounts> {
    serde_json::from_value(Value::Object(body.clone()))
        .map_err(|error| Error::Unreadable(format!("can't store the channels: {error}")))
}

impl FolderExtension for ChannelsFile {
    fn file_name(&self) -> &'static str {
        CHANNELS_FILE
    }

    fn noun(&self) -> &'static str {
        CHANNELS
    }

    fn read(&self, file: &str, text: &str) -> Result<TierBody, Vec<FolderProblem>> {
        let wrong = |problem: FolderProblem| vec![problem.hint("docs/channels.md lists every key")];
        let declared = accounts::parse_with_position(text)
            .map_err(|slip| wrong(FolderProblem::in_file(file, slip.what).at_position(slip.position)))?;
        accounts::to_map(&declared).map_err(|error| wrong(FolderProblem::in_file(file, error.to_string())))
    }

    fn warnings(&self, body: &TierBody, _beside: &ExtensionBodies) -> Vec<String> {
        let declared = parse_accounts(body).unwrap_or_default();
        let logs = declared.0.iter().filter(|(_, account)| account.kind == ChannelAccountKind::Log);
        let words = |name: &str| {
            format!(
                "channel {name} sends nothing: it shows in the server's log what would leave, codes included"
            )
        };
        logs.map(|(name, _)| words(name.as_str())).collect()
    }

    fn load_stored(&self, tx: &mut Tx<'_>) -> Result<(i64, TierBody)> {
        let (version, declared) = rows::load_accounts(tx).map_err(convert_channel_error)?;
        Ok((version, accounts::to_map(&declared).map_err(convert_channel_error)?))
    }

    fn write(&self, tx: &mut Tx<'_>, change: &ExtensionChange, by: &Authorship) -> Result<()> {
        let declared = parse_accounts(&change.body)?;
        rows::save_accounts(tx, &declared, &by.author, &by.note, by.made_at)
            .map_err(convert_channel_error)?;
        Ok(())
    }

    fn event(&self) -> &'static str {
        "channels.changed"
    }
}

fn convert_channel_error(error: ChannelError) -> Error {
    match error {
        ChannelError::Store(error) => Error::Store(error),
        ChannelError::Tiers(error) => error,
        other => Error::Unreadable(other.to_string()),
    }
}
