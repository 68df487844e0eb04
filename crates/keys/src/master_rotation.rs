//! Bringing in another key of the installation: tenants' keys are wrapped anew, a few in each unit of work, so that a rotation that is cut
//! short goes on where it stopped.

use munshi_store::{PlatformTx, across_tenants, params};

use crate::error::{Error, Result};
use crate::key_store::{KEYS, KeyStore};
use crate::key_traces::mark_rewrapped;

impl KeyStore {
    /// Wraps tenants' keys by another key of the installation. Run again after a crash, it goes on where it stopped. Says how many were
    /// wrapped anew.
    pub(crate) async fn rotate_master(&mut self, to: &str) -> Result<u64> {
        let (next, now) = (to.to_owned(), self.clock.now());
        let switch = move |tx: &mut PlatformTx<'_>| {
            tx.execute(
                across_tenants(
                    "UPDATE key_masters SET master_id = $1, since = $2 WHERE slot = 'current' AND master_id <> $1",
                ),
                params![next, now],
            )
        };
        self.db.platform(KEYS).write(switch).await?;
        let mut rewrapped = 0;
        loop {
            let (wrapper, to) = (self.wrapper(), to.to_owned());
            let rewrap = move |tx: &mut PlatformTx<'_>| {
                let count = wrapper.rewrap_tenant_keys(tx, &to)?;
                if count > 0 {
                    mark_rewrapped(tx, now)?;
                }
                Ok::<_, Error>(count)
            };
            match self.db.platform(KEYS).write(rewrap).await? {
                0 => break,
                some => rewrapped += some,
            }
        }
        if rewrapped > 0 {
            self.cleared.forget();
        }
        Ok(rewrapped)
    }
}
