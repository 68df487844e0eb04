//! The sender that sends nothing: what would leave stands in the server's log. For trying things out, and the demo.

use async_trait::async_trait;
use munshi_conversations::outbox::{ChannelSender, SendFault, SendIdempotency, SendReceipt};
use munshi_types::tier::Channel;
use munshi_types::{OutboundMessage, TenantId};

use crate::accounts::ChannelAccountName;

pub(crate) struct LogSender {
    pub(crate) tenant: TenantId,
    pub(crate) account: ChannelAccountName,
    pub(crate) channel: Channel,
}

#[async_trait]
impl ChannelSender for LogSender {
    fn channel(&self) -> Channel {
        self.channel
    }

    fn idempotency(&self) -> SendIdempotency {
        SendIdempotency::Keyed
    }

    fn account(&self) -> Option<&str> {
        Some(self.account.as_str())
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        tracing::info!(
            tenant = %self.tenant,
            channel = %self.channel,
            account = self.account.as_str(),
            to = mask_address(&outbound.to.address),
            purpose = outbound.purpose.as_str(),
            subject = outbound.subject.as_deref().unwrap_or_default(),
            text = outbound.text,
            attachments = outbound.attachments.len(),
            "message shown, not sent: its channel is of kind log"
        );
        Ok(SendReceipt { outside_id: Some(format!("log:{}", outbound.id)) })
    }
}

/// As much of an address as tells two apart in a log: an e-mail's domain, or the end of a number.
fn mask_address(address: &str) -> String {
    const SHOWN: usize = 3;
    match address.rsplit_once('@') {
        Some((_, domain)) => format!("…@{domain}"),
        None => {
            let letters: Vec<char> = address.chars().collect();
            let end: String = letters.iter().skip(letters.len().saturating_sub(SHOWN)).collect();
            if letters.len() > SHOWN { format!("…{end}") } else { "…".to_owned() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_tells_nobodys_address() {
        for (address, masked) in [
            ("meera@example.com", "…@example.com"),
            ("\"a@b\"@example.com", "…@example.com"),
            ("+919812345678", "…678"),
            ("678", "…"),
            ("", "…"),
        ] {
            assert_eq!(mask_address(address), masked);
        }
    }
}
