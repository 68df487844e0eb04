//! What comes from outside, marked as such wherever a pack holds it.

use serde::de::DeserializeOwned;

/// Something that came over the network, from whoever sent a delivery, or out of a model. It is data and nobody's order: what is
/// begun with it is begun by an event, so that its writes are asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign<T>(T);

impl<T> Foreign<T> {
    pub fn new(value: T) -> Self {
        Self(value)
    }

    pub fn get(&self) -> &T {
        &self.0
    }

    pub fn into_inner(self) -> T {
        self.0
    }

    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Foreign<U> {
        Foreign(change(self.0))
    }
}

impl Foreign<Vec<u8>> {
    /// The bytes as text; what is no text in it is replaced.
    pub fn read_text(&self) -> Foreign<String> {
        Foreign(String::from_utf8_lossy(&self.0).into_owned())
    }

    pub fn read_json<T: DeserializeOwned>(&self) -> serde_json::Result<Foreign<T>> {
        serde_json::from_slice(&self.0).map(Foreign)
    }
}
