//! A webhook of the notes' pack, signed as many senders sign.

use async_trait::async_trait;
use munshi_jobs::JobFailure;
use munshi_pack::{
    PackDeliveryCall, PackWebhook, SignatureEncoding, SignatureHash, WebhookRejection, WebhookRequest,
    WebhookVerdict, verify_hmac,
};

/// Where its secret is.
pub(crate) const HOOK_SECRET: &str = "notes.hook";

pub(super) struct NotesHook;

#[async_trait]
impl PackWebhook for NotesHook {
    fn name(&self) -> &'static str {
        "inbox"
    }

    fn kept_headers(&self) -> &'static [&'static str] {
        &["x-notes-kind"]
    }

    async fn verify(&self, request: &WebhookRequest) -> Result<WebhookVerdict, WebhookRejection> {
        let secret = request.services.credential(HOOK_SECRET).await?;
        let unverified = |why: &str| WebhookRejection::Unverified(why.to_owned());
        let signature = request.header("x-notes-signature").ok_or_else(|| unverified("no signature"))?;
        let body = request.body.get();
        if !verify_hmac((SignatureHash::Sha256, SignatureEncoding::Hex), &secret, &[body], signature) {
            return Err(unverified("the signature does not fit"));
        }
        if let Some(question) = body.strip_prefix(b"challenge:") {
            return Ok(WebhookVerdict::Answer(String::from_utf8_lossy(question).into_owned()));
        }
        Ok(WebhookVerdict::Take { sender_id: request.header("x-notes-id").map(str::to_owned) })
    }

    async fn answer_probe(&self, request: &WebhookRequest) -> Result<String, WebhookRejection> {
        let secret = request.services.credential(HOOK_SECRET).await?;
        match (request.query("token"), request.query("challenge")) {
            (Some(token), Some(challenge)) if munshi_pack::verify_token(&secret, token) => {
                Ok(challenge.to_owned())
            }
            _ => Err(WebhookRejection::Unverified("the token does not fit".to_owned())),
        }
    }

    async fn handle(&self, _: &PackDeliveryCall) -> Result<(), JobFailure> {
        Ok(())
    }
}
