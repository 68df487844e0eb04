//! Links that go by mail to whom they are for, so that nobody else has them. Like one-time codes they are never stored as they are
//! sent and pass no outbox: who gets none asks for another, which ends the one before.

use std::sync::Arc;
use std::time::Duration;

use munshi_channels::email::{MailOutcome, MailSender, MailTimings};
use munshi_conversations::reach::words::{self, LinkMail, LinkMailKind};
use munshi_identity::keys::{ApiAccess, Area, minimum_role};
use munshi_identity::links::{self, InvitationScope};
use munshi_identity::operators::OPERATORS;
use munshi_identity::{ContactAddress, persons};
use munshi_pack::operation::OperationError;
use munshi_types::tier::Channel;
use munshi_types::{Language, LinkId, OutboundMessage, OutboundPurpose, ReplyAddress};
use serde::Serialize;
use serde_json::json;

use super::rules::{list_chains, render_maker};
use super::{LinkDelivery, OneTimeLinkView};
use crate::HouseCall;
use crate::channel_errors::convert_channel_error;

/// Whoever keeps no installation has so many links mailed by its account in an hour, and so has a tenant: it is everybody's.
const MOST_BY_INSTALLATION: i64 = 20;
const HOUR: Duration = Duration::from_secs(3600);

/// What a link opens. Whoever reads what an account sends can use the link before whom it is for, so this decides by which it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MailedLink {
    Invitation(InvitationScope),
    /// Opens a whole account, with its roles in every tenant.
    Recovery,
}

impl MailedLink {
    const fn kind(self) -> LinkMailKind {
        match self {
            Self::Invitation(_) => LinkMailKind::Invitation,
            Self::Recovery => LinkMailKind::Recovery,
        }
    }

    /// Whether it may leave by an account of the tenant: where it gives less than everybody has who may set those up.
    fn may_leave_by_tenant(self) -> bool {
        match self {
            Self::Invitation(InvitationScope::Workspace { role, .. }) => {
                minimum_role(Area::Channels, ApiAccess::Write).is_some_and(|least| role > least)
            }
            Self::Invitation(InvitationScope::Everywhere) | Self::Recovery => false,
        }
    }
}

/// What a link leaves by.
enum LinkSender {
    Tenant(Arc<MailSender>),
    Installation(Arc<MailSender>),
    /// No account that may have it.
    Nothing,
    /// There is one, and it is not used for this link; why.
    Withheld(String),
}

/// Whose account a link was mailed by, for the audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum LinkMailer {
    Tenant,
    Installation,
}

/// Mails a link where an account reaches whom it is for, and takes it out of what is shown. Where there is none, or the mail surely
/// did not leave, whoever made it passes it on.
pub(crate) async fn deliver_link(
    call: &HouseCall,
    made: OneTimeLinkView,
    opens: MailedLink,
    show: Option<bool>,
) -> Result<OneTimeLinkView, OperationError> {
    let (Some(email), Some(link)) = (made.email.clone(), made.link.clone()) else { return Ok(made) };
    // What stands in the address was checked when the link was made; one that can't be read is nobody's.
    let Ok(address) = ContactAddress::email(&email) else { return Ok(made) };
    if show == Some(true) {
        return Ok(made);
    }
    let (sender, by) = match find_sender(call, opens).await {
        Ok(LinkSender::Tenant(sender)) => (sender, LinkMailer::Tenant),
        Ok(LinkSender::Installation(sender)) => (sender, LinkMailer::Installation),
        Ok(LinkSender::Nothing) => return Ok(made),
        Ok(LinkSender::Withheld(why)) => return Ok(OneTimeLinkView { not_mailed: Some(why), ..made }),
        // The link is made: whoever is locked out is not kept out by an account that can't be read.
        Err(_) => {
            let why = "the account for mail can't be used as it is set up".to_owned();
            return Ok(OneTimeLinkView { not_mailed: Some(why), ..made });
        }
    };
    if !call.services.parts.has_public_url() {
        let why = "server.public_url is not set, so a link in a mail leads nowhere".to_owned();
        return Ok(OneTimeLinkView { not_mailed: Some(why), ..made });
    }
    let language = find_language(call, &address).await.unwrap_or_default();
    let base = call.services.parts.base_url();
    let mail =
        LinkMail { kind: opens.kind(), place: find_place(call, &base), link: &link, ends_at: made.ends_at };
    let outbound = OutboundMessage {
        purpose: OutboundPurpose::Code,
        language: language.and_then(|language| language.code().parse().ok()),
        ..OutboundMessage::new(
            call.ids.next(),
            ReplyAddress::new(Channel::Email, address.as_str().to_owned()),
            words::render_link_mail(&mail, &call.tenant.zone, words::choose_voice(language)),
        )
    };
    let delivery = match sender.deliver_within(&outbound, &MailTimings::TRIAL).await {
        Ok(_) => LinkDelivery::Mailed,
        Err(fault) if fault.outcome == MailOutcome::Unknown => LinkDelivery::Unknown,
        Err(fault) => return Ok(OneTimeLinkView { not_mailed: Some(fault.what), ..made }),
    };
    note_mailed(call, made.id, (by, delivery)).await?;
    Ok(OneTimeLinkView { link: None, delivery, sent_to: Some(mask_address(address.as_str())), ..made })
}

