//! `munshi channel add NAME`

use clap::Args;
use munshi_channels::accounts::{ChannelAccountKind, ChannelAccountName, MailSecurity};
use munshi_operations::channels::{AddChannel, AddChannelInput, AddedChannelView};
use munshi_operations::folders::CHANNELS_FILE;
use munshi_operations::vault::SecretText;
use munshi_types::tier::TierName;
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct ChannelAddArguments {
    /// What it is called here
    name: ChannelAccountName,
    /// email, or log, which only shows in the server's log what would leave
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

pub(super) fn run(context: &CommandContext, arguments: &ChannelAddArguments) -> Result<()> {
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
        bindings: arguments.bindings.clone(),
        per_minute: arguments.per_minute,
        replace: arguments.replace,
    };
    let added = context.run_operation::<AddChannel>(&target, &input)?;
    context.output.print_result(&added, |added, _| {
        let AddedChannelView { tenant, channel, .. } = added;
        format!(
            "Added the channel {channel}. It counts at once.\n\
             Next: `munshi channel test {channel}`.\n\
             If {tenant} has a folder, `munshi export` writes its {CHANNELS_FILE}; applying an older one reverts this.\n"
        )
    })
}
