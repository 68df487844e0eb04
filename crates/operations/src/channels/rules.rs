//! Who may have a channel as they ask for it.

use munshi_channels::accounts::{ChannelAccount, ChannelTransport, LinkAccount, MailAccount};
use munshi_identity::keys::{ApiAccess, Area, AreaGrant, KeySpeaker};
use munshi_pack::operation::{OperationCaller, OperationError, OperationErrorCode, sentence};
use munshi_safety::vault::SecretRef;

use crate::ConnectorRules;

/// Where logins at connectors' services are stored: nobody's to send elsewhere.
const LOGIN_SECRETS: &str = "connector/";

/// Where a tenant's words go, somebody has looked at.
pub(super) fn refuse_program(caller: &OperationCaller) -> Result<(), OperationError> {
    if caller.is_keeper() || caller.speaks_as() == KeySpeaker::Person {
        return Ok(());
    }
    let what = "Somebody has to look at changed channels: a program's key changes and tests none.";
    Err(OperationError::new(OperationErrorCode::Forbidden, what)
        .hint("Use a key that speaks as a person, a keeper's key, or the command on the machine itself."))
}

/// Whether the caller may have it so: the installation's own network and its log are its keeper's, and a secret goes where those
/// send it who may set it.
pub(crate) fn check_account(
    caller: &OperationCaller,
    rules: &ConnectorRules,
    account: &ChannelAccount,
) -> Result<(), OperationError> {
    let transport = account.resolve_transport();
    let transport =
        transport.map_err(|what| OperationError::new(OperationErrorCode::Invalid, sentence(&what)))?;
    if caller.is_keeper() {
        return Ok(());
    }
    match transport {
        ChannelTransport::Email(mail) => check_mail(caller, rules, &mail),
        ChannelTransport::Link(link) => check_link(caller, &link),
        ChannelTransport::Log => Err(forbid(
            "Only whoever keeps this installation shows in its log what would leave.",
            "Run the command on the machine itself, or use a key made by `munshi keeper-key add`.",
        )),
    }
}

fn check_mail(
    caller: &OperationCaller,
    rules: &ConnectorRules,
    mail: &MailAccount,
) -> Result<(), OperationError> {
    let own = [(&mail.host, mail.port)];
    let mailbox = mail.mailbox.as_ref();
    let mut places = own.into_iter().chain(mailbox.map(|mailbox| (&mailbox.host, mailbox.port)));
    if let Some((host, _)) = places.find(|(host, port)| rules.is_private_host(host, *port)) {
        return Err(forbid(
            &format!("Only whoever keeps this installation leads a channel to {host}."),
            "Use a public mail server, or ask them to add it.",
        ));
    }
    let logins = mail.login.iter().chain(mailbox.map(|mailbox| &mailbox.login));
    check_secrets(caller, logins.map(|login| &login.password).chain(&mail.secret))
}

/// What is sent to a provider goes to its own address: which other one that may be, the installation's keeper says.
fn check_link(caller: &OperationCaller, link: &LinkAccount) -> Result<(), OperationError> {
    if let Some(url) = &link.api_url {
        return Err(forbid(
            &format!("Only whoever keeps this installation leads a channel to {url}."),
            "Leave api_url out for the provider's own address, or ask them to add it.",
        ));
    }
    check_secrets(caller, [&link.token].into_iter().chain(&link.secret))
}

fn check_secrets<'a>(
    caller: &OperationCaller,
    mut sent: impl Iterator<Item = &'a SecretRef>,
) -> Result<(), OperationError> {
    let Some(first) = sent.next() else { return Ok(()) };
    if [first].into_iter().chain(sent).any(|secret| secret.name().starts_with(LOGIN_SECRETS)) {
        return Err(forbid(
            "What is stored of a connector's login is sent to its own service alone.",
            "Store the secret under another name with `munshi vault set`.",
        ));
    }
    match caller.opens(AreaGrant { area: Area::Vault, access: ApiAccess::Write }) {
        true => Ok(()),
        false => Err(forbid(
            "A channel that is sent a secret is added with a key that opens `vault`, too.",
            "Use a key with the areas `channels` and `vault`.",
        )),
    }
}

fn forbid(what: &str, hint: &str) -> OperationError {
    OperationError::new(OperationErrorCode::Forbidden, what).hint(hint)
}
