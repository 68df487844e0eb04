//! The route table. One route is one file: `routes/<resource>/<verb>.rs` holds `verb_resource`.

use utoipa_axum::routes;

use crate::router::Routes;

mod approvals {
    pub(super) mod grant;
    pub(super) mod list;
    pub(super) mod read;
    pub(super) mod refuse;
}
mod bindings {
    pub(super) mod list;
    pub(super) mod read;
}
mod chat {
    pub(super) mod send;
}
mod completions {
    pub(super) mod create;
}
mod embeddings {
    pub(super) mod create;
}
mod health {
    pub(super) mod check;
}
mod home {
    pub(super) mod show;
}
mod keys {
    pub(super) mod add;
    pub(super) mod list;
    pub(super) mod read;
    pub(super) mod revoke;
}
mod messages {
    pub(super) mod list;
}
mod metrics {
    pub(super) mod read;
}
mod models {
    pub(super) mod list;
    pub(super) mod read;
}
mod openapi {
    pub(super) mod read;
}
mod persons {
    pub(super) mod add;
    pub(super) mod change;
    pub(super) mod confirm;
    pub(super) mod link;
    pub(super) mod list;
    pub(super) mod read;
}
mod readiness {
    pub(super) mod check;
}
mod runs {
    pub(super) mod cancel;
    pub(super) mod follow;
    pub(super) mod list;
    pub(super) mod read;
}
mod sessions {
    pub(super) mod list;
    pub(super) mod read;
}
mod stats {
    pub(super) mod read;
}
mod test {
    pub(super) mod run;
}
mod tier_versions {
    pub(super) mod list;
}
mod tiers {
    pub(super) mod list;
    pub(super) mod read;
}
mod usage {
    pub(super) mod read;
}

/// Every route of the server. The binary may `merge` more before it serves them.
pub fn routes() -> Routes {
    Routes::new()
        .routes(routes!(home::show::show_home))
        .routes(routes!(health::check::check_health))
        .routes(routes!(readiness::check::check_readiness))
        .routes(routes!(metrics::read::read_metrics))
        .routes(routes!(openapi::read::read_openapi))
        .merge(api())
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
        .routes(routes!(runs::list::list_runs))
        .routes(routes!(runs::read::read_run))
        .routes(routes!(runs::follow::follow_run))
        .routes(routes!(runs::cancel::cancel_run))
        .routes(routes!(sessions::list::list_sessions))
        .routes(routes!(sessions::read::read_session))
        .routes(routes!(messages::list::list_messages))
        .routes(routes!(persons::list::list_persons, persons::add::add_person))
        .routes(routes!(persons::read::read_person, persons::change::change_person))
        .routes(routes!(persons::link::link_person))
        .routes(routes!(persons::confirm::confirm_person))
        .routes(routes!(bindings::list::list_bindings))
        .routes(routes!(bindings::read::read_binding))
        .routes(routes!(tiers::list::list_tiers))
        .routes(routes!(tiers::read::read_tier))
        .routes(routes!(tier_versions::list::list_tier_versions))
        .routes(routes!(approvals::list::list_approvals))
        .routes(routes!(approvals::read::read_approval))
        .routes(routes!(approvals::grant::grant_approval))
        .routes(routes!(approvals::refuse::refuse_approval))
        .routes(routes!(usage::read::read_usage))
        .routes(routes!(stats::read::read_stats))
        .routes(routes!(keys::list::list_keys, keys::add::add_key))
        .routes(routes!(keys::read::read_key))
        .routes(routes!(keys::revoke::revoke_key))
        .routes(routes!(test::run::run_test))
        .merge(openai())
}
