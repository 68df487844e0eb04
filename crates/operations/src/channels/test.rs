//! Sends a message by a channel, and says at which step it failed.

use munshi_channels::accounts::{
    ChannelAccount, ChannelAccountName, ChannelTransport, MailAccount, MailSecurity,
};
use munshi_channels::email::{MailFault, MailOutcome, MailStage, MailTimings};
use munshi_channels::{ChannelSenders, rows};
use munshi_connectors::run_to_end;
use munshi_identity::ContactAddress;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
    sentence,
};
use munshi_types::tier::Channel;
use munshi_types::{OutboundMessage, OutboundPurpose, ReplyAddress};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::not_found;
use super::rules::refuse_program;
use crate::channel_errors::convert_channel_error;
use crate::connector_errors::convert_connector_error;
use crate::connectors::continue_call;
use crate::{HouseCall, HouseServices};

const TEST_REQUESTED: &str = "channel.test_requested";
const TESTED: &str = "channel.tested";

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ChannelTest)]
pub struct TestChannelInput {
    /// The channel's name.
    #[schema(value_type = String)]
    pub name: ChannelAccountName,
    /// Whom the message goes to. Default: the channel's own address.
    #[schema(max_length = 254, example = "meera@example.com")]
    pub to: Option<String>,
}

/// What came of a message that was sent to try a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ChannelTestReport)]
pub struct ChannelTestView {
    #[schema(value_type = String)]
    pub channel: ChannelAccountName,
    /// Whom it went to; null for a channel that only shows.
    pub to: Option<String>,
    /// Whether the server has it.
    pub passed: bool,
    /// What was done for it, in order; the last one is where it failed, if it did.
    pub steps: Vec<ChannelStepView>,
    /// What to do about it, where it failed.
    pub advice: Option<String>,
}

/// A step of handing a message over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ChannelTestStep)]
pub struct ChannelStepView {
    /// `prepare`, `resolve`, `connect`, `encrypt`, `greet`, `login`, `sender`, `recipient`, `content` or `acceptance`.
    #[schema(value_type = String)]
    pub step: MailStage,
    pub passed: bool,
    /// Why not; empty where it passed.
    pub detail: String,
}

pub struct TestChannel;

impl Operation<HouseServices> for TestChannel {
    type Input = TestChannelInput;
    type View = ChannelTestView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "channels",
        noun: "channel",
        command: "channel",
        verb: "test",
        about: "Send a message by a channel, to yourself or an address you give, and say what is wrong if it does not leave.",
        needs: CallerClass::Member(Area::Channels, ApiAccess::Write),
        effect: OperationEffect::Write(&[TEST_REQUESTED, TESTED]),
        method: RouteMethod::Post,
        path: "/v1/channels/{name}/test",
    };

    async fn run(call: &HouseCall, input: TestChannelInput) -> Result<ChannelTestView, OperationError> {
        refuse_program(&call.caller)?;
        let TestChannelInput { name, to } = input;
        let to = to.map(|text| ContactAddress::email(&text)).transpose();
        let to = to.map_err(|error| OperationError::field("to", &error.to_string()))?;
        let (_, mut declared) =
            call.read(|tx| rows::load_accounts(tx).map_err(convert_channel_error)).await?;
        let account = declared.0.remove(&name).ok_or_else(|| not_found(&name))?;
        let trial = ChannelTrial::new(name.clone(), &account, to)?;
        let senders = call.services.parts.build_channel_senders().await?;
        let subject = name.to_string();
        let asked = call.write(move |tx| {
            tx.note(TEST_REQUESTED, subject, json!({}));
            Ok(())
        });
        asked.await?;
        let rest = continue_call(call);
        // What was sent is told of, also where whoever asked has gone meanwhile.
        let work = async move {
            let view = trial.run(&rest, &senders).await?;
            let (subject, payload) = (view.channel.to_string(), json!({ "passed": view.passed }));
            let told = rest.write(move |tx| {
                tx.note(TESTED, subject, payload);
                Ok(())
            });
            told.await.map(|()| view)
        };
        run_to_end(work).await.map_err(convert_connector_error)?
    }
}

/// One message by one channel.
struct ChannelTrial {
    name: ChannelAccountName,
    /// None for one that only shows.
    mail: Option<MailAccount>,
    to: Option<String>,
}

impl ChannelTrial {
    fn new(
        name: ChannelAccountName,
        account: &ChannelAccount,
        to: Option<ContactAddress>,
    ) -> Result<Self, OperationError> {
        let invalid = |what: String| OperationError::new(OperationErrorCode::Invalid, sentence(&what));
        let mail = match account.resolve_transport().map_err(invalid)? {
            ChannelTransport::Email(mail) => Some(*mail),
            ChannelTransport::Log => None,
        };
        let to = mail
            .as_ref()
            .map(|mail| to.map_or_else(|| mail.from.email.to_string(), |to| to.as_str().to_owned()));
        Ok(Self { name, mail, to })
    }

    async fn run(
        self,
        call: &HouseCall,
        senders: &ChannelSenders,
    ) -> Result<ChannelTestView, OperationError> {
        let Self { name, mail, to } = self;
        let (Some(mail), Some(to)) = (mail, to) else {
            return Ok(ChannelTestView {
                channel: name,
                to: None,
                passed: true,
                steps: Vec::new(),
                advice: None,
            });
        };
        let outbound = OutboundMessage {
            purpose: OutboundPurpose::Alert,
            subject: Some("Test of a channel".to_owned()),
            ..OutboundMessage::new(
                call.ids.next(),
                ReplyAddress { channel: Channel::Email, address: to.clone() },
                format!("This is a test. The channel {name} of {} can send mail.", call.tenant.name),
            )
        };
        // The one that messages leave by, so that a test counts as they do.
        let found = senders.find_mail_sender(call.tenant.id, &name).await.map_err(convert_channel_error)?;
        let sender = found.ok_or_else(|| not_found(&name))?;
        let fault = sender.deliver_within(&outbound, &MailTimings::TRIAL).await.err();
        Ok(ChannelTestView {
            channel: name,
            to: Some(to),
            passed: fault.is_none(),
            steps: list_steps(&mail, fault.as_ref()),
            advice: fault.map(|fault| advise(&fault).to_owned()),
        })
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
        Some(fault) => ChannelStepView { step, passed: false, detail: fault.what.clone() },
        None => ChannelStepView { step, passed: true, detail: String::new() },
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
        let mail = ChannelTrial::new("mail".parse().unwrap(), &account, None).unwrap().mail.unwrap();
        let names = |fault: Option<&MailFault>| {
            let steps = list_steps(&mail, fault);
            steps.iter().map(|step| (step.step.as_str(), step.passed)).collect::<Vec<_>>()
        };
        assert_eq!(names(None).len(), MailStage::ALL.len() - 2, "neither encrypted nor logged in");
        assert!(names(None).iter().all(|(_, passed)| *passed));
        let fault =
            MailFault { stage: MailStage::Connect, what: "no".to_owned(), outcome: MailOutcome::Passing };
        assert_eq!(names(Some(&fault)), [("prepare", true), ("resolve", true), ("connect", false)]);
    }
}
