//! A request of a provider's to our address, before anybody knows who sent it.

use munshi_types::Timestamp;

use super::event::ChannelEvent;

/// As it was sent, to the byte: most sign it.
pub struct ChannelRequest {
    pub method: ChannelRequestMethod,
    /// As the provider has it, with its query.
    pub url: String,
    /// What stands behind the account in the path, for providers that sign nothing: a word that only they and we know.
    pub path_secret: Option<String>,
    /// By their names in small letters.
    pub headers: Vec<(String, Vec<u8>)>,
    pub query: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub now: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelRequestMethod {
    Get,
    Post,
}

/// What a request that was verified is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelVerdict {
    /// To be stored before it is answered, each once. None at all is answered just so.
    Take(Vec<ChannelEvent>),
    /// A question whether we are there. Nothing is stored.
    Answer(ChannelAnswer),
}

/// What a provider is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelAnswer {
    pub media_type: &'static str,
    pub text: String,
}

/// Why a request is not taken. The sender hears none of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelRefusal {
    /// It is not from whom it should be, or can't be shown to be.
    Unverified(String),
    /// It is from whom it should be, and says nothing that we can read: it will never be otherwise. It is answered as taken, so that it does not
    /// come for days, and told to whoever looks after the account.
    Unreadable(String),
    /// Nobody can say now: the sender is to come again.
    Failed(String),
}

impl ChannelRequest {
    /// A header that is there once and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        let value = found.next().filter(|_| found.next().is_none())?;
        std::str::from_utf8(&value.1).ok()
    }

    /// What stands in the query under a name, once.
    pub fn query(&self, name: &str) -> Option<&str> {
        let mut found = self.query.iter().filter(|(known, _)| known == name);
        found.next().filter(|_| found.next().is_none()).map(|(_, value)| value.as_str())
    }

    /// The fields of a form, in their order; none where the body is no form.
    pub fn form(&self) -> Option<Vec<(String, String)>> {
        let media_type = self.header("content-type")?;
        let is_form = media_type.split(';').next()?.trim() == "application/x-www-form-urlencoded";
        if !is_form {
            return None;
        }
        serde_urlencoded::from_bytes(&self.body).ok()
    }
}

impl ChannelAnswer {
    pub fn plain(text: impl Into<String>) -> Self {
        Self { media_type: "text/plain; charset=utf-8", text: text.into() }
    }

    pub fn json(text: impl Into<String>) -> Self {
        Self { media_type: "application/json", text: text.into() }
    }

    pub fn xml(text: impl Into<String>) -> Self {
        Self { media_type: "text/xml; charset=utf-8", text: text.into() }
    }
}
