//! Declares an account by which messages leave and come.

use std::collections::BTreeMap;

use munshi_channels::accounts::{
    ChannelAccount, ChannelAccountKind, ChannelAccountName, ChannelAccounts, MOST, MailSecurity, ReceiveWay,
};
use munshi_channels::rows;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_safety::vault::SecretRef;
use munshi_store::Tx;
use munshi_types::TenantName;
use munshi_types::tier::TierName;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::rules::{check_account, refuse_program};
use super::setup::{SecretSight, describe_setup};
use super::{CHANGED, save_accounts};
use crate::channel_errors::convert_channel_error;
use crate::vault::SecretText;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewChannel)]
pub struct AddChannelInput {
    /// What it is called here.
    #[schema(value_type = String, max_length = 24, example = "mail")]
    pub name: ChannelAccountName,
    /// `email`, `whatsapp`, `gupshup` (WhatsApp by Gupshup), `telegram`, `slack`, `teams`, `twilio` or `msg91` (text messages); or `log`,
    /// which only shows in the server's log what would leave. Only keepers may add a log.
    #[schema(value_type = String, example = "email")]
    pub kind: ChannelAccountKind,
    /// The mail server that takes our mails.
    #[schema(example = "smtp.example.com")]
    pub host: Option<String>,
    /// Default: 465 with `tls`, 587 with `starttls`, 25 with `none`.
    pub port: Option<u16>,
    /// `tls`, `starttls` (default), or `none` for a server on the same machine.
    #[schema(value_type = Option<String>, example = "starttls")]
    pub security: Option<MailSecurity>,
    /// The account's name at the server.
    #[schema(example = "shop@example.com")]
    pub login: Option<String>,
    /// Its password by its name in the vault.
    #[schema(value_type = Option<String>, example = "vault:mail.password")]
    pub password: Option<SecretText>,
    /// Our address, with a name if you like.
    #[schema(example = "Sharma Traders <shop@example.com>")]
    pub from: Option<String>,
    /// Where answers go. Default: `from`.
    pub reply_to: Option<String>,
    /// Our number at the provider, with its country code.
    #[schema(example = "+919812345678")]
    pub number: Option<String>,
    /// What the provider calls the account: a phone number's id, an app's, a sender's.
    #[schema(max_length = 200)]
    pub account_id: Option<String>,
    /// What the provider calls whom the account belongs to, where it has a name for that.
    #[schema(max_length = 200)]
    pub owner_id: Option<String>,
    /// The key to the provider's API by its name in the vault.
    #[schema(value_type = Option<String>, example = "vault:telegram.token")]
    pub token: Option<SecretText>,
    /// What the provider signs with by its name in the vault.
    #[schema(value_type = Option<String>, example = "vault:slack.signing")]
    pub secret: Option<SecretText>,
    /// How it is heard: `webhook` (the provider calls this server), `poll` (this server asks) or `none`. Default: as the kind usually is.
    #[schema(value_type = Option<String>, example = "webhook")]
    pub receive: Option<ReceiveWay>,
    /// Where the provider's API is, if not where everybody's is. Only keepers may set it.
    #[schema(max_length = 300)]
    pub api_url: Option<String>,
    /// What text messages are registered as, by what they are for.
    #[serde(default)]
    pub templates: BTreeMap<String, String>,
    /// The server that has the mailbox with mails to us.
    #[schema(example = "imap.example.com")]
    pub imap_host: Option<String>,
    /// Default: 993 with `tls`, 143 with `starttls` and `none`.
    pub imap_port: Option<u16>,
    /// `tls` (default), `starttls`, or `none` for a server on the same machine.
    #[schema(value_type = Option<String>, example = "tls")]
    pub imap_security: Option<MailSecurity>,
    /// The mailbox's account. Default: `login`.
    pub imap_login: Option<String>,
    /// Its password by its name in the vault. Default: `password`.
    #[schema(value_type = Option<String>, example = "vault:mail.password")]
    pub imap_password: Option<SecretText>,
    /// The mailbox's folder that is read. Default: INBOX.
    pub folder: Option<String>,
    /// What the server that takes the tenant's mails calls itself where it says who wrote.
    #[schema(example = "mx.example.com")]
    pub auth_server: Option<String>,
    /// The bindings that send by it, and that are written to by it. Default: all.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub bindings: Vec<TierName>,
    /// The most that a node sends by it in a minute.
    #[schema(minimum = 1)]
    pub per_minute: Option<u16>,
    /// Replace an existing channel of this name.
    #[serde(default)]
    pub replace: bool,
}

/// A channel that was declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = AddedChannel)]
pub struct AddedChannelView {
    #[schema(value_type = String)]
    pub tenant: TenantName,
    #[schema(value_type = String)]
    pub channel: ChannelAccountName,
    /// Of the tenant's list of channels, with it.
    pub version: i64,
    /// The address that the provider is to call; null where it calls none. It may hold a secret: give it to the provider alone.
    #[serde(default)]
    pub webhook: Option<String>,
    /// What is left to do, in order.
    #[serde(default)]
    pub to_do: Vec<String>,
}

