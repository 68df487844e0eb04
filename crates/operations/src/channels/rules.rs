//! Who may have a channel as they ask for it.

use munshi_channels::accounts::{ChannelAccount, ChannelTransport};
use munshi_identity::keys::{ApiAccess, Area, AreaGrant, KeySpeaker};
use munshi_pack::operation::{OperationCaller, OperationError, OperationErrorCode, sentence};

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
    let forbidden =
        |what: &str, hint: &str| Err(OperationError::new(OperationErrorCode::Forbidden, what).hint(hint));
    let mail = match transport {
        ChannelTransport::Email(mail) => mail,
        ChannelTransport::Log => {
            return forbidden(
                "Only whoever keeps this installation shows in its log what would leave.",
                "Run the command on the machine itself, or use a key made by `munshi keeper-key add`.",
            );
        }
    };
    if rules.is_private_host(&mail.host, mail.port) {
        return forbidden(
            &format!("Only whoever keeps this installation leads a channel to {}.", mail.host),
            "Use a public mail server, or ask them to add it.",
        );
    }
    let Some(login) = mail.login else { return Ok(()) };
    if login.password.name().starts_with(LOGIN_SECRETS) {
        return forbidden(
            "What is stored of a connector's login is sent to its own service alone.",
            "Store the password under another name with `munshi vault set`.",
        );
    }
    match caller.opens(AreaGrant { area: Area::Vault, access: ApiAccess::Write }) {
        true => Ok(()),
        false => forbidden(
            "A channel that is sent a password is added with a key that opens `vault`, too.",
            "Use a key with the areas `channels` and `vault`.",
        ),
    }
}
