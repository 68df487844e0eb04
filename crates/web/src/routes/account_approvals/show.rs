//! `GET /account/approvals/{workspace}/{id}`: one question, for whoever may answer it.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use munshi_agent::act_words;
use munshi_operations::approvals::{ApprovalInput, ApprovalState, ApprovalView, ShowApproval};
use munshi_operations::execute;
use munshi_server::account::frame::AccountFrame;
use munshi_server::account::signed_in_operator::{OpenWorkspace, SignedInOperator};
use munshi_server::error::ApiError;
use munshi_server::html_page::render_uncached;
use munshi_server::page_error::HtmlPageError;
use serde_json::Value;

use super::approval_call::{approval_path, check_addressed, open_workspace};
use crate::app::App;
use crate::app::api::Api;

#[derive(Template)]
#[template(path = "account/approval.html")]
struct ApprovalPage {
    frame: AccountFrame,
    workspace: String,
    path: String,
    /// The act in the reader's language; empty where the tool has no words in it.
    told: String,
    /// The same in plain words, as every surface shows it.
    words: String,
    /// To the letter, as they are carried out.
    exactly: Vec<(String, String)>,
    digest: String,
    until: String,
    /// What came of it; empty while it waits.
    outcome: String,
}

pub(crate) async fn show_account_approval(
    State(app): State<App>,
    Path((workspace, id)): Path<(String, String)>,
    who: SignedInOperator,
) -> Result<Response, HtmlPageError> {
    let api = app.api()?;
    let (call, workspace) = open_workspace(api, &who, &workspace).await?;
    let approval = execute::<ShowApproval>(&call, ApprovalInput { id }).await.map_err(ApiError::from)?;
    check_addressed(api, &call, &approval).await?;
    let frame = AccountFrame::load(&who, "approvals", None).await?;
    let is_over = approval.state == ApprovalState::Expired || approval.expires_at <= call.now;
    let outcome = match approval.state {
        ApprovalState::Granted => frame.words.render_shared("granted"),
        ApprovalState::Refused => frame.words.render_shared("refused"),
        _ if is_over => frame.words.render("approval-over"),
        _ => String::new(),
    };
    let page = ApprovalPage {
        workspace: workspace.tenant.name.to_string(),
        path: approval_path(&workspace, &approval),
        told: describe_act(api, &approval, &frame),
        exactly: list_fields(&approval),
        until: format_until(&frame, &workspace, &approval),
        digest: approval.digest,
        words: approval.words,
        outcome,
        frame,
    };
    Ok(render_uncached(&page, StatusCode::OK))
}

/// Of a question whether something happened the plain words say what there is to say.
fn describe_act(api: &Api, approval: &ApprovalView, frame: &AccountFrame) -> String {
    let is_act = approval.kind == "act" && approval.question.purpose.is_none();
    let tools = &api.visitor_services.tools;
    let spec = tools.iter().find(|spec| is_act && spec.name.as_str() == approval.tool);
    let told = spec.and_then(|spec| act_words::render(spec, &approval.arguments, frame.words.locale()));
    told.filter(|told| *told != approval.words).unwrap_or_default()
}

/// What the tool is given, which may differ from what was proposed.
fn list_fields(approval: &ApprovalView) -> Vec<(String, String)> {
    let given = approval.leaving.as_ref().unwrap_or(&approval.arguments);
    let Value::Object(fields) = given else { return Vec::new() };
    let render = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    fields.iter().map(|(name, value)| (name.clone(), render(value))).collect()
}

fn format_until(frame: &AccountFrame, workspace: &OpenWorkspace, approval: &ApprovalView) -> String {
    let until = frame.words.format_time(approval.expires_at, Some(&workspace.tenant));
    frame.words.render_with("approval-until", "until", &until)
}
