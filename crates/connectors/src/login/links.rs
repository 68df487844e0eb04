//! Links that lead a person to a connector's service, from wherever they are met.

use munshi_identity::Token;
use munshi_safety::audit::Actor;
use munshi_store::{PlatformTx, Tx};
use munshi_types::{TenantId, Timestamp};
use serde::{Deserialize, Serialize};

use super::challenge::Challenge;
use super::flow::{Back, Begun};
use super::rows::{self, Kind};
use super::{LINK_LIFE, Logins};
use crate::error::{Error, Result};
use crate::rows::CONNECTORS;

/// Where a link leads.
#[derive(Clone, Debug)]
pub struct Led {
    pub tenant: TenantId,
    pub connector: String,
    by: Actor,
    said: Challenge,
}

#[derive(Serialize, Deserialize)]
struct Body {
    by: Actor,
    #[serde(default)]
    said: Challenge,
}

/// Makes a link for somebody; gives what it ends with. It leads there until somebody has logged in, or a day is over.
pub(crate) fn offer(
    tx: &mut Tx<'_>,
    connector: &str,
    by: Actor,
    said: Challenge,
    (random, now): (&dyn munshi_types::Random, Timestamp),
) -> Result<Token> {
    let token = Token::random(random);
    rows::put(tx, (Kind::Link, token.reveal()), connector, &Body { by, said }, (now, now.plus(LINK_LIFE)))?;
    Ok(token)
}

impl Logins {
    /// A link for somebody, at a server of ours that people open by this address.
    pub async fn link(&self, tenant: TenantId, connector: &str, base: &str, by: Actor) -> Result<String> {
        self.entry(tenant, connector).await?;
        let (name, random, now) = (connector.to_owned(), self.0.random.clone(), self.0.clock.now());
        let offered =
            move |tx: &mut Tx<'_>| offer(tx, &name, by, Challenge::default(), (random.as_ref(), now));
        let token = self.0.db.write(tenant, offered).await?;
        Ok(address(base, &token))
    }

    /// Where a link leads; none where it is over.
    pub async fn led(&self, token: &Token) -> Result<Option<Led>> {
        let (text, now) = (token.reveal().to_owned(), self.0.clock.now());
        let find = move |tx: &mut PlatformTx<'_>| rows::find::<Body>(tx, (Kind::Link, &text), now);
        let found = self.0.db.platform(CONNECTORS).read(find).await?;
        Ok(found.map(|rows::Found { tenant, connector, body }| Led {
            tenant,
            connector,
            by: body.by,
            said: body.said,
        }))
    }

    /// Begins the login that a link leads to.
    pub async fn follow(&self, led: Led, back: &Back) -> Result<Begun> {
        let Led { tenant, connector, by, said } = led;
        self.begin_for(tenant, &connector, back, &said, by).await
    }

    /// When somebody last logged in at a connector.
    pub async fn last(&self, tenant: TenantId, connector: &str) -> Result<Option<Timestamp>> {
        let name = connector.to_owned();
        self.0.db.read(tenant, move |tx| -> Result<_, Error> { super::last_at(tx, &name) }).await
    }
}

pub(crate) fn address(base: &str, token: &Token) -> String {
    format!("{}/connectors/login/{}", base.trim_end_matches('/'), token.reveal())
}
