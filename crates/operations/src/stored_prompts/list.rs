//! The stored prompts of one run. The conversation stands in them, so they are opened as it is.

use munshi_conversations::runs::{self, RunView};
use munshi_conversations::stored_prompts::{self, StoredPrompt};
use munshi_conversations::whispers;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_llm::gateway::{PromptTextMessage, PromptTextRole};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec,
    RouteMethod,
};
use munshi_types::{CallId, RunId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::list_input::list_input;
use crate::{HouseCall, HouseServices, sessions};

/// What a model was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = StoredPrompt)]
pub struct StoredPromptView {
    /// The call of the model, as `GET /v1/runs/{id}` lists it; further attempts of that call were told the same.
    #[schema(value_type = uuid::Uuid)]
    pub call: CallId,
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// In order, with names as people write them; a model elsewhere was told tokens in their place.
    pub messages: Vec<StoredPromptMessageView>,
    /// The names of the tools that were offered.
    pub tools: Vec<String>,
    /// It was longer than a megabyte; the oldest messages are missing.
    pub cut: bool,
    /// Nothing of it is kept: the result of a look-up that is not kept stood in it, or its person was forgotten.
    pub withheld: bool,
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = StoredPromptMessage)]
pub struct StoredPromptMessageView {
    pub role: StoredPromptRoleView,
    /// Pictures and documents stand in it as their types, such as `[image/jpeg]`.
    pub text: String,
}

/// Whose words a message of a prompt has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = StoredPromptRole)]
pub enum StoredPromptRoleView {
    /// The persona, its rules and what is known.
    System,
    User,
    Assistant,
    /// What a tool answered.
    Tool,
}

impl From<PromptTextRole> for StoredPromptRoleView {
    fn from(role: PromptTextRole) -> Self {
        match role {
            PromptTextRole::System => Self::System,
            PromptTextRole::User => Self::User,
            PromptTextRole::Assistant => Self::Assistant,
            PromptTextRole::Tool => Self::Tool,
        }
    }
}

impl From<PromptTextMessage> for StoredPromptMessageView {
    fn from(message: PromptTextMessage) -> Self {
        Self { role: message.role.into(), text: message.text }
    }
}

impl From<StoredPrompt> for StoredPromptView {
    fn from(prompt: StoredPrompt) -> Self {
        let StoredPrompt { call, at, text } = prompt;
        Self {
            call,
            at,
            messages: text.messages.into_iter().map(Into::into).collect(),
            tools: text.tools,
            cut: text.is_cut,
            withheld: text.is_withheld,
        }
    }
}

list_input! {
    #[derive(Copy)]
    pub struct ListStoredPromptsInput: ListInput {
        /// The run.
        #[schema(value_type = uuid::Uuid)]
        pub id: RunId,
    }
}

pub struct ListStoredPrompts;

impl Operation<HouseServices> for ListStoredPrompts {
    type Input = ListStoredPromptsInput;
    type View = ListView<StoredPromptView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "stored-prompts",
        noun: "stored prompt",
        command: "stored-prompts",
        verb: "list",
        about: "List what models were told in a run, newest first, where the policy keeps prompts. The audit notes who \
                opened somebody else's conversation.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Read),
        effect: OperationEffect::AuditedRead(&["conversation.opened"]),
        method: RouteMethod::Get,
        path: "/v1/runs/{id}/stored-prompts",
    };

    async fn run(
        call: &HouseCall,
        input: ListStoredPromptsInput,
    ) -> Result<ListView<StoredPromptView>, OperationError> {
        let caller = call.caller.clone();
        let request = input.page().page_request()?;
        let page = call.read_audited(move |tx| {
            let run = runs::find(tx, input.id)?.map(RunView::from);
            let run = run.filter(|run| caller.reaches(run.binding));
            let session = run.and_then(|run| run.session);
            let session = session.ok_or_else(|| OperationError::not_found("run", &input.id.to_string()))?;
            let session = sessions::find_opened(tx, &caller, session)?;
            // In their own conversation they are the customer, who is shown no whisper: those stand in the prompts.
            if caller.person() == Some(session.person) && whispers::has_any(tx, session.id)? {
                let what = "This is your own conversation: what colleagues whispered in it is for others.";
                return Err(OperationError::new(OperationErrorCode::Forbidden, what)
                    .hint("Ask somebody else of the workspace to look at these prompts."));
            }
            Ok(stored_prompts::list(tx, input.id, &request)?)
        });
        Ok(ListView::from_page(page.await?, |prompt| Some(prompt.into())))
    }
}
