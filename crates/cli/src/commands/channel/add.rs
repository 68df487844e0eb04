//! `munshi channel add NAME`

use std::collections::BTreeMap;

use clap::Args;
use munshi_channels::accounts::{ChannelAccountKind, ChannelAccountName, MailSecurity, ReceiveWay};
use munshi_operations::channels::{AddChannel, AddChannelInput, AddedChannelView};
use munshi_operations::folders::CHANNELS_FILE;
use munshi_operations::vault::SecretText;
use munshi_types::tier::TierName;
use munshi_wiring::failure::Result as CommandResult;

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

use super::setup::render_setup;

#[derive(Debug, Args)]
pub(crate) struct ChannelAddArguments {
    /// What it is called here
    name: ChannelAccountName,
    /// email, whatsapp, gupshup (WhatsApp by Gupshup), telegram, slack, teams, twilio or msg91 (text messages), or log, which only
    /// shows in the server's log what would leave
    #[arg(long, value_name = "KIND", default_value = "email")]
    kind: ChannelAccountKind,
    /// Mail server
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Default: 465 with tls, 587 with starttls, 25 with none
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// tls, starttls (default), or none for a server on this machine
    #[arg(long, value_name = "SECURITY")]
    security: Option<MailSecurity>,
    /// The account's name at the server
    #[arg(long, value_name = "NAME", requires = "password")]
    login: Option<String>,
    /// Its password: vault:NAME
    #[arg(long, value_name = "VALUE", requires = "login")]
    password: Option<String>,
    /// Our address, as "Shop <shop@example.com>"
    #[arg(long, value_name = "ADDRESS")]
    from: Option<String>,
    /// Where answers go. Default: --from
    #[arg(long, value_name = "ADDRESS")]
    reply_to: Option<String>,
    /// Server of the mailbox with mails to us
    #[arg(long, value_name = "HOST")]
    imap_host: Option<String>,
    /// Default: 993 with tls, else 143
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    imap_port: Option<u16>,
    /// tls (default), starttls, or none for a server on this machine
    #[arg(long, value_name = "SECURITY")]
    imap_security: Option<MailSecurity>,
    /// The mailbox's account. Default: --login
    #[arg(long, value_name = "NAME", requires = "imap_password")]
    imap_login: Option<String>,
    /// Its password: vault:NAME
    #[arg(long, value_name = "VALUE", requires = "imap_login")]
    imap_password: Option<String>,
    /// Folder of the mailbox that is read. Default: INBOX
    #[arg(long, value_name = "FOLDER")]
    folder: Option<String>,
    /// What your own mail server calls itself where it says who wrote
    #[arg(long, value_name = "HOST")]
    auth_server: Option<String>,
    /// Our number at the provider, with its country code
    #[arg(long, value_name = "NUMBER")]
    number: Option<String>,
    /// What the provider calls the account: a phone number's id, an app's, a sender's
    #[arg(long, value_name = "ID")]
    account_id: Option<String>,
    /// What the provider calls whom the account belongs to: a business, a directory
    #[arg(long, value_name = "ID")]
    owner_id: Option<String>,
    /// The key to the provider: vault:NAME
    #[arg(long, value_name = "VALUE")]
    token: Option<String>,
    /// What the provider signs its messages with: vault:NAME
    #[arg(long, value_name = "VALUE")]
    secret: Option<String>,
    /// How messages come in: webhook (the provider calls this server), poll (this server asks), or none
    #[arg(long, value_name = "WAY")]
    receive: Option<ReceiveWay>,
    /// The provider's API, if it is elsewhere than usual
    #[arg(long, value_name = "URL")]
    api_url: Option<String>,
    /// Registered text of text messages as PURPOSE=ID, several times for several
    #[arg(long = "template", value_name = "PURPOSE=ID", value_parser = parse_template)]
    templates: Vec<(String, String)>,
    /// Binding that sends by it, several times for several. Default: all
    #[arg(long = "binding", value_name = "NAME")]
    bindings: Vec<TierName>,
    /// The most that a node sends in a minute
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    per_minute: Option<u16>,
    /// Replace an existing channel of this name
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &ChannelAddArguments) -> CommandResult<()> {
    let ChannelAddArguments { of, operator, .. } = arguments;
    let target = OperationTarget { of, operator: Some(operator) };
    let input = AddChannelInput {
        name: arguments.name.clone(),
        kind: arguments.kind,
        host: arguments.host.clone(),
        port: arguments.port,
        security: arguments.security,
        login: arguments.login.clone(),
        password: arguments.password.clone().map(|text| SecretText::new(text.into())),
        from: arguments.from.clone(),
        reply_to: arguments.reply_to.clone(),
        imap_host: arguments.imap_host.clone(),
        imap_port: arguments.imap_port,
        imap_security: arguments.imap_security,
        imap_login: arguments.imap_login.clone(),
        imap_password: arguments.imap_password.clone().map(|text| SecretText::new(text.into())),
        folder: arguments.folder.clone(),
        auth_server: arguments.auth_server.clone(),
        number: arguments.number.clone(),
        account_id: arguments.account_id.clone(),
        owner_id: arguments.owner_id.clone(),
        token: arguments.token.clone().map(|text| SecretText::new(text.into())),
        secret: arguments.secret.clone().map(|text| SecretText::new(text.into())),
        receive: arguments.receive,
        api_url: arguments.api_url.clone(),
        templates: arguments.templates.iter().cloned().collect::<BTreeMap<_, _>>(),
        bindings: arguments.bindings.clone(),
        per_minute: arguments.per_minute,
        replace: arguments.replace,
    };
    let added = context.run_operation::<AddChannel>(&target, &input)?;
    context.output.print_result(&added, |added, painter| {
        let AddedChannelView { tenant, channel, webhook, to_do, .. } = added;
        let mut text = format!("Added the channel {channel}. It counts at once.\n");
        text += &render_setup(webhook.as_deref(), to_do, painter);
        text += &format!(
            "Next: `munshi channel test {channel}`.\n\
             If {tenant} has a folder, `munshi export` writes its {CHANNELS_FILE}; applying an older one reverts this.\n"
        );
        text
    })
}

fn parse_template(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((purpose, id)) if !purpose.is_empty() && !id.is_empty() => {
            Ok((purpose.to_owned(), id.to_owned()))
        }
        _ => Err("write it as PURPOSE=ID, such as code=1207161234567890123".to_owned()),
    }
}
