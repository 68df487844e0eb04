//! One try of one channel.

use std::sync::Arc;

use munshi_channels::ChannelSenders;
use munshi_channels::accounts::{
    ChannelAccount, ChannelAccountName, ChannelTransport, LinkAccount, MailAccount, MailSecurity,
};
use munshi_channels::email::{MailFault, MailOutcome, MailStage, MailTimings};
use munshi_channels::link::{ChannelLink, LinkReport, LinkStep};
use munshi_conversations::outbox::DeliveryCertainty;
use munshi_identity::ContactAddress;
use munshi_pack::operation::{OperationError, OperationErrorCode, sentence};
use munshi_types::tier::Channel;
use munshi_types::{OutboundMessage, OutboundPurpose, ReplyAddress};

use super::not_found;
use super::setup::{SecretSight, describe_setup, explain_unreached};
use super::test::{ChannelStepView, ChannelTestView};
use crate::HouseCall;
use crate::channel_errors::convert_channel_error;

/// Nobody's id at a provider is longer.
const LONGEST_ID: usize = 200;

/// What is tried, with all that is needed for it.
pub(super) struct ChannelTrial {
    name: ChannelAccountName,
    account: ChannelAccount,
    way: TrialWay,
}

enum TrialWay {
    Mail(Box<MailAccount>, String),
    Link(Box<LinkAccount>, Option<String>),
    /// It only shows.
    Log,
}

impl ChannelTrial {
    pub(super) fn new(
        name: ChannelAccountName,
        account: ChannelAccount,
        to: Option<&str>,
    ) -> Result<Self, OperationError> {
        let invalid = |what: String| OperationError::new(OperationErrorCode::Invalid, sentence(&what));
        let way = match account.resolve_transport().map_err(invalid)? {
            ChannelTransport::Email(mail) => {
                let to = to.map(|text| parse_recipient(Channel::Email, text)).transpose()?;
                let to = to.unwrap_or_else(|| mail.from.email.to_string());
                TrialWay::Mail(mail, to)
            }
            ChannelTransport::Link(link) => {
                let channel = link.kind.channel().unwrap_or(Channel::Web);
                TrialWay::Link(link, to.map(|text| parse_recipient(channel, text)).transpose()?)
            }
            ChannelTransport::Log => TrialWay::Log,
        };
        Ok(Self { name, account, way })
    }

    pub(super) async fn run(
        self,
        call: &HouseCall,
        senders: &ChannelSenders,
    ) -> Result<ChannelTestView, OperationError> {
        match &self.way {
            TrialWay::Mail(mail, to) => self.run_mail(call, senders, mail, to).await,
            TrialWay::Link(account, to) => self.run_link(call, senders, account, to.as_deref()).await,
            TrialWay::Log => Ok(self.view(None)),
        }
    }

    fn view(&self, to: Option<String>) -> ChannelTestView {
        ChannelTestView {
            channel: self.name.clone(),
            to,
            passed: true,
            steps: Vec::new(),
            advice: None,
            webhook: None,
            to_do: Vec::new(),
        }
    }

    async fn run_mail(
        &self,
        call: &HouseCall,
        senders: &ChannelSenders,
        mail: &MailAccount,
        to: &str,
    ) -> Result<ChannelTestView, OperationError> {
        let outbound = self.build_message(call, Channel::Email, to);
        // The one that messages leave by, so that a test counts as they do.
        let found = senders.find_mail_sender(call.tenant.id, &self.name).await;
        let sender = found.map_err(convert_channel_error)?.ok_or_else(|| not_found(&self.name))?;
        let fault = sender.deliver_within(&outbound, &MailTimings::TRIAL).await.err();
        let mut view = ChannelTestView {
            passed: fault.is_none(),
            steps: list_steps(mail, fault.as_ref()),
            advice: fault.as_ref().map(|fault| advise(fault).to_owned()),
            ..self.view(Some(to.to_owned()))
        };
        // Where mails are read as well, that is tried, too.
        if let Some(link) = self.find_link(call, senders).await? {
            let setup = describe_setup(call, senders, (&self.name, &self.account), SecretSight::Shown).await;
            view.webhook = setup.webhook;
            add_report(&mut view, link.inspect().await);
        }
        Ok(view)
    }

