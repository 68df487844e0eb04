//! Somebody opens a link in a browser that we don't know. The page shows a code; whoever the link was sent to sends it in
//! their own conversation, and from then on the browser is theirs for a while.
//!
//! The code goes from the page to the conversation and not the other way: so nobody who only reads the conversation, or
//! has been passed the link, gets in by it, and nobody is sent messages by whoever opens links.

use std::time::Duration;

use munshi_identity::codes::extract_digits;
use munshi_identity::{SecretToken, persons};
use munshi_store::Tx;
use munshi_types::{PersonId, TenantId, Timestamp};
use serde::{Deserialize, Serialize};

use super::links::{ConnectorLoginLink, ConnectorLoginLinkBody};
use super::{ConnectorLogins, LIFE, rows};
use crate::error::Result;

/// A code is good for so long.
const CODE_LIFE: Duration = Duration::from_secs(10 * 60);
/// Whoever has shown who they are has so long to say yes, and then for the login itself.
pub const PROOF_LIFE: Duration = Duration::from_secs(2 * LIFE.as_secs());
/// More browsers than these do not wait at one link: the oldest begins anew.
const MOST: usize = 5;
/// Longer messages are about something else.
const LONGEST: usize = 200;

/// A browser that waits at a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PendingBrowser {
    /// The hash of what the browser keeps.
    browser: Vec<u8>,
    /// What it shows. No secret: it proves something only where one person alone can say it.
    code: String,
    until: Timestamp,
    /// Who said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proved: Option<PersonId>,
}

impl ConnectorLoginLink {
    /// What this browser shows, while nobody has said it.
    pub fn find_code(&self, browser: &SecretToken, now: Timestamp) -> Option<&str> {
        let hash = rows::hash(browser.reveal());
        let mine = self.waiting.iter().find(|one| one.browser == hash && one.until > now);
        mine.filter(|one| one.proved.is_none()).map(|one| one.code.as_str())
    }
}

impl ConnectorLogins {
    /// Gives this browser a code to show; it keeps the token.
    pub async fn issue_code(&self, led: &ConnectorLoginLink, browser: &SecretToken) -> Result<()> {
        let now = self.0.clock.now();
        let new = PendingBrowser {
            browser: rows::hash(browser.reveal()),
            code: format!("{:06}", self.0.random.next_below(1_000_000)),
            until: now.plus(CODE_LIFE),
            proved: None,
        };
        let hash = led.hash.clone();
        let unit = move |tx: &mut Tx<'_>| -> Result<()> {
            let links = rows::lock_links::<ConnectorLoginLinkBody>(tx, now)?;
            let Some(link) = links.into_iter().find(|link| link.hash == hash) else { return Ok(()) };
            let mut body = link.body;
            body.waiting.retain(|one| one.until > now && one.browser != new.browser);
            let few = (body.waiting.len() + 1).saturating_sub(MOST);
            body.waiting.drain(..few);
            body.waiting.push(new);
            rows::set_body(tx, &hash, &body)
        };
        self.0.db.write(led.tenant, unit).await
    }

    /// Whose browser it is, where they have shown that at a link of this tenant.
    pub async fn find_verified_person(
        &self,
        tenant: TenantId,
        browser: &SecretToken,
    ) -> Result<Option<PersonId>> {
        let (hash, now) = (rows::hash(browser.reveal()), self.0.clock.now());
        let links =
            self.0.db.read(tenant, move |tx| rows::list_links::<ConnectorLoginLinkBody>(tx, now)).await?;
        let mut waiting = links.into_iter().flat_map(|link| link.body.waiting);
        Ok(waiting.find(|one| one.browser == hash && one.until > now).and_then(|one| one.proved))
    }
}

/// Hears whether somebody says a code of a link that was sent to them. Saying it twice is as good as once.
pub(crate) fn verify_code(
    tx: &mut Tx<'_>,
    person: PersonId,
    words: &str,
    now: Timestamp,
) -> Result<Option<String>> {
    let Some(code) = Some(words).filter(|words| words.len() <= LONGEST).and_then(extract_digits) else {
        return Ok(None);
    };
    let Some(person) = persons::find_living(tx, person)?.map(|person| person.id) else { return Ok(None) };
    for link in rows::lock_links::<ConnectorLoginLinkBody>(tx, now)? {
        let mut body = link.body;
        let fits = |one: &&mut PendingBrowser| one.code == code && one.until > now;
        let Some(mine) = body.waiting.iter_mut().find(fits) else { continue };
        let Some(to) = body.to else { continue };
        if persons::find_living(tx, to)?.map(|to| to.id) != Some(person) {
            continue;
        }
        if mine.proved.is_none() {
            (mine.proved, mine.until) = (Some(person), now.plus(PROOF_LIFE));
            rows::set_body(tx, &link.hash, &body)?;
        }
        return Ok(Some(link.connector));
    }
    Ok(None)
}
