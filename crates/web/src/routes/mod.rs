//! The route table. One route is one file: `routes/<resource>/<verb>.rs` holds `verb_resource`.

use axum::routing::{any, get, post};
use utoipa_axum::routes;

use crate::operations::operation_routes;
use crate::router::Routes;

mod account {
    pub(super) mod show;
}
mod account_approvals {
    mod approval_call;
    pub(super) mod grant;
    pub(super) mod refuse;
    pub(super) mod show;
}
mod account_keys {
    pub(super) mod add;
    pub(super) mod list;
    pub(super) mod revoke;
    pub(super) mod rotate;
}
mod assets {
    pub(super) mod read;
}
mod channel_webhooks {
    pub(super) mod receive;
}
pub(crate) mod chat {
    pub(crate) mod send;
}
mod connector_login {
    pub(super) mod describe;
    pub(super) mod finish;
    pub(super) mod request_code;
    pub(super) mod show;
    pub(super) mod start;
}
mod completions {
    pub(super) mod create;
}
mod desk_approvals {
    pub(super) mod grant;
    pub(super) mod refuse;
}
mod desk_sessions {
    pub(super) mod desk_call;
    mod desk_form;
    mod desk_thread;
    pub(super) mod draft;
    pub(super) mod give_back;
    pub(super) mod list;
    pub(super) mod show;
    pub(super) mod take;
    pub(super) mod whisper;
    pub(super) mod write;
}
mod embeddings {
    pub(super) mod create;
}
mod files {
    pub(super) mod read;
}
mod health {
    pub(super) mod check;
}
pub(crate) mod home {
    pub(crate) mod binding_links;
    pub(crate) mod show;
}
mod language {
    pub(super) mod choose;
}
mod link {
    pub(super) mod accept;
    pub(super) mod redeem;
    pub(super) mod show;
}
mod mcp {
    pub(super) mod serve;
}
mod metrics {
    pub(super) mod read;
}
mod models {
    pub(super) mod list;
    pub(super) mod read;
}
mod oidc {
    pub(super) mod finish;
    pub(super) mod start;
}
mod openapi {
    pub(super) mod read;
}
mod operators {
    pub(super) mod change;
    pub(super) mod invite;
    pub(super) mod list;
    pub(super) mod recover;
    pub(super) mod withdraw;
}
pub(crate) mod pack_pages {
    pub(crate) mod show;
    pub(super) mod submit;
}
mod pack_webhooks {
    mod admit;
    pub(super) mod probe;
    pub(super) mod receive;
}
mod password {
    pub(super) mod change;
    pub(super) mod show;
}
mod persons {
    pub(crate) mod confirm;
    pub(crate) mod link;
}
mod readiness {
    pub(super) mod check;
}
pub(crate) mod runs {
    pub(crate) mod follow;
}
mod sessions {
    pub(super) mod follow;
    pub(super) mod record_read;
    pub(super) mod sign_typing;
    pub(super) mod watch;
}
mod sign_in {
    pub(super) mod begin;
    pub(super) mod end;
    pub(super) mod show;
}
mod sign_ins {
    pub(super) mod end;
    pub(super) mod list;
}
mod start {
    pub(super) mod open;
    pub(super) mod redeem_link;
    pub(super) mod try_key;
}
mod test {
    pub(super) mod run;
}
mod unsubscriptions {
    pub(super) mod add;
    pub(super) mod show;
}
mod uploads {
    pub(super) mod add;
    pub(super) mod read;
}
mod visit_approvals {
    pub(super) mod grant;
    pub(super) mod read;
    pub(super) mod refuse;
}
mod visit_consents {
    pub(super) mod list;
    pub(super) mod withdraw;
}
mod visit_links {
    pub(super) mod ask;
    pub(super) mod confirm;
}
mod visit_messages {
    pub(super) mod list;
    pub(crate) mod send;
}
mod visit_reads {
    pub(super) mod record;
}
mod visit_runs {
    pub(super) mod cancel;
    pub(super) mod follow;
}
mod visit_streams {
    pub(super) mod follow;
}
mod visit_typing {
    pub(super) mod sign;
}
mod visit_uploads {
    pub(super) mod add;
}
pub(crate) mod visits {
    pub(crate) mod read;
    pub(crate) mod show;
}
mod widget {
    pub(super) mod read;
}
mod words {
    pub(super) mod read;
}
mod workspace {
    pub(super) mod open;
}

