//! The one test harness of everything that has turns: the engine wired as the product wires it, tenants, people and
//! messages. It builds no web server, so that the tests of the engine and of packs need not compile one; the tests of
//! `munshi-web` put their router around a [`TestApp`].
//!
//! ```ignore
//! let model = Arc::new(ScriptedModel::new([ScriptedTurn::text("Hello.")]));
//! let app = TestApp::builder(&test).with_model(model).build();
//! let tenant = app.apply_tenant(&TenantFiles::shop("shop").with_policy(POLICY)).await;
//! let asha = app.add_person(tenant, "Asha", Some(Role::Staff)).await;
//! let received = app.engine.receive(build_message(parse_target("handle:shop"), asha, "1", "Hello")).await.unwrap();
//! assert_eq!(app.wait_for_outcome(&received).await.text, "Hello.");
//! ```
//!
//! # Layout
//! - [`app`]: [`TestApp`] and its builder, the only wiring of an engine outside the product
//! - [`tenant`]: [`TenantFiles`], a tenant's folder, applied as `munshi apply` does it
//! - [`message`]: what somebody writes
//! - [`notes`]: a table of notes, a tool that writes it, and what every test tool's declaration shares
//!
//! Nothing here is part of the product; unwrapping is how a test fails. Unit tests of `munshi-conversations`
//! and `munshi-agent` can't use it: their types are another compilation's.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod app;
pub mod message;
pub mod notes;
pub mod tenant;

pub use app::{TestApp, TestAppBuilder};
pub use message::{build_message, parse_target};
pub use tenant::TenantFiles;

use munshi_store::Migration;

/// Every table that a turn needs, and more.
pub fn list_migrations(more: &[&'static [Migration]]) -> Vec<&'static [Migration]> {
    let turns: [&'static [Migration]; 11] = [
        munshi_store::MIGRATIONS,
        munshi_jobs::MIGRATIONS,
        munshi_llm::MIGRATIONS,
        munshi_tiers::MIGRATIONS,
        munshi_identity::MIGRATIONS,
        munshi_index::MIGRATIONS,
        munshi_blobs::MIGRATIONS,
        munshi_safety::MIGRATIONS,
        munshi_conversations::MIGRATIONS,
        munshi_erasure::MIGRATIONS,
        munshi_pack::MIGRATIONS,
    ];
    turns.into_iter().chain(more.iter().copied()).collect()
}
