//! `POST /account/keys`: another key, shown this once.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use munshi_identity::Role;
use munshi_identity::keys::{KeySpeaker, KeySpeakerError};
use munshi_operations::execute;
use munshi_operations::keys::{AddKey, AddKeyInput};
use munshi_server::account::form::SignedInForm;
use munshi_server::account::signed_in_operator::{OpenWorkspace, SignedInOperator};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::page_error::HtmlPageError;
use serde::Deserialize;

use super::list::{CreatedKeyNotice, render_page};
use crate::app::App;
use crate::app::api::Api;
use crate::operations::build_operator_call;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Ten years.
const MOST_DAYS: u32 = 3650;

#[derive(Deserialize)]
pub(crate) struct AddKeyForm {
    name: String,
    role: String,
    /// Whether somebody types with it, or a program writes.
    #[serde(default)]
    speaks_as: String,
    /// With blanks or commas between; empty opens all that the role reaches.
    #[serde(default)]
    areas: String,
    /// Empty: when it is revoked.
    #[serde(default)]
    days: String,
}

pub(crate) async fn add_account_key(
    State(app): State<App>,
    posted: SignedInForm<AddKeyForm>,
) -> Result<Response, HtmlPageError> {
    let api = app.api()?;
    let SignedInForm { who, form, .. } = posted;
    let workspace = who.load_managed_workspace().await?;
    match create_key(api, &who, &workspace, &form).await {
        Ok(made) => render_page(api, &who, &workspace, Some(made), None, StatusCode::CREATED).await,
        Err(fault) if fault.is_input_error() => {
            let status = fault.status();
            render_page(api, &who, &workspace, None, fault.to_notice(who.words), status).await
        }
        Err(fault) => Err(fault),
    }
}

fn invalid_error(words: impl Into<String>) -> ApiError {
    ApiError::new(ApiErrorCode::Invalid, words.into())
}

async fn create_key(
    api: &Api,
    who: &SignedInOperator,
    workspace: &OpenWorkspace,
    form: &AddKeyForm,
) -> Result<CreatedKeyNotice, HtmlPageError> {
    let role: Role =
        form.role.parse().map_err(|error: munshi_identity::RoleError| invalid_error(error.to_string()))?;
    let speaks_as: KeySpeaker =
        form.speaks_as.parse().map_err(|error: KeySpeakerError| invalid_error(error.to_string()))?;
    let call = build_operator_call(api, who, workspace).await?;
    let input = AddKeyInput {
        name: form.name.trim().to_owned(),
        role: Some(role),
        person: None,
        speaks_as,
        areas: parse_areas(&form.areas),
        bindings: None,
        expires_at: parse_days(&form.days)?.map(|days| call.now.plus(DAY.saturating_mul(days))),
    };
    let issued = execute::<AddKey>(&call, input).await.map_err(ApiError::from)?;
    Ok(CreatedKeyNotice { name: issued.key.name, text: issued.text })
}

fn parse_areas(text: &str) -> Option<Vec<String>> {
    let words = text.split([',', ' ', '\n', '\t']).map(str::trim).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_owned).collect();
    (!words.is_empty()).then_some(words)
}

fn parse_days(text: &str) -> Result<Option<u32>, ApiError> {
    match text.trim() {
        "" => Ok(None),
        text => {
            let days: Option<u32> = text.parse().ok().filter(|days| (1..=MOST_DAYS).contains(days));
            days.map(Some).ok_or_else(|| {
                invalid_error("The validity must be 1 to 3650 days, or empty for no expiry.")
                    .phrase("days-wrong")
            })
        }
    }
}