/// Tells the audit, and that whoever uses the link reads the mailbox it is for: only keepers read what the installation's account sends.
async fn note_mailed(
    call: &HouseCall,
    id: LinkId,
    (by, delivery): (LinkMailer, LinkDelivery),
) -> Result<(), OperationError> {
    let (tenant, now) = (call.tenant.clone(), call.now);
    let noted = call.write_platform(OPERATORS, move |tx| {
        if by == LinkMailer::Installation {
            links::mark_mailed(tx, id, now)?;
        }
        let chains = list_chains((!tenant.is_installation()).then_some(tenant.id));
        tx.note(chains, "link.mailed", id.to_string(), json!({ "by": by, "outcome": delivery }));
        Ok(())
    });
    noted.await
}

/// The tenant's own account for what may leave by it, else the installation's.
async fn find_sender(call: &HouseCall, opens: MailedLink) -> Result<LinkSender, OperationError> {
    let parts = &call.services.parts;
    if !call.tenant.is_installation() && opens.may_leave_by_tenant() {
        let senders = parts.build_channel_senders().await?;
        let own = senders.find_tenant_mail_sender(call.tenant.id).await.map_err(convert_channel_error)?;
        if let Some(own) = own {
            return Ok(LinkSender::Tenant(own));
        }
    }
    let Some(sender) = parts.open_installation_mail().await? else { return Ok(LinkSender::Nothing) };
    if !call.caller.is_keeper() && count_recent_links(call).await? > MOST_BY_INSTALLATION {
        let why =
            format!("more than {MOST_BY_INSTALLATION} links were made in an hour; the next hour has room");
        return Ok(LinkSender::Withheld(why));
    }
    Ok(LinkSender::Installation(sender))
}

/// How many links the caller made within an hour, with this one, or how many invite to the tenant, if those are more.
async fn count_recent_links(call: &HouseCall) -> Result<i64, OperationError> {
    let (by, tenant, since) = (render_maker(&call.caller), call.tenant.id, call.now.minus(HOUR));
    let count = call.read_platform(OPERATORS, move |tx| {
        Ok(links::count_made_by(tx, &by, since)?.max(links::count_invitations(tx, tenant, since)?))
    });
    count.await
}

/// What they are invited to: the installation is called by where it is found.
fn find_place<'a>(call: &'a HouseCall, base: &'a str) -> &'a str {
    match call.tenant.is_installation() {
        true => base.split_once("://").map_or(base, |(_, host)| host),
        false => call.tenant.name.as_str(),
    }
}

/// The language of somebody the tenant knows by this address.
async fn find_language(
    call: &HouseCall,
    address: &ContactAddress,
) -> Result<Option<Language>, OperationError> {
    if call.tenant.is_installation() {
        return Ok(None);
    }
    let address = address.clone();
    let known = call.read(move |tx| Ok(persons::find_by_address(tx, &address)?)).await?;
    Ok(known.and_then(|person| person.language))
}

/// As whoever asked recognises it, and nobody who looks over their shoulder learns it.
fn mask_address(email: &str) -> String {
    let Some((name, domain)) = email.rsplit_once('@') else { return "…".to_owned() };
    // A name of one letter would be all of it.
    let first = name.chars().next().filter(|_| name.chars().nth(1).is_some());
    format!("{}…@{domain}", first.map(String::from).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use munshi_identity::Role;
    use munshi_types::TenantId;

    use super::*;

    #[test]
    fn by_a_tenants_account_leaves_only_what_gives_less_than_its_readers_have() {
        let invites = |role| {
            let place = InvitationScope::Workspace { tenant: TenantId::PLATFORM, role };
            MailedLink::Invitation(place).may_leave_by_tenant()
        };
        let found = [Role::Owner, Role::Admin, Role::Staff, Role::Viewer].map(invites);
        assert_eq!(found, [false, false, true, true]);
        assert!(!MailedLink::Invitation(InvitationScope::Everywhere).may_leave_by_tenant());
        assert!(!MailedLink::Recovery.may_leave_by_tenant());
    }

    #[test]
    fn of_an_address_its_first_letter_and_domain_are_shown() {
        assert_eq!(mask_address("meera@shop.example"), "m…@shop.example");
        assert_eq!(mask_address("ಮೀರಾ@shop.example"), "ಮ…@shop.example");
        assert_eq!(mask_address("m@shop.example"), "…@shop.example");
        assert_eq!(mask_address("nobody"), "…");
    }
}
