//! What is asked of other servers: short documents over TLS, once, without redirects, in bounded time and memory.

use std::fmt;
use std::time::Duration;

use munshi_http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use munshi_http::{
    Client, HttpClientBuilder, HttpClientError, ReachableAddresses, RequestBuilder, list_causes, read_body,
};

/// From name lookup to the last byte.
const TIMEOUT: Duration = Duration::from_secs(10);
/// More is not read.
const LARGEST: usize = 1 << 20;

/// Asks other servers. Clones share their connections.
#[derive(Clone)]
pub struct OutboundHttpClient(Client);

impl OutboundHttpClient {
    pub fn new() -> Result<Self, HttpClientError> {
        HttpClientBuilder::new()?.build(TIMEOUT, ReachableAddresses::Any).map(Self)
    }

    /// What stands at an address, if it answers with 200.
    pub async fn get(&self, address: &str) -> Result<String, String> {
        self.get_with_bearer(address, None).await
    }

    /// The same with a token that lets us in.
    pub async fn get_with_bearer(&self, address: &str, bearer: Option<&str>) -> Result<String, String> {
        let mut request = self.0.get(require_https(address)?).header(ACCEPT, "application/json");
        if let Some(token) = bearer {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        self.send(address, request).await.and_then(|(status, text)| match status {
            200 => Ok(text),
            other => Err(format!("{address} answered {other}")),
        })
    }

    /// What a form is answered with, and the status. `login` is a name and a password, encoded.
    pub async fn post(
        &self,
        address: &str,
        form: String,
        login: Option<String>,
    ) -> Result<(u16, String), String> {
        let mut request = self
            .0
            .post(require_https(address)?)
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        if let Some(login) = login {
            request = request.header(AUTHORIZATION, format!("Basic {login}"));
        }
        self.send(address, request.body(form)).await
    }

    async fn send(&self, address: &str, request: RequestBuilder) -> Result<(u16, String), String> {
        let request = request.build().map_err(|error| format!("can't request {address}: {error}"))?;
        let asked = async {
            let sent = self.0.execute(request).await;
            let mut response = sent.map_err(|error| list_causes(&error).join(": "))?;
            let mut body = Vec::new();
            let read = read_body(&mut response, LARGEST, &mut body).await;
            read.map_err(|error| error.to_string())?;
            let text = String::from_utf8(body).map_err(|error| error.to_string())?;
            Ok((response.status().as_u16(), text))
        };
        let answer = tokio::time::timeout(TIMEOUT, asked).await;
        answer
            .map_err(|_| format!("{address} timed out after {} s", TIMEOUT.as_secs()))?
            .map_err(|error: String| format!("can't reach {address}: {error}"))
    }
}

/// Nothing that matters goes over a line anybody can read or change; on this machine there is no such line.
fn require_https(address: &str) -> Result<&str, String> {
    let here =
        ["http://127.0.0.1:", "http://127.0.0.1/", "http://localhost:", "http://localhost/", "http://[::1]:"];
    if address.starts_with("https://") || here.iter().any(|start| address.starts_with(start)) {
        return Ok(address);
    }
    Err(format!("{address} must begin with https://"))
}

impl fmt::Debug for OutboundHttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outgoing")
    }
}

#[cfg(test)]
mod tests {
    use crate::http_client::require_https;

    #[test]
    fn nothing_goes_over_a_line_that_others_read() {
        for good in
            ["https://id.example/x", "http://127.0.0.1:9/", "http://localhost:8080/a", "http://[::1]:1/"]
        {
            assert!(require_https(good).is_ok(), "{good}");
        }
        for bad in
            ["http://id.example", "http://127.0.0.1.evil.example/", "http://localhost.evil/", "file:///x", ""]
        {
            assert!(require_https(bad).is_err(), "{bad}");
        }
    }
}