    async fn run_link(
        &self,
        call: &HouseCall,
        senders: &ChannelSenders,
        account: &LinkAccount,
        to: Option<&str>,
    ) -> Result<ChannelTestView, OperationError> {
        let link = self.find_link(call, senders).await?.ok_or_else(|| not_found(&self.name))?;
        let setup = describe_setup(call, senders, (&self.name, &self.account), SecretSight::Shown).await;
        let mut view = ChannelTestView { webhook: setup.webhook, ..self.view(to.map(str::to_owned)) };
        view.to_do.extend(explain_unreached((account.kind, account.receive), senders.public_url()));
        add_report(&mut view, link.inspect().await);
        if let Some(to) = to {
            let sent = self.send(call, link, to).await;
            view.passed &= sent.passed;
            view.steps.push(sent);
        }
        Ok(view)
    }

    async fn find_link(
        &self,
        call: &HouseCall,
        senders: &ChannelSenders,
    ) -> Result<Option<Arc<dyn ChannelLink>>, OperationError> {
        senders.find_link(call.tenant.id, &self.name).await.map_err(convert_channel_error)
    }

    /// A message by the account, as any other.
    async fn send(&self, call: &HouseCall, link: Arc<dyn ChannelLink>, to: &str) -> ChannelStepView {
        let outbound = self.build_message(call, link.channel(), to);
        let sent = link.sender().send_part(&outbound, 0).await;
        let (passed, detail) = match sent {
            Ok(_) => (true, "the provider has the message".to_owned()),
            Err(fault) if fault.happened == DeliveryCertainty::Maybe => {
                (false, format!("nobody knows whether it was sent: {}", fault.why))
            }
            Err(fault) => (false, fault.why),
        };
        ChannelStepView { step: "send".to_owned(), passed, detail }
    }

    fn build_message(&self, call: &HouseCall, channel: Channel, to: &str) -> OutboundMessage {
        let can = match channel {
            Channel::Email => "can send mail",
            _ => "can send messages",
        };
        OutboundMessage {
            purpose: OutboundPurpose::Alert,
            subject: Some("Test of a channel".to_owned()),
            ..OutboundMessage::new(
                call.ids.next(),
                ReplyAddress::new(channel, to),
                format!("This is a test. The channel {} of {} {can}.", self.name, call.tenant.name),
            )
        }
    }
}

/// Whom a message goes to, in the spelling that the channel compares.
fn parse_recipient(channel: Channel, text: &str) -> Result<String, OperationError> {
    let wrong = |what: &str| OperationError::field("to", what);
    let parsed = match channel {
        Channel::Email => ContactAddress::email(text),
        Channel::Sms | Channel::Whatsapp => ContactAddress::phone(text),
        _ => {
            let id = text.trim();
            let fits = (1..=LONGEST_ID).contains(&id.len()) && !id.chars().any(char::is_control);
            return match fits {
                true => Ok(id.to_owned()),
                false => Err(wrong("use what the channel calls the person")),
            };
        }
    };
    parsed.map(|address| address.as_str().to_owned()).map_err(|error| wrong(&error.to_string()))
}

/// What a provider said of an account, beside what was found before.
fn add_report(view: &mut ChannelTestView, report: LinkReport) {
    let build = |LinkStep { step, failed, found }: LinkStep| ChannelStepView {
        step: step.to_owned(),
        passed: failed.is_none(),
        detail: failed.or(found).unwrap_or_default(),
    };
    view.steps.extend(report.steps.into_iter().map(build));
    view.passed = view.steps.iter().all(|step| step.passed);
    for thing in report.to_do {
        if !view.to_do.contains(&thing) {
            view.to_do.push(thing);
        }
    }
}

