//! Where a model is, how to talk to it, and what it can do. All of it is configuration.

use std::fmt;
use std::time::Duration;

use crate::dialect::Dialect;

/// The language a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WireFormat {
    Anthropic,
    OpenAi,
    Gemini,
    /// The model that needs no key; nothing leaves the machine.
    Offline,
}

impl WireFormat {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
            Self::Offline => "offline",
        }
    }
}

/// A key that no log, error or debug print shows.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProviderKey(String);

impl ProviderKey {
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

impl fmt::Debug for ProviderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "Key(none)" } else { "Key(••••)" })
    }
}

/// One model at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelTarget {
    /// What routes and people call it, such as `sonnet` or `local`.
    pub name: String,
    pub wire: WireFormat,
    /// Up to but not including the wire's own path: `https://api.example/v1`.
    pub base_url: String,
    pub model: String,
    pub key: ProviderKey,
    pub headers: Vec<(String, String)>,
    pub timeouts: ModelTimeouts,
    pub capabilities: ModelFeatures,
    pub dialect: Dialect,
    /// Whose prices apply, such as `anthropic`; empty when unknown.
    pub price_provider: String,
    /// Where the data goes, such as `in` or `us`; a tenant may permit only some.
    pub residency: String,
    /// Whether it is a server of one's own that may see who people are.
    pub sees_names: bool,
}

impl ModelTarget {
    /// A target with no key and everything else as documented: the start for `Target { … ..Target::new(…) }`.
    pub fn new(
        name: impl Into<String>,
        wire: WireFormat,
        base_url: impl Into<String>,
        model: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            wire,
            base_url: base_url.into(),
            model: model.into(),
            key: ProviderKey::default(),
            headers: Vec::new(),
            timeouts: ModelTimeouts::default(),
            capabilities: ModelFeatures::default(),
            dialect: Dialect::default(),
            price_provider: String::new(),
            residency: String::new(),
            sees_names: false,
        }
    }

    /// The model that is always there.
    pub fn offline() -> Self {
        let mut target = Self::new("offline", WireFormat::Offline, "", "offline");
        target.capabilities.embeddings = true;
        target
    }

    /// Whose model it is, by the name its prices go by; the wire's where there is none.
    pub fn provider_name(&self) -> &str {
        if self.price_provider.is_empty() { self.wire.as_str() } else { &self.price_provider }
    }

    /// Nothing that is said to it leaves the machine.
    pub fn is_local(&self) -> bool {
        self.wire == WireFormat::Offline
    }

    /// Whether it gets names and numbers as they are.
    pub fn may_see_names(&self) -> bool {
        self.sees_names || self.is_local()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelTimeouts {
    pub connect: Duration,
    /// From the start of a streamed call until its first delta; keep-alives don't count. A call that is not streamed
    /// has its first byte when the whole answer is there, so only `total` bounds it.
    pub first_byte: Duration,
    /// After the first delta: the longest silence. Any byte ends it, keep-alives too.
    pub between_bytes: Duration,
    pub total: Duration,
}

impl Default for ModelTimeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(3),
            first_byte: Duration::from_secs(8),
            between_bytes: Duration::from_secs(15),
            total: Duration::from_secs(120),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelFeatures {
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

impl Default for ModelFeatures {
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
