use crate::kinds::{CountOrAutoKind, OptionalTextKind, SecretKeyKind, choice};
use crate::section::section;

choice! {
    /// How the way to a mail server is encrypted.
    MailSecurityChoice {
        /// From the first byte.
        Tls = "tls",
        /// After the greeting.
        Starttls = "starttls",
        /// Only for a server on this machine.
        None = "none",
    }
}

section! {
    /// The installation's own mail account: alerts to its keepers, and one-time links for operators. The keys are
    /// those of a channel in `channels.toml`.
    MailSection in "mail" {
        /// Mail server, such as `smtp.example.com`, also one in a private network or on this machine. Empty disables the account.
        host: OptionalTextKind = "",
        /// Port of the mail server. 0 takes the usual one: 465 with `tls`, 587 with `starttls`, 25 with `none`.
        port: CountOrAutoKind<65_535> = 0,
        /// Encryption. A server that can't do it is not used. `none` is only for a server on this machine.
        security: MailSecurityChoice = "starttls",
        /// Account at the server. Empty for none.
        login: OptionalTextKind = "",
        /// Password of that account: the value itself, or `vault:NAME` for a secret in the installation's vault.
        password: SecretKeyKind = "",
        /// Address that mails come from, such as `Munshi <munshi@example.com>`.
        from: OptionalTextKind = "",
        /// Address for answers. Empty for the one that mails come from.
        reply_to: OptionalTextKind = "",
        /// Most mails a node sends in a minute. 0 is no limit but the usual one.
        per_minute: CountOrAutoKind<10_000> = 0,
    }
}
