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
    /// Operator sign-in. Passwords always work; an identity provider (OpenID Connect) can be added.
    SignInSection in "sign_in" {
        /// Lifetime of an invitation, in days. It works once and can be withdrawn.
        invitation_days: CountKind<1, 90> = 7,
        /// Issuer URL of the identity provider, exactly as it publishes it, such as `https://accounts.example.com`.
        /// Empty disables it. Register this redirect URI there: the public URL and `/account/oidc/back`.
        oidc_issuer: EndpointKind = "",
        /// Client id of this installation at the provider.
        oidc_client_id: OptionalTextKind = "",
        /// Client secret: the value itself, or `vault:NAME` for a secret in the installation's vault.
        oidc_client_secret: SecretKeyKind = "",
        /// E-mail domains that may sign in, such as `["shop.example"]`. Empty allows every e-mail the provider
        /// verified.
        oidc_domains: PhraseListKind = [],
        /// Role of a person who signs in without an invitation, in the tenant below.
        oidc_newcomer_role: NewcomerRole = "none",
        /// Tenant that such newcomers join.
        oidc_newcomer_tenant: OptionalTextKind = "",
    }
}
