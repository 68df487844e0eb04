//! How long each step of handing a mail over may take.

use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailTimings {
    /// For a connection to stand, and again for it to be encrypted.
    pub connect: Duration,
    /// For the answer to a command.
    pub command: Duration,
    /// For the whole mail to be written.
    pub content: Duration,
    /// For the answer after its last byte. Servers look at a mail before they answer; whoever gives up too soon does not know whether it
    /// was taken. RFC 5321 asks for ten minutes, in which a place of the node is held: two are what servers need that work.
    pub acceptance: Duration,
    /// For all of it, the steps before the first answer included: a server that is slow at each of them holds nobody for their sum.
    pub whole: Duration,
}

impl MailTimings {
    /// For somebody who waits to hear what is wrong: within the time of one request each step that hangs is named. Servers that greet
    /// late, to see who does not wait, take less.
    pub const TRIAL: Self = Self {
        connect: Duration::from_secs(4),
        command: Duration::from_secs(10),
        content: Duration::from_secs(10),
        acceptance: Duration::from_secs(10),
        // Less than a request has.
        whole: Duration::from_secs(25),
    };
}

impl Default for MailTimings {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            command: Duration::from_secs(60),
            content: Duration::from_secs(300),
            acceptance: Duration::from_secs(120),
            whole: Duration::from_secs(600),
        }
    }
}
