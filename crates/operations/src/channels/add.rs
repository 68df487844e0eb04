//! Declares an account by which messages leave.

use munshi_channels::accounts::{
    ChannelAccount, ChannelAccountKind, ChannelAccountName, ChannelAccounts, MOST, MailSecurity,
};
use munshi_channels::rows;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_store::Tx;
use munshi_types::TenantName;
use munshi_types::tier::TierName;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::rules::{check_account, refuse_program};
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
    /// `email`, or `log`, which only shows in the server's log what would leave. Only keepers may add a log.
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
    /// The bindings that send by it. Default: all.
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
        about: "Declare an account by which messages leave, such as a mail server. It counts at once.",
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
            "bindings": input.bindings, "per_minute": input.per_minute, "replace": input.replace,
        }))
    }

    async fn run(call: &HouseCall, input: AddChannelInput) -> Result<AddedChannelView, OperationError> {
        refuse_program(&call.caller)?;
        let (name, replaces) = (input.name.clone(), input.replace);
        let account = input.into_account()?;
        check_account(&call.caller, &call.services.parts.connector_rules()?, &account)?;
        let (by, now, tenant) = (call.caller.actor().id.clone(), call.now, call.tenant.name.clone());
        call.write(move |tx| {
            let declared = add_account(tx, &name, account, replaces)?;
            let version = save_accounts(tx, &declared, &by, &format!("add {name}"), now)?;
            Ok(AddedChannelView { tenant, channel: name, version })
        })
        .await
    }
}

impl AddChannelInput {
    fn into_account(self) -> Result<ChannelAccount, OperationError> {
        let password = self.password.map(|given| given.expose().parse());
        let password = password.transpose().map_err(|error: munshi_safety::Error| {
            OperationError::field("password", &error.to_string())
                .hint("Store it with `munshi vault set mail.password`, and give vault:mail.password.")
        })?;
        Ok(ChannelAccount {
            kind: self.kind,
            host: self.host,
            port: self.port,
            security: self.security,
            login: self.login,
            password,
            from: self.from,
            reply_to: self.reply_to,
            bindings: self.bindings,
            per_minute: self.per_minute,
        })
    }
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
