//! The route table. One route is one file: `routes/<resource>/<verb>.rs` holds `verb_resource`.

use utoipa_axum::routes;

use crate::router::Routes;

mod health {
    pub(super) mod check;
}
mod home {
    pub(super) mod show;
}
mod metrics {
    pub(super) mod read;
}
mod openapi {
    pub(super) mod read;
}
mod readiness {
    pub(super) mod check;
}

/// Every route of the server. The binary may `merge` more before it serves them.
pub fn routes() -> Routes {
    Routes::new()
        .routes(routes!(home::show::show_home))
        .routes(routes!(health::check::check_health))
        .routes(routes!(readiness::check::check_readiness))
        .routes(routes!(metrics::read::read_metrics))
        .routes(routes!(openapi::read::read_openapi))
}