/// The steps that the account has, up to the one that failed.
fn list_steps(mail: &MailAccount, fault: Option<&MailFault>) -> Vec<ChannelStepView> {
    let is_taken = |stage: &MailStage| match stage {
        MailStage::Encrypt => mail.security != MailSecurity::None,
        MailStage::Login => mail.login.is_some(),
        _ => true,
    };
    let last = fault.map_or(MailStage::Acceptance, |fault| fault.stage);
    let stages =
        MailStage::ALL.into_iter().filter(|stage| *stage <= last && (is_taken(stage) || *stage == last));
    let build = |step: MailStage| match fault.filter(|fault| fault.stage == step) {
        Some(fault) => {
            ChannelStepView { step: step.as_str().to_owned(), passed: false, detail: fault.what.clone() }
        }
        None => ChannelStepView { step: step.as_str().to_owned(), passed: true, detail: String::new() },
    };
    stages.map(build).collect()
}

fn advise(fault: &MailFault) -> &'static str {
    if matches!(fault.outcome, MailOutcome::Limited { .. }) {
        return "Try again in a minute: messages are leaving by it now.";
    }
    match fault.stage {
        MailStage::Prepare => "Check the address, and store the password with `munshi vault set NAME`.",
        MailStage::Resolve => {
            "Check `host`. A server in your own network is allowed with connectors.private_hosts."
        }
        MailStage::Connect => "Check `host` and `port`, and that this machine may call out to that port.",
        MailStage::Encrypt => "Check `security`: most servers take tls on port 465 and starttls on 587.",
        MailStage::Greet => "Ask the provider why its server turns this machine away.",
        MailStage::Login => "Check `login` and the password. Many providers want an app password here.",
        MailStage::Sender => "Use an address in `from` that this login may send as.",
        MailStage::Recipient => "Check the recipient's address, or try another with --to.",
        MailStage::Content => "Try again. If it stays, ask the provider what its server does not take.",
        MailStage::Acceptance => {
            "Look whether the mail arrived. If the server refused it, its words say why."
        }
    }
}

#[cfg(test)]
mod tests {
    use munshi_channels::accounts::ChannelAccountKind;

    use super::*;

    #[test]
    fn steps_end_where_it_failed() {
        let account = ChannelAccount {
            host: Some("127.0.0.1".to_owned()),
            security: Some(MailSecurity::None),
            from: Some("shop@example.com".to_owned()),
            ..ChannelAccount::new(ChannelAccountKind::Email)
        };
        let ChannelTransport::Email(mail) = account.resolve_transport().unwrap() else { panic!("no mail") };
        let names = |fault: Option<&MailFault>| {
            let steps = list_steps(&mail, fault);
            steps.into_iter().map(|step| (step.step, step.passed)).collect::<Vec<_>>()
        };
        assert_eq!(names(None).len(), MailStage::ALL.len() - 2, "neither encrypted nor logged in");
        assert!(names(None).iter().all(|(_, passed)| *passed));
        let fault =
            MailFault { stage: MailStage::Connect, what: "no".to_owned(), outcome: MailOutcome::Passing };
        let expected = [("prepare", true), ("resolve", true), ("connect", false)];
        assert_eq!(names(Some(&fault)), expected.map(|(step, passed)| (step.to_owned(), passed)));
    }

    #[test]
    fn whom_a_message_goes_to_is_written_as_the_channel_has_it() {
        assert_eq!(parse_recipient(Channel::Sms, "98123 45678").unwrap(), "+919812345678");
        assert_eq!(parse_recipient(Channel::Telegram, " 8812345 ").unwrap(), "8812345");
        assert!(parse_recipient(Channel::Whatsapp, "meera").is_err());
        assert!(
            parse_recipient(Channel::Slack, "U1\nU2").is_err()
                && parse_recipient(Channel::Slack, " ").is_err()
        );
    }
}
