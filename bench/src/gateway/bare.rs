//! The plainest thing that does the same: an HTTP client that posts the same bytes and reads the answer.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::Client;
use serde_json::json;

use super::{Form, question};
use crate::contest::Contestant;
use crate::load::{Load, Tally};

pub(crate) struct Bare {
    client: Client,
    address: String,
    body: String,
}

impl Bare {
    pub(crate) fn new(address: &str, form: Form) -> Result<Self> {
        let question = question();
        let body = json!({
            "model": "mock",
            "messages": [
                {"role": "system", "content": question.system[0]},
                {"role": "user", "content": question.messages[0].text()},
            ],
            "max_tokens": question.max_output_tokens,
            "stream": form == Form::Streamed,
        });
        // Fails where another has installed it already, which is as good.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        // A server may hang up what rested while others had their turn; asking on such a line is no answer of its.
        let client = Client::builder().no_proxy().pool_idle_timeout(Duration::from_secs(2)).build()?;
        Ok(Self { client, address: format!("{address}/chat/completions"), body: body.to_string() })
    }
}

impl Contestant for Bare {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let (client, address, body) = (self.client.clone(), self.address.clone(), self.body.clone());
        load.run_tasks(move || {
            let request = client
                .post(&address)
                .header("content-type", "application/json")
                .header("authorization", "Bearer sk-bench")
                .body(body.clone());
            async move {
                let answer = request.send().await?;
                ensure!(answer.status().is_success(), "{}", answer.status());
                let bytes = answer.bytes().await?;
                ensure!(bytes.len() > 1000, "a short answer");
                Ok(())
            }
        })
    }
}
