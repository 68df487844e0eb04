//! What a sealed value of the vault belongs to.

use munshi_types::{Id, TenantId};

/// What a sealed value belongs to.
#[derive(Clone, Copy)]
pub(super) enum SealContext<'a> {
    /// A tenant's key, wrapped by the installation's key of this id.
    TenantKey {
        tenant: TenantId,
        key_id: &'a str,
    },
    Secret {
        tenant: TenantId,
        name: &'a str,
        version: i64,
    },
}

impl SealContext<'_> {
    /// Every part has a fixed length but the last, so that no two places have the same bytes.
    pub(super) fn bytes(self) -> Vec<u8> {
        match self {
            Self::TenantKey { tenant, key_id } => {
                [b"munshi vault key\0", &tenant.as_uuid().as_bytes()[..], key_id.as_bytes()].concat()
            }
            Self::Secret { tenant, name, version } => [
                b"munshi vault secret\0",
                &tenant.as_uuid().as_bytes()[..],
                &version.to_be_bytes()[..],
                name.as_bytes(),
            ]
            .concat(),
        }
    }
}

#[cfg(test)]
mod tests {
    use munshi_keys::SealKey;
    use munshi_types::SystemRandom;

    use super::*;

    fn tenant(number: u128) -> TenantId {
        TenantId::from_uuid(uuid::Uuid::from_u128(number))
    }

    #[test]
    fn it_opens_only_in_its_place() {
        let key = SealKey::random(&SystemRandom);
        let place = SealContext::Secret { tenant: tenant(1), name: "a", version: 1 };
        let sealed = key.seal(b"hunter2", &place.bytes(), &SystemRandom).unwrap();
        assert_eq!(key.open(&sealed, &place.bytes()).unwrap().unwrap()[..], b"hunter2"[..]);
        for elsewhere in [
            SealContext::Secret { tenant: tenant(2), name: "a", version: 1 },
            SealContext::Secret { tenant: tenant(1), name: "b", version: 1 },
            SealContext::Secret { tenant: tenant(1), name: "a", version: 2 },
            SealContext::TenantKey { tenant: tenant(1), key_id: "a" },
        ] {
            assert!(key.open(&sealed, &elsewhere.bytes()).unwrap().is_none());
        }
    }
}
