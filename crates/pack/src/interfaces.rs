//! What packs offer each other by name. Who asks for something is resolved when all packs are in, whatever their order.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use munshi_jobs::JobFailure;

use crate::error::InvalidPack;

/// What another pack offers, there from when all packs are in: look it up when it is used.
pub struct PackInterface<T: ?Sized> {
    name: String,
    found: Arc<OnceLock<Arc<T>>>,
}

/// An interface that was asked for before all packs were in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the interface {0} is there once all packs are installed")]
pub struct InterfaceUnresolved(String);

impl<T: ?Sized> PackInterface<T> {
    pub fn get(&self) -> Result<&T, InterfaceUnresolved> {
        self.found.get().map(|found| &**found).ok_or_else(|| InterfaceUnresolved(self.name.clone()))
    }
}

impl<T: ?Sized> Clone for PackInterface<T> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), found: self.found.clone() }
    }
}

impl<T: ?Sized> fmt::Debug for PackInterface<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PackInterface").field(&self.name).finish()
    }
}

impl From<InterfaceUnresolved> for munshi_store::Error {
    fn from(error: InterfaceUnresolved) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<InterfaceUnresolved> for JobFailure {
    fn from(error: InterfaceUnresolved) -> Self {
        Self::Passing(error.to_string())
    }
}

type Offered = Arc<dyn Any + Send + Sync>;
/// Gives what is offered to who asked; false where it is something else.
type Resolve = Arc<dyn Fn(&(dyn Any + Send + Sync)) -> bool + Send + Sync>;

/// What is offered and asked for, while packs are installed.
#[derive(Clone, Default)]
pub struct InterfaceTable {
    offered: BTreeMap<String, Offered>,
    asked: Vec<InterfaceRequest>,
}

#[derive(Clone)]
struct InterfaceRequest {
    pack: &'static str,
    name: String,
    type_name: &'static str,
    resolve: Resolve,
}

impl InterfaceTable {
    /// False where the name is taken.
    pub(crate) fn offer<T: ?Sized + Send + Sync + 'static>(&mut self, name: String, what: Arc<T>) -> bool {
        let offered: Offered = Arc::new(what);
        self.offered.insert(name, offered).is_none()
    }

    pub(crate) fn ask<T: ?Sized + Send + Sync + 'static>(
        &mut self,
        pack: &'static str,
        name: &str,
    ) -> PackInterface<T> {
        let found = Arc::new(OnceLock::new());
        let slot = found.clone();
        let resolve: Resolve = Arc::new(move |offered| match offered.downcast_ref::<Arc<T>>() {
            Some(what) => {
                slot.get_or_init(|| what.clone());
                true
            }
            None => false,
        });
        let type_name = std::any::type_name::<T>();
        self.asked.push(InterfaceRequest { pack, name: name.to_owned(), type_name, resolve });
        PackInterface { name: name.to_owned(), found }
    }

    /// Gives everybody what they asked for, or says who asked for what is not there.
    pub(crate) fn resolve_all(&self) -> Result<(), InvalidPack> {
        for request in &self.asked {
            let InterfaceRequest { pack, name, type_name, resolve } = request;
            let bad = |what: String| Err(InvalidPack::Other { pack: (*pack).to_owned(), what });
            let Some(offered) = self.offered.get(name) else {
                return bad(format!("it needs the interface {name}, which no pack offers"));
            };
            if !resolve(&**offered) {
                return bad(format!("the interface {name} is not a {type_name}"));
            }
        }
        Ok(())
    }
}
