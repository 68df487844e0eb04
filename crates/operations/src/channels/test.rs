//! Tries a channel: whether its provider knows it, what is left to set up, and whether a message leaves; and says at which step it failed.

use munshi_channels::accounts::ChannelAccountName;
use munshi_channels::rows;
use munshi_connectors::run_to_end;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::not_found;
use super::rules::refuse_program;
use super::trial::ChannelTrial;
use crate::channel_errors::convert_channel_error;
use crate::connector_errors::convert_connector_error;
use crate::connectors::continue_call;
use crate::{HouseCall, HouseServices};

const TEST_REQUESTED: &str = "channel.test_requested";
const TESTED: &str = "channel.tested";

/// No address is longer, wherever it is.
const LONGEST_ADDRESS: usize = 254;

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ChannelTest)]
pub struct TestChannelInput {
    /// The channel's name.
    #[schema(value_type = String)]
    pub name: ChannelAccountName,
    /// Whom a message goes to: an e-mail, a number, or what the channel calls somebody. Without it a mail goes to the channel's own
    /// address, and by other channels none is sent.
    #[schema(max_length = 254, example = "meera@example.com")]
    pub to: Option<String>,
}

/// What came of trying a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ChannelTestReport)]
pub struct ChannelTestView {
    #[schema(value_type = String)]
    pub channel: ChannelAccountName,
    /// Whom the message went to; null where none was sent.
    pub to: Option<String>,
    /// Whether every step passed.
    pub passed: bool,
    /// What was done, in order.
    pub steps: Vec<ChannelStepView>,
    /// What to do about a mail that did not leave.
    pub advice: Option<String>,
    /// The address that the provider is to call; null where it calls none. It may hold a secret: give it to the provider alone.
    #[serde(default)]
    pub webhook: Option<String>,
    /// What is left to do in the provider's own pages, in order.
    #[serde(default)]
    pub to_do: Vec<String>,
}

/// A step of trying a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ChannelTestStep)]
pub struct ChannelStepView {
    /// Of a mail `prepare`, `resolve`, `connect`, `encrypt`, `greet`, `login`, `sender`, `recipient`, `content` or `acceptance`; of others
    /// a word such as `token`, `number`, `webhook` or `send`.
    pub step: String,
    pub passed: bool,
    /// Why not; where it passed what was found, or nothing.
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
        about: "Try a channel: what its provider says of it, what is left to set up, and whether a message leaves, to an address you give or a mail to yourself.",
        needs: CallerClass::Member(Area::Channels, ApiAccess::Write),
        effect: OperationEffect::Write(&[TEST_REQUESTED, TESTED]),
        method: RouteMethod::Post,
        path: "/v1/channels/{name}/test",
    };

    async fn run(call: &HouseCall, input: TestChannelInput) -> Result<ChannelTestView, OperationError> {
        refuse_program(&call.caller)?;
        let TestChannelInput { name, to } = input;
        if to.as_ref().is_some_and(|to| to.chars().count() > LONGEST_ADDRESS) {
            let what = format!("at most {LONGEST_ADDRESS} characters are allowed");
            return Err(OperationError::field("to", &what));
        }
        let (_, mut declared) =
            call.read(|tx| rows::load_accounts(tx).map_err(convert_channel_error)).await?;
        let account = declared.0.remove(&name).ok_or_else(|| not_found(&name))?;
        let trial = ChannelTrial::new(name.clone(), account, to.as_deref())?;
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
