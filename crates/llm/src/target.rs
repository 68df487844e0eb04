//! Where a model is, how to talk to it, and what it can do. All of it is configuration.

use std::fmt;
use std::time::Duration;

/// The language a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    Anthropic,
    OpenAi,
    Gemini,
    /// The model that needs no key; nothing leaves the machine.
    Offline,
}

/// A key that no log, error or debug print shows.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// For the one header that carries it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "Key(none)" } else { "Key(••••)" })
    }
}

/// One model at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What routes and people call it, such as `sonnet` or `local`.
    pub name: String,
    pub wire: Wire,
    /// Up to but not including the wire's own path: `https://api.example/v1`.
    pub base_url: String,
    pub model: String,
    pub key: Key,
    pub headers: Vec<(String, String)>,
    pub timeouts: Timeouts,
    pub capabilities: Capabilities,
    /// Whose prices apply, such as `anthropic`; empty when unknown.
    pub price_provider: String,
    /// Where the data goes, such as `in` or `us`; a tenant may permit only some.
    pub residency: String,
}

impl Target {
    /// The model that is always there.
    pub fn offline() -> Self {
        Self {
            name: "offline".to_owned(),
            wire: Wire::Offline,
            base_url: String::new(),
            model: "offline".to_owned(),
            key: Key::default(),
            headers: Vec::new(),
            timeouts: Timeouts::default(),
            capabilities: Capabilities::default(),
            price_provider: String::new(),
            residency: String::new(),
        }
    }

    /// Nothing that is said to it leaves the machine.
    pub fn stays_here(&self) -> bool {
        self.wire == Wire::Offline
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// Until the first delta.
    pub first_byte: Duration,
    pub between_bytes: Duration,
    pub whole: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(3),
            first_byte: Duration::from_secs(8),
            between_bytes: Duration::from_secs(15),
            whole: Duration::from_secs(120),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    pub tools: bool,
    pub images: bool,
    pub documents: bool,
    /// Keeps to a JSON schema by itself.
    pub json_schema: bool,
    pub thinking: bool,
    pub embeddings: bool,
    pub context_tokens: u32,
    /// Prefixes shorter than this are not cached; 0 where caching needs no marks or is not there.
    pub cache_minimum_tokens: u32,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            tools: true,
            images: false,
            documents: false,
            json_schema: false,
            thinking: false,
            embeddings: false,
            context_tokens: 32_000,
            cache_minimum_tokens: 0,
        }
    }
}