/// Those that take files: their bodies and their time have limits of their own. [`crate::build_router`] adds them by itself.
pub fn upload_routes() -> Routes {
    Routes::new()
        .routes(routes!(uploads::add::add_upload))
        .routes(routes!(visit_uploads::add::add_visit_upload))
}

/// Every route of the server. The binary may `merge` more before it serves them.
pub fn routes() -> Routes {
    Routes::new()
        .routes(routes!(home::show::show_home))
        .routes(routes!(files::read::read_file))
        .routes(routes!(uploads::read::read_upload))
        .routes(routes!(health::check::check_health))
        .routes(routes!(readiness::check::check_readiness))
        .routes(routes!(metrics::read::read_metrics))
        .routes(routes!(openapi::read::read_openapi))
        .route("/mcp", any(mcp::serve::serve_mcp))
        .route(
            "/connectors/login/{token}",
            get(connector_login::show::show_connector_login)
                .post(connector_login::start::start_connector_login),
        )
        .route("/connectors/login/{token}/code", post(connector_login::request_code::request_connector_code))
        .route(
            "/unsubscribe/{token}",
            get(unsubscriptions::show::show_unsubscription).post(unsubscriptions::add::add_unsubscription),
        )
        .route("/connectors/back", get(connector_login::finish::finish_connector_login))
        .route("/connectors/client.json", get(connector_login::describe::describe_connector_client))
        .merge(api())
        .merge(operation_routes())
        .merge(pages())
        .merge(account())
        .merge(pack_pages())
        .merge(pack_webhooks())
        .merge(channel_webhooks())
}

/// What providers of channels tell. Each account's link sees for itself who it is.
fn channel_webhooks() -> Routes {
    use channel_webhooks::receive::{receive_channel_webhook, receive_secret_channel_webhook};
    Routes::new()
        .route("/channels/{tenant}/{account}", get(receive_channel_webhook).post(receive_channel_webhook))
        .route(
            "/channels/{tenant}/{account}/{secret}",
            get(receive_secret_channel_webhook).post(receive_secret_channel_webhook),
        )
}

/// What others send packs. Each pack sees for itself who it is.
fn pack_webhooks() -> Routes {
    Routes::new().route(
        "/hooks/{tenant}/{pack}/{name}",
        get(pack_webhooks::probe::probe_webhook).post(pack_webhooks::receive::receive_webhook),
    )
}

/// How operators come in, and what they look after. Forms are read with `SignedInForm` or `PublicForm`, which see that they are ours.
fn account() -> Routes {
    Routes::new()
        .route("/account", get(account::show::show_account))
        .route("/account/sign-in", get(sign_in::show::show_sign_in).post(sign_in::begin::begin_sign_in))
        .route("/account/sign-out", post(sign_in::end::end_sign_in))
        .route("/account/link/{token}", get(link::show::show_link).post(link::redeem::redeem_link))
        .route("/account/link/{token}/accept", post(link::accept::accept_link))
        .route("/account/workspace", post(workspace::open::open_workspace))
        .route(
            "/account/password",
            get(password::show::show_password).post(password::change::change_password),
        )
        .route("/account/sign-ins", get(sign_ins::list::list_sign_ins))
        .route("/account/sign-ins/end", post(sign_ins::end::end_sign_ins))
        .route(
            "/account/keys",
            get(account_keys::list::list_account_keys).post(account_keys::add::add_account_key),
        )
        .route("/account/keys/{id}/revoke", post(account_keys::revoke::revoke_account_key))
        .route("/account/keys/{id}/rotate", post(account_keys::rotate::rotate_account_key))
        .route(
            "/account/operators",
            get(operators::list::list_operators).post(operators::invite::invite_operator),
        )
        .route("/account/approvals/{workspace}/{id}", get(account_approvals::show::show_account_approval))
        .route(
            "/account/approvals/{workspace}/{id}/grant",
            post(account_approvals::grant::grant_account_approval),
        )
        .route(
            "/account/approvals/{workspace}/{id}/refuse",
            post(account_approvals::refuse::refuse_account_approval),
        )
        .route("/account/operators/{id}/role", post(operators::change::change_operator))
        .route("/account/operators/{id}/link", post(operators::recover::recover_operator))
        .route("/account/invitations/{id}/withdraw", post(operators::withdraw::withdraw_invitation))
        .route("/account/desk", get(desk_sessions::list::list_desk_sessions))
        .route("/account/desk/{id}", get(desk_sessions::show::show_desk_session))
        .route("/account/desk/{id}/take", post(desk_sessions::take::take_desk_session))
        .route("/account/desk/{id}/give-back", post(desk_sessions::give_back::give_back_desk_session))
        .route("/account/desk/{id}/write", post(desk_sessions::write::write_in_desk_session))
        .route("/account/desk/{id}/draft", post(desk_sessions::draft::draft_in_desk_session))
        .route(
            "/account/desk/{id}/approvals/{approval}/grant",
            post(desk_approvals::grant::grant_desk_approval),
        )
        .route(
            "/account/desk/{id}/approvals/{approval}/refuse",
            post(desk_approvals::refuse::refuse_desk_approval),
        )
        .route("/account/desk/{id}/whisper", post(desk_sessions::whisper::whisper_in_desk_session))
        .route("/account/language", get(language::choose::choose_language))
        .route("/account/oidc/start", get(oidc::start::start_oidc))
        .route("/account/oidc/back", get(oidc::finish::finish_oidc))
}

