use crate::kinds::{CountKind, EndpointKind, OptionalTextKind, PhraseListKind, SecretKeyKind, choice};
use crate::section::section;

choice! {
    /// What somebody gets who comes from the other service without an account and without an invitation.
    NewcomerRole {
        /// They are sent away.
        None = "none",
        Viewer = "viewer",
        Staff = "staff",
        Admin = "admin",
    }
}

section! {
    /// How operators sign in. A password always works; another service can say who they are besides (OpenID Connect).
    SignInSection in "sign_in" {
        /// How many days an invitation waits. It works once, and can be taken back.
        invitation_days: CountKind<1, 90> = 7,
        /// The service, as it writes itself, such as `https://accounts.example.com`. Empty for none.
        /// It has to know this address as a way back: the public address and `/account/oidc/back`.
        oidc_issuer: EndpointKind = "",
        /// What the service calls this installation.
        oidc_client_id: OptionalTextKind = "",
        /// What it shares with the service: the secret itself, or `vault:NAME` for one of the installation's vault.
        oidc_client_secret: SecretKeyKind = "",
        /// The domains whose e-mails are let in, such as `["shop.example"]`. None lets in all that the service verified.
        oidc_domains: PhraseListKind = [],
        /// The role of somebody who comes without an invitation, in the tenant below.
        oidc_newcomer_role: NewcomerRole = "none",
        /// The tenant that newcomers look after.
        oidc_newcomer_tenant: OptionalTextKind = "",
    }
}
