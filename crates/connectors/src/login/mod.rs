//! Letting us into a connector's service, where it asks for that: a person consents there, in a browser (an authorization
//! code with PKCE) or with a code on another device, and what we get for it is kept in the vault.
//!
//! Nothing secret is stored of a login on its way: whoever began it holds one random text, from which the state and the
//! proof follow. So any node can finish what another began, a state is good once, and an answer that somebody else brings
//! is refused.
//!
//! # Layout
//! - [`ConnectorLogins`]: `flow`, `callback`: beginning and ending a login; `device`: the same with a code; `links`: what leads a
//!   person there; `browser_verification`: how a browser shows whose it is; [`ConnectorLoginUser`]: whose login it is; `revocation`: giving one back
//! - `challenge`, `discover`: what the service says of the way in; `client`: who we are to it; `fetch`: asking it
//! - `credential`: what opens the door for one connection; `renewal`: renewing it before it ends; `losses`: those that their service takes no more; `stored_login`, `secret_serde`: as the vault
//!   keeps it; `rows`: logins on their way

mod browser_verification;
mod callback;
mod challenge;
mod client;
mod credential;
mod device;
mod discover;
mod fetch;
mod flow;
mod links;
mod login_user;
mod losses;
mod renewal;
mod revocation;
mod rows;
mod secret_serde;
mod stored_login;

pub(crate) use browser_verification::verify_code;
pub(crate) use challenge::AuthChallenge;
pub(crate) use credential::ConnectorCredential;
pub(crate) use links::{build_link_url, insert_link};
pub(crate) use losses::list as list_losses;
pub(crate) use stored_login::delete_credentials;

pub use browser_verification::PROOF_LIFE;
pub use callback::{CompletedOAuthLogin, OAuthCallback, OAuthCallbackOwner};
pub use device::DeviceAuthorization;
pub use flow::{OAuthReturnUrls, PendingOAuthLogin};
pub use links::{ConnectorLoginLink, add_link, is_link_used};
pub use login_user::ConnectorLoginUser;
pub use revocation::{LoginRevocation, RevocableLogin};
pub(crate) use rows::seal_logins_of_before;
pub use stored_login::{find_login_time, forget_login};

use std::sync::Arc;
use std::time::Duration;

use munshi_safety::vault::Vault;
use munshi_store::Db;
use munshi_types::{Clock, IdGenerator, Random};
use tokio_util::task::TaskTracker;

use self::fetch::OAuthFetcher;
use crate::error::{Error, Result};
use munshi_http::AllowedHosts;

/// How long somebody may take between going there and coming back.
pub const LIFE: Duration = Duration::from_secs(15 * 60);
/// How long a service may take to answer one question of a login. Finding the way in takes a few of them, and has twice as
/// long for all.
pub const LOGIN_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a link leads there, and how long a run waits for it.
pub const LINK_LIFE: Duration = Duration::from_secs(24 * 3600);

/// What logins are made of.
pub struct ConnectorLoginParts {
    pub db: Db,
    pub vault: Vault,
    pub allowed: AllowedHosts,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub ids: IdGenerator,
    /// How long a service has for an answer: [`LOGIN_TIMEOUT`].
    pub timeout: Duration,
}

/// Logs us in. Clones share everything.
#[derive(Clone)]
pub struct ConnectorLogins(Arc<Inner>);

struct Inner {
    db: Db,
    vault: Vault,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    ids: IdGenerator,
    fetch: OAuthFetcher,
    /// What goes on to its end, whoever waits for it.
    tasks: TaskTracker,
}

impl ConnectorLogins {
    pub fn new(parts: ConnectorLoginParts) -> Result<Self> {
        let ConnectorLoginParts { db, vault, allowed, clock, random, ids, timeout } = parts;
        let fetch = OAuthFetcher::new(allowed, timeout)?;
        Ok(Self(Arc::new(Inner { db, vault, clock, random, ids, fetch, tasks: TaskTracker::new() })))
    }

    /// Waits for what has begun and must not be broken off. Each has its own limit.
    pub async fn wait_for_tasks(&self) {
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    /// Goes on though whoever waits may go away: something was used that is good once.
    async fn run_to_completion<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let ended = self.0.tasks.spawn(work).await;
        ended.map_err(|error| Error::Unreachable(format!("interrupted: {error}")))?
    }
}

impl std::fmt::Debug for ConnectorLogins {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ConnectorLogins")
    }
}
