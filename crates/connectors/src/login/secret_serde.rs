//! Secrets on their way into the vault and out of it.

use serde::{Deserialize, Deserializer, Serializer};
use zeroize::Zeroizing;

pub(super) fn serialize<S: Serializer>(secret: &Zeroizing<String>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(secret)
}

pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Zeroizing<String>, D::Error> {
    String::deserialize(from).map(Zeroizing::new)
}

/// The same where there may be none.
pub(super) mod maybe {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use zeroize::Zeroizing;

    pub(in crate::login) fn serialize<S: Serializer>(
        secret: &Option<Zeroizing<String>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        secret.as_ref().map(|secret| secret.as_str()).serialize(to)
    }

    pub(in crate::login) fn deserialize<'a, D: Deserializer<'a>>(
        from: D,
    ) -> Result<Option<Zeroizing<String>>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(Zeroizing::new))
    }
}
