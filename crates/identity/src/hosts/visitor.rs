//! Who a host says its visitor is.

use munshi_types::{Language, is_invisible};

use crate::address::ContactAddress;
use crate::jwt::{JwtClaims, JwtError};

/// Longer names are no names.
const LONGEST_NAME: usize = 200;
/// The channel under which a host's own ids are addresses.
const CHANNEL: &str = "host";

/// A visitor a host vouches for. Everything but the subject may be left out; what is there is the host's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostVisitor {
    /// Whose word it is: the name under which the host's keys were added.
    pub host: String,
    /// The key it was signed with.
    pub kid: String,
    /// The host's own id for them.
    pub subject: String,
    pub phone: Option<ContactAddress>,
    pub email: Option<ContactAddress>,
    pub name: Option<String>,
    pub language: Option<Language>,
}

impl HostVisitor {
    pub(super) fn from_claims(host: String, kid: String, claims: JwtClaims) -> Result<Self, JwtError> {
        let unfit = |error: crate::ContactAddressError| JwtError::Claims(error.to_string());
        // Under an empty one all of a host's visitors would be one person.
        let subject = claims.sub.filter(|sub| !sub.is_empty());
        let subject = subject.ok_or(JwtError::Missing("`sub` (the visitor's id)"))?;
        let visitor = Self {
            phone: claims.phone_number.as_deref().map(ContactAddress::phone).transpose().map_err(unfit)?,
            email: claims.email.as_deref().map(ContactAddress::email).transpose().map_err(unfit)?,
            name: claims.name.filter(|name| is_name(name)),
            // `en-IN` is English to us; what we don't speak is left out.
            language: claims.locale.and_then(|text| text.split(['-', '_']).next()?.parse().ok()),
            host,
            kid,
            subject,
        };
        ContactAddress::channel(CHANNEL, &visitor.id())
            .map_err(|_| JwtError::Claims("`sub` must be 1 to 200 characters without spaces".to_owned()))?;
        Ok(visitor)
    }

    /// The address by which they are known again. Two hosts of a tenant may use the same ids for different people.
    pub fn address(&self) -> Option<ContactAddress> {
        ContactAddress::channel(CHANNEL, &self.id()).ok()
    }

    fn id(&self) -> String {
        format!("{}/{}", self.host, self.subject)
    }
}

fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.chars().count())
        && !name.trim().is_empty()
        && !name.chars().any(is_invisible)
}
