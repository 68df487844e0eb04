//! What came of a message: the reply, and what the tools gave.

use munshi_conversations::RunEvent;
use munshi_types::attachment::{self, Attachment};
use serde_json::Value;

use crate::counter::support::Shop;

pub(crate) struct Told {
    pub(crate) text: String,
    pub(crate) results: Vec<Value>,
}

impl Told {
    pub(crate) fn attached(&self) -> Vec<Attachment> {
        self.results.iter().flat_map(attachment::extract_from_result).collect()
    }

    pub(crate) fn link(&self) -> String {
        let mut links = self.attached().into_iter().filter_map(|one| match one {
            Attachment::Link { url, .. } => Some(url),
            _ => None,
        });
        links.next_back().unwrap_or_else(|| panic!("no link beside {} of {:?}", self.text, self.results))
    }
}

/// Says it and hears everything of the answer.
pub(crate) async fn tell(shop: &Shop, text: &str) -> Told {
    let received = shop.send(text).await;
    let mut following = shop.engine.follow(received.tenant, received.run, None).await.unwrap();
    let mut results = Vec::new();
    while let Some((_, event)) = following.next().await {
        if let RunEvent::ToolResult { result, .. } = event {
            results.push(result);
        }
    }
    let text = shop.engine.wait_for_outcome(received.tenant, received.run).await.unwrap().text;
    Told { text, results }
}

macro_rules! on_both {
    ($($(#[$doc:meta])* async fn $name:ident($test:ident: TestDb) $body:block)+) => {
        munshi_test_support::on_both_engines! {
            with all crate::day::support::migrations();
            $($(#[$doc])* async fn $name($test: TestDb) $body)+
        }
    };
}
pub(crate) use on_both;
