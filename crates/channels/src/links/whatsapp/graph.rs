//! Meta's Graph API, as far as WhatsApp needs it.

use munshi_http::{RequestBuilder, Url};
use serde_json::Value;

use crate::link::{LinkFault, LinkParts};
use crate::provider_call::{CallFault, ProviderAnswer, ask};

/// With the version that this is written for.
pub(super) const OWN_URL: &str = "https://graph.facebook.com/v24.0";

/// Meta's hosts that give out files. The account's token goes to no other.
const FILE_HOSTS: [&str; 4] = ["fbsbx.com", "fbcdn.net", "facebook.com", "whatsapp.net"];

/// Why a question has no answer: it could not be asked, or the line broke.
pub(super) enum GraphFault {
    Unasked(LinkFault),
    Broken(CallFault),
}

pub(super) struct GraphApi<'a> {
    pub parts: &'a LinkParts,
}

impl GraphApi<'_> {
    pub(super) async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<ProviderAnswer, LinkFault> {
        let mut url = self.parts.build_url(OWN_URL, path)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let request = self.authorize(self.parts.get(url)).await?;
        Ok(ask(request).await?)
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<ProviderAnswer, GraphFault> {
        self.post_bytes(path, "application/json", body.to_string().into_bytes()).await
    }

    pub(super) async fn post_bytes(
        &self,
        path: &str,
        media_type: &str,
        body: Vec<u8>,
    ) -> Result<ProviderAnswer, GraphFault> {
        let url = self.parts.build_url(OWN_URL, path)?;
        let request = self.parts.post(url).header("content-type", media_type).body(body);
        let request = self.authorize(request).await?;
        ask(request).await.map_err(GraphFault::Broken)
    }

    /// A file's address, with the token where it leads to Meta. Whatever else an answer names is not asked.
    pub(super) async fn open_address(&self, address: &str) -> Result<RequestBuilder, LinkFault> {
        let url: Url =
            address.parse().map_err(|_| LinkFault::refused("WhatsApp names no address for the file"))?;
        if !self.is_metas(&url) {
            return Err(LinkFault::refused("WhatsApp names a strange place for the file"));
        }
        self.authorize(self.parts.get(url)).await
    }

    fn is_metas(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let is_below = |known: &str| host == known || host.ends_with(&format!(".{known}"));
        let is_plain = url.scheme() == "https" && url.port().is_none();
        if is_plain && FILE_HOSTS.into_iter().any(is_below) {
            return true;
        }
        // Where somebody else stands for Meta, its files lie with them.
        let own = self.parts.account.api_url.as_deref().and_then(|own| own.parse::<Url>().ok());
        own.is_some_and(|own| own.origin() == url.origin())
    }

    async fn authorize(&self, request: RequestBuilder) -> Result<RequestBuilder, LinkFault> {
        let token = self.parts.open(&self.parts.account.token).await?;
        Ok(request.bearer_auth(token.expose()))
    }
}

impl From<LinkFault> for GraphFault {
    fn from(fault: LinkFault) -> Self {
        Self::Unasked(fault)
    }
}

impl From<GraphFault> for LinkFault {
    fn from(fault: GraphFault) -> Self {
        match fault {
            GraphFault::Unasked(fault) => fault,
            GraphFault::Broken(fault) => fault.into(),
        }
    }
}
