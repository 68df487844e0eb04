//! Whether the store is well, as its threads last found it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;

/// Written by the threads that run units, read by readiness. An outage stays noted until something succeeds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Health(Arc<Mutex<Option<Error>>>);

impl Health {
    pub(crate) fn note(&self, outcome: &Result<(), Error>) {
        match outcome {
            Ok(()) => self.set(None),
            Err(error) if error.is_outage() => self.set(Some(error.clone())),
            Err(_) => {}
        }
    }

    fn set(&self, outage: Option<Error>) {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if current.is_some() != outage.is_some() {
            match &outage {
                Some(error) => tracing::error!(%error, "the database is failing"),
                None => tracing::info!("the database is well again"),
            }
        }
        *current = outage;
    }

    pub(crate) fn outage(&self) -> Option<Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
