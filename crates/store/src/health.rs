//! Whether the store is well, as its threads last found it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;

/// Written by the threads that run units, read by readiness. An outage stays noted until a write that changed
/// something succeeds; damage stays noted until the program starts anew, since other pages may well be sound.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoreHealth(Arc<Mutex<Option<Error>>>);

impl StoreHealth {
    pub(crate) fn record_failure(&self, error: &Error) {
        if error.is_outage() {
            self.set(Some(error.clone()));
        }
    }

    pub(crate) fn record_success(&self) {
        self.set(None);
    }

    fn set(&self, outage: Option<Error>) {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*current, Some(Error::Corrupt(_))) {
            return;
        }
        if current.is_some() != outage.is_some() {
            match &outage {
                Some(error) => tracing::error!(%error, "database unhealthy"),
                None => tracing::info!("database recovered"),
            }
        }
        *current = outage;
    }

    pub(crate) fn outage(&self) -> Option<Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