/// Pages that packs bring: for those who work there, and for whoever has a key that a page itself gave.
fn pack_pages() -> Routes {
    Routes::new()
        .route(
            "/pages/{tenant}/{pack}",
            get(pack_pages::show::show_first_page).post(pack_pages::submit::submit_first_page),
        )
        .route(
            "/pages/{tenant}/{pack}/{*path}",
            get(pack_pages::show::show_pack_page).post(pack_pages::submit::submit_pack_page),
        )
}

/// Pages, what they load, and what people at them may ask for.
fn pages() -> Routes {
    Routes::new()
        .routes(routes!(assets::read::read_asset))
        .routes(routes!(widget::read::read_widget))
        .routes(routes!(words::read::read_words))
        .routes(routes!(start::open::open_start))
        .routes(routes!(start::try_key::try_start))
        .route("/start/local/{token}", get(start::redeem_link::redeem_local_link))
        .routes(routes!(visits::show::show_visit))
        .routes(routes!(visits::read::read_visit))
        .routes(routes!(visit_streams::follow::follow_visit))
        .routes(routes!(visit_reads::record::record_visit_read))
        .routes(routes!(visit_typing::sign::sign_visit_typing))
        .routes(routes!(visit_messages::list::list_visit_messages))
        .routes(routes!(visit_messages::send::send_visit_message))
        .routes(routes!(visit_runs::follow::follow_visit_run))
        .routes(routes!(visit_runs::cancel::cancel_visit_run))
        .routes(routes!(visit_approvals::read::read_visit_approval))
        .routes(routes!(visit_approvals::grant::grant_visit_approval))
        .routes(routes!(visit_approvals::refuse::refuse_visit_approval))
        .routes(routes!(visit_consents::list::list_visit_consents))
        .routes(routes!(visit_consents::withdraw::withdraw_visit_consent))
        .routes(routes!(visit_links::ask::ask_visit_link))
        .routes(routes!(visit_links::confirm::confirm_visit_link))
}

/// What OpenAI's clients speak.
fn openai() -> Routes {
    Routes::new()
        .routes(routes!(models::list::list_models))
        .routes(routes!(models::read::read_model))
        .routes(routes!(completions::create::create_completion))
        .routes(routes!(embeddings::create::create_embedding))
}

/// Everything under `/v1`. What each needs stands in `api/access.rs`.
fn api() -> Routes {
    Routes::new()
        .routes(routes!(chat::send::send_chat))
        .routes(routes!(runs::follow::follow_run))
        .routes(routes!(sessions::follow::follow_session))
        .routes(routes!(sessions::record_read::record_session_read))
        .routes(routes!(sessions::sign_typing::sign_session_typing))
        .routes(routes!(sessions::watch::watch_sessions))
        .routes(routes!(persons::link::link_person))
        .routes(routes!(persons::confirm::confirm_person))
        .routes(routes!(test::run::run_test))
        .merge(openai())
}
