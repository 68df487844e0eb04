//! Webhooks, polls, pages and interfaces that can't work are refused when the packs are installed.

use std::sync::Arc;

use async_trait::async_trait;
use munshi_jobs::JobFailure;
use munshi_pack::{
    PackDeliveryCall, PackPageContent, PackPageHandler, PackPageRequest, PackPoll, PackPollCall,
    PackScheduleTime, PackWebhook, PolledPage, WebhookRejection, WebhookRequest, WebhookVerdict,
};
use munshi_store::{Result, Tx};

use crate::refused::{Install, odd, refusal};

struct OddHook {
    name: &'static str,
    source: &'static str,
    headers: &'static [&'static str],
}

#[async_trait]
impl PackWebhook for OddHook {
    fn name(&self) -> &'static str {
        self.name
    }

    fn source(&self) -> &'static str {
        self.source
    }

    fn kept_headers(&self) -> &'static [&'static str] {
        self.headers
    }

    async fn verify(&self, _: &WebhookRequest) -> Result<WebhookVerdict, WebhookRejection> {
        Ok(WebhookVerdict::Ignore)
    }

    async fn handle(&self, _: &PackDeliveryCall) -> Result<(), JobFailure> {
        Ok(())
    }
}

struct OddPoll {
    name: &'static str,
    minutes: u32,
}

#[async_trait]
impl PackPoll for OddPoll {
    fn name(&self) -> &'static str {
        self.name
    }

    fn schedule(&self) -> PackScheduleTime {
        PackScheduleTime::every_minutes(self.minutes)
    }

    async fn poll(&self, _: &PackPollCall) -> Result<PolledPage, JobFailure> {
        Ok(PolledPage::default())
    }

    async fn handle(&self, _: &PackDeliveryCall) -> Result<(), JobFailure> {
        Ok(())
    }
}

/// A page whose form another pack's policy would open.
struct OddPage;

impl PackPageHandler for OddPage {
    fn path(&self) -> &'static str {
        "odd"
    }

    fn scope(&self) -> &'static str {
        "odd.page.read"
    }

    fn show(&self, _: &mut Tx<'_>, _: &PackPageRequest) -> Result<Option<PackPageContent>> {
        Ok(None)
    }

    fn write_scope(&self) -> Option<&'static str> {
        Some("board.notice.add")
    }
}

const HOOK: OddHook = OddHook { name: "inbox", source: "inbox", headers: &[] };

#[test]
fn doors_that_can_not_work_are_refused() {
    let cases: [(Install, &str); 9] = [
        (|room| room.add_webhook(OddHook { name: "In box", ..HOOK }), "is not a valid webhook name"),
        (|room| room.add_webhook(OddHook { source: "", ..HOOK }), "is not a valid source name"),
        (|room| room.add_webhook(OddHook { headers: &["X-Id"], ..HOOK }), "header X-Id in small letters"),
        (
            |room| {
                room.add_webhook(HOOK)?;
                room.add_webhook(HOOK)
            },
            "duplicate webhook inbox",
        ),
        (|room| room.add_poll(OddPoll { name: "feed", minutes: 0 }), "more than once a minute"),
        (
            |room| {
                room.add_poll(OddPoll { name: "feed", minutes: 1 })?;
                room.add_poll(OddPoll { name: "feed", minutes: 1 })
            },
            "duplicate poll feed",
        ),
        (|room| room.add_page(OddPage), "must start with `odd.`"),
        (|room| room.offer_interface::<str>("Stock", Arc::from("")), "is not a valid interface name"),
        (
            |room| {
                room.offer_interface::<str>("stock", Arc::from(""))?;
                room.offer_interface::<str>("stock", Arc::from(""))
            },
            "duplicate interface stock",
        ),
    ];
    for (install, word) in cases {
        let said = refusal(odd(install));
        assert!(said.contains("pack odd") && said.contains(word), "{said}");
    }
}
