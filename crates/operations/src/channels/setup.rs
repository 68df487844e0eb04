//! What is left to do before an account sends and hears.

use munshi_channels::ChannelSenders;
use munshi_channels::accounts::{
    ChannelAccount, ChannelAccountKind, ChannelAccountName, ChannelTransport, ReceiveWay,
};
use munshi_channels::link::ChannelLink;

use crate::HouseCall;

/// What stands in an address for the word that only whoever changes channels is shown.
const HIDDEN_SECRET: &str = "…";

/// Who looks at an address that may have a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecretSight {
    Shown,
    Hidden,
}

/// How an account is set up on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChannelSetup {
    /// Where the provider tells us of what happens; none where it does not, or nobody outside reaches this.
    pub(super) webhook: Option<String>,
    /// What somebody has to do, in order. Nobody was asked for it.
    pub(super) to_do: Vec<String>,
}

/// What is to do for an account, from what is declared alone.
pub(super) async fn describe_setup(
    call: &HouseCall,
    senders: &ChannelSenders,
    (name, account): (&ChannelAccountName, &ChannelAccount),
    sight: SecretSight,
) -> ChannelSetup {
    let tenant = (call.tenant.id, &call.tenant.name);
    let found = match account.resolve_transport() {
        Ok(ChannelTransport::Link(link)) => {
            senders.build_link(tenant, name, (*link).clone()).map(|built| (link.receive, built))
        }
        // It is the one in force: what hears of mails also sends them.
        Ok(ChannelTransport::Email(mail)) => {
            let found = senders.find_link(call.tenant.id, name).await.ok().flatten();
            found.map(|found| (mail.receive, found))
        }
        Ok(ChannelTransport::Log) | Err(_) => None,
    };
    let Some((receive, link)) = found else { return ChannelSetup::default() };
    let unreached = explain_unreached((account.kind, receive), senders.public_url());
    let mut to_do: Vec<String> = unreached.into_iter().collect();
    to_do.extend(link.guide());
    let webhook = match receive {
        ReceiveWay::Webhook => match read_path_secret(link.as_ref(), sight).await {
            Ok(secret) => senders.build_webhook_url((&call.tenant.name, name), secret.as_deref()),
            Err(why) => {
                to_do.push(format!("The address for the provider can't be shown yet: {why}."));
                None
            }
        },
        ReceiveWay::Poll | ReceiveWay::None => None,
    };
    ChannelSetup { webhook, to_do }
}

async fn read_path_secret(link: &dyn ChannelLink, sight: SecretSight) -> Result<Option<String>, String> {
    match (link.open_path_secret().await, sight) {
        (Ok(None), _) => Ok(None),
        (Ok(secret), SecretSight::Shown) => Ok(secret),
        (Err(fault), SecretSight::Shown) => Err(fault.what.trim_end_matches('.').to_owned()),
        (Ok(Some(_)) | Err(_), SecretSight::Hidden) => Ok(Some(HIDDEN_SECRET.to_owned())),
    }
}

/// What to do where the provider can't call us.
pub(super) fn explain_unreached(
    (kind, receive): (ChannelAccountKind, ReceiveWay),
    public_url: Option<&str>,
) -> Option<String> {
    if receive != ReceiveWay::Webhook {
        return None;
    }
    let what = match public_url {
        Some(url) if url.starts_with("https://") => return None,
        Some(_) => "The server's address begins with http://, and providers call https:// addresses alone.",
        None => "Messages can't come in yet: the provider has no address to call.",
    };
    let polls = match kind {
        ChannelAccountKind::Telegram => {
            " Or add the channel again with `--receive poll --replace`: then Telegram is asked, and no address is needed."
        }
        ChannelAccountKind::Email => {
            " Or add the channel again with `--imap-host` and `--replace`: then the mailbox is read, and no address is needed."
        }
        _ => "",
    };
    Some(format!(
        "{what} Set server.public_url to the server's https:// address and start the server again; a tunnel, such as \
         cloudflared, gives one to a computer at home.{polls}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_address_is_told_with_what_to_do() {
        let telegram = (ChannelAccountKind::Telegram, ReceiveWay::Webhook);
        let told = explain_unreached(telegram, None).unwrap();
        assert!(told.contains("server.public_url") && told.contains("--receive poll"), "{told}");
        let told = explain_unreached(telegram, Some("http://munshi.example")).unwrap();
        assert!(told.contains("https://"), "{told}");
        assert_eq!(explain_unreached(telegram, Some("https://munshi.example")), None);
        let told = explain_unreached((ChannelAccountKind::Slack, ReceiveWay::Webhook), None).unwrap();
        assert!(!told.contains("poll"), "{told}");
        let told = explain_unreached((ChannelAccountKind::Email, ReceiveWay::Webhook), None).unwrap();
        assert!(told.contains("--imap-host"), "{told}");
        for receive in [ReceiveWay::Poll, ReceiveWay::None] {
            assert_eq!(explain_unreached((ChannelAccountKind::Telegram, receive), None), None);
        }
    }
}
