//! What a unit tells the process it runs in, after its commit.
//!
//! Only this process hears it. Who follows changes that other nodes make asks the database as well.

use munshi_types::TenantId;
use tokio::sync::broadcast;
use uuid::Uuid;

/// So many wait for the slowest listener; it learns how many it has missed. A listener that does nothing but take note of them is
/// never that slow, unless the process stands still.
const KEPT: usize = 4096;

/// Something of a tenant has changed, such as a conversation. What has changed in it, the database says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Announcement {
    pub tenant: TenantId,
    pub subject: Uuid,
}

/// The sending end. One of them stands in every handle to the database, and one goes with each unit.
#[derive(Clone)]
pub(crate) struct Announcer(broadcast::Sender<Announcement>);

impl Announcer {
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Announcement> {
        self.0.subscribe()
    }

    pub(crate) fn tell(&self, announcement: Announcement) {
        // That nobody listens is no error.
        let _heard_by = self.0.send(announcement);
    }
}

impl Default for Announcer {
    fn default() -> Self {
        Self(broadcast::Sender::new(KEPT))
    }
}