pub struct AddChannel;

impl Operation<HouseServices> for AddChannel {
    type Input = AddChannelInput;
    type View = AddedChannelView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "channels",
        noun: "channel",
        command: "channel",
        verb: "add",
        about: "Declare an account by which messages leave and come, such as a mail server or a WhatsApp number, and say what is left to set up. It counts at once.",
        needs: CallerClass::Member(Area::Channels, ApiAccess::Write),
        effect: OperationEffect::Write(&[CHANGED]),
        method: RouteMethod::Create,
        path: "/v1/channels",
    };

    /// Of what may be a password not even a hash is kept.
    fn describe_request(input: &AddChannelInput) -> serde_json::Result<Value> {
        Ok(json!({
            "name": input.name, "kind": input.kind, "host": input.host, "port": input.port, "security": input.security,
            "login": input.login, "password": input.password.is_some(), "from": input.from, "reply_to": input.reply_to,
            "number": input.number, "account_id": input.account_id, "owner_id": input.owner_id,
            "token": input.token.is_some(), "secret": input.secret.is_some(), "receive": input.receive,
            "api_url": input.api_url, "templates": input.templates,
            "imap_host": input.imap_host, "imap_port": input.imap_port, "imap_security": input.imap_security,
            "imap_login": input.imap_login, "imap_password": input.imap_password.is_some(), "folder": input.folder,
            "auth_server": input.auth_server,
            "bindings": input.bindings, "per_minute": input.per_minute, "replace": input.replace,
        }))
    }

    async fn run(call: &HouseCall, input: AddChannelInput) -> Result<AddedChannelView, OperationError> {
        refuse_program(&call.caller)?;
        let (name, replaces) = (input.name.clone(), input.replace);
        let account = input.into_account()?;
        check_account(&call.caller, &call.services.parts.connector_rules()?, &account)?;
        let (by, now, tenant) = (call.caller.actor().id.clone(), call.now, call.tenant.name.clone());
        let (declared, channel) = (account.clone(), name.clone());
        let view = call
            .write(move |tx| {
                let declared = add_account(tx, &channel, declared, replaces)?;
                let version = save_accounts(tx, &declared, &by, &format!("add {channel}"), now)?;
                Ok(AddedChannelView { tenant, channel, version, webhook: None, to_do: Vec::new() })
            })
            .await?;
        // It stands already: what fails here is no reason to say otherwise.
        let Ok(senders) = call.services.parts.build_channel_senders().await else { return Ok(view) };
        let setup = describe_setup(call, &senders, (&name, &account), SecretSight::Shown).await;
        Ok(AddedChannelView { webhook: setup.webhook, to_do: setup.to_do, ..view })
    }
}

impl AddChannelInput {
    fn into_account(self) -> Result<ChannelAccount, OperationError> {
        Ok(ChannelAccount {
            kind: self.kind,
            host: self.host,
            port: self.port,
            security: self.security,
            login: self.login,
            password: parse_secret("password", self.password.as_ref())?,
            from: self.from,
            reply_to: self.reply_to,
            bindings: self.bindings,
            per_minute: self.per_minute,
            account_id: self.account_id,
            owner_id: self.owner_id,
            number: self.number,
            token: parse_secret("token", self.token.as_ref())?,
            secret: parse_secret("secret", self.secret.as_ref())?,
            receive: self.receive,
            api_url: self.api_url,
            templates: self.templates,
            imap_host: self.imap_host,
            imap_port: self.imap_port,
            imap_security: self.imap_security,
            imap_login: self.imap_login,
            imap_password: parse_secret("imap_password", self.imap_password.as_ref())?,
            folder: self.folder,
            auth_server: self.auth_server,
        })
    }
}

/// By its name alone: what was given in its place may be the secret, and is repeated nowhere.
fn parse_secret(key: &'static str, given: Option<&SecretText>) -> Result<Option<SecretRef>, OperationError> {
    let parsed = given.map(|given| given.expose().parse::<SecretRef>()).transpose();
    parsed.map_err(|error| {
        OperationError::field(key, &error.to_string())
            .hint(format!("Store it with `munshi vault set channel.{key}`, and give vault:channel.{key}."))
    })
}

/// What is declared, with one more or another one in its place.
fn add_account(
    tx: &mut Tx<'_>,
    name: &ChannelAccountName,
    account: ChannelAccount,
    replaces: bool,
) -> Result<ChannelAccounts, OperationError> {
    let (_, mut declared) = rows::load_accounts(tx).map_err(convert_channel_error)?;
    let is_new = declared.0.insert(name.clone(), account).is_none();
    if !is_new && !replaces {
        let what = format!("Channel {name} already exists.");
        return Err(OperationError::new(OperationErrorCode::Conflict, what)
            .hint("Use --replace to replace it; over the API, `replace`."));
    }
    if is_new && declared.0.len() > MOST {
        let what = format!("A tenant has at most {MOST} channels.");
        return Err(OperationError::new(OperationErrorCode::Invalid, what)
            .hint("Remove one first: `munshi channel remove NAME`."));
    }
    Ok(declared)
}
