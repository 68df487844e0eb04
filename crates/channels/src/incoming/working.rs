//! The sign in a chat that somebody works on a message, where its answer takes a while.

use std::time::Duration;

use super::event::ArrivedMessage;
use super::receiver::TakenMessage;
use super::take::{ArrivalTaker, Taking};
use crate::link::WorkingSign;

/// Who is answered sooner needs no sign.
const AFTER: Duration = Duration::from_secs(3);

impl ArrivalTaker {
    /// Shows it once the answer takes longer, and takes it away when nobody works on the message any more. It promises nothing: where this
    /// process ends, or the provider fails, there is none.
    pub(super) fn show_working(&self, taking: &Taking<'_>, message: ArrivedMessage, taken: TakenMessage) {
        let (receiver, link) = (self.receiver.clone(), taking.link.clone());
        let channel = taking.arrival.account.clone();
        self.signs.spawn(async move {
            let mut worked = std::pin::pin!(receiver.wait_until_worked(&taken));
            if tokio::time::timeout(AFTER, worked.as_mut()).await.is_ok() {
                return;
            }
            let shown = link.show_working(&message, WorkingSign::Shown).await;
            worked.await;
            let removed = link.show_working(&message, WorkingSign::Removed).await;
            if let Err(fault) = shown.and(removed) {
                tracing::debug!(%channel, why = fault.what, "the sign of working could not be shown");
            }
        });
    }
}
