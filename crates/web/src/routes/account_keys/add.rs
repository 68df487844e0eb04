//! `POST /account/keys`: another key, shown this once.

use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use munshi_identity::Role;
use munshi_identity::keys::{self, ApiKeyRecord, AreaGrant, KeyMaker, KeySpeaker, KeySubject, NewApiKey};
use munshi_identity::links;
use munshi_server::account::form::SignedInForm;
use munshi_server::account::signed_in_operator::{OpenWorkspace, SignedInOperator};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::page_error::HtmlPageError;
use munshi_store::Tx;
use serde::Deserialize;

use super::list::{CreatedKeyNotice, render_page};
use crate::api::audit_context::ApiAuditContext;
use crate::routes::keys::add::record_key_event;

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

pub(crate) async fn add_account_key(posted: SignedInForm<AddKeyForm>) -> Result<Response, HtmlPageError> {
    let SignedInForm { who, form, .. } = posted;
    let workspace = who.load_managed_workspace().await?;
    match create_key(&who, &workspace, &form).await {
        Ok(made) => render_page(&who, &workspace, Some(made), None, StatusCode::CREATED).await,
        Err(fault) if fault.is_input_error() => {
            let status = fault.status();
            render_page(&who, &workspace, None, fault.to_notice(who.words), status).await
        }
        Err(fault) => Err(fault),
    }
}

fn invalid_error(words: impl Into<String>) -> ApiError {
    ApiError::new(ApiErrorCode::Invalid, words.into())
}

async fn create_key(
    who: &SignedInOperator,
    workspace: &OpenWorkspace,
    form: &AddKeyForm,
) -> Result<CreatedKeyNotice, HtmlPageError> {
    let role: Role =
        form.role.parse().map_err(|error: munshi_identity::RoleError| invalid_error(error.to_string()))?;
    if role < workspace.role {
        return Err(ApiError::new(
            ApiErrorCode::Forbidden,
            "You can't create a key with a higher role than yours.",
        )
        .into());
    }
    let speaks_as: KeySpeaker =
        form.speaks_as.parse().map_err(|error: keys::KeySpeakerError| invalid_error(error.to_string()))?;
    let now = who.access.clock.now();
    let telling = build_audit_context(who);
    let new = NewApiKey {
        name: form.name.trim().to_owned(),
        carries: KeySubject::Role(role),
        areas: parse_areas(&form.areas)?,
        bindings: None,
        expires_at: parse_days(&form.days)?.map(|days| now.plus(DAY.saturating_mul(days))),
        speaks_as,
        made_by: telling.actor_id().to_owned(),
        maker: KeyMaker::from_name(links::render_maker(who.operator.id)),
    };
    let access = who.access.clone();
    let unit = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        let made = keys::add(tx, &access.ids, access.random.as_ref(), &new, now)?;
        record_key_event(tx, &telling, "api_key.made", &made.key)?;
        Ok(made)
    };
    let made = who.access.db.write(workspace.tenant.id, unit).await?;
    Ok(CreatedKeyNotice { name: made.key.name, text: made.text.reveal().to_owned() })
}

pub(super) fn build_audit_context(who: &SignedInOperator) -> ApiAuditContext {
    ApiAuditContext::for_operator(who.operator.id, who.access.ids.clone(), who.access.clock.now())
}

/// Nobody touches a key that stands higher than they do.
pub(super) fn load_managed_key(
    tx: &mut Tx<'_>,
    workspace: &OpenWorkspace,
    id: &str,
) -> Result<ApiKeyRecord, ApiError> {
    let missing = || ApiError::new(ApiErrorCode::NotFound, "No such key in this workspace.");
    let found = keys::find(tx, id.parse().map_err(|_| missing())?)?.ok_or_else(missing)?;
    let role = match found.carries {
        KeySubject::Role(role) => Some(role),
        KeySubject::Person(person) => {
            munshi_identity::persons::find(tx, person)?.and_then(|person| person.role)
        }
    };
    if role.is_some_and(|role| role < workspace.role) {
        return Err(ApiError::new(ApiErrorCode::Forbidden, "That key has a higher role than yours.")
            .hint("Ask an owner of the workspace."));
    }
    Ok(found)
}

fn parse_areas(text: &str) -> Result<Option<Vec<AreaGrant>>, ApiError> {
    let words = text.split([',', ' ', '\n', '\t']).map(str::trim).filter(|word| !word.is_empty());
    let grants: Vec<AreaGrant> = words
        .map(|word| word.parse().map_err(|error: keys::AreaGrantError| invalid_error(error.to_string())))
        .collect::<Result<_, _>>()?;
    Ok((!grants.is_empty()).then_some(grants))
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
