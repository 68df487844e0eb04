//! Opening many values: the keys of a whole batch are fetched together, not one by one.

use std::collections::HashSet;

use munshi_types::{DataKeyId, TenantId};

use crate::error::Result;
use crate::sealing::{Keyring, SealedCell, find_named_key, open_column};
use crate::value::Column;

/// As many values as the keys in memory may open without one pushing another out.
struct KeyBatch {
    keys: Vec<DataKeyId>,
    values: usize,
}

impl KeyBatch {
    /// From the first of these values on; none for a value that stands plain.
    fn take(named: &[Option<DataKeyId>], limit: usize) -> Self {
        let (mut batch, mut seen) = (Self { keys: Vec::new(), values: 0 }, HashSet::new());
        for key in named {
            if let Some(key) = key
                && !seen.contains(key)
            {
                if batch.keys.len() == limit.max(1) {
                    break;
                }
                seen.insert(*key);
                batch.keys.push(*key);
            }
            batch.values += 1;
        }
        batch
    }
}

/// Each value as it was before it was sealed, in their order. An error is of one value, or of all where no key can be had.
pub(crate) fn open_all(
    values: &[(SealedCell, &str)],
    tenant: TenantId,
    keyring: &dyn Keyring,
) -> Result<Vec<Result<String>>> {
    let named: Vec<Option<DataKeyId>> = values.iter().map(|(_, text)| find_named_key(text)).collect();
    let mut opened = Vec::with_capacity(values.len());
    while opened.len() < values.len() {
        let from = opened.len();
        let batch = KeyBatch::take(&named[from..], keyring.prefetch_limit());
        keyring.prefetch_keys(tenant, &batch.keys)?;
        opened.extend(
            values[from..from + batch.values]
                .iter()
                .map(|(cell, text)| open_column(Column::Text(text), *cell, (Some(tenant), Some(keyring)))),
        );
    }
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_batch_ends_before_the_first_key_too_many() {
        let key = |number| Some(DataKeyId::from_uuid(Uuid::from_u128(number)));
        let named = [key(1), None, key(1), key(2), key(1), key(3), key(2)];
        let sizes = |limit| {
            let batch = KeyBatch::take(&named, limit);
            (batch.keys.len(), batch.values)
        };
        assert_eq!(
            [sizes(0), sizes(1), sizes(2), sizes(3), sizes(9)],
            [(1, 3), (1, 3), (2, 5), (3, 7), (3, 7)]
        );
        let plain = KeyBatch::take(&[None, None], 1);
        assert_eq!((plain.keys.len(), plain.values), (0, 2));
    }
}
